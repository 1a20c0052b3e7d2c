"""What contact adds to a step: obstacles push bodies, impacts begin stiff, and the end is free."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

import numpy as np

from taut.arrays import Float
from taut.errors import NotConverged, SingularState
from taut.linalg.blocks import row_norms
from taut.optimise.descent import Descent, Point
from taut.optimise.tolerance import Tolerance
from taut.step._friction import Minimise, settle_friction
from taut.step._objective import ImplicitObjective, Prediction, StageStart
from taut.step.step_result import StepResult
from taut.system.contact_friction import Friction
from taut.system.state import State
from taut.system.workspace import Workspace

# Into how many parts the way of an obstacle is divided at most, and the least of them
_MAX_PUSHES = 1000
_MIN_PUSH = 1e-9
# Impacts begin with a stiffness at which half of the range carries this part of the momentum of the
# fastest particle over the step, if that is more than √10 times the stiffness. Then it is lowered …
_IMPACT = 0.1
_LOWERING = 0.1  # … by this factor, each time …
# … after a minimisation to this tolerance. With 0.1, enough without friction, ropes that cross at
# 100 m/s were still left to slide in the last one, with the smallest gaps, in 2,200 iterations.
_LOOSE = Tolerance(relative=0.01)
# How much of the free way an obstacle goes at once: gaps that it closes keep more than half
_PUSH_PART = 0.5

# Obstacles that are thinner than this part of their size count as flat
_FLAT = 1e-6


def push_bodies(
    workspace: Workspace,
    state: State,
    start: StageStart,
    tolerance: Tolerance,
    minimise: Minimise,
) -> Float:
    """Move scripted particles to where they end, and let what is in their way give way.

    They go as far as contact leaves free, the objective is minimised there, and so on. Returns y
    [m], (n, 3), with nothing between the bodies; start.old where nothing was in the way.
    """
    search, prediction, y = workspace.contact_search, start.prediction, start.old
    here = np.array(state.q)
    for attempt in range(_MAX_PUSHES):
        move = prediction.positions(y) - here
        part = search.find_free_part(here, move)
        if part == 1.0 and search.has_energy(here + move):
            return y
        target = y
        if attempt == 0:
            # As if everything were fixed to the obstacle; or as fast as it already moves: what an
            # obstacle carries along goes at once with it.
            for carried_y in (_carry_along(workspace, prediction, y, here), np.zeros_like(y)):
                carried = prediction.positions(carried_y) - here
                carried_part = search.find_free_part(here, carried)
                if carried_part == 1.0 and search.has_energy(here + carried):
                    return carried_y
                if carried_part > part:
                    move, part, target = carried, carried_part, carried_y
        descent = None
        while descent is None and part > _MIN_PUSH:
            part *= _PUSH_PART
            between_y = y + part * (target - y)
            # Only scripted particles are not yet where `y` has them.
            between = replace(prediction, q=here + part * move - between_y)
            objective = ImplicitObjective(
                workspace, between, start.frozen, start.old, increments=start.increments
            )
            with suppress(SingularState):  # smoothed distances of edges are a little shorter
                objective.friction = objective.find_friction(between_y)
                descent = minimise(objective, objective.evaluate(between_y), tolerance)
        if descent is None or descent.outcome == "not converged":
            break
        y = descent.point.y
        here = between.positions(y)
    raise NotConverged(
        f"t = {prediction.t:g} s: what a scripted body pushes cannot give way", None, state
    )


def descend(
    objective: ImplicitObjective,
    start: Point,
    tolerance: Tolerance,
    minimise: Minimise,
    max_iterations: int | None = None,
) -> Descent:
    """Minimise from a start; an impact first with contacts that are stiffer than they are.

    A hard impact closes gaps to a small part of the range, where steps have no room: particles that
    slide past each other would move by next to nothing at a time. Stiff contacts hold them further
    apart while they find their places; then k is lowered to its own value (as interior-point
    methods lower the parameter of their barrier). Friction begins with that of the stiffer
    contacts, whose normal forces are nearly the same, and agrees with its own at the end of each
    minimisation: what it moves, moves while there is room.

    max_iterations : of friction, at each stiffness (see `settle_friction`)
    """
    search = objective.workspace.contact_search
    k, range = search.contact.k, search.contact.range
    assert k is not None
    assert range is not None
    old = objective.system._projector.project(objective.old)
    impact = float((objective.inertia * row_norms(old)).max(initial=0.0))
    factor = _IMPACT * impact / (1.19 * k * range)
    work: Descent | None = None
    try:
        while factor > _LOWERING**-0.5:
            search.stiffening = factor
            descent = _minimise_with_friction(objective, start, _LOOSE, minimise, max_iterations)
            if work is not None:
                descent.add_work(work)
            work, start = descent, descent.point
            factor *= _LOWERING
    finally:
        search.stiffening = 1.0
    descent = _minimise_with_friction(objective, start, tolerance, minimise, max_iterations)
    if work is not None:
        descent.add_work(work)
    return descent


def _minimise_with_friction(
    objective: ImplicitObjective,
    start: Point,
    tolerance: Tolerance,
    minimise: Minimise,
    max_iterations: int | None,
) -> Descent:
    descent = minimise(objective, objective.evaluate(start.y), tolerance)
    if objective.system._has_friction:
        descent = settle_friction(objective, descent, tolerance, minimise, max_iterations)
    return descent


def _carry_along(workspace: Workspace, prediction: Prediction, y: Float, x: Float) -> Float:
    """Return y [m], (n, 3), if all particles moved from x [m], (n, 3), with the scripted ones.

    By the rigid motion nearest to theirs, in the sense of least squares (Kabsch 1976), and then the
    nearest linear map. If theirs is affine, so are straight ways in between, and nothing meets but
    what is thick.
    """
    move = prediction.positions(y) - x
    scripted = [particles for particles, _ in workspace.system._projector.scripts]
    moving = np.concatenate([np.empty(0, dtype=np.int64), *scripted])
    moving = moving[move[moving].any(axis=1)]
    if not len(moving):
        return y
    centre = x[moving].mean(axis=0)
    before, after = x[moving] - centre, x[moving] + move[moving] - centre
    shift = after.mean(axis=0)
    left, _, right = np.linalg.svd(before.T @ (after - shift))
    sign = np.sign(np.linalg.det(left @ right))
    rotation = left @ np.diag([1.0, 1.0, sign]) @ right
    # What is left, as where an obstacle grows, by a linear map; it is zero across a flat obstacle.
    stretch = np.linalg.pinv(before, rcond=_FLAT) @ (after - shift - before @ rotation)
    moved: Float = (x - centre) @ (rotation + stretch) + shift + centre
    return workspace.project(moved - prediction.q)


def book_contact(
    workspace: Workspace, last: Float, result: StepResult, frictions: Sequence[Friction]
) -> StepResult:
    """Return the result of a step with the friction of its stages.

    last : positions of the last stage [m], (n, 3)

    Raises NotConverged if something is in the way from there to the end of the step: most methods
    end with their last stage, but the implicit midpoint rule ends as far beyond it as it began
    before.
    """
    search, end = workspace.contact_search, result.state.q
    if not np.array_equal(last, end) and search.find_free_part(last, end - last) < 1.0:
        raise NotConverged(
            f"t = {result.state.t:g} s: a contact is in the way between the last stage and the end "
            "of the step; shorten h, or use ImplicitEuler, BDF2 or TRBDF2, which end with a stage",
            None,
            result.start,
        )
    search.end_step(end)
    if not workspace.system._has_friction:
        return result
    # Methods that count forces at the start of the step book them as stages before the solved ones.
    at_start = len(result.stages) - len(frictions)
    stages = []
    for i, stage in enumerate(result.stages):
        if i < at_start:
            friction = workspace.find_friction(result.start.with_(q=stage.q))
        else:
            friction = frictions[i - at_start]
        stages.append(replace(stage, friction=friction))
    return replace(result, stages=tuple(stages))
