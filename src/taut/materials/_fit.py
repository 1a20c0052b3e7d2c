"""Stiffnesses for which every neighbourhood of the mesh responds as the material does.

Two steps alternate. First the tensors: x_e = k_e over Van Gelder's guess minimises

    Σ_p V_p |C_p(x) - T_p|² / |T|² + λ² Σ_e w_e (x_e - 1)²,    1/100 ≤ x_e ≤ 10,

where C_p is the mean of Σ k l² n⊗n⊗n⊗n / V over a neighbourhood of the point p, four averages from
points to cells and back wide, and w_e is the part of the spring in the whole. It is a least-squares
problem with bounds, solved by projected gradients with Nesterov's momentum. λ keeps the springs
near the guess: with λ = 0 an irregular mesh has more equations than springs, and some springs
vanish.

Then the strains. On an irregular mesh inner points give way, and the body is softer than C_p says.
A stretch test (`_stretch_test`) gives the mean strain S_p of each neighbourhood for each stress.
Where it strains too much T_p grows, by C (S_p - S) C, C the material's tensor and S its inverse.
After a few rounds all neighbourhoods strain alike, those at the boundary too.

Last, the tensors once more with hardly any λ, for elongated cells, whose springs must be far from
the guess. Of all stiffnesses tried, the result are those under which the strains of all
neighbourhoods are nearest to the material's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from taut.arrays import Float
from taut.materials._cells import Cells
from taut.materials._stretch_test import StretchTest
from taut.materials._tensors import basis, dyads, invert, matmul, pack_symmetric

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

# λ, as measured on irregular sheets and solids: less lets springs vanish, more leaves the moduli
# uneven.
_REGULARISATION = 0.3
_WEAK_REGULARISATION = 0.01  # λ of the last attempt
_ROUNDS = 4  # of tensors and strains
# More rounds only while the error falls, as it does where an exact solution exists.
_MAX_ROUNDS = 40
_MAX_ERROR_RATIO = 0.8  # of a round, over the best error before: the error still falls
_GRADIENT_STEPS = 40  # for the tensors in a round
_MANY_GRADIENT_STEPS = 500  # for the tensors where they are fitted once
# Residual over load of the stretch tests on the way; a tenth of the error once that is smaller
_LOOSE_TOLERANCE = 1e-2
_CONVERGED_ERROR = 1e-10  # error of the strains at which the rounds stop
_MAX_GOOD_ERROR = 0.05  # error of the whole body beyond which the last attempt is made
_NEIGHBOURHOOD_WIDTH = 4  # averages from points to cells and back
# Bounds of x: a spring that vanishes may leave a point loose, and one far stiffer than all others
# improves nothing.
_MIN_RATIO, _MAX_RATIO = 0.01, 10.0
_SMALL_STEP = 1e-7  # of x: the projected gradients have converged
_POWER_ITERATIONS = 30
_POWER_MARGIN = 1.05  # the power iteration finds slightly too small an eigenvalue


class NeighbourhoodAverage:
    """The linear map from springs to the mean tensors of neighbourhoods, and its transpose.

    to_points : average from cells to points, (n, c)
    root : √(V_p/V) of each point, (n, 1)
    """

    def __init__(self, cells: Cells, share: csr_matrix, direction: Float, weight: Float) -> None:
        from scipy.sparse import diags

        point_volume = cells.incidence @ cells.volume
        used = point_volume > 0
        inverse_volume = np.where(used, 1 / np.where(used, point_volume, 1.0), 0.0)
        self.to_points = (diags(inverse_volume) @ cells.incidence).tocsr()
        corners = np.asarray(cells.incidence.sum(axis=0)).ravel()
        self._once = (self.to_points @ diags(cells.volume / corners) @ cells.incidence.T).tocsr()
        self._once_transposed = self._once.T.tocsr()
        self._from_springs = (self.to_points @ share).tocsr()
        self._to_springs = self._from_springs.T.tocsr()
        q = dyads(direction)
        # Of each spring at x = 1, times the volume
        self._tensors = pack_symmetric(q[:, :, None] * q[:, None, :]) * weight[:, None]
        self.root = np.sqrt(point_volume / point_volume.sum())[:, None]

    def smooth(self, values: Float) -> Float:
        """Average values of points (n, …) over neighbourhoods."""
        for _ in range(_NEIGHBOURHOOD_WIDTH):
            values = self._once @ values
        return values

    def forward(self, x: Float) -> Float:
        """Return √V_p C_p, (n, r), of stiffness ratios x (m,)."""
        return self.smooth(self._from_springs @ (self._tensors * x[:, None])) * self.root

    def adjoint(self, y: Float) -> Float:
        """Apply the transpose of `forward`, (n, r) to (m,)."""
        y = y * self.root
        for _ in range(_NEIGHBOURHOOD_WIDTH):
            y = self._once_transposed @ y
        return (self._tensors * (self._to_springs @ y)).sum(axis=1)


class TensorFit(NamedTuple):
    """The least-squares problem for the tensors."""

    average: NeighbourhoodAverage
    part: Float  # w, (m,)
    regularisation: float  # λ² |T|²
    largest: float  # eigenvalue of the least-squares problem in the metric of `part`

    @staticmethod
    def build(average: NeighbourhoodAverage, part: Float, regularisation: float) -> TensorFit:
        """Find the largest eigenvalue by power iteration."""
        z, size = np.ones(len(part)), 0.0
        for _ in range(_POWER_ITERATIONS):
            z = average.adjoint(average.forward(z)) / part
            size = float(np.sqrt((part * z**2).sum()))
            z = z / size
        return TensorFit(average, part, regularisation, _POWER_MARGIN * size)

    def solve(
        self, targets: Float, x: Float, steps: int, regularisation: float | None = None
    ) -> Float:
        """Return x (m,) whose tensors are near the targets at the points, (n, r).

        Projected gradients with Nesterov's momentum in the metric of `part`, started at x.
        """
        hold = self.regularisation if regularisation is None else regularisation
        goal = self.average.smooth(targets) * self.average.root
        ahead, momentum = x, 1.0
        for _ in range(steps):
            misfit = self.average.forward(ahead) - goal
            slope = self.average.adjoint(misfit) / self.part + hold * (ahead - 1)
            new = np.clip(ahead - slope / (self.largest + hold), _MIN_RATIO, _MAX_RATIO)
            if (self.part * (ahead - new) * (new - x)).sum() > 0:  # uphill: restart the momentum
                momentum = 1.0
            grown = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
            ahead = new + (momentum - 1) / grown * (new - x)
            moved = float(np.abs(new - x).max())
            x, momentum = new, grown
            if moved < _SMALL_STEP:
                break
        return x


class StretchTrial(NamedTuple):
    """A stretch test whose strains can be averaged over neighbourhoods."""

    stretch: StretchTest
    gradient: list[csr_matrix]  # (c, n) for each axis, `CornerVectors.gradient`
    tensor: Float  # C of the material, (s, s)


class FitResult(NamedTuple):
    """Stiffnesses, and how good they are."""

    k: Float  # (m,) [N/m]
    u: Float | None  # displacements in the stretch test, (n·d, s); None for a curved sheet
    error: float  # `_strain_error`; 0 for a curved sheet, which is not tested


def fit_stiffness(
    cells: Cells,
    share: csr_matrix,
    direction: Float,
    length: Float,
    guess: Float,
    targets: Float,
    trial: StretchTrial | None,
) -> FitResult:
    """Fit the stiffnesses of springs.

    share : of springs in cells, (c, m)
    direction : of springs, unit vectors (m, d)
    length, guess : of springs [m], [N/m], (m,)
    targets : tensor of each cell, (c, s, s)
    trial : None for a surface that is not flat, which is fitted by its tensors alone
    """
    weight = guess * length**2
    average = NeighbourhoodAverage(cells, share, direction, weight)
    at_points = average.to_points @ (pack_symmetric(targets) * cells.volume[:, None])
    size = float((at_points**2).sum(axis=1).max())
    problem = TensorFit.build(average, weight / weight.sum(), _REGULARISATION**2 * size)
    x = np.ones(len(guess))
    if trial is None:
        return FitResult(guess * problem.solve(at_points, x, _MANY_GRADIENT_STEPS), None, 0.0)
    best = _alternate(problem, at_points, guess, trial)
    assert best.u is not None
    whole_body = trial.stretch.compliance(best.u)[None]
    if _strain_error(whole_body, trial.tensor, np.ones((1, 1))) > _MAX_GOOD_ERROR:
        weak = _WEAK_REGULARISATION**2 * size
        k = guess * problem.solve(at_points, x, _MANY_GRADIENT_STEPS, weak)
        start = trial.stretch.affine_displacements(invert(trial.tensor))
        u = trial.stretch.relax(k, start, _LOOSE_TOLERANCE)
        error = _strain_error(_mean_strains(u, trial, average), trial.tensor, average.root)
        if error < best.error:
            best = FitResult(k, u, error)
    return best


def _alternate(problem: TensorFit, targets: Float, guess: Float, trial: StretchTrial) -> FitResult:
    """Fit tensors and correct their targets by the strains, in turn."""
    average = problem.average
    ideal = invert(trial.tensor)
    u = trial.stretch.affine_displacements(ideal)
    x = np.ones(len(guess))
    best = FitResult(guess, u, np.inf)
    for turn in range(_MAX_ROUNDS):
        u = trial.stretch.relax(guess * x, u, min(_LOOSE_TOLERANCE, best.error / 10))
        strain = _mean_strains(u, trial, average)
        error = _strain_error(strain, trial.tensor, average.root)
        is_improving = turn <= _ROUNDS or error < _MAX_ERROR_RATIO * best.error
        if error < best.error:
            best = FitResult(guess * x, u, error)
        if best.error < _CONVERGED_ERROR or not is_improving:
            break
        if turn > 0:  # the first round fits the material's own tensors
            excess = matmul(matmul(trial.tensor, strain - ideal), trial.tensor)
            targets = targets + pack_symmetric((excess + excess.transpose(0, 2, 1)) / 2)
        x = problem.solve(targets, x, _GRADIENT_STEPS)
    return best


def _mean_strains(u: Float, trial: StretchTrial, average: NeighbourhoodAverage) -> Float:
    """Return the mean strain of each neighbourhood under each stress, (n, s, s)."""
    d, s = trial.stretch.d, len(trial.tensor)
    parts = u.reshape(-1, d * s)
    slopes = np.stack([g @ parts for g in trial.gradient])
    slopes = slopes.reshape(d, -1, d, s)  # axis, cell, component, stress
    of_cells = np.einsum("jcia,bij->cba", slopes, basis(d)).reshape(-1, s * s)
    return average.smooth(average.to_points @ of_cells).reshape(-1, s, s)


def _strain_error(strain: Float, tensor: Float, root: Float) -> float:
    """Return how far C·S_p is from one multiple of 1 in all neighbourhoods.

    The norm does not depend on the axes. The multiple is free because one factor for all k is still
    free. root : square roots of the neighbourhoods' parts of the whole, (n, 1)
    """
    product = matmul(tensor, strain) * root[:, :, None]
    one = np.eye(len(tensor)) * root[:, :, None]
    factor = float((product * one).sum()) / float((product**2).sum())
    return float(np.sqrt(((factor * product - one) ** 2).sum()))
