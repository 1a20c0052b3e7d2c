"""Directions in the space of parameters, and what they do to the first state."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from weakref import WeakKeyDictionary

import numpy as np

from taut.arrays import Float
from taut.formula.products import Program, make_push
from taut.inverse._moment import Moment, PathSums
from taut.inverse._part import count_contact_columns
from taut.inverse._stage_points import Vectors
from taut.inverse._tangents import Direction
from taut.inverse.tableaux import HISTORY, LinearSolution, Tableau
from taut.inverse.targets import (
    OF_CONTACT,
    find_contact_columns,
    find_held_at_start,
    laws_by_name,
    list_measures,
    split_name,
)
from taut.system.contact import CONTACT_NAME
from taut.system.system import SCRIPT_START, System

# How measured rest values change with the rest positions: law, parameter and program, by system
_MEASURES: WeakKeyDictionary[System, list[tuple[str, str, Program]]] = WeakKeyDictionary()


def make_direction(system: System, name: str, unit: Float) -> tuple[Direction, Vectors]:
    """Return the direction of a change of one parameter, and what it does to the first state."""
    packed = {
        law: np.zeros_like(placed.parameters.pack(0.0))
        for group in system._groups()
        for law, placed in group.items()
    }
    packed[CONTACT_NAME] = np.zeros(count_contact_columns(system))
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
        packed[CONTACT_NAME][find_contact_columns(name)] = unit
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


def list_path_times(moment: Moment, tableau: Tableau) -> list[float]:
    """Return the times at which a step reads paths [s], ascending."""
    if not moment.projector.scripts:
        return []
    times, parts_of_step = set(), set()
    for stage in tableau.stages:
        after = stage.gamma if isinstance(stage, LinearSolution) else stage.t
        times.add(moment.state.t + after.value)
        if not isinstance(stage, LinearSolution) and stage.path is not None:
            parts_of_step.add(stage.path)
    if not isinstance(tableau.end, str):
        times.add(moment.state.t + moment.h)
        parts_of_step.add(1.0)
    for at in parts_of_step:
        for part, weight in zip(*moment.projector.velocity_weights(at), strict=True):
            if weight:
                times.add(moment.state.t + moment.h * part)
    return sorted(times)


def list_starting_path_times(system: System) -> list[float]:
    """Return the times at which the initial state reads paths [s]."""
    if not system._projector.scripts:
        return []
    parts, weights = system._projector.velocity_weights(0.0)
    own = [SCRIPT_START * part for part, weight in zip(parts, weights, strict=True) if weight]
    return sorted({0.0, *own})


def list_path_directions(
    system: System, t: float, *, starts: bool
) -> Iterator[tuple[Direction, Vectors]]:
    """Yield the changes of every coordinate of scripted particles at t [s], and the first states.

    starts : whether the run begins with the initial state, which reads paths too
    """
    none, first = make_direction(system, "velocity", np.zeros((system.n, 3)))
    projector = system._projector
    for particle in PathSums(system).scripted:
        for k in range(3):
            moved = np.zeros((system.n, 3))
            moved[particle, k] = 1.0
            held, begin = moved - projector.project(moved), dict(first)
            if starts and t == 0.0:
                begin["q"] = held
            if starts:
                for part, weight in zip(*projector.velocity_weights(0.0), strict=True):
                    if part * SCRIPT_START == t:
                        begin["v"] = weight / SCRIPT_START * held
            yield replace(none, paths={t: moved}), begin
