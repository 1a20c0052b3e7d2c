"""The derivative of a step backward, stage by stage; `taut.inverse._tangents` has it forward.

An implicit stage solves, for y in the free directions (S y = y),

    R = M y/γ² + ∂V/∂q(q') + dissipation(q', v', q̂) + D(q̂) v' - f = 0,
    q' = q̃ + y,   v' = ṽ + y/γ,   q̃ = S(q̄ + γ v̄) + (I - S) b(t'),   ṽ = S v̄ + prescribed.

Backward, with the gradients q'_, v'_ of what follows: Aᵀ μ = S(q'_ + v'_/γ), A = ∂R/∂y, which is
symmetric but for friction; then every other quantity u that R depends on has the gradient
-μ·∂R/∂u. Forward: A dy = -∂R/∂u du.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from taut.arrays import Float
from taut.inverse._friction import pull_friction
from taut.inverse._moment import Moment, PathSums
from taut.inverse._part import Sums
from taut.inverse._stage_points import LinearPoint, Vectors, predict, solution_point
from taut.inverse._sums import Bars, Clock, Sum, dot, pull_weight
from taut.inverse.tableaux import Evaluation, LinearSolution, Solution, Tableau


@dataclass
class Accumulator:
    """What a backward sweep adds up: gradients by parameters and by prescribed positions."""

    sums: Sums
    paths: PathSums


def pull_step(
    moment: Moment, tableau: Tableau, vectors: Vectors, bars: Bars, into: Accumulator
) -> Clock:
    """Turn the gradients by the end of a step into those by its start, in `bars`.

    vectors : start, history and stages of the step; bars : by "q end", "v end" and the history
        "… end"; those by "q", "v" and the history are added

    Returns the gradients by time and length of the step.
    """
    clock = Clock()
    load = np.zeros((moment.system.n, 3))
    for name, total in tableau.history.items():
        bars.pull_sum(total, bars.get(f"{name} end"), vectors, clock)
    q, v = bars.get("q end"), bars.get("v end")
    if isinstance(tableau.end, str):
        bars.add(f"q {tableau.end}", q)
        bars.add(f"v {tableau.end}", v)
    else:
        _pull_end(moment, tableau.end, (q, v), vectors, bars, into, clock)
    for stage in reversed(tableau.stages):
        if isinstance(stage, Evaluation):
            load += _pull_evaluation(moment, stage, vectors, bars, into, clock)
        elif isinstance(stage, Solution):
            load += _pull_solution(moment, stage, vectors, bars, into, clock)
        else:
            load += _pull_linear(moment, stage, vectors, bars, into, clock)
    _pull_loads(moment, load, bars, into, clock)
    return clock


def _pull_end(
    moment: Moment,
    end: tuple[Sum, Sum],
    bar: tuple[Float, Float],
    vectors: Vectors,
    bars: Bars,
    into: Accumulator,
    clock: Clock,
) -> None:
    free, by_time = moment.pull_constraint(bar[0], moment.state.t + moment.h, into.paths)
    clock.t += by_time
    clock.h += by_time
    bars.pull_sum(end[0], free, vectors, clock)
    bars.pull_sum(end[1], moment.project(bar[1]), vectors, clock)
    moment.pull_path_velocities(bar[1], 1.0, into.paths, clock)


def _pull_evaluation(
    moment: Moment,
    stage: Evaluation,
    vectors: Vectors,
    bars: Bars,
    into: Accumulator,
    clock: Clock,
) -> Float:
    """Pull a stage at which forces are evaluated; return the gradient by the held loads."""
    name, t = stage.name, moment.state.t + stage.t.value
    q, v, a = vectors[f"q {name}"], vectors[f"v {name}"], vectors[f"a {name}"]
    bar = moment.project(bars.get(f"a {name}"))
    z = -bar / moment.mass
    sums, forces = into.sums, moment.forces
    sums.mass -= np.einsum("ni,ni->n", bar, a) / moment.system.mass
    by_q, by_time = forces.pull_energies(q, t, z, sums)
    by_v, more, later = forces.pull_rates(v, q, t, z, sums)
    by_q, by_time = by_q + more, by_time + later
    drag, _, _, more = pull_friction(forces.sliding_at(q, "rate"), (v, q, 0.0), z, sums)
    by_v, by_q = by_v + drag, by_q + more
    stiffness = moment.rayleigh_stiffness(q, t)
    if stiffness is not None:
        by_v = by_v + moment.multiply_rayleigh(stiffness, z)
        more, later = forces.pull_rayleigh(stiffness.multiply(v), q, t, v, z, sums)
        by_q, by_time = by_q + more, by_time + later
    free, later = moment.pull_constraint(bars.get(f"q {name}") + by_q, t, into.paths)
    by_time += later
    clock.t += by_time
    pull_weight(stage.t, by_time, clock)
    by_v = bars.get(f"v {name}") + by_v
    bars.pull_sum(stage.q, free, vectors, clock)
    bars.pull_sum(stage.v, moment.project(by_v), vectors, clock)
    moment.pull_path_velocities(by_v, stage.path, into.paths, clock)
    return -z


def _pull_solution(
    moment: Moment, stage: Solution, vectors: Vectors, bars: Bars, into: Accumulator, clock: Clock
) -> Float:
    """Pull an implicit stage; return the gradient by the held loads."""
    point = solution_point(moment, stage, vectors)
    _, predicted_v, _ = predict(moment, stage, vectors)
    gamma, t, sums, forces = point.gamma, point.t, into.sums, moment.forces
    y = gamma * moment.project(point.v - predicted_v)
    bar_q, bar_v = bars.get(f"q {stage.name}"), bars.get(f"v {stage.name}")
    matrix = moment.stage_matrix(point)
    z = -moment.prepare(matrix, transposed=True)(bar_q + bar_v / gamma)
    by_gamma = -2.0 * dot(z, moment.mass * y) / gamma**3
    sums.mass += np.einsum("ni,ni->n", z, y) / gamma**2
    by_q, by_time = forces.pull_energies(point.q, t, z, sums)
    bar_q = bar_q + by_q
    if point.increments:
        by_q, by_frozen, by_h, later = forces.pull_increments(
            point.q, point.frozen, gamma, t, z, sums
        )
        bar_q = bar_q + by_q
        by_gamma += by_h
        sliding = moment.sliding(point)
        at = (point.q, point.frozen, gamma)
        by_q, more, by_h, by_place = pull_friction(sliding, at, z, sums)
        bar_q, by_frozen = bar_q + by_q + by_place, by_frozen + more
        by_gamma += by_h
    else:
        by_v, by_frozen, later = forces.pull_rates(point.v, point.frozen, t, z, sums)
        sliding = moment.sliding(point)
        drag, _, _, by_place = pull_friction(sliding, (point.v, point.frozen, 0.0), z, sums)
        bar_v, bar_q = bar_v + by_v + drag, bar_q + by_place
    by_time += later
    stiffness = moment.rayleigh_stiffness(point.frozen, point.frozen_time)
    if stiffness is not None:
        bar_v = bar_v + moment.multiply_rayleigh(stiffness, z)
        by_q, later = forces.pull_rayleigh(
            stiffness.multiply(point.v), point.frozen, point.frozen_time, point.v, z, sums
        )
        by_frozen = by_frozen + by_q
        if point.increments:
            clock.t += later  # the geometry is that of the start
        else:
            by_time += later
    by_gamma -= dot(bar_v, y) / gamma**2
    if stage.frozen is None:
        bars.add("q", by_frozen)
    else:
        free, later = moment.pull_constraint(by_frozen, t, into.paths)
        by_time += later
        bars.pull_sum(stage.frozen, free, vectors, clock)
    # q̃ and ṽ
    free, later = moment.pull_constraint(bar_q, t, into.paths)
    by_time += later
    by_start, by_gain = free, gamma * free + moment.project(bar_v)
    by_gamma += dot(free, stage.v.evaluate(vectors))
    if stage.path is not None:
        moment.pull_path_velocities(bar_v, stage.path, into.paths, clock)
    else:
        held = moment.scripted_part(bar_v)
        if held.any():
            into.paths.add(t, held / gamma)
            by_time += dot(held, moment.path_slopes(t)) / gamma
            by_start = by_start - held / gamma
            slopes = moment.difference_paths(t, stage.q.evaluate(vectors), gamma)
            by_gamma -= dot(held, slopes) / gamma
    bars.pull_sum(stage.q, by_start, vectors, clock)
    bars.pull_sum(stage.v, by_gain, vectors, clock)
    clock.t += by_time
    pull_weight(stage.t, by_time, clock)
    pull_weight(stage.gamma, by_gamma, clock)
    return -z


def _pull_linear(
    moment: Moment,
    stage: LinearSolution,
    vectors: Vectors,
    bars: Bars,
    into: Accumulator,
    clock: Clock,
) -> Float:
    """Pull the stage of linearly implicit Euler; return the gradient by the held loads.

    Its residual is M y/h² + h K v' + D_Ψ (v' - v) + ∂Ψ/∂v(v) + ∂V/∂q(q, t') + D v', all matrices
    at the start.
    """
    linear = LinearPoint(moment, stage, vectors)
    h, t, q, v, new_v = linear.h, linear.t, linear.q, linear.v, linear.new_v
    sums, forces = into.sums, moment.forces
    bar_q, bar_v = bars.get(f"q {stage.name}"), bars.get(f"v {stage.name}")
    z = -moment.prepare(linear.matrix)(bar_q + bar_v / h)
    y = h * moment.project(new_v - linear.predicted_v)
    sums.mass += np.einsum("ni,ni->n", z, y) / h**2
    by_h = -2.0 * dot(z, moment.mass * y) / h**3 + dot(z, linear.stiffness.multiply(new_v))
    bar_v = bar_v + h * linear.stiffness.multiply(z)
    by_q, by_time = forces.pull_energies(q, t, z, sums)
    more, later = forces.pull_stiffness(q, t, z, new_v, sums, project=stage.project, scale=h)
    by_q, by_time = by_q + more, by_time + later
    by_v = np.zeros_like(v)
    if linear.damping is not None:
        drag = linear.damping.multiply(z)
        bar_v = bar_v + drag
        by_v, more, later = forces.pull_rates(v, q, t, z, sums)
        by_q, by_time, by_v = by_q + more, by_time + later, by_v - drag
        bent, more, later = forces.pull_damping_matrix(v, q, t, z, new_v - v, sums)
        by_q, by_time, by_v = by_q + more, by_time + later, by_v + bent
    if linear.rayleigh is not None:
        bar_v = bar_v + moment.multiply_rayleigh(linear.rayleigh, z)
        start = moment.state.t
        more, later = forces.pull_rayleigh(
            linear.rayleigh.multiply(new_v), q, start, new_v, z, sums
        )
        by_q = by_q + more
        clock.t += later
    by_h -= dot(bar_v, y) / h**2
    free, later = moment.pull_constraint(bar_q, t, into.paths)
    by_time += later
    by_h += dot(free, v)
    held = moment.scripted_part(bar_v)
    bars.add("q", by_q + free)
    bars.add("v", by_v + h * free + moment.project(bar_v))
    if held.any():
        into.paths.add(t, held / h)
        by_time += dot(held, moment.path_slopes(t)) / h
        bars.add("q", -held / h)
        by_h -= dot(held, moment.difference_paths(t, q, h)) / h
    clock.t += by_time
    clock.h += by_time + by_h
    return -z


def _pull_loads(moment: Moment, bar: Float, bars: Bars, into: Accumulator, clock: Clock) -> None:
    """Pull the loads, which are evaluated at the start of the step and held."""
    state, system = moment.state, moment.system
    q, v = np.array(state.q), np.array(state.v)
    for name, placed in system._placed_loads.items():
        active = moment.forces.active.get(name)
        by_q, by_v, by_p = placed.pull(q, v, state.t, bar, active)
        bars.add("q", by_q)
        bars.add("v", by_v)
        into.sums.packed[name] += by_p
        if into.sums.times and placed.parameters.time_dependent:
            slopes = moment.load_slopes(placed)
            clock.t += float(np.einsum("mj,mj->", by_p, slopes))
