"""The way down to an equilibrium, from wherever it begins.

Far from equilibrium the stiffness may be singular or indefinite (slack cables, a flat sheet, a horizontal chain), and Newton's
method has no direction. So the positions are held back towards where they are, with σ w_i on particle i, w_i its own stiffness and
load over length; the energy with that term is minimised, the centre follows, and σ shrinks: the proximal point method. Each stage
lowers V. As soon as K is positive definite Newton's method does the rest with σ = 0. Where K stays singular (a mechanism that
nothing excites) the stages go on until the force of σ itself is within the tolerance, and that is certified without it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from taut.errors import EigenError, ModelError
from taut.solve.eigen import positive
from taut.solve.linear import LinearSolver
from taut.solve.minimum import Minimum
from taut.solve.newton import minimise
from taut.solve.tolerance import Tolerance, excess
from taut.step.stability import rounding_of
from taut.step.static_objective import StaticObjective
from taut.system.blocks import largest
from taut.system.reduction import Reduction

Float = NDArray[np.float64]
LOOSE = 1e-2  # relative residual to which the first stages are solved
LEAST, MOST = 1e-14, 1e6  # of σ
QUICK = 6  # Newton iterations of a stage that went well
FAR = 1e6  # sizes of the system: who has moved so far is held by nothing
PROGRESS = 0.5  # of the smallest residual so far: a stage that neither gets below it nor lowers the energy has stalled
PATIENCE = 8  # stalled stages after which the descent has ended


def settle(
    objective: StaticObjective,
    start: Float,
    solver: LinearSolver,
    tolerance: Tolerance,
    free: Reduction,
    watch: Callable[[Float], None] | None = None,
) -> Minimum:
    """Go down from positions `start` (n, 3) [m] to where each particle's residual is within its tolerance or rounding floor.

    watch : is shown the positions after each stage, and may raise
    """
    extent = float(np.ptp(start, axis=0).max()) or float(np.abs(start).max()) or 1.0
    q, sigma, spent = start, 1.0, None
    least, lowest, stalled = np.inf, None, 0
    while True:
        objective.hold_back(0.0, q)
        record = Minimum.begun(objective, q, tolerance)
        if spent is not None:
            record.add_work_of(spent)
        if record.meets(record.targets):
            record.outcome = "converged"
            return record
        residual = float(excess(record.point.residuals, record.point.gross).max())
        lower = lowest is None or record.point.value < lowest.value - record.point.noise_to(lowest)
        stalled = 0 if lower or residual < PROGRESS * least else stalled + 1
        least, lowest = min(least, residual), record.point if lower else lowest
        if stalled > PATIENCE:
            return record.judge(objective, "neither the energy nor the residual falls any more")
        if _definite(objective, q, free):
            objective.hold_back(0.0, q)
            last = minimise(objective, q, solver, tolerance)
            last.add_work_of(record)
            if last.outcome != "not converged":
                return last
            record, q = last, last.point.y
        objective.hold_back(sigma * _weights(objective, q, record.point.gross, extent), q)
        relative = max(tolerance.relative / 4, min(LOOSE, residual / 10))
        stage = minimise(objective, q, solver, Tolerance(relative, tolerance.force / 4))
        stage.add_work_of(record)
        spent, q = stage, stage.point.y
        if stage.outcome == "not converged":
            if sigma == MOST:
                return record.judge(objective, stage.reason)
            sigma = min(MOST, 100 * sigma)
        else:
            sigma = max(LEAST, sigma / (30 if stage.iterations - record.iterations <= QUICK else 5))
        _refuse_runaway(q, start, extent)
        if watch is not None:
            watch(q)


def _definite(objective: StaticObjective, q: Float, free: Reduction) -> bool:
    """Whether K is known to have no zero and no negative eigenvalue in the free directions."""
    stiffness = objective.stiffness(q)
    tol = rounding_of(stiffness, q, np.ones(len(q)))
    try:
        return tol > 0.0 and positive(free.matrix(stiffness), tol)
    except EigenError:  # it cannot be told: the stages go on, as they do without
        return False


def _weights(objective: StaticObjective, q: Float, gross: Float, extent: float) -> Float:
    """w [N/m], (n,): each particle's own stiffness, and its load over the size of the system."""
    weights = objective.stiffness(q, project=True).diagonal_trace() / 3 + gross / extent
    return np.where(weights > 0.0, weights, weights.max())


def _refuse_runaway(q: Float, start: Float, extent: float) -> None:
    moved = largest(q - start)  # not its length: squares overflow
    worst = int(np.argmax(moved))
    if moved[worst] > FAR * extent:
        raise ModelError(
            f"nothing holds particle {worst} against its load: it has moved {moved[worst]:.1e} m, and the energy still falls"
        )
