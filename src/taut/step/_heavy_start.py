"""Stages that a plain descent is slow to solve: a series of easier ones, from heavy to true masses.

Stiff springs leave a body a narrow, winding valley, in which steps are short. And a cable that is
slack is not seen before a step has made it taut: with many of them near their slack lengths, each
step ends at the next one. With all masses multiplied by c, and constant loads such as gravity too,

    Φ_c(y) = c (½|y|²_M/γ² + G·y) + the other terms of Φ,

springs matter less. For large c the minimum is near y = -γ²M⁻¹G, where a body of loose particles
would end, and the valley is wide. There springs are stretched and cables taut, so that models see
all of them. As c falls to 1, the minimum moves to that of Φ, and each descent begins near its own
(an exterior penalty method: Fiacco and McCormick 1968; 1/c is the penalty).

The last descent is one of Φ itself, with its tolerance and its certificate. It begins there only if
Φ is lower than where the plain descent began, and else goes on where that was left.
"""

from __future__ import annotations

from contextlib import suppress

import numpy as np

from taut.arrays import Float
from taut.errors import SingularState
from taut.linalg.linear import LinearSolver
from taut.optimise.descent import Descent, Point
from taut.optimise.newton import minimise
from taut.optimise.tolerance import Tolerance
from taut.step._objective import ImplicitObjective

# A plain descent is left after this many iterations if a residual is still larger than this
# multiple of the forces at work. Of the steps of random scenes that took more than 60 iterations
# nine in ten were so at the twelfth, of those that took up to 25 one in four.
_MIN_ITERATIONS, _MAX_RESIDUAL = 12, 10.0
_MAX_PLAIN_ITERATIONS = 50  # … and after these in any case
# c begins where the stiffest particle is this many times as stiff as it is heavy, and falls by this
# factor from one descent to the next; with 10 or 200 there were more iterations in all.
_FIRST_STIFFNESS, _LOWERING = 5000.0, 50.0
# Descents before the last one end here. A body that unfolds takes up to 50 iterations.
_LOOSE = Tolerance(relative=0.9)
_MAX_ITERATIONS = 60


def minimise_stage(
    objective: ImplicitObjective, start: Point, solver: LinearSolver, tolerance: Tolerance
) -> Descent:
    """Minimise the objective of a stage; from heavy masses where a plain descent is slow."""
    plain = minimise(objective, start, solver, tolerance, leave=_is_slow)
    if not plain.left:
        return plain
    work = plain
    end = plain.point
    with suppress(SingularState):
        below, work = _lower_masses(objective, solver, plain)
        if objective.change(start, below) < 0.0:
            end = below
    descent = minimise(objective, end, solver, tolerance)
    descent.add_work(work)
    if descent.outcome != "not converged" or end is plain.point or descent.unbounded:
        return descent
    again = minimise(objective, plain.point, solver, tolerance)
    again.add_work(descent)
    return again


def _is_slow(descent: Descent) -> bool:
    """Whether a plain descent is still far from balance after many iterations."""
    if descent.iterations < _MIN_ITERATIONS:
        return False
    if descent.iterations >= _MAX_PLAIN_ITERATIONS:
        return True
    point = descent.point
    return bool((point.residuals > _MAX_RESIDUAL * point.at_work).any())


def _lower_masses(
    objective: ImplicitObjective, solver: LinearSolver, work: Descent
) -> tuple[Point, Descent]:
    """Return where descents with ever smaller masses lead, and the work, with that of `work`."""
    y = objective.loose_end()
    factor = _stiffness_ratio(objective, y) / _FIRST_STIFFNESS
    try:
        while factor > 1.0:
            objective.multiply_masses(factor)
            descent = minimise(
                objective,
                objective.evaluate(y),
                solver,
                _LOOSE,
                leave=lambda descent: descent.iterations >= _MAX_ITERATIONS,
            )
            descent.add_work(work)
            work, y = descent, descent.point.y
            factor /= _LOWERING
    finally:
        objective.multiply_masses(1.0)
    return objective.evaluate(y), work


def _stiffness_ratio(objective: ImplicitObjective, y: Float) -> float:
    """Return the largest ratio of the stiffness of a particle to its m/γ²."""
    metric = objective.metric(y, None)
    own = metric.data[metric.pattern.diagonal]
    return float((np.trace(own, axis1=1, axis2=2) / (3.0 * objective.inertia)).max())
