"""The derivative of a step forward: how its end changes with its start and with parameters.

The equations are those of `taut.inverse._stages`, read the other way: A dy = -∂R/∂u du. One matrix
serves all directions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from taut.arrays import Float
from taut.inverse._moment import Moment
from taut.inverse._stage_points import LinearPoint, Vectors, predict, solution_point
from taut.inverse._sums import Sum
from taut.inverse.tableaux import Evaluation, LinearSolution, Solution, Tableau


@dataclass(frozen=True, eq=False)
class Direction:
    """A direction in the space of parameters.

    packed : changes of packed parameters of each law, (m, width), by name
    mass : (n,); alpha, beta : of Rayleigh damping
    held : of the places where points are held, (n, 3)
    """

    packed: dict[str, Float]
    mass: Float
    held: Float
    alpha: float = 0.0
    beta: float = 0.0


def push_step(
    moment: Moment,
    tableau: Tableau,
    vectors: Vectors,
    dots: Sequence[Vectors],
    along: Sequence[Direction],
) -> list[Vectors]:
    """Return the changes of "q", "v" and the history at the end of a step.

    vectors : start, history and stages of the step
    dots : changes of the vectors at its start, one mapping for each direction
    """
    moves = [dict(dot) for dot in dots]
    loads = [
        _push_loads(moment, dot, direction) for dot, direction in zip(moves, along, strict=True)
    ]
    for stage in tableau.stages:
        if isinstance(stage, Evaluation):
            for dot, direction, load in zip(moves, along, loads, strict=True):
                _push_evaluation(moment, stage, vectors, dot, direction, load)
        elif isinstance(stage, Solution):
            _push_solution(moment, stage, vectors, moves, along, loads)
        else:
            _push_linear(moment, stage, vectors, moves, along, loads)
    ends = []
    for dot, direction in zip(moves, along, strict=True):
        if isinstance(tableau.end, str):
            end = {"q": dot[f"q {tableau.end}"], "v": dot[f"v {tableau.end}"]}
        else:
            q = _constrain(moment, _change(tableau.end[0], dot), direction)
            v = moment.project(_change(tableau.end[1], dot))
            end = {"q": q, "v": v}
        for name, total in tableau.history.items():
            end[name] = _change(total, dot)
        ends.append(end)
    return ends


def _change(total: Sum, dot: Vectors) -> Float:
    return total.evaluate({name: dot[name] for name in total.weights})


def _constrain(moment: Moment, dq: Float, direction: Direction) -> Float:
    """Return the change of positions after constraints, (n, 3), from that before."""
    return moment.project(dq) + direction.held - moment.project(direction.held)


def _push_loads(moment: Moment, dot: Vectors, direction: Direction) -> Float:
    state, total = moment.state, np.zeros((moment.system.n, 3))
    q, v = np.array(state.q), np.array(state.v)
    for name, placed in moment.system._placed_loads.items():
        moves = (dot["q"], dot["v"], direction.packed[name])
        total += placed.push(q, v, state.t, moves, moment.forces.active.get(name))
    return total


def _push_rayleigh(
    moment: Moment, q: Float, t: float, v: Float, dq: Float, dv: Float, direction: Direction
) -> Float:
    """Return the change of D v, D = αM + βK⁺ at q and t."""
    stiffness, rayleigh = moment.rayleigh_stiffness(q, t), moment.system._rayleigh
    if stiffness is None or rayleigh is None:
        return np.zeros_like(v)
    total = moment.multiply_rayleigh(stiffness, dv)
    total += direction.alpha * moment.mass * v + rayleigh.alpha * direction.mass[:, None] * v
    total += direction.beta * stiffness.multiply(v)
    if rayleigh.beta:
        total += rayleigh.beta * moment.forces.push_stiffness(
            q, t, v, dq, 0.0, direction.packed, project=True
        )
    return total


def _push_evaluation(
    moment: Moment,
    stage: Evaluation,
    vectors: Vectors,
    dot: Vectors,
    direction: Direction,
    load: Float,
) -> None:
    t, name, forces = moment.state.t + stage.t.value, stage.name, moment.forces
    q, v, a = vectors[f"q {name}"], vectors[f"v {name}"], vectors[f"a {name}"]
    dq = _constrain(moment, _change(stage.q, dot), direction)
    dv = moment.project(_change(stage.v, dot))
    total = forces.push_energies(q, t, dq, 0.0, direction.packed)
    total += forces.push_rates(v, q, t, (dv, dq, 0.0), direction.packed)
    total += _push_rayleigh(moment, q, t, v, dq, dv, direction)
    da = moment.project(load - total) / moment.mass - direction.mass[:, None] * a / moment.mass
    dot |= {f"q {name}": dq, f"v {name}": dv, f"a {name}": da}


def _push_solution(
    moment: Moment,
    stage: Solution,
    vectors: Vectors,
    dots: Sequence[Vectors],
    along: Sequence[Direction],
    loads: Sequence[Float],
) -> None:
    point = solution_point(moment, stage, vectors)
    _, predicted_v, _ = predict(moment, stage, vectors)
    gamma, t, forces = point.gamma, point.t, moment.forces
    y = gamma * moment.project(point.v - predicted_v)
    solve = moment.prepare(moment.stage_matrix(point))
    for dot, direction, load in zip(dots, along, loads, strict=True):
        start, gain = _change(stage.q, dot), _change(stage.v, dot)
        dq, dv = _constrain(moment, start + gamma * gain, direction), moment.project(gain)
        if stage.path is None:
            dv = dv - moment.scripted_part(start) / gamma
        frozen = dot["q"]
        if stage.frozen is not None:
            frozen = _constrain(moment, _change(stage.frozen, dot), direction)
        total = forces.push_energies(point.q, t, dq, 0.0, direction.packed) - load
        if point.increments:
            changes = (dq, frozen, 0.0, 0.0)
            total += forces.push_increments(
                point.q, point.frozen, gamma, t, changes, direction.packed
            )
        else:
            changes_of_rates = (dv, frozen, 0.0)
            total += forces.push_rates(point.v, point.frozen, t, changes_of_rates, direction.packed)
        total += _push_rayleigh(
            moment, point.frozen, point.frozen_time, point.v, frozen, dv, direction
        )
        total += direction.mass[:, None] * y / gamma**2
        dy = -solve(total)
        dot |= {f"q {stage.name}": dq + dy, f"v {stage.name}": dv + dy / gamma}


def _push_linear(
    moment: Moment,
    stage: LinearSolution,
    vectors: Vectors,
    dots: Sequence[Vectors],
    along: Sequence[Direction],
    loads: Sequence[Float],
) -> None:
    linear = LinearPoint(moment, stage, vectors)
    h, t, q, v, new_v = linear.h, linear.t, linear.q, linear.v, linear.new_v
    forces = moment.forces
    y = h * moment.project(new_v - linear.predicted_v)
    solve = moment.prepare(linear.matrix)
    for dot, direction, load in zip(dots, along, loads, strict=True):
        dq, dv = dot["q"], dot["v"]
        ahead = _constrain(moment, dq + h * dv, direction)
        gain = moment.project(dv) - moment.scripted_part(dq) / h
        total = forces.push_energies(q, t, dq, 0.0, direction.packed) - load
        total += h * linear.stiffness.multiply(gain)
        total += h * forces.push_stiffness(
            q, t, new_v, dq, 0.0, direction.packed, project=stage.project
        )
        if linear.damping is not None:
            total += linear.damping.multiply(gain - dv)
            total += forces.push_rates(v, q, t, (dv, dq, 0.0), direction.packed)
            total += forces.push_damping_matrix(v, q, t, new_v - v, (dv, dq, 0.0), direction.packed)
        total += _push_rayleigh(moment, q, moment.state.t, new_v, dq, gain, direction)
        total += direction.mass[:, None] * y / h**2
        dy = -solve(total)
        dot |= {f"q {stage.name}": ahead + dy, f"v {stage.name}": gain + dy / h}
