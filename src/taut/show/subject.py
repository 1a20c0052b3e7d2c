"""What there is to see of a scene, a run or a system: pieces with a mesh each, which follow the particles.

A piece is drawn on the mesh that was simulated, x = q of its particles, or on a finer one that rides on it (`render` in a scene),
x = Σ wᵢ qᵢ + d n(q) (see `taut.mesh.embed`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from taut.errors import RunError
from taut.mesh import embed
from taut.mesh.embedding.embed import Embedding
from taut.mesh.mesh import Mesh
from taut.mesh.parts import Cells
from taut.run.folder import SCENE, check_unchanged
from taut.run.opening import Run
from taut.scene import Scene, read_text
from taut.scene.build import Built
from taut.scene.joints import chosen
from taut.scene.part import Part
from taut.system.system import System

Float = NDArray[np.float64]
Int = NDArray[np.int64]
SAME = 1e-9  # seconds: a hold that ends at the time of a frame is over


@dataclass(frozen=True, eq=False)
class Piece:
    """One body to look at, on the particles from `start` up to `stop`.

    mesh : what is drawn: rest points [m] and cells; embedding : how it follows the particles, or None if its points are these
    cage : the mesh that is simulated, where another one is drawn
    """

    name: str
    mesh: Mesh
    start: int
    stop: int
    embedding: Embedding | None = None
    cage: Mesh | None = None

    @property
    def simulated(self) -> Mesh:
        """The mesh whose points are the particles."""
        return self.mesh if self.cage is None else self.cage

    def positions(self, q: Float) -> Float:
        """Where the points of `mesh` are [m], (m, 3), when all particles are at q [m], (n, 3)."""
        own = q[self.start : self.stop]
        return own if self.embedding is None else self.embedding(own)

    @cached_property
    def faces(self) -> Cells:
        """Faces as they are, and the boundary of solids, facing outwards, where the mesh has no face yet: {"triangle": (k, 3)…}."""
        found = {kind.name: cells for kind, cells in self.mesh.blocks(2)}
        for kind, cells in self.mesh.boundary_faces.items():
            own = found.get(kind, cells[:0])
            known = {tuple(row) for row in np.sort(own, axis=1).tolist()}
            new = np.array([tuple(row) not in known for row in np.sort(cells, axis=1).tolist()], dtype=bool)
            found[kind] = np.concatenate([own, cells[new]])
        return {kind: cells for kind, cells in found.items() if len(cells)}

    @cached_property
    def triangles(self) -> Int:
        """The same cut into triangles, (k, 3)."""
        return Mesh(self.mesh.points, self.faces).triangles

    @cached_property
    def lines(self) -> Int:
        """The lines of the mesh, (k, 2)."""
        return self.mesh.cells.get("line", np.empty((0, 2), np.int64))


@dataclass(frozen=True, eq=False)
class Subject:
    """All there is to see.

    title : of the scene; pieces : in the order of their particles; n : particles
    held : particles that are held or led, (h,); until : when each of them is let go [s], (h,), infinite for never; None: none is
    make : gives the System, which colours by law or force need

    >>> from taut.scene import load
    >>> subject = of_scene(load("cloth"))
    >>> subject.title, [piece.name for piece in subject.pieces], len(subject.held)
    ('A hanging cloth', ['cloth'], 2)
    """

    title: str
    pieces: tuple[Piece, ...]
    n: int
    held: Int
    make: Callable[[], System] | None = None
    until: Float | None = None

    def held_at(self, t: float) -> NDArray[np.bool_]:
        """Which of `held` are held at a time t [s], (h,)."""
        return np.ones(len(self.held), dtype=bool) if self.until is None else self.until > t + SAME

    @cached_property
    def system(self) -> System:
        """The particles and laws; RunError if a run was recorded without a scene, SceneError if its laws are code."""
        if self.make is None:
            raise RunError("the run was recorded without a scene: its laws are not known")
        return self.make()


def of_scene(scene: Scene, built: Built | None = None) -> Subject:
    """What there is to see of a scene; `built`, if it has been built already."""
    parts = scene.parts() if built is None else built.bodies
    n = parts[-1].stop
    until = np.full(n, -np.inf)  # of what is held more than once, the longest counts
    for body, part in zip(scene.file.body, parts, strict=True):
        for hold in body.hold:
            some = chosen(part.mesh, hold.where) + part.start
            until[some] = np.maximum(until[some], np.inf if hold.until is None else hold.until)
    held = np.flatnonzero(until > -np.inf)
    make = (lambda: scene.build().system) if built is None else (lambda: built.system)
    return Subject(scene.title, tuple(map(_piece, parts)), n, held, make, until[held])


def of_run(run: Run, *, allow_code: bool = False) -> Subject:
    """What there is to see of a run. One that was recorded without a scene shows its particles alone.

    allow_code : build its System even if laws of it are Python files in the run folder, whose code is run
    """
    if not run.scene:
        return Subject(run.folder.name, (Piece("particles", Mesh(run.frames[0].q, {}), 0, run.n),), run.n, np.empty(0, np.int64))
    check_unchanged(run.folder, run.inputs)
    found = of_scene(read_text(run.scene, folder=run.folder, path=run.folder / SCENE, allow_code=allow_code))
    if found.n != run.n:
        raise RunError(f"{run.folder}: its scene has {found.n} particles, its frames have {run.n}")
    return found


def of_system(system: System, title: str = "") -> Subject:
    """What there is to see of a system that was made in Python: its particles, and a line for each law between two of them.

    >>> import taut
    >>> from taut import laws
    >>> of_system(taut.System([[0, 0, 0], [1, 0, 0]], mass=1.0, energies=[laws.spring([[0, 1]], k=1.0)])).pieces[0].lines.tolist()
    [[0, 1]]
    """
    pairs = [p.elements for p in system.placed.values() if p.elements.shape[1] == 2]
    lines = np.unique(np.sort(np.concatenate([np.empty((0, 2), np.int64), *pairs]), axis=1), axis=0)
    mesh = Mesh(system.rest, {"line": lines} if len(lines) else {})
    return Subject(title or repr(system), (Piece("system", mesh, 0, system.n),), system.n, system.hold.among, lambda: system)


def _piece(part: Part) -> Piece:
    if part.render is None:
        return Piece(part.name, part.mesh, part.start, part.stop)
    return Piece(part.name, part.render, part.start, part.stop, embed(part.render, part.mesh), part.mesh)
