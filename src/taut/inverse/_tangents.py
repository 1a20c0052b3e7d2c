"""The derivative of a step forward: how its end changes with its start and with parameters.

The equations are those of `taut.inverse._stages`, read the other way: A dy = -∂R/∂u du. One matrix
serves all directions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from taut.arrays import Float
from taut.inverse._friction import push_friction
from taut.inverse._moment import Moment
from taut.inverse._stage_points import LinearPoint, Vectors, predict, solution_point
from taut.inverse._sums import Sum, Weight
from taut.inverse.tableaux import Evaluation, LinearSolution, Solution, Tableau


@dataclass(frozen=True, eq=False)
class Direction:
    """A direction in the space of parameters.

    packed : changes of packed parameters of each law, (m, width), by name
    mass : (n,); alpha, beta : of Rayleigh damping
    held : of the places where points are held, (n, 3)
    paths : of scripted positions, (n, 3), by the time at which paths are read [s]
    """

    packed: dict[str, Float]
    mass: Float
    held: Float
    alpha: float = 0.0
    beta: float = 0.0
    paths: Mapping[float, Float] = field(default_factory=dict)


@dataclass(frozen=True)
class Shift:
    """Changes of the time at which a step starts, of its length and of that of the last one [s]."""

    t: float = 0.0
    h: float = 0.0
    last: float = 0.0

    def change(self, weight: Weight) -> float:
        """Return the change of a weight."""
        return weight.by_h * self.h + weight.by_last * self.last


@dataclass(frozen=True, eq=False)
class Move:
    """A direction and its effect on one step.

    dot : changes of the vectors of the step by name, those of its stages added as they are found
    vectors : start, history and stages of the step
    """

    moment: Moment
    direction: Direction
    shift: Shift
    dot: Vectors
    vectors: Vectors

    def change(self, total: Sum) -> Float:
        """Return the change of a sum, (n, 3)."""
        found = total.evaluate({name: self.dot[name] for name in total.weights})
        for name, weight in total.weights.items():
            slope = self.shift.change(weight)
            if slope:
                found = found + slope * self.vectors[name]
        return found

    def change_anchors(self, t: float, dt: float) -> Float:
        """Return the change of b(t) [m], (n, 3), if t changes by dt."""
        found = self.direction.held
        if t in self.direction.paths:
            found = found + self.direction.paths[t]
        return found + dt * self.moment.path_slopes(t) if dt else found

    def constrain(self, dq: Float, t: float, dt: float) -> Float:
        """Return the change of positions after constraints, (n, 3), from that before."""
        moment, anchors = self.moment, self.change_anchors(t, dt)
        return moment.project(dq) + anchors - moment.project(anchors)

    def change_path_velocities(self, at: float) -> Float:
        """Return the change of the velocities that paths prescribe at a part of the step."""
        moment, shift = self.moment, self.shift
        total = np.zeros((moment.system.n, 3))
        if not moment.projector.scripts:
            return total
        t, h = moment.state.t, moment.h
        for part, weight in zip(*moment.projector.velocity_weights(at), strict=True):
            total += weight / h * self.change_anchors(t + h * part, shift.t + part * shift.h)
        total = moment.scripted_part(total)
        return total - shift.h / h * moment.path_velocities(at) if shift.h else total

    def change_path_differences(self, dq: Float, t: float, dt: float) -> Float:
        """Return the change of b(t) - q of scripted particles, 0 of the others, (n, 3)."""
        return self.moment.scripted_part(self.change_anchors(t, dt) - dq)


def push_step(
    moment: Moment,
    tableau: Tableau,
    vectors: Vectors,
    dots: Sequence[Vectors],
    along: Sequence[Direction],
    shifts: Sequence[Shift],
) -> list[Vectors]:
    """Return the changes of "q", "v" and the history at the end of a step.

    vectors : start, history and stages of the step
    dots : changes of the vectors at its start, one mapping for each direction
    """
    moves = [
        Move(moment, direction, shift, dict(dot), vectors)
        for dot, direction, shift in zip(dots, along, shifts, strict=True)
    ]
    loads = [_push_loads(move) for move in moves]
    for stage in tableau.stages:
        if isinstance(stage, Evaluation):
            for move, load in zip(moves, loads, strict=True):
                _push_evaluation(move, stage, load)
        elif isinstance(stage, Solution):
            _push_solution(moment, stage, vectors, moves, loads)
        else:
            _push_linear(moment, stage, vectors, moves, loads)
    ends = []
    for move in moves:
        dot, shift = move.dot, move.shift
        if isinstance(tableau.end, str):
            end = {"q": dot[f"q {tableau.end}"], "v": dot[f"v {tableau.end}"]}
        else:
            t, dt = moment.state.t + moment.h, shift.t + shift.h
            q = move.constrain(move.change(tableau.end[0]), t, dt)
            v = moment.project(move.change(tableau.end[1])) + move.change_path_velocities(1.0)
            end = {"q": q, "v": v}
        for name, total in tableau.history.items():
            end[name] = move.change(total)
        ends.append(end)
    return ends


def _push_loads(move: Move) -> Float:
    moment, direction, dot = move.moment, move.direction, move.dot
    state, total = moment.state, np.zeros((moment.system.n, 3))
    q, v = np.array(state.q), np.array(state.v)
    for name, placed in moment.system._placed_loads.items():
        packed = direction.packed[name]
        if move.shift.t and placed.parameters.time_dependent:
            packed = packed + move.shift.t * moment.load_slopes(placed)
        total += placed.push(
            q, v, state.t, (dot["q"], dot["v"], packed), moment.forces.active.get(name)
        )
    return total


def _push_rayleigh(
    move: Move, q: Float, t: float, v: Float, changes: tuple[Float, Float, float]
) -> Float:
    """Return the change of D v, D = αM + βK⁺ at q and t, with changes (dq, dv, dt)."""
    moment, direction, (dq, dv, dt) = move.moment, move.direction, changes
    stiffness, rayleigh = moment.rayleigh_stiffness(q, t), moment.system._rayleigh
    if stiffness is None or rayleigh is None:
        return np.zeros_like(v)
    total = moment.multiply_rayleigh(stiffness, dv)
    total += direction.alpha * moment.mass * v + rayleigh.alpha * direction.mass[:, None] * v
    total += direction.beta * stiffness.multiply(v)
    if rayleigh.beta:
        total += rayleigh.beta * moment.forces.push_stiffness(
            q, t, v, dq, dt, direction.packed, project=True
        )
    return total


def _push_evaluation(move: Move, stage: Evaluation, load: Float) -> None:
    moment, direction, vectors = move.moment, move.direction, move.vectors
    t, name, forces = moment.state.t + stage.t.value, stage.name, moment.forces
    dt = move.shift.t + move.shift.change(stage.t)
    q, v, a = vectors[f"q {name}"], vectors[f"v {name}"], vectors[f"a {name}"]
    dq = move.constrain(move.change(stage.q), t, dt)
    dv = moment.project(move.change(stage.v)) + move.change_path_velocities(stage.path)
    total = forces.push_energies(q, t, dq, dt, direction.packed)
    total += forces.push_rates(v, q, t, (dv, dq, dt), direction.packed)
    zero = np.zeros_like(dq)
    total += push_friction(
        forces.sliding_at(q, "rate"), (v, q, 0.0), (dv, zero, 0.0, dq), direction.packed
    )
    total += _push_rayleigh(move, q, t, v, (dq, dv, dt))
    da = moment.project(load - total) / moment.mass - direction.mass[:, None] * a / moment.mass
    move.dot.update({f"q {name}": dq, f"v {name}": dv, f"a {name}": da})


def _push_solution(
    moment: Moment,
    stage: Solution,
    vectors: Vectors,
    moves: Sequence[Move],
    loads: Sequence[Float],
) -> None:
    point = solution_point(moment, stage, vectors)
    _, predicted_v, prescribed = predict(moment, stage, vectors)
    gamma, t, forces = point.gamma, point.t, moment.forces
    y = gamma * moment.project(point.v - predicted_v)
    gained = stage.v.evaluate(vectors)
    solve = moment.prepare(moment.stage_matrix(point))
    sliding = moment.sliding(point)
    for move, load in zip(moves, loads, strict=True):
        direction, shift = move.direction, move.shift
        dt, d_gamma = shift.t + shift.change(stage.t), shift.change(stage.gamma)
        start, gain = move.change(stage.q), move.change(stage.v)
        dq = move.constrain(start + gamma * gain + d_gamma * gained, t, dt)
        dv = moment.project(gain) - d_gamma / gamma**2 * y
        if stage.path is None:
            dv = dv + move.change_path_differences(start, t, dt) / gamma
            dv = dv - d_gamma / gamma * prescribed
        else:
            dv = dv + move.change_path_velocities(stage.path)
        frozen, frozen_dt = move.dot["q"], shift.t
        if stage.frozen is not None:
            frozen, frozen_dt = move.constrain(move.change(stage.frozen), t, dt), dt
        total = forces.push_energies(point.q, t, dq, dt, direction.packed) - load
        if point.increments:
            changes = (dq, frozen, d_gamma, dt)
            total += forces.push_increments(
                point.q, point.frozen, gamma, t, changes, direction.packed
            )
            at, moved = (point.q, point.frozen, gamma), (dq, frozen, d_gamma, dq)
            total += push_friction(sliding, at, moved, direction.packed)
        else:
            changes_of_rates = (dv, frozen, dt)
            total += forces.push_rates(point.v, point.frozen, t, changes_of_rates, direction.packed)
            at, moved = (point.v, point.frozen, 0.0), (dv, frozen, 0.0, dq)
            total += push_friction(sliding, at, moved, direction.packed)
        total += _push_rayleigh(
            move, point.frozen, point.frozen_time, point.v, (frozen, dv, frozen_dt)
        )
        inertia = direction.mass[:, None] - 2.0 * d_gamma / gamma * moment.mass
        total += inertia * y / gamma**2
        dy = -solve(total)
        move.dot.update({f"q {stage.name}": dq + dy, f"v {stage.name}": dv + dy / gamma})


def _push_linear(
    moment: Moment,
    stage: LinearSolution,
    vectors: Vectors,
    moves: Sequence[Move],
    loads: Sequence[Float],
) -> None:
    linear = LinearPoint(moment, stage, vectors)
    h, t, q, v, new_v = linear.h, linear.t, linear.q, linear.v, linear.new_v
    forces = moment.forces
    y = h * moment.project(new_v - linear.predicted_v)
    prescribed = moment.difference_paths(t, q, h)
    solve = moment.prepare(linear.matrix)
    for move, load in zip(moves, loads, strict=True):
        packed, dh = move.direction.packed, move.shift.h
        dq, dv, dt = move.dot["q"], move.dot["v"], move.shift.t + dh
        ahead = move.constrain(dq + h * dv + dh * v, t, dt)
        gain = moment.project(dv) + move.change_path_differences(dq, t, dt) / h
        gain = gain - dh / h * prescribed - dh / h**2 * y
        total = forces.push_energies(q, t, dq, dt, packed) - load
        total += linear.stiffness.multiply(h * gain + dh * new_v)
        total += h * forces.push_stiffness(q, t, new_v, dq, dt, packed, project=stage.project)
        if linear.damping is not None:
            total += linear.damping.multiply(gain - dv)
            total += forces.push_rates(v, q, t, (dv, dq, dt), packed)
            total += forces.push_damping_matrix(v, q, t, new_v - v, (dv, dq, dt), packed)
        total += _push_rayleigh(move, q, moment.state.t, new_v, (dq, gain, move.shift.t))
        inertia = move.direction.mass[:, None] - 2.0 * dh / h * moment.mass
        total += inertia * y / h**2
        dy = -solve(total)
        move.dot.update({f"q {stage.name}": ahead + dy, f"v {stage.name}": gain + dy / h})
