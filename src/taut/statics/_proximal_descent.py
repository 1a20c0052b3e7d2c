"""A descent to an equilibrium that also works where the stiffness is singular or indefinite.

Far from equilibrium (slack cables, a flat sheet, a horizontal chain) Newton's method may have no
direction. So the positions are pulled towards where they are, q̄, with the stiffness σ w_i:

    minimise V(q) + ½ σ Σ_i w_i |q_i - q̄_i|²,

the centre q̄ follows, and σ shrinks: the proximal point method. w_i is the particle's own stiffness
plus its load over the size of the system. Each stage lowers V. As soon as K is positive definite,
Newton's method does the rest with σ = 0. Where K stays singular (a mechanism that nothing excites)
the stages go on until the force of the proximal term itself is within the tolerance. The
certificate is always that of V alone.
"""

from __future__ import annotations

import numpy as np

from taut.arrays import Float
from taut.errors import EigenError, ModelError
from taut.linalg.blocks import row_norms_max
from taut.linalg.linear import LinearSolver
from taut.optimise.descent import Descent, Point
from taut.optimise.newton import minimise
from taut.optimise.tolerance import Tolerance, all_within, relative_residuals
from taut.statics._curvature import all_curvatures_exceed
from taut.statics._static_objective import StaticObjective
from taut.statics.stability import estimate_stiffness_rounding

_LOOSE_TOLERANCE = 1e-2  # relative residual to which the first stages are solved
_MIN_SIGMA, _MAX_SIGMA = 1e-14, 1e6
_FEW_ITERATIONS = 6  # of Newton's method in a stage: σ may shrink faster
_RUNAWAY = 1e6  # displacement in sizes of the system: nothing holds such a particle
_RESIDUAL_DECREASE = 0.5  # a stage that neither halves the residual nor lowers V has stalled
_MAX_STALLED_STAGES = 8


def minimise_proximal(
    objective: StaticObjective, start: Float, solver: LinearSolver, tolerance: Tolerance
) -> Descent:
    """Descend from positions `start` (n, 3) [m] to an equilibrium, stable or not."""
    extent = float(np.ptp(start, axis=0).max()) or float(np.abs(start).max()) or 1.0
    q, sigma, stage = start, 1.0, None
    stall = _Stall()
    while True:
        objective.set_proximal_term(0.0, q)
        descent = Descent.start(objective.evaluate(q), tolerance)
        descent.evaluations = 1
        if stage is not None:
            descent.add_work(stage)
        if all_within(descent.point.residuals, descent.targets):
            descent.outcome = "converged"
            return descent
        residual = float(relative_residuals(descent.point.residuals, descent.point.gross).max())
        if stall.lasts(residual, descent.point):
            return descent.end_without_progress(
                objective, "neither the energy nor the residual falls any more"
            )
        if _is_positive_definite(objective, q):
            objective.set_proximal_term(0.0, q)
            last = minimise(objective, descent.point, solver, tolerance)
            last.add_work(descent)
            if last.outcome != "not converged":
                return last
            descent, q = last, last.point.y
        weights = sigma * _weigh(objective, q, descent.point.gross, extent)
        objective.set_proximal_term(weights, q)
        # A quarter of the tolerance leaves room for the force of the proximal term itself.
        relative = max(tolerance.relative / 4, min(_LOOSE_TOLERANCE, residual / 10))
        stage = minimise(
            objective, objective.evaluate(q), solver, Tolerance(relative, tolerance.force / 4)
        )
        iterations = stage.iterations
        stage.add_work(descent)
        q = stage.point.y
        if stage.outcome != "not converged":
            factor = 30 if iterations <= _FEW_ITERATIONS else 5
            sigma = max(_MIN_SIGMA, sigma / factor)
        elif sigma == _MAX_SIGMA:
            return descent.end_without_progress(objective, stage.reason)
        else:
            sigma = min(_MAX_SIGMA, 100 * sigma)
        _reject_runaway(q, start, extent)


class _Stall:
    """Counts the stages that neither lower the energy visibly nor halve the residual."""

    def __init__(self) -> None:
        self._count = 0
        self._least = np.inf  # smallest relative residual so far
        self._lowest: Point | None = None

    def lasts(self, residual: float, point: Point) -> bool:
        """Record a stage; whether there have been too many without progress."""
        lower = self._lowest is None or (
            point.value < self._lowest.value - point.noise_against(self._lowest)
        )
        if lower or residual < _RESIDUAL_DECREASE * self._least:
            self._count = 0
        else:
            self._count += 1
        self._least = min(self._least, residual)
        if lower:
            self._lowest = point
        return self._count > _MAX_STALLED_STAGES


def _is_positive_definite(objective: StaticObjective, q: Float) -> bool:
    """Whether K is known to have only positive eigenvalues in the free directions."""
    stiffness = objective.stiffness(q)
    rounding = estimate_stiffness_rounding(stiffness, q, np.ones(len(q)))
    try:
        return rounding > 0.0 and all_curvatures_exceed(objective.projector, stiffness, rounding)
    except EigenError:  # unknown: the stages go on, as they do where it is not
        return False


def _weigh(objective: StaticObjective, q: Float, gross: Float, extent: float) -> Float:
    """Return w [N/m], (n,): each particle's stiffness plus its load over the system's size."""
    weights = objective.stiffness(q, project=True).diagonal_trace() / 3 + gross / extent
    return np.where(weights > 0.0, weights, weights.max())


def _reject_runaway(q: Float, start: Float, extent: float) -> None:
    moved = row_norms_max(q - start)  # not the Euclidean length, whose squares overflow
    worst = int(np.argmax(moved))
    if moved[worst] > _RUNAWAY * extent:
        raise ModelError(
            f"nothing holds particle {worst} against its load: it has moved by "
            f"{moved[worst]:.1e} m, and the energy still falls"
        )
