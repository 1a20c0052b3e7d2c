"""From the tables of a scene to a System, an integrator and a state to start from. All problems are told at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taut.errors import LawError, SceneError, TautError
from taut.formula.bound import Energy, Load
from taut.mesh import embed
from taut.mesh.mesh import Mesh
from taut.scene.body_of import masses_of, material_of, posed, velocities_of
from taut.scene.catalogue import integrator_names
from taut.scene.collecting import Problems
from taut.scene.elements_of import NoElements
from taut.scene.folder import Folder
from taut.scene.hold_of import hold_of
from taut.scene.joints import OUTSIDE, Seat, attached, chosen, stitched
from taut.scene.law_of import law_of, whole_damping
from taut.scene.mesh_of import mesh_of, refuse_many
from taut.scene.model import IntegratorTable, SceneFile
from taut.scene.places import Place
from taut.solve.tolerance import Tolerance
from taut.step.adaptive import Adaptive
from taut.step.integrator import Integrator
from taut.system.constraints import Constraint
from taut.system.state import State
from taut.system.system import System

Float = NDArray[np.float64]
Int = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Part:
    """A body among the particles of the whole: those from `start` up to `stop`, on a mesh whose points are the rest shape.

    render : the mesh that is looked at in its place, or None
    """

    name: str
    mesh: Mesh
    start: int
    stop: int
    render: Mesh | None = None


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


@dataclass
class _Whole:
    """What is gathered of all bodies."""

    energies: list[Energy] = field(default_factory=list)
    damping: list[Any] = field(default_factory=list)
    loads: list[Load] = field(default_factory=list)
    constraints: list[Constraint] = field(default_factory=list)
    origin: dict[int, Place] = field(default_factory=dict)  # of each law and constraint, by its id
    notes: list[str] = field(default_factory=list)
    masses: list[Float] = field(default_factory=list)
    poses: list[Float] = field(default_factory=list)
    velocities: list[Float] = field(default_factory=list)
    springs: list[Int | None] = field(default_factory=list)

    def take(self, law: Any, place: Place) -> None:
        """Put a law where a System wants it."""
        (self.energies if isinstance(law, Energy) else self.loads if isinstance(law, Load) else self.damping).append(law)
        self.origin[id(law)] = place


def build(file: SceneFile, folder: Folder, problems: Problems, *, allow_code: bool, most: int) -> Built:
    """Everything a run needs; a SceneError with all problems if there are any."""
    with np.errstate(all="ignore"):  # overflows end as numbers that are not finite, which are refused by name
        return _build(file, folder, problems, allow_code=allow_code, most=most)


def _build(file: SceneFile, folder: Folder, problems: Problems, *, allow_code: bool, most: int) -> Built:
    parts = meshes_of(file, folder, problems, most)
    problems.refuse()
    whole = _Whole()
    several = len(parts) > 1
    for i, (body, part) in enumerate(zip(file.body, parts, strict=True)):
        named = _namer(part.name if several else "")
        place: Place = ("body", i)
        mass, pairs = None, None
        if body.material is not None:
            with problems.at(*place, "material"):
                energies, damping, mass, pairs, note = material_of(body.material, part.mesh, part.start, named)
                whole.notes.append(f"{part.name}: {note}")
                for law in (*energies, *damping):
                    whole.take(law, (*place, "material"))
        whole.springs.append(pairs)
        with problems.at(*place, "mass" if body.mass is not None else "density"):
            mass = masses_of(body, part.mesh, folder) if body.mass is not None or body.density is not None else mass
        whole.masses.append(_total(mass, body.total_mass, part.mesh.n))
        whole.poses.append(part.mesh.positions)
        whole.velocities.append(np.zeros((part.mesh.n, 3)))
        with problems.at(*place, "pose"):
            whole.poses[-1] = posed(body.pose, part.mesh, folder)
        with problems.at(*place, "velocity"):
            whole.velocities[-1] = velocities_of(body.velocity, part.mesh, whole.poses[-1], whole.masses[-1], folder)
        for j, asked in enumerate(body.law):
            with problems.at(*place, "law", j):
                bound = law_of(asked, part.mesh, part.start, folder, allow_code=allow_code, springs=pairs, name=named(_word(asked)))
                whole.take(bound, (*place, "law", j))
    for j, asked in enumerate(file.law):
        with problems.at("law", j):
            for bound in _everywhere(asked, parts, whole, folder, allow_code=allow_code):
                whole.take(bound, ("law", j))
    by_name = {part.name: Seat(part, at) for part, at in zip(parts, whole.poses, strict=True)}
    for j, stitch in enumerate(file.stitch):
        with problems.at("stitch", j):
            whole.take(stitched(stitch, *(by_name[name] for name in stitch.bodies)), ("stitch", j))
    for j, attach in enumerate(file.attach):
        with problems.at("attach", j):
            whole.take(attached(attach, *(by_name[name] for name in attach.bodies)), ("attach", j))
    pose = np.concatenate(whole.poses)
    for i, (body, part) in enumerate(zip(file.body, parts, strict=True)):
        for j, hold in enumerate(body.hold):
            with problems.at("body", i, "hold", j):
                held = hold_of(hold, chosen(part.mesh, hold.where), part.start, whole.poses[i], body.mesh, folder)
                whole.constraints.append(held)
                whole.origin[id(held)] = ("body", i, "hold", j)
    with problems.at("integrator"):
        integrator = integrator_of(file.integrator)
    problems.refuse()
    system, state = _system(file, parts, whole, pose, problems)
    return Built(
        system, state, integrator, file.time.h, file.time.duration, file.output.every, tuple(parts),
        tuple(whole.notes),
    )  # fmt: skip


def meshes_of(file: SceneFile, folder: Folder, problems: Problems, most: int) -> list[Part]:
    """The meshes of all bodies, one after the other among the particles."""
    parts: list[Part] = []
    start = 0
    for i, body in enumerate(file.body):
        with problems.at("body", i, "mesh"):
            mesh = mesh_of(body.mesh, folder, most)
            refuse_many(start + mesh.n, most)
            if file.dimensions == 2 and np.any(mesh.positions[:, 2]):
                raise SceneError(["the scene has two dimensions, but the mesh leaves the plane z = 0"])
            parts.append(Part(body.name, mesh, start, start + mesh.n))
            start += mesh.n
            if body.render is not None:
                with problems.at("body", i, "render"):
                    parts[-1] = replace(parts[-1], render=_ridden(mesh_of(body.render, folder, most), mesh))
    return parts


def _ridden(render: Mesh, cage: Mesh) -> Mesh:
    """A mesh to look at, which the cells of the other can carry."""
    far = (embed(render, cage).weights < OUTSIDE).any(axis=1)
    if far.any():
        raise SceneError([f"its point {int(np.argmax(far))} lies far outside of the mesh that is simulated"])
    return render


def integrator_of(asked: IntegratorTable) -> Integrator:
    """The integrator that a scene names, with its options."""
    options: dict[str, Any] = {}
    if asked.tolerance is not None or asked.force is not None:
        given = {"relative": asked.tolerance, "force": asked.force}
        options["tolerance"] = Tolerance(**{name: value for name, value in given.items() if value is not None})
    options |= {name: getattr(asked, name) for name in ("solver", "minimiser") if getattr(asked, name) is not None}
    made: Integrator = integrator_names()[asked.method](**options)
    return made if asked.adaptive is None else Adaptive(made, error=asked.adaptive.error, halvings=asked.adaptive.halvings)


def _system(file: SceneFile, parts: list[Part], whole: _Whole, pose: Float, problems: Problems) -> tuple[System, State]:
    rest = np.concatenate([part.mesh.positions for part in parts])
    arguments: dict[str, Any] = {
        "points": rest[:, :2] if file.dimensions == 2 else rest, "mass": np.concatenate(whole.masses),
        "pose": pose, "velocity": np.concatenate(whole.velocities), "constraints": whole.constraints,
    }  # fmt: skip
    try:
        system = System(**arguments, energies=whole.energies, damping=whole.damping, loads=whole.loads)
        return system, system.initial_state()
    except LawError as error:
        known = (("energies", whole.energies), ("damping", whole.damping), ("loads", whole.loads))
        for word, several in known:  # one by one, to tell all that do not fit
            for law in several:
                with problems.at(*whole.origin[id(law)]):
                    _alone(arguments, word, law)
        problems.refuse()
        raise SceneError([str(error)], path=problems.path) from error
    except TautError as error:
        for held in whole.constraints:
            with problems.at(*whole.origin[id(held)]):
                System(**{**arguments, "constraints": [held]}).initial_state()
        problems.refuse()
        raise SceneError([str(error)], path=problems.path) from error


def _alone(arguments: dict[str, Any], word: str, law: Any) -> None:
    try:
        System(**{**arguments, word: [law]})
    except LawError as error:
        hint = "; say on which elements: on = …" if getattr(law, "elements", 0) is None else ""
        raise SceneError([f"{error}{hint}"]) from error


def _everywhere(asked: Any, parts: list[Part], whole: _Whole, folder: Folder, *, allow_code: bool) -> list[Any]:
    """A law of the whole scene: on every particle, or on the elements of each body."""
    damping = whole_damping(asked)
    if damping is not None:
        return [damping]
    options: dict[str, Any] = {"allow_code": allow_code, "name": _word(asked)}
    if asked.on is None and asked.where is None:
        every = Mesh(np.concatenate([part.mesh.positions for part in parts]), {})
        return [law_of(asked, every, None, folder, springs=None, **options)]
    found, missing = [], None
    for part, pairs in zip(parts, whole.springs, strict=True):
        try:
            found.append(law_of(asked, part.mesh, part.start, folder, springs=pairs, **options))
        except NoElements as error:  # wind on the triangles of all bodies leaves a rope alone
            missing = error
    if missing is not None and not found:
        raise missing
    return found


def _total(mass: Float | None, total: float | None, n: int) -> Float:
    """The masses, multiplied to a total [kg]; ones where a problem has left none."""
    if mass is None:
        return np.ones(n)
    return mass if total is None else np.asarray(mass * (total / mass.sum()))


def _word(asked: Any) -> str:
    """What a law is called."""
    text: str = asked.law
    return text.partition(":")[2] or text


def _namer(body: str) -> Callable[[str], str]:
    """Names of laws, with that of the body where there are several."""
    return lambda law: f"{body} {law}" if body else law
