"""The root table of a scene file, and the System, integrator and state that are built from it.

Errors are collected, and building goes on after each, so that they can be reported together.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field, model_validator

from taut.arrays import Int
from taut.constraints.constraint import Constraint
from taut.constraints.prescribed import fixed
from taut.errors import LawError, SceneError, TautError
from taut.mesh.mesh import Mesh
from taut.scene._body import Body, Part, StartValues, build_parts, build_start_values
from taut.scene._contact import ContactTable, build_contact
from taut.scene._elements import MissingElements
from taut.scene._errors import ErrorCollector
from taut.scene._fabric import build_fabric
from taut.scene._files import SceneFolder
from taut.scene._hold import build_hold, check_obstacle_hold
from taut.scene._integrator import IntegratorTable, Output, Time, build_integrator
from taut.scene._joint import Attach, JoinedBody, Stitch, build_joints
from taut.scene._law import (
    AnyLawTable,
    LawCollector,
    LawTable,
    OwnLaw,
    build_law,
    build_system_damping,
)
from taut.scene._limits import MAX_TABLES, SceneTable, Text
from taut.scene._material import build_material
from taut.scene._parts import build_join
from taut.scene._rest import Rest, apply_rest_values
from taut.scene._softness import describe_inverted, find_soft_solids
from taut.scene._source_lines import KeyPath
from taut.step.integrator import Integrator
from taut.system.state import State
from taut.system.system import System
from taut.system.untangling import untangle

_TIME_SAMPLES = 33  # times at which parameters that depend on time are checked before the run


class SceneFile(SceneTable):
    """A scene of taut: bodies, the laws that act on them, and time. SI units, y points up."""

    title: Text = Field("", description="title")
    why: Text = Field("", description="what the scene shows, in one line")
    dimensions: Literal[2, 3] = Field(3, description="2: everything stays in the plane z = 0")
    time: Time
    integrator: IntegratorTable = Field(
        default_factory=lambda: IntegratorTable.model_validate({}),
        description="how a step is taken",
    )
    output: Output = Field(
        default_factory=lambda: Output.model_validate({}), description="what is recorded"
    )
    body: Annotated[list[Body], Field(min_length=1, max_length=MAX_TABLES)] = Field(
        description="the bodies"
    )
    stitch: Annotated[list[Stitch], Field(max_length=MAX_TABLES)] = Field(
        [], description="seams between bodies"
    )
    attach: Annotated[list[Attach], Field(max_length=MAX_TABLES)] = Field(
        [], description="points attached to cells of another body"
    )
    contact: ContactTable | None = Field(
        None, description="bodies that touch; default: they pass through each other"
    )
    law: Annotated[list[AnyLawTable], Field(max_length=MAX_TABLES)] = Field(
        [], description="laws on the particles or elements of all bodies"
    )
    rest: Annotated[list[Rest], Field(max_length=MAX_TABLES)] = Field(
        [], description="rest values of laws, one for each element, as `taut sagfree` writes them"
    )

    @model_validator(mode="after")
    def _fill_every(self) -> SceneFile:
        """Record each frame of a shot, and without one each step, unless told otherwise."""
        if self.output.every is None:
            self.output.every = self.time.substeps or 1
        return self


@dataclass(frozen=True, eq=False)
class Built:
    """A scene that is ready to be stepped.

    system, state, integrator : arguments of `taut.simulate`
    h : step size [s]
    until : end time [s]
    every : steps from one frame to the next
    bodies : in the order of the file
    notes : choices that were made, and moduli that were reached, in words

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

    @property
    def warnings(self) -> tuple[str, ...]:
        """What will surprise, found without solving anything: solids too soft for their weight.

        >>> from taut.scene import load, override
        >>> soft = load("bunny", overrides=[override("body.bunny.material.young=500")]).build()
        >>> soft.warnings[0].split(" with")[0]
        'bunny is too soft for its size and weight: ρ g L/E = 3.81'
        """
        return find_soft_solids(self.system, self.bodies)

    def describe_inverted(self, state: State) -> tuple[str, ...]:
        """Return a note for each body of which solid cells are turned inside out in a state."""
        return describe_inverted(self.bodies, state)


