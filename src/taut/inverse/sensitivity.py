"""Forward sensitivities: how every state of a trajectory changes with a few parameters.

One linear system a stage serves all parameters. With many parameters and one number to
differentiate, `taut.gradient` is cheaper; with few parameters and many outputs, this is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from taut.arrays import Float, describe
from taut.errors import ModelError
from taut.formula.products import Program, make_push
from taut.inverse._moment import Moment
from taut.inverse._stage_points import Vectors, evaluate_point
from taut.inverse._tangents import Direction, push_step
from taut.inverse._tape import Record, record_step
from taut.inverse.result import ACCURACY, Gradient, check_differentiable
from taut.inverse.tableaux import HISTORY, Evaluation, find_kind
from taut.inverse.targets import (
    OF_CONTACT,
    change_system,
    check_targets,
    find_held_at_start,
    laws_by_name,
    list_measures,
    read_value,
    split_name,
)
from taut.run.simulate import Simulation
from taut.step.adaptive import Adaptive
from taut.step.integrator import Integrator
from taut.system.contact import CONTACT_NAME
from taut.system.system import System
from taut.system.workspace import workspace_for

_NOT_FORWARD = ("h", "paths")
# How measured rest values change with the rest positions: law, parameter and program, by system
_MEASURES: WeakKeyDictionary[System, list[tuple[str, str, Program]]] = WeakKeyDictionary()


@dataclass(frozen=True, eq=False)
class Sensitivity:
    """The states of a trajectory and their derivatives.

    t : times of the first state and of the one after every step [s], (k,)
    q, v : positions [m] and velocities [m/s], (k, n, 3)
    dq, dv : their derivatives by each parameter, (k, n, 3, *shape of the parameter), by name
    """

    t: Float
    q: Float
    v: Float
    dq: Mapping[str, Float]
    dv: Mapping[str, Float]


def make_direction(system: System, name: str, unit: Float) -> tuple[Direction, Vectors]:
    """Return the direction of a change of one parameter, and what it does to the first state."""
    packed = {
        law: np.zeros_like(placed.parameters.pack(0.0))
        for group in system._groups()
        for law, placed in group.items()
    }
    packed[CONTACT_NAME] = np.zeros(2)
    mass, alpha, beta, held = np.zeros(system.n), 0.0, 0.0, np.zeros((system.n, 3))
    first: Vectors = {"q": np.zeros((system.n, 3)), "v": np.zeros((system.n, 3))}
    if name == "mass":
        mass = np.array(unit)
        for group in system._groups():
            for law, placed in group.items():
                own = placed.parameters
                if "mass" in own.shapes and placed.bound.parameters.get("mass") is None:
                    columns = own.columns("mass")
                    packed[law][:, columns] = mass[placed.elements].reshape(
                        packed[law][:, columns].shape
                    )
    elif name == "velocity":
        first["v"] = system._projector.project(np.array(unit))
    elif name == "pose" or (name == "points" and not system._has_own_pose):
        free = system._projector.project(np.array(unit))
        held = np.where(find_held_at_start(system)[:, None], unit - free, 0.0)
        if system.flat:
            held[:, 2] = 0.0
        first["q"] = free + held
    elif name == "points":
        pass  # see below
    elif name in OF_CONTACT:
        packed[CONTACT_NAME][OF_CONTACT.index(name)] = float(unit)
    elif name == "rayleigh.alpha":
        alpha = float(unit)
    elif name == "rayleigh.beta":
        beta = float(unit)
    else:
        law, parameter = split_name(system, name)
        own = {n: p for group in system._groups() for n, p in group.items()}[law].parameters
        columns, shape = own.columns(parameter), own.shapes[parameter]
        rows = len(packed[law])
        value = np.broadcast_to(unit, (rows, *shape))
        packed[law][:, columns] = value.reshape(packed[law][:, columns].shape)
    if name == "points":
        _push_measures(system, np.array(unit), packed)
    for vector in HISTORY.values():
        first[vector] = np.zeros((system.n, 3))
    return Direction(packed, mass, held, alpha, beta), first


def _push_measures(system: System, moved: Float, packed: dict[str, Float]) -> None:
    """Write the changes of measured rest values for moves of the rest positions, (n, 3)."""
    if system not in _MEASURES:
        _MEASURES[system] = [
            (law, parameter, make_push(roots, {"x": x}))
            for law, parameter, roots, x in list_measures(system)
        ]
    for law, parameter, program in _MEASURES[system]:
        placed = laws_by_name(system)[law]
        corners, m = system.rest[placed.elements], len(placed.elements)
        inputs = {"x": corners, "dx": moved[placed.elements].reshape(m, -1)}
        own = packed[law][:, placed.parameters.columns(parameter)]
        own[:] = program.run(inputs, m)["r"].reshape(own.shape)
        packed[law][:, placed.parameters.columns(parameter)] = own


def push_record(
    system: System,
    integrator: Integrator,
    record: Record,
    dots: Sequence[Vectors],
    along: Sequence[Direction],
    accuracy: float = ACCURACY,
) -> list[Vectors]:
    """Return the changes at the end of a recorded step."""
    moment = Moment(workspace_for(system), integrator, record.start, record.h, accuracy)
    vectors = record.vectors()
    for stage in record.tableau.stages:
        if isinstance(stage, Evaluation):
            evaluate_point(moment, stage, vectors)
    ends = push_step(moment, record.tableau, vectors, dots, along)
    zero = np.zeros((system.n, 3))
    return [{name: end.get(name, zero) for name in ("q", "v", *HISTORY.values())} for end in ends]


def sensitivity(subject: Simulation, by: Sequence[str]) -> Sensitivity:
    """Return the states of a simulation and their derivatives by parameters.

    subject : `taut.simulate(…)`, not yet begun
    by : as in `taut.gradient`, without "h" and "paths"; each entry of a parameter costs about as
        much as a linear solve in every step

    >>> import taut
    >>> ball = taut.System([[0, 0, 0]], mass=2.0, energies=[taut.laws.gravity()])
    >>> run = taut.simulate(ball, taut.ImplicitMidpoint(), h=0.1, until=0.2)
    >>> taut.sensitivity(run, ["gravity.g"]).dq["gravity.g"][:, 0, 1, 1].round(6)
    array([0.   , 0.005, 0.02 ])
    """
    if not isinstance(subject, Simulation):
        raise ModelError(f"sensitivity needs a taut.simulate(…), got {describe(subject)}")
    system, integrator = subject.system, subject.integrator
    check_differentiable(system)
    find_kind(integrator)
    names = check_targets(system, by)
    for name in names:
        if name in _NOT_FORWARD:
            raise ModelError(
                f"sensitivity by '{name}' is not available; taut.gradient differentiates by it"
            )
    along: list[Direction] = []
    dots: list[Vectors] = []
    shapes = {name: read_value(system, name).shape for name in names}
    for name in names:
        for k in range(int(np.prod(shapes[name], dtype=int))):
            unit = np.zeros(shapes[name])
            unit.reshape(-1)[k] = 1.0
            direction, first = make_direction(system, name, unit)
            along.append(direction)
            dots.append(first)
    times, state = subject.plan
    begins = ("pose", "points", "velocity")
    if not np.array_equal(state.q, system.initial_state().q) and set(begins) & set(names):
        raise ModelError(
            f"sensitivity by {', '.join(begins)} needs a run that begins with the initial state"
        )
    inner = integrator.integrator if isinstance(integrator, Adaptive) else integrator
    states, changes = [state], [dots]
    for index in range(times.steps):
        result = integrator.advance(system, state, times.length(index))
        integrator.warn(result)
        for record in record_step(integrator, result).records:
            dots = push_record(system, inner, record, dots, along)
        state = result.state
        states.append(state)
        changes.append(dots)
    dq: dict[str, Float] = {}
    dv: dict[str, Float] = {}
    column = 0
    for name, shape in shapes.items():
        size = int(np.prod(shape, dtype=int))
        own = range(column, column + size)
        for target, key in ((dq, "q"), (dv, "v")):
            rows = [np.stack([dot[k][key] for k in own], axis=-1) for dot in changes]
            target[name] = np.array(rows).reshape(len(states), system.n, 3, *shape)
        column += size
    return Sensitivity(
        np.array([s.t for s in states]),
        np.array([s.q for s in states]),
        np.array([s.v for s in states]),
        dq,
        dv,
    )


def hessian_product(
    gradient_at: Callable[[System], Gradient],
    system: System,
    direction: Mapping[str, Any],
    *,
    size: float = 1e-4,
) -> dict[str, Any]:
    """Return the product of the Hessian of a loss with a direction, by differences of gradients.

    gradient_at : returns the gradient of the loss for a system, such as
        lambda s: taut.gradient(taut.simulate(s, …), loss, by=["spring.k", "spring.l0"])
    direction : changes of parameters by name
    size : of the change, relative to the parameters; gradients are differentiated centrally

    >>> import numpy as np, taut
    >>> ball = taut.System([[0, 0, 0]], mass=1.0, energies=[taut.laws.pin(k=4.0)],
    ...                    pose=[[1, 0, 0]])
    >>> def gradient_at(system):
    ...     run = taut.simulate(system, taut.ImplicitEuler(), h=0.5, until=0.5)
    ...     return taut.gradient(run, lambda s: (s.q[0, 0] ** 2 / 2, np.array(s.q)), ["pose"])
    >>> product = taut.inverse.hessian_product(gradient_at, ball, {"pose": [[1.0, 0, 0]]})
    >>> product["pose"][0].round(6)
    array([1.25, 0.  , 0.  ])
    """
    values = {name: read_value(system, name) for name in direction}
    largest = max(float(np.abs(np.asarray(d)).max()) for d in direction.values())
    scale = max(float(np.abs(value).max()) for value in values.values())
    step = size * (scale or 1.0) / largest

    def at(sign: float) -> Gradient:
        moved = {
            name: value + sign * step * np.asarray(direction[name])
            for name, value in values.items()
        }
        return gradient_at(change_system(system, moved))

    ahead, behind = at(1.0), at(-1.0)
    return {name: (ahead[name] - behind[name]) / (2.0 * step) for name in ahead}
