"""The visible bodies of a scene, a run or a system: meshes whose points follow the particles.

A body is drawn on the mesh that was simulated, x = q of its particles, or on a finer one embedded
in it (`render` in a scene), x = Σ wᵢ qᵢ + d n(q) (see `taut.mesh.embed`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np

from taut.arrays import Float, Int, Mask
from taut.errors import RunError, SceneError
from taut.mesh import embed
from taut.mesh.embedding.embed import Embedding
from taut.mesh.mesh import Mesh
from taut.mesh.parts import Cells
from taut.run.open_run import Frame, Run
from taut.run.run_folder import SCENE, check_inputs_unchanged
from taut.scene import Built, Part, Scene, read_text
from taut.show.contact_model import find_ground, find_planes, find_thickness
from taut.system.contact import Plane
from taut.system.system import System

_TIME_TOLERANCE = 1e-9  # seconds: a constraint that ends at the time of a frame has ended


@dataclass(frozen=True, eq=False)
class VisualBody:
    """One visible body, on the particles from `start` up to `stop`.

    mesh : drawn mesh: rest points [m] and cells
    embedding : how its points follow the particles, or None if they are the particles
    cage : the simulated mesh, if another one is drawn
    thickness : at which it touches other bodies [m]: it is drawn so thick
    is_obstacle : whether all of its particles are held, forever
    """

    name: str
    mesh: Mesh
    start: int
    stop: int
    embedding: Embedding | None = None
    cage: Mesh | None = None
    thickness: float = 0.0
    is_obstacle: bool = False

    @property
    def simulated(self) -> Mesh:
        """The mesh whose points are the particles."""
        return self.mesh if self.cage is None else self.cage

    def positions(self, q: Float) -> Float:
        """Where the points of `mesh` are [m], (m, 3), when all particles are at q [m], (n, 3)."""
        own = q[self.start : self.stop]
        return own if self.embedding is None else self.embedding(own)

    def find_torn_points(self, torn: Int) -> Mask:
        """Return which points of `mesh` are embedded in a cell that is torn, (m,).

        torn : pairs of particles of the body with a torn element between them, from 0, (k, 2)
        """
        if self.embedding is None:
            return np.zeros(self.mesh.n, dtype=bool)
        corners = self.embedding.indices
        pairs = np.array(list(combinations(range(corners.shape[1]), 2)))
        return ~has_no_torn_side(corners[:, pairs], torn, self.simulated.n)

    @cached_property
    def faces(self) -> Cells:
        """Faces of the mesh and, facing outwards, of the boundary of its solids, kind → (k, c).

        Boundary faces that the mesh has already are left out.
        """
        found = {kind.name: cells for kind, cells in self.mesh.blocks(2)}
        for kind, cells in self.mesh.boundary_faces.items():
            own = found.get(kind, cells[:0])
            known = {tuple(row) for row in np.sort(own, axis=1).tolist()}
            new = np.array(
                [tuple(row) not in known for row in np.sort(cells, axis=1).tolist()], dtype=bool
            )
            found[kind] = np.concatenate([own, cells[new]])
        return {kind: cells for kind, cells in found.items() if len(cells)}

    @cached_property
    def triangles(self) -> Int:
        """The faces cut into triangles, (k, 3)."""
        return Mesh(self.mesh.points, self.faces).triangles

    @cached_property
    def lines(self) -> Int:
        """The lines of the mesh, (k, 2)."""
        return self.mesh.cells.get("line", np.empty((0, 2), np.int64))


@dataclass(frozen=True, eq=False)
class VisualModel:
    """All visible bodies.

    title : of the scene
    pieces : the bodies, in the order of their particles
    n : number of particles
    held : constrained particles, (h,), without those of bodies that are held altogether
    until : when each of them is released [s], (h,), infinite for never; None: never for all
    make : returns the System, which colours by law or force need, or None
    planes : planes that nothing passes

    >>> from taut.scene import load
    >>> subject = model_from_scene(load("cloth"))
    >>> subject.title, [piece.name for piece in subject.pieces], len(subject.held)
    ('A hanging cloth', ['cloth'], 2)
    """

    title: str
    pieces: tuple[VisualBody, ...]
    n: int
    held: Int
    make: Callable[[], System] | None = None
    until: Float | None = None
    planes: tuple[Plane, ...] = ()

    @property
    def ground(self) -> float | None:
        """Height of the highest horizontal plane with its free side above [m], or None."""
        return find_ground(self.planes)

    def held_at(self, t: float) -> Mask:
        """Return which of `held` are constrained at a time t [s], (h,)."""
        if self.until is None:
            return np.ones(len(self.held), dtype=bool)
        return self.until > t + _TIME_TOLERANCE

    def active_masks(self, frame: Frame) -> dict[str, Mask]:
        """Return the masks of the elements that are active in a frame, law → (m,).

        Empty if all elements are active, or if the laws are not known (see `system`): then it is
        not known which particles a torn element joined. RunError if a mask does not fit its law.
        """
        if not frame.active:
            return {}
        try:
            system = self.system
        except (RunError, SceneError):
            return {}
        laws = {**system._placed_energies, **system._placed_damping, **system._placed_loads}
        for name, mask in frame.active.items():
            if name not in laws:
                raise RunError(f"step {frame.step} has a mask of '{name}', which is no law of it")
            count = len(laws[name].elements)
            if len(mask) != count:
                raise RunError(
                    f"step {frame.step} has a mask of {len(mask)} elements for the {count} "
                    f"elements of '{name}'"
                )
        return dict(frame.active)

    def torn_pairs(self, frame: Frame) -> Int:
        """Return the pairs of particles joined by an element that is not active, (k, 2), sorted.

        Only energies between two particles count: damping goes with its spring.

        >>> import tempfile, taut
        >>> from taut.run.record import record
        >>> bar = taut.laws.spring([[0, 1]], k=1.0, breaking_strain=0.5)
        >>> pair = taut.System([[0, 0, 0], [1, 0, 0]], mass=1.0, energies=[bar])
        >>> start = pair.initial_state().with_(v=[[0, 0, 0], [9, 0, 0]])
        >>> folder = tempfile.mkdtemp()
        >>> _ = record(folder, pair, taut.ImplicitEuler(), h=0.01, until=0.2, every=5, state=start)
        >>> with taut.open_run(folder) as run:
        ...     model = model_from_system(pair)
        ...     [len(model.torn_pairs(frame)) for frame in run.frames]
        [0, 0, 1, 1, 1]
        """
        pairs = [np.empty((0, 2), np.int64)]
        for name, mask in self.active_masks(frame).items():
            law = self.system._placed_energies.get(name)
            if law is not None and law.elements.shape[1] == 2:
                pairs.append(law.elements[~mask])
        return np.sort(np.concatenate(pairs), axis=1)

    @cached_property
    def system(self) -> System:
        """The particles and laws.

        RunError if a run was recorded without a scene, SceneError if its laws are code.
        """
        if self.make is None:
            raise RunError("the run was recorded without a scene: its laws are not known")
        return self.make()


def model_from_scene(scene: Scene, built: Built | None = None) -> VisualModel:
    """Return the visible bodies of a scene; built : the result of `scene.build`, if it exists."""
    parts = scene.parts() if built is None else built.bodies
    n = parts[-1].stop
    until = np.full(n, -np.inf)  # of several constraints on a particle the last to end counts
    obstacles = set()
    for body, part in zip(scene.file.body, parts, strict=True):
        for hold in body.hold:
            some = hold.select_points(part.mesh) + part.start
            until[some] = np.maximum(until[some], np.inf if hold.until is None else hold.until)
        own = until[part.start : part.stop]
        if (own == np.inf).all():
            own[:] = -np.inf  # an obstacle: marks on all of it would hide what it touches
            obstacles.add(part.name)
    held = np.flatnonzero(until > -np.inf)

    def make() -> System:
        return (scene.build() if built is None else built).system

    pieces = tuple(
        _visual_body(part, find_thickness(scene, part.name, part.obstacle), part.name in obstacles)
        for part in parts
    )
    return VisualModel(scene.title, pieces, n, held, make, until[held], find_planes(scene))


def model_from_run(run: Run, *, allow_code: bool = False) -> VisualModel:
    """Return the visible bodies of a run; without a scene, its particles.

    allow_code : build its System even if laws are Python files in the run folder, whose code is
        executed
    """
    if not run.scene:
        return VisualModel(
            run.folder.name,
            (VisualBody("particles", Mesh(run.frames[0].q, {}), 0, run.n),),
            run.n,
            np.empty(0, np.int64),
        )
    check_inputs_unchanged(run.folder, run.inputs)
    found = model_from_scene(
        read_text(run.scene, folder=run.folder, path=run.folder / SCENE, allow_code=allow_code)
    )
    if found.n != run.n:
        raise RunError(f"{run.folder}: its scene has {found.n} particles, its frames have {run.n}")
    return found


def model_from_system(system: System, title: str = "") -> VisualModel:
    """Return the particles of a system, with a line for each element between two of them.

    >>> import taut
    >>> from taut import laws
    >>> spring = laws.spring([[0, 1]], k=1.0)
    >>> pair = taut.System([[0, 0, 0], [1, 0, 0]], mass=1.0, energies=[spring])
    >>> model_from_system(pair).pieces[0].lines.tolist()
    [[0, 1]]
    """
    pairs = [p.elements for p in system._placed_energies.values() if p.elements.shape[1] == 2]
    lines = np.unique(np.sort(np.concatenate([np.empty((0, 2), np.int64), *pairs]), axis=1), axis=0)
    mesh = Mesh(system.rest, {"line": lines} if len(lines) else {})
    contact = system.contact
    thickness = 0.0
    if contact is not None:
        assert not isinstance(contact.thickness, Mapping), "the contact of a System has numbers"
        thickness = float(np.max(contact.thickness, initial=0.0))
    return VisualModel(
        title or repr(system),
        (VisualBody("system", mesh, 0, system.n, thickness=thickness),),
        system.n,
        system._projector.constrained_particles,
        lambda: system,
        planes=() if contact is None else contact.planes,
    )


def _visual_body(part: Part, thickness: float, is_obstacle: bool) -> VisualBody:
    drawn, embedding, cage = part.mesh, None, None
    if part.render is not None:
        drawn, embedding, cage = part.render, embed(part.render, part.mesh), part.mesh
    return VisualBody(
        part.name, drawn, part.start, part.stop, embedding, cage, thickness, is_obstacle
    )


def has_no_torn_side(sides: Int, torn: Int, n: int) -> Mask:
    """Return which shapes have no torn side, (k,).

    sides : pairs of points 0 to n - 1 for each shape, (k, s, 2)
    torn : pairs, (m, 2), which may name points of other bodies too

    >>> sides = np.array([[[0, 1], [1, 2], [2, 0]], [[1, 3], [3, 2], [2, 1]]])
    >>> has_no_torn_side(sides, np.array([[1, 0], [-4, 9]]), 4)
    array([False,  True])
    """
    # a sorted pair (i, j) becomes the single number i n + j
    weights = np.array([n, 1])
    is_own = ((torn >= 0) & (torn < n)).all(axis=1)
    torn_keys = np.sort(torn[is_own], axis=1) @ weights
    side_keys = np.sort(sides, axis=2) @ weights
    return np.asarray(~np.isin(side_keys, torn_keys).any(axis=1))
