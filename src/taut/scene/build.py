"""From the tables of a scene to a System, an integrator and a state to start from. All problems are told at once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from taut.errors import LawError, SceneError, TautError
from taut.mesh import embed
from taut.mesh.mesh import Mesh
from taut.scene.catalogue import integrator_names
from taut.scene.folder import Folder
from taut.scene.gathering import Gathering
from taut.scene.joints import OUTSIDE
from taut.scene.mesh_of import mesh_of
from taut.scene.model import IntegratorTable, SceneFile
from taut.scene.part import Part
from taut.scene.problems import Problems
from taut.scene.room import Room, refuse_many
from taut.solve.tolerance import Tolerance
from taut.step.adaptive import Adaptive
from taut.step.integrator import Integrator
from taut.system.state import State
from taut.system.system import System

LOOKS = 33  # at what depends on time, before the first step


@dataclass(frozen=True, eq=False)
class Built:
    """A scene ready to step.

    system, state, integrator : for `taut.simulate`; h : step [s]; until : end time [s]; every : steps per frame
    bodies : in the order of the file; notes : what was picked and reached, in words

    >>> from taut.scene import load
    >>> built = load("chain").build()
    >>> built.system, built.bodies[0].stop, built.every
    (<system of 41 particles: spring (40), gravity (41), drag (41)>, 41, 1)
    """

    system: System
    state: State
    integrator: Integrator
    h: float
    until: float
    every: int
    bodies: tuple[Part, ...]
    notes: tuple[str, ...]


def build(file: SceneFile, folder: Folder, problems: Problems, *, allow_code: bool | None, most: int) -> Built:
    """Everything a run needs; a SceneError with all problems if there are any. allow_code : None passes laws of files over."""
    with np.errstate(all="ignore"):  # overflows end as numbers that are not finite, which are refused by name
        parts = meshes_of(file, folder, problems, most)
        whole = Gathering(file, parts, folder, problems, allow_code)
        whole.all()
        with problems.at("integrator"):
            integrator = _integrator(file.integrator)
        system, state = _system(file, whole)
        _look_ahead(system, file.time.duration, whole)
        problems.refuse()
    return Built(
        system, state, integrator, file.time.h, file.time.duration, file.output.every, tuple(parts.values()), tuple(whole.notes)
    )


def meshes_of(file: SceneFile, folder: Folder, problems: Problems, most: int) -> dict[int, Part]:
    """The meshes of all bodies by number, one after the other among the particles; those that could not be had are left out."""
    parts: dict[int, Part] = {}
    start, room = 0, Room(most)
    for i, body in enumerate(file.body):
        with problems.at("body", i, "mesh"):
            mesh = mesh_of(body.mesh, folder, room)
            refuse_many(start + mesh.n, most)
            if file.dimensions == 2 and np.any(mesh.positions[:, 2]):
                raise SceneError(["the scene has two dimensions, but the mesh leaves the plane z = 0"])
            parts[i] = Part(body.name, mesh, start, start + mesh.n)
            start += mesh.n
            if body.render is not None:
                with problems.at("body", i, "render"):
                    parts[i] = replace(parts[i], render=_ridden(mesh_of(body.render, folder, room), mesh))
    return parts


def _ridden(render: Mesh, cage: Mesh) -> Mesh:
    """A mesh to look at, which the cells of the other can carry."""
    far = (embed(render, cage).weights < OUTSIDE).any(axis=1)
    if far.any():
        raise SceneError([f"its point {int(np.argmax(far))} lies far outside of the mesh that is simulated"])
    return render


def _integrator(asked: IntegratorTable) -> Integrator:
    """The integrator that a scene names, with its options."""
    options: dict[str, Any] = {}
    if asked.tolerance is not None or asked.force is not None:
        given = {"relative": asked.tolerance, "force": asked.force}
        options["tolerance"] = Tolerance(**{name: value for name, value in given.items() if value is not None})
    options |= {name: getattr(asked, name) for name in ("solver", "minimiser") if getattr(asked, name) is not None}
    made: Integrator = integrator_names()[asked.method](**options)
    return made if asked.adaptive is None else Adaptive(made, error=asked.adaptive.error, halvings=asked.adaptive.halvings)


def _system(file: SceneFile, whole: Gathering) -> tuple[System, State]:
    rest = np.concatenate([np.empty((0, 3)), *(part.mesh.positions for part in whole.parts.values())])
    arguments: dict[str, Any] = {
        "points": rest[:, :2] if file.dimensions == 2 else rest, "mass": np.concatenate([[], *whole.masses.values()]),
        "pose": np.concatenate([rest[:0], *whole.poses.values()]),
        "velocity": np.concatenate([rest[:0], *whole.velocities.values()]),
        "constraints": whole.constraints,
    }  # fmt: skip
    problems = whole.problems
    if problems.found:
        _each_alone(arguments, whole)
        problems.refuse()
    try:
        system = System(**arguments, energies=whole.energies, damping=whole.damping, loads=whole.loads)
        return system, system.initial_state()
    except TautError as error:
        _each_alone(arguments, whole)
        problems.refuse()
        raise SceneError([str(error)], path=problems.path) from error


def _look_ahead(system: System, until: float, whole: Gathering) -> None:
    """Look at what depends on time through the whole run, at LOOKS moments: a run does not end there after hours."""
    for placed in (*system.placed.values(), *system.placed_damping.values(), *system.placed_loads.values()):
        if placed.timed and id(placed.bound) in whole.origin:
            with whole.problems.at(*whole.origin[id(placed.bound)]):
                for t in np.linspace(0.0, until, LOOKS).tolist():
                    placed.values_at(t)


def _each_alone(arguments: dict[str, Any], whole: Gathering) -> None:
    """Make a System for each law and each constraint alone, to tell all that do not fit."""
    if not whole.parts:
        return
    alone = {**arguments, "constraints": []}
    several = [("energies", whole.energies), ("damping", whole.damping), ("loads", whole.loads), ("constraints", whole.constraints)]
    for word, entries in several:
        for entry in entries:
            with whole.problems.at(*whole.origin[id(entry)]):
                try:
                    System(**{**alone, word: [entry]}).initial_state()
                except LawError as error:
                    hint = "; say on which elements: on = …" if getattr(entry, "elements", 0) is None else ""
                    raise SceneError([f"{error}{hint}"]) from error
