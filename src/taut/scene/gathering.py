"""What all bodies of a scene bring together: masses, poses, laws and constraints, each with its place in the file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taut.constraints.constraint import Constraint
from taut.errors import SceneError, did_you_mean
from taut.formula.bound import Energy, Load
from taut.mesh.mesh import Mesh
from taut.scene.body_of import masses_of, material_of, posed, velocities_of
from taut.scene.bounds import MOST_ELEMENTS
from taut.scene.elements_of import NoElements
from taut.scene.folder import Folder
from taut.scene.hold_of import hold_of
from taut.scene.joints import Seat, attached, chosen, stitched
from taut.scene.law_of import law_of, whole_damping
from taut.scene.laws_model import LawBase, OwnLaw
from taut.scene.model import Attach, Body, SceneFile, Stitch
from taut.scene.part import Part
from taut.scene.places import Place
from taut.scene.problems import Problems

Float = NDArray[np.float64]
Int = NDArray[np.int64]


@dataclass
class Gathering:
    """What is gathered so far; problems are kept, and the next thing is looked at.

    parts : bodies by their number in the file; those whose mesh could not be had are not among them
    allow_code : whether laws of Python files are run; None: they are passed over
    """

    file: SceneFile
    parts: dict[int, Part]
    folder: Folder
    problems: Problems
    allow_code: bool | None
    elements: int = 0  # of all laws
    energies: list[Energy] = field(default_factory=list)
    damping: list[Any] = field(default_factory=list)
    loads: list[Load] = field(default_factory=list)
    constraints: list[Constraint] = field(default_factory=list)
    origin: dict[int, Place] = field(default_factory=dict)  # of each law and constraint, by its id
    notes: list[str] = field(default_factory=list)
    masses: dict[int, Float] = field(default_factory=dict)
    poses: dict[int, Float] = field(default_factory=dict)
    velocities: dict[int, Float] = field(default_factory=dict)
    springs: dict[int, Int | None] = field(default_factory=dict)

    def all(self) -> None:
        """Look at everything."""
        names = [body.name for body in self.file.body]
        for i, name in enumerate(names):
            if name in names[:i]:
                self.problems.add(("body", i, "name"), f"another body is called '{name}' too")
        for i, part in self.parts.items():
            self._body(i, self.file.body[i], part)
        if len(self.parts) == len(names):  # else it cannot be told what a law of all bodies is on
            for j, asked in enumerate(self.file.law):
                with self.problems.at("law", j):
                    self._everywhere(asked, ("law", j))
        for j, stitch in enumerate(self.file.stitch):
            self._join(stitch, ("stitch", j), names)
        for j, attach in enumerate(self.file.attach):
            self._join(attach, ("attach", j), names)
        for i, part in self.parts.items():
            for j, hold in enumerate(self.file.body[i].hold):
                with self.problems.at("body", i, "hold", j):
                    points = chosen(part.mesh, hold.where)
                    held = hold_of(hold, points, part.start, self.poses[i], self.file.body[i].mesh, self.folder)
                    self.constraints.append(held)
                    self.origin[id(held)] = ("body", i, "hold", j)

    def _take(self, law: Any, place: Place) -> None:
        """Put a law where a System wants it, if there is room for its elements."""
        rows = getattr(law, "elements", None)
        self.elements += sum(part.mesh.n for part in self.parts.values()) if rows is None else len(rows)
        self._refuse_many()
        (self.energies if isinstance(law, Energy) else self.loads if isinstance(law, Load) else self.damping).append(law)
        self.origin[id(law)] = place

    def _refuse_many(self) -> None:
        """Once there are too many elements, no further law is bound."""
        if self.elements > MOST_ELEMENTS:
            raise SceneError([f"with it the laws of the scene have {self.elements:,} elements; the most are {MOST_ELEMENTS:,}"])

    def _body(self, i: int, body: Body, part: Part) -> None:
        named, at, place = _namer(part.name if len(self.file.body) > 1 else ""), self.problems.at, ("body", i)
        mass, pairs = None, None
        if body.material is not None:
            with at(*place, "material"):
                energies, damping, mass, pairs, note = material_of(body.material, part.mesh, part.start, named)
                self.notes.append(f"{part.name}: {note}")
                for law in (*energies, *damping):
                    self._take(law, (*place, "material"))
        self.springs[i] = pairs
        with at(*place, "mass" if body.mass is not None else "density"):
            mass = masses_of(body, part.mesh, self.folder) if body.mass is not None or body.density is not None else mass
        self.masses[i] = _total(mass, body.total_mass, part.mesh.n)
        self.poses[i], self.velocities[i] = part.mesh.positions, np.zeros((part.mesh.n, 3))
        with at(*place, "pose"):
            self.poses[i] = posed(body.pose, part.mesh, self.folder)
        with at(*place, "velocity"):
            self.velocities[i] = velocities_of(body.velocity, part.mesh, self.poses[i], self.masses[i], self.folder)
        for j, asked in enumerate(body.law):
            with at(*place, "law", j):
                self._law(asked, part.mesh, part.start, pairs, named(_word(asked)), (*place, "law", j))

    def _law(self, asked: LawBase, mesh: Mesh, start: int | None, springs: Int | None, name: str, place: Place) -> None:
        if self.allow_code is None and isinstance(asked, OwnLaw):
            return
        self._refuse_many()
        allowed = bool(self.allow_code)
        self._take(law_of(asked, mesh, start, self.folder, allow_code=allowed, springs=springs, name=name), place)

    def _everywhere(self, asked: LawBase, place: Place) -> None:
        """A law of the whole scene: on every particle, or on the elements of each body."""
        damping = whole_damping(asked)
        if damping is not None:
            self._take(damping, place)
        elif asked.on is None and asked.where is None:
            every = Mesh(np.concatenate([part.mesh.positions for part in self.parts.values()]), {})
            self._law(asked, every, None, None, _word(asked), place)
        else:
            missing: list[NoElements] = []
            for i, part in self.parts.items():
                try:
                    self._law(asked, part.mesh, part.start, self.springs[i], _word(asked), place)
                except NoElements as error:  # wind on the triangles of all bodies leaves a rope alone
                    missing.append(error)
            if len(missing) == len(self.parts):
                raise missing[-1]

    def _join(self, asked: Stitch | Attach, place: Place, names: list[str]) -> None:
        unknown = [name for name in asked.bodies if name not in names]
        for name in unknown:
            self.problems.add((*place, "bodies"), f"there is no body '{name}'{did_you_mean(name, names)}")
        numbers = [names.index(name) for name in asked.bodies if name in names]
        if unknown or not all(i in self.parts for i in numbers):
            return
        with self.problems.at(*place):
            first, second = (Seat(self.parts[i], self.poses[i]) for i in numbers)
            made = stitched(asked, first, second) if isinstance(asked, Stitch) else attached(asked, first, second)
            self._take(made, place)


def _total(mass: Float | None, total: float | None, n: int) -> Float:
    """The masses, multiplied to a total [kg]; ones where a problem has left none."""
    if mass is None:
        return np.ones(n)
    return mass if total is None else np.asarray(mass * (total / mass.sum()))


def _word(asked: LawBase) -> str:
    """What a law is called."""
    return asked.law.partition(":")[2] or asked.law


def _namer(body: str) -> Callable[[str], str]:
    """Names of laws, with that of the body where there are several."""
    return lambda law: f"{body} {law}" if body else law
