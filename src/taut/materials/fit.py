"""Stiffnesses for which every neighbourhood of the mesh answers as the material does.

Two steps in turn. First the tensors: x_e = k_e over Van Gelder's guess minimises

    Σ_p V_p |C_p(x) - T_p|² / |T|² + λ² Σ_e w_e (x_e - 1)²,    1/100 ≤ x_e ≤ 10,

where C_p is the mean of Σ k l² n⊗n⊗n⊗n / V over a neighbourhood of the point p, four averages from points to cells and back wide,
and w_e is the part of the spring in the whole. It is a least-squares problem with bounds, solved by projected gradients with
Nesterov's momentum. λ keeps the springs near the guess: with λ = 0 an irregular mesh has more equations than springs, and some
springs vanish.

Then the strains. On an irregular mesh inner points give way, and the body is softer than C_p says. A stretch test (`stretch`) gives
the mean strain S_p of each neighbourhood for each stress. Where it strains too much T_p grows, by C (S_p - S) C, C the material's
tensor and S its inverse. After a few turns all neighbourhoods strain alike, those at the boundary too.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, diags

from taut.materials.cells import Cells
from taut.materials.stretch import Stretch
from taut.materials.tensors import basis, inverse, squares, upper

Float = NDArray[np.float64]
AVERAGES = 4  # between points and cells and back: the width of a neighbourhood
NEAR = 0.3  # λ: measured on irregular sheets and solids, less lets springs vanish, more leaves the moduli uneven
LEAST, MOST = 0.01, 10.0  # of the guess: a spring that vanishes may leave a point loose, one beyond all others helps nobody
ROUNDS = 4  # of tensors and strains; more only while the error falls, as it does where an exact answer exists
FALLING = 0.8  # from one round to the next
MOST_ROUNDS = 40
GRADIENTS = 40  # steps for the tensors in a round
LOOSE = 1e-2  # residual of the stretch tests on the way, of the load; a tenth of the error reached once that is less
STILL = 1e-7  # a step of x that is none any more
EXACT = 1e-10  # relative error of the compliance that is good enough to stop


class Test(NamedTuple):
    """A stretch test that can be looked at neighbourhood by neighbourhood."""

    stretch: Stretch
    gradient: list[csr_matrix]  # (c, n) for each axis, `Vectors.gradient`
    tensor: Float  # C of the material, (s, s)


class Averages:
    """From springs to the mean tensors of neighbourhoods, and back."""

    def __init__(self, cells: Cells, share: csr_matrix, direction: Float, weight: Float) -> None:
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
        for _ in range(AVERAGES):
            values = self.once @ values
        return values

    def forward(self, x: Float) -> Float:
        """√V_p C_p, shape (n, r)."""
        return self.smooth(self.of_springs @ (self.tensors * x[:, None])) * self.root

    def adjoint(self, y: Float) -> Float:
        """The transpose of `forward`, shape (m,)."""
        y = y * self.root
        for _ in range(AVERAGES):
            y = self.back @ y
        return (self.tensors * (self.to_springs @ y)).sum(axis=1)


def fit(
    cells: Cells, share: csr_matrix, direction: Float, length: Float, guess: Float, target: Float, test: Test | None
) -> tuple[Float, Float | None]:
    """The fitted stiffnesses [N/m], shape (m,), and the displacements of the last stretch test, (n·d, s), if there was one.

    share : of springs in cells, (c, m)
    direction : of springs, unit vectors (m, d)
    length, guess : of springs [m], [N/m], (m,)
    target : tensor of each cell, (c, s, s)
    test : None for a surface that is not flat, which is fitted by its tensors alone
    """
    weight = guess * length**2
    averages = Averages(cells, share, direction, weight)
    wanted = averages.to_points @ (upper(target) * cells.volume[:, None])
    near = Near.of(averages, weight / weight.sum(), NEAR**2 * float((wanted**2).sum(axis=1).max()))
    x = np.ones(len(guess))
    if test is None:
        return guess * near.solve(averages, wanted, x, 5 * GRADIENTS), None
    ideal = inverse(test.tensor)
    u = test.stretch.affine(ideal)
    best, least = x, np.inf
    for turn in range(MOST_ROUNDS):
        u = test.stretch.relaxed(guess * x, u, min(LOOSE, least / 10))
        error = _distance(test.stretch.compliance(u), test.tensor)
        going = turn <= ROUNDS or error < FALLING * least
        if error < least:
            best, least = x, error
        if least < EXACT or not going:
            break
        if turn:  # the first time the tensors themselves
            strain = averages.smooth(averages.to_points @ _strains(u, test)).reshape(-1, *test.tensor.shape)
            excess = test.tensor @ (strain - ideal) @ test.tensor
            wanted = wanted + upper((excess + excess.transpose(0, 2, 1)) / 2)
        x = near.solve(averages, wanted, x, GRADIENTS)
    return guess * best, u


class Near(NamedTuple):
    """The term that keeps x near 1."""

    part: Float  # w, (m,)
    strength: float  # λ² |T|²
    bound: float  # of the second derivative, in the metric of `part`

    @staticmethod
    def of(averages: Averages, part: Float, strength: float) -> Near:
        """With the bound that belongs to these averages."""
        return Near(part, strength, 1.05 * _largest(averages, part) + strength)

    def solve(self, averages: Averages, wanted: Float, x: Float, steps: int) -> Float:
        """Tensors near those wanted at the points, (n, r): projected gradients in the metric of `part`, begun at x."""
        goal = averages.smooth(wanted) * averages.root
        ahead, momentum = x, 1.0
        for _ in range(steps):
            slope = averages.adjoint(averages.forward(ahead) - goal) / self.part + self.strength * (ahead - 1)
            new = np.clip(ahead - slope / self.bound, LEAST, MOST)
            if (self.part * (ahead - new) * (new - x)).sum() > 0:  # uphill: the momentum is lost
                momentum = 1.0
            grown = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
            ahead = new + (momentum - 1) / grown * (new - x)
            moved = float(np.abs(new - x).max())
            x, momentum = new, grown
            if moved < STILL:
                break
        return x


def _largest(averages: Averages, part: Float) -> float:
    """The largest eigenvalue of the least-squares problem in the metric of `part`, by power iteration."""
    z, size = np.ones(len(part)), 0.0
    for _ in range(30):
        z = averages.adjoint(averages.forward(z)) / part
        size = float(np.sqrt((part * z**2).sum()))
        z = z / size
    return size


def _strains(u: Float, test: Test) -> Float:
    """V times the mean strain of each cell under each stress, shape (c, s·s)."""
    d, s = test.stretch.d, len(test.tensor)
    parts = u.reshape(-1, d * s)
    slopes = np.stack([g @ parts for g in test.gradient]).reshape(d, -1, d, s)  # axis, cell, component, stress
    return np.einsum("jcia,bij->cba", slopes, basis(d), optimize=True).reshape(-1, s * s)


def _distance(compliance: Float, tensor: Float) -> float:
    """How far C·S is from 1."""
    return float(np.abs(tensor @ compliance - np.eye(len(tensor))).max())
