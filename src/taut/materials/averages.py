"""Mean tensors of neighbourhoods, and the stiffnesses for which they are nearest to given ones: the inner problem of `fit`."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from taut.materials.cells import Cells
from taut.materials.tensors import squares, upper

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

Float = NDArray[np.float64]
WIDTH = 4  # averages between points and cells and back: the width of a neighbourhood
LEAST, MOST = 0.01, 10.0  # of the guess: a spring that vanishes may leave a point loose, one beyond all others helps nobody
STILL = 1e-7  # a step of x that is none any more
POWERS = 30  # steps of the power iteration
ABOVE = 1.05  # what the power iteration finds is a little too small


class Averages:
    """From springs to the mean tensors of neighbourhoods, and back."""

    def __init__(self, cells: Cells, share: csr_matrix, direction: Float, weight: Float) -> None:
        from scipy.sparse import diags

        at_point = cells.incidence @ cells.volume
        used = at_point > 0
        self.to_points = (diags(np.where(used, 1 / np.where(used, at_point, 1.0), 0.0)) @ cells.incidence).tocsr()
        corners = np.asarray(cells.incidence.sum(axis=0)).ravel()
        self.once = (self.to_points @ diags(cells.volume / corners) @ cells.incidence.T).tocsr()
        self.back = self.once.T.tocsr()
        self.of_springs = (self.to_points @ share).tocsr()
        self.to_springs = self.of_springs.T.tocsr()
        q = squares(direction)
        self.tensors = upper(q[:, :, None] * q[:, None, :]) * weight[:, None]  # of each spring at x = 1, times the volume
        self.root = np.sqrt(at_point / at_point.sum())[:, None]

    def smooth(self, values: Float) -> Float:
        """Values of points (n, …) averaged over neighbourhoods."""
        for _ in range(WIDTH):
            values = self.once @ values
        return values

    def forward(self, x: Float) -> Float:
        """√V_p C_p, shape (n, r)."""
        return self.smooth(self.of_springs @ (self.tensors * x[:, None])) * self.root

    def adjoint(self, y: Float) -> Float:
        """The transpose of `forward`, shape (m,)."""
        y = y * self.root
        for _ in range(WIDTH):
            y = self.back @ y
        return (self.tensors * (self.to_springs @ y)).sum(axis=1)


class Near(NamedTuple):
    """The term that keeps x near 1."""

    part: Float  # w, (m,)
    strength: float  # λ² |T|²
    largest: float  # eigenvalue of the least-squares problem in the metric of `part`

    @staticmethod
    def of(averages: Averages, part: Float, strength: float) -> Near:
        """With the eigenvalue that belongs to these averages, by power iteration."""
        z, size = np.ones(len(part)), 0.0
        for _ in range(POWERS):
            z = averages.adjoint(averages.forward(z)) / part
            size = float(np.sqrt((part * z**2).sum()))
            z = z / size
        return Near(part, strength, ABOVE * size)

    def solve(self, averages: Averages, wanted: Float, x: Float, steps: int, strength: float | None = None) -> Float:
        """Tensors near those wanted at the points, (n, r): projected gradients in the metric of `part`, begun at x."""
        hold = self.strength if strength is None else strength
        goal = averages.smooth(wanted) * averages.root
        ahead, momentum = x, 1.0
        for _ in range(steps):
            slope = averages.adjoint(averages.forward(ahead) - goal) / self.part + hold * (ahead - 1)
            new = np.clip(ahead - slope / (self.largest + hold), LEAST, MOST)
            if (self.part * (ahead - new) * (new - x)).sum() > 0:  # uphill: the momentum is lost
                momentum = 1.0
            grown = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
            ahead = new + (momentum - 1) / grown * (new - x)
            moved = float(np.abs(new - x).max())
            x, momentum = new, grown
            if moved < STILL:
                break
        return x