def build(
    file: SceneFile,
    folder: SceneFolder,
    errors: ErrorCollector,
    *,
    allow_code: bool | None,
    limit: int,
) -> Built:
    """Build a scene; raise a SceneError with all errors if there are any.

    allow_code : whether laws in Python files are run; None: they are left out
    limit : maximum number of particles
    """
    # Overflow ends in numbers that are not finite, and those are rejected with their names.
    with np.errstate(all="ignore"):
        parts = build_parts(file.body, file.dimensions, folder, errors, limit)
        builder = _SceneBuilder(file, parts, folder, errors, allow_code)
        builder.build_tables()
        with errors.collect("integrator"):
            integrator = build_integrator(file.integrator)
        system, state = builder.build_system()
        builder.check_over_time(system)
        with errors.collect("integrator"):
            integrator.check_contact(system)
        errors.raise_errors()
    time, every = file.time, file.output.every
    assert every is not None, "it was filled in"
    bodies, notes = tuple(parts.values()), tuple(builder.notes)
    return Built(system, state, integrator, time.step, time.end, every, bodies, notes)


@dataclass
class _SceneBuilder:
    """Builds the laws, constraints and start values of a scene, table by table.

    parts : bodies by index; those with errors in their mesh are missing
    allow_code : whether laws in Python files are run; None: they are left out
    start, springs : start values, and springs of the material (m, 2), by the index of the body
    sewn : for each joint, a particle of the first body and those of the second, (m, s)
    """

    file: SceneFile
    parts: dict[int, Part]
    folder: SceneFolder
    errors: ErrorCollector
    allow_code: bool | None
    laws: LawCollector = field(default_factory=LawCollector)
    constraints: list[Constraint] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    start: dict[int, StartValues] = field(default_factory=dict)
    springs: dict[int, Int | None] = field(default_factory=dict)
    sewn: list[Int] = field(default_factory=list)

    @property
    def n(self) -> int:
        """Number of particles."""
        return sum(part.mesh.n for part in self.parts.values())

    def build_tables(self) -> None:
        """Build the tables of the file."""
        names = [body.name for body in self.file.body]
        for i, name in enumerate(names):
            if name in names[:i]:
                message = f"names of bodies must be different, got '{name}' twice"
                self.errors.add(("body", i, "name"), message)
        for i, part in self.parts.items():
            self._build_body(i, part)
        # Without one of the bodies the elements of a law on all of them are not known.
        if len(self.parts) == len(names):
            for j, law in enumerate(self.file.law):
                with self.errors.collect("law", j):
                    self._build_common_law(law, ("law", j))
        bodies = {i: JoinedBody(p, self.start[i].positions) for i, p in self.parts.items()}
        for key, joints in (("stitch", self.file.stitch), ("attach", self.file.attach)):
            for j, springs in build_joints(key, joints, bodies, names, self.errors).items():
                with self.errors.collect(key, j):
                    self.laws.add(springs, (key, j), self.n)
                    self.sewn.append(np.asarray(springs.elements))
        for i, part in self.parts.items():
            self._build_holds(i, part)

    def _build_body(self, i: int, part: Part) -> None:
        body = self.file.body[i]
        # Names of laws begin with that of the body where there are several.
        prefix = f"{part.name} " if len(self.file.body) > 1 else ""
        mass = self.springs[i] = built_material = None
        if body.material is not None or body.fabric is not None:
            path: KeyPath = ("body", i, "fabric" if body.material is None else "material")
            with self.errors.collect(*path):
                if body.material is not None:
                    material = build_material(body.material, part.mesh, part.start, prefix)
                else:
                    assert body.fabric is not None
                    material = build_fabric(body.fabric, part.mesh, part.start, prefix)
                mass, self.springs[i] = material.mass, material.springs
                built_material = material
                self.notes.append(f"{part.name}: {material.summary}")
                for law in material.laws:
                    self.laws.add(law, path, self.n)
        if body.join is not None:
            damping = 0.0 if body.material is None else body.material.damping
            with self.errors.collect("body", i, "join"):
                springs, note = build_join(
                    body.join, part.mesh, built_material, damping, part.start, prefix
                )
                self.notes.append(f"{part.name}: {note}")
                for law in springs:
                    self.laws.add(law, ("body", i, "join"), self.n)
        self.start[i] = build_start_values(i, body, part.mesh, mass, self.folder, self.errors)
        for j, table in enumerate(body.law):
            path = ("body", i, "law", j)
            with self.errors.collect(*path):
                name = prefix + table.default_name
                self._build_law(table, part.mesh, part.start, self.springs[i], name, path)

    def _build_law(
        self,
        table: LawTable,
        mesh: Mesh,
        start: int | None,
        springs: Int | None,
        name: str,
        path: KeyPath,
    ) -> None:
        if self.allow_code is None and isinstance(table, OwnLaw):
            return
        self.laws.check_limit()
        allow = bool(self.allow_code)
        law = build_law(
            table, mesh, start, self.folder, allow_code=allow, springs=springs, name=name
        )
        self.laws.add(law, path, self.n)

    def _build_common_law(self, table: LawTable, path: KeyPath) -> None:
        """Build a law of the whole scene: on every particle, or on the elements of each body."""
        damping = build_system_damping(table)
        name = table.default_name
        if damping is not None:
            self.laws.add(damping, path, self.n)
            return
        if table.on is None and table.where is None:
            points = np.concatenate([part.mesh.positions for part in self.parts.values()])
            self._build_law(table, Mesh(points, {}), None, None, name, path)
            return
        missing: list[MissingElements] = []
        bodies = {i: part for i, part in self.parts.items() if part.obstacle is None}
        for i, part in bodies.items():
            try:
                self._build_law(table, part.mesh, part.start, self.springs[i], name, path)
            except MissingElements as error:  # such as wind on triangles for a rope
                missing.append(error)
        if len(missing) == len(bodies) > 0:
            raise missing[-1]

    def _build_holds(self, i: int, part: Part) -> None:
        body = self.file.body[i]
        positions = self.start[i].positions
        if body.obstacle is not None and not body.hold:
            constraint = fixed(np.arange(part.start, part.stop))
            self.constraints.append(constraint)
            self.laws.paths[id(constraint)] = ("body", i, "obstacle")
        for j, hold in enumerate(body.hold):
            path = ("body", i, "hold", j)
            with self.errors.collect(*path):
                if body.obstacle is not None:
                    check_obstacle_hold(hold, part.mesh)
                centre = None if part.obstacle is None else part.obstacle.centre
                constraint = build_hold(
                    hold, part.mesh, part.start, positions, body.mesh, self.folder, centre
                )
                self.constraints.append(constraint)
                self.laws.paths[id(constraint)] = path

    def build_system(self) -> tuple[System, State]:
        """Return the System and its start; raise the errors of all laws and constraints."""
        nothing = np.empty((0, 3))
        rest = np.concatenate([nothing, *(part.mesh.positions for part in self.parts.values())])
        start = self.start.values()
        arguments: dict[str, Any] = {
            "points": rest[:, :2] if self.file.dimensions == 2 else rest,
            "mass": np.concatenate([[], *(values.mass for values in start)]),
            "pose": np.concatenate([nothing, *(values.positions for values in start)]),
            "velocity": np.concatenate([nothing, *(values.velocities for values in start)]),
        }
        entries: dict[str, Any] = {
            "energies": self.laws.energies,
            "damping": self.laws.damping,
            "loads": self.laws.loads,
            "constraints": self.constraints,
        }
        if self.errors.errors:
            self._check_each_alone(arguments, entries)
            self.errors.raise_errors()
        try:
            system = System(**arguments, **entries)
            system = apply_rest_values(system, self.file.rest, self.folder, self.errors)
            system = self._add_contact(system)
            return system, system.initial_state()
        except TautError as error:
            self._check_each_alone(arguments, entries)
            self.errors.raise_errors()
            raise SceneError([str(error)], path=self.errors.path) from error

    def _add_contact(self, system: System) -> System:
        """Return the system with contact, if the scene has any; collect its errors."""
        table = self.file.contact
        if table is None:
            return system
        names = [body.name for body in self.file.body]
        with self.errors.collect("contact"):
            contact = build_contact(table, self.parts.values(), names, self.sewn, self.errors)
            if contact is not None:
                if table.untangle:
                    untangled = untangle(system, contact)
                    self.notes.append(f"contact: {untangled}")
                    system = untangled.system
                else:
                    system = system.with_(contact=contact)
                assert system.contact is not None
                chosen = system.contact
                self.notes.append(f"contact: range {chosen.range:.3g} m, k {chosen.k:.3g} N/m")
        return system

    def _check_each_alone(self, arguments: dict[str, Any], entries: dict[str, Any]) -> None:
        """Collect the errors of all laws and constraints: a System stops at the first one."""
        if not self.parts:
            return
        for keyword, values in entries.items():
            for value in values:
                with self.errors.collect(*self.laws.paths[id(value)]):
                    try:
                        alone: dict[str, Any] = {**arguments, keyword: [value]}
                        System(**alone).initial_state()
                    except LawError as error:
                        message = str(error)
                        if getattr(value, "elements", ()) is None:
                            message += "; name the elements: on = …"
                        raise SceneError([message]) from error

    def check_over_time(self, system: System) -> None:
        """Evaluate parameters that depend on time, so that a run does not fail after hours."""
        times = np.linspace(0.0, self.file.time.end, _TIME_SAMPLES).tolist()
        for group in (system._placed_energies, system._placed_damping, system._placed_loads):
            for law in group.values():
                path = self.laws.paths.get(id(law.bound))
                if law.parameters.time_dependent and path is not None:
                    with self.errors.collect(*path):
                        for t in times:
                            law.parameters.values(t)
