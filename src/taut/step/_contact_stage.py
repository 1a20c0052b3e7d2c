"""What contact adds to a stage: obstacles that push bodies, and friction that settles."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from taut.arrays import Float
from taut.errors import NotConverged
from taut.optimise.descent import Descent, Point
from taut.optimise.tolerance import Tolerance, all_within, relative_residuals
from taut.step._objective import ImplicitObjective, StageStart
from taut.system.state import State
from taut.system.workspace import Workspace

# How often friction is given new normal forces. Each update is a minimisation that begins where
# the last one ended: the first few need some iterations, the rest one or none.
_MAX_FRICTION_UPDATES = 200
# The part of the change of normal forces that an update uses: after a residual that was larger
# than the last one, and after a smaller one
_SHRINKAGE, _GROWTH, _MIN_PART = 0.4, 1.5, 0.01
# A residual that is larger than this part of the last one may be at the rounding floor.
_SLOW = 0.9
# Into how many parts the way of an obstacle is divided at most, and the least of them
_MAX_PUSHES = 1000
_MIN_PUSH = 1e-9

Minimise = Callable[[ImplicitObjective, Point], Descent]


def push_bodies(workspace: Workspace, state: State, start: StageStart, minimise: Minimise) -> Float:
    """Move scripted particles to where they end, and let what is in their way give way.

    They go as far as contact leaves free, the objective is minimised there, and so on. Returns y
    [m], (n, 3), with nothing between the bodies; start.old where nothing was in the way.
    """
    search, prediction, y = workspace.contact_search, start.prediction, start.old
    here = np.array(state.q)
    for _ in range(_MAX_PUSHES):
        move = prediction.positions(y) - here
        part = search.find_free_part(here, move)
        if part == 1.0:
            return y
        if part < _MIN_PUSH:
            break
        # Only scripted particles are not yet where `y` has them.
        between = replace(prediction, q=here + part * move - y)
        objective = ImplicitObjective(
            workspace, between, start.frozen, start.old, increments=start.increments
        )
        objective.friction = objective.find_friction(y)
        descent = minimise(objective, objective.evaluate(y))
        if descent.outcome == "not converged":
            break
        y = descent.point.y
        here = between.positions(y)
    raise NotConverged(
        f"t = {prediction.t:g} s: what a scripted body pushes cannot give way", None, state
    )


def settle_friction(
    objective: ImplicitObjective, descent: Descent, tolerance: Tolerance, minimise: Minimise
) -> Descent:
    """Repeat a minimisation until its residual, with friction from its own result, is small enough.

    Where new normal forces make the next ones worse, as those of an impact may, only a part of
    their change is used.
    """
    part, last = 1.0, math.inf
    for _ in range(_MAX_FRICTION_UPDATES):
        if descent.outcome == "not converged":
            return descent
        held, y = objective.friction, descent.point.y
        objective.friction = newer = objective.find_friction(y)
        end = objective.evaluate(y)
        targets = tolerance.targets(end.at_work, end.gross)
        if all_within(end.residuals, targets):
            descent.point = end
            return descent
        worst = float(relative_residuals(end.residuals, targets).max())
        if worst > _SLOW * last:
            # As near as rounding of the coordinates allows, updates hardly make it better.
            descent.point, descent.targets = end, targets
            if descent.end_without_progress(objective, "").outcome == "rounding floor":
                return descent
        part = max(_SHRINKAGE * part, _MIN_PART) if worst > last else min(_GROWTH * part, 1.0)
        last = worst
        objective.friction = held.blend(newer, part)
        again = minimise(objective, objective.evaluate(y))
        again.add_cost_of(descent)
        descent = again
    descent.outcome = "not converged"
    descent.reason = (
        f"friction did not settle in {_MAX_FRICTION_UPDATES} updates of its normal forces"
    )
    return descent
