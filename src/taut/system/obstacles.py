"""Obstacles: exact spheres, capsules and boxes, and meshes, at rest or moved by a script.

An obstacle is a body of held particles that only contact knows. A sphere is one particle with a
thickness, a capsule an edge with one, and a box eight particles with the triangles of its faces:
so distances of points, edges and triangles from them are those of contact itself, exact, and
nothing passes at any speed. Spheres and capsules have three more particles, a frame that turns with
them, which friction needs (see `contact_pairs`).

`taut.join` adds them to a system with contact, after its particles.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from taut.arrays import Float, Int
from taut.constraints.constraint import Constraint, to_numbers
from taut.constraints.prescribed import TimeFunction, fixed, handle, rodrigues, scripted
from taut.errors import ModelError
from taut.mesh.mesh import Mesh
from taut.mesh.shapes.surfaces import sphere as sphere_mesh
from taut.system.contact import Contact, check_friction, is_finite
from taut.system.contact_groups import Group, PairFriction
from taut.system.contact_surfaces import find_surface, gather_primitives
from taut.system.system import System

__all__ = ["box", "capsule", "sphere", "surface"]

_DRAWN = 8  # rings of the sphere that is drawn for an exact one, along a quarter of a great circle


@dataclass(frozen=True, eq=False)
class Obstacle:
    """A body that others touch, and that only a script moves; made by `sphere`, `capsule`, ….

    name : for messages, and for pairs of `taut.contact`
    points : its particles at t = 0 [m], (n, 3); centre : about which it turns by default, (3,)
    surfaces : which of them touch: points (k,), edges (k, 2), triangles (k, 3)
    radius : by which the surface is outside of them [m]
    motion : fixes or moves the particles, 0 to n - 1
    cage : the particles as a mesh, in which what is drawn is embedded
    drawn : the surface as a mesh to look at
    friction : coefficient against all others [1], or None: that of the contact
    frame : rows for `Contact.frames`, (k, 5); turns : whether friction needs them
    is_one_sided : whether it is closed, so that nothing may start inside
    """

    name: str
    points: Float
    centre: Float
    surfaces: tuple[Int, ...]
    radius: float
    motion: Constraint
    cage: Mesh
    drawn: Mesh
    friction: float | None = None
    frame: Int = field(default_factory=lambda: np.empty((0, 5), dtype=np.int64))
    turns: bool = False
    is_one_sided: bool = False

    def to_contact(self, contact: Contact) -> Contact:
        """Return the contact of this obstacle alone; contact : of what it will be joined with."""
        primitives, own = gather_primitives(self.surfaces), np.arange(len(self.points))
        pairs: tuple[PairFriction, ...] = ()
        if self.friction is not None:
            group = Group(own, np.empty(0, dtype=np.int64))
            pairs = (PairFriction(group, Group.everything(), self.friction),)
        return replace(
            contact,
            primitives=primitives,
            planes=(),
            thickness=np.full(len(own), 2.0 * self.radius),
            exempt=(),
            friction_pairs=pairs,
            bodies=((self.name, own),),
            one_sided=((self.name, primitives.triangles),) if self.is_one_sided else (),
            frames=self.frame if self.turns else self.frame[:0],
        )

    def to_system(self, contact: Contact | None) -> System:
        """Return a system of this obstacle alone; contact : of what it will be joined with."""
        return System(
            self.points,
            mass=1.0,
            constraints=[self.motion],
            contact=None if contact is None else self.to_contact(contact),
        )


def sphere(
    centre: ArrayLike,
    radius: float,
    *,
    move: TimeFunction | None = None,
    turn: TimeFunction | None = None,
    friction: float | None = None,
    name: str = "sphere",
) -> Obstacle:
    """Return a sphere that nothing passes.

    centre : [m], (3,); radius : [m]
    move, turn : displacement [m] and rotation about the centre, as functions of time or samples
        (see `taut.constraints.handle`); with friction, a sphere that turns carries others along
    friction : coefficient against everything [1] (default: that of the contact)
    name : for messages

    >>> import taut
    >>> ball = taut.System([[0, 1.02, 0]], mass=0.1, energies=[taut.laws.gravity()],
    ...     contact=taut.contact([0], range=0.01))
    >>> system = taut.join(ball, sphere([0, 0, 0], 1.0))
    >>> for state, _ in taut.simulate(system, taut.ImplicitEuler(), h=0.01, until=0.5):
    ...     assert state.q[0, 1] > 1.0
    >>> system.n  # the ball, and the centre and the frame of the sphere
    5
    """
    c, r = _to_point(centre, name), _to_length(radius, f"radius of '{name}'")
    points = np.concatenate([[c], c + r * np.eye(3)])
    drawn = sphere_mesh(_DRAWN, radius=r)
    return Obstacle(
        name,
        points,
        c,
        (np.array([0]),),
        r,
        _move(points, move, turn, c),
        Mesh(points, {"tet": [[0, 1, 2, 3]]}),
        Mesh(np.asarray(drawn.points) + c, dict(drawn.cells)),
        _to_friction(friction, name),
        np.array([[0, 0, 1, 2, 3]]),
        turns=turn is not None,
    )


def capsule(
    ends: ArrayLike,
    radius: float,
    *,
    move: TimeFunction | None = None,
    turn: TimeFunction | None = None,
    about: ArrayLike | None = None,
    friction: float | None = None,
    name: str = "capsule",
) -> Obstacle:
    """Return a capsule, all points within a radius of a straight axis, that nothing passes.

    ends : of the axis [m], (2, 3); radius : [m]
    about : the point about which it turns [m] (default: the middle of the axis)
    move, turn, friction, name : as for `sphere`

    Long ones are cylinders.
    """
    axis, r = to_numbers(ends, f"ends of '{name}'"), _to_length(radius, f"radius of '{name}'")
    if axis.shape != (2, 3) or not np.isfinite(axis).all() or not np.linalg.norm(axis[1] - axis[0]):
        raise ModelError(
            f"ends of '{name}' must be two different points of three numbers, got {ends!r}"
        )
    along = (axis[1] - axis[0]) / np.linalg.norm(axis[1] - axis[0])
    across, middle = _find_normal(along), axis.mean(axis=0)
    frame = np.array([along, across, np.cross(along, across)])
    points = np.concatenate([axis, axis[0] + r * frame])
    return Obstacle(
        name,
        points,
        middle,
        (np.array([[0, 1]]),),
        r,
        _move(points, move, turn, middle if about is None else about),
        Mesh(points, {"tet": [[0, 2, 3, 4]]}),
        _draw_capsule(axis, r, frame),
        _to_friction(friction, name),
        np.array([[0, 0, 2, 3, 4], [1, 0, 2, 3, 4]]),
        turns=turn is not None,
    )


def box(
    centre: ArrayLike,
    size: ArrayLike,
    *,
    rotation: ArrayLike = (0.0, 0.0, 0.0),
    rounding: float = 0.0,
    move: TimeFunction | None = None,
    turn: TimeFunction | None = None,
    about: ArrayLike | None = None,
    friction: float | None = None,
    name: str = "box",
) -> Obstacle:
    """Return a box that nothing passes.

    centre : [m], (3,); size : its three sides [m], (3,), or one number for a cube
    rotation : rotation vector from the axes to its sides, axis times angle [rad], (3,)
    rounding : by which its surface is outside of these sides, with round edges [m]
    about : the point about which it turns [m] (default: the centre)
    move, turn, friction, name : as for `sphere`
    """
    c, sides = _to_point(centre, name), to_numbers(size, f"size of '{name}'")
    if sides.shape not in ((), (3,)) or not (np.isfinite(sides).all() and (sides > 0.0).all()):
        raise ModelError(f"size of '{name}' must be one or three positive numbers, got {size!r}")
    if not (is_finite(rounding) and rounding >= 0.0):
        raise ModelError(f"rounding of '{name}' must not be negative, got {rounding!r}")
    axes = rodrigues(_to_point(rotation, name)).T
    square = ((0, 0), (1, 0), (1, 1), (0, 1))
    corners = np.array([[i, j, k] for k in (0, 1) for i, j in square])
    points = c + ((corners - 0.5) * sides) @ axes
    cage = Mesh(points, {"hex": [list(range(8))]})
    return Obstacle(
        name,
        points,
        c,
        find_surface(cage),
        float(rounding),
        _move(points, move, turn, c if about is None else about),
        cage,
        cage,
        _to_friction(friction, name),
        is_one_sided=True,
    )


def surface(
    mesh: Mesh,
    *,
    path: TimeFunction | None = None,
    move: TimeFunction | None = None,
    turn: TimeFunction | None = None,
    about: ArrayLike | None = None,
    thickness: float = 0.0,
    one_sided: bool = False,
    friction: float | None = None,
    name: str = "surface",
) -> Obstacle:
    """Return a mesh that nothing passes, at rest, moved as one rigid body, or animated.

    mesh : of triangles, lines or points; of solids the boundary
    path : positions of its points [m], (n, 3), as a function of time t [s], or samples (times,
        positions) of shapes (T,) and (T, n, 3), between which points go straight
    move, turn, about : of a rigid body instead (see `taut.constraints.handle`)
    thickness : of the mesh [m]
    one_sided : it is closed and faces outwards, and to start inside of it is an error
    friction, name : as for `sphere`

    >>> import numpy as np, taut
    >>> flat = taut.mesh.sheet(2, 2)
    >>> frames = np.stack([flat.points, np.asarray(flat.points) + [0, 0, 1]])
    >>> len(surface(flat, path=([0.0, 0.5], frames)).points)
    9
    """
    points = np.asarray(mesh.positions)
    middle = points.mean(axis=0)
    if path is not None and (move is not None or turn is not None):
        raise ModelError(f"'{name}' must have either a path, or move and turn")
    if not (is_finite(thickness) and thickness >= 0.0):
        raise ModelError(f"thickness of '{name}' must not be negative, got {thickness!r}")
    if path is None:
        motion = _move(points, move, turn, middle if about is None else about)
    else:
        motion = scripted(np.arange(len(points)), path)
    return Obstacle(
        name,
        points,
        middle,
        find_surface(mesh),
        thickness / 2.0,
        motion,
        mesh,
        mesh,
        _to_friction(friction, name),
        is_one_sided=one_sided,
    )


def _move(
    points: Float, move: TimeFunction | None, turn: TimeFunction | None, about: ArrayLike
) -> Constraint:
    every = np.arange(len(points))
    if move is None and turn is None:
        return fixed(every)
    return handle(every, move=move, turn=turn, about=about)


def _to_point(given: Any, name: str) -> Float:
    point = to_numbers(given, f"a vector of '{name}'")
    if point.shape != (3,) or not np.isfinite(point).all():
        raise ModelError(f"a vector of '{name}' must have three finite numbers, got {given!r}")
    return point


def _to_length(given: Any, what: str) -> float:
    if not (is_finite(given) and given > 0.0):
        raise ModelError(f"{what} must be positive, got {given!r}")
    return float(given)


def _to_friction(given: float | None, name: str) -> float | None:
    return None if given is None else check_friction(given, f"friction of '{name}'")


def _find_normal(along: Float) -> Float:
    """Return a unit vector at a right angle to another one."""
    across = np.cross(along, np.eye(3)[np.argmin(np.abs(along))])
    normal: Float = across / np.linalg.norm(across)
    return normal


def _draw_capsule(axis: Float, radius: float, frame: Float) -> Mesh:
    """Return a surface of triangles; frame : directions along and across the axis, (3, 3)."""
    ball = sphere_mesh(_DRAWN, radius=radius)
    own = np.asarray(ball.points)
    own = own @ np.array([frame[1], frame[0], -frame[2]])
    is_far = own @ frame[0] > 0.0
    return Mesh(own + np.where(is_far[:, None], axis[1], axis[0]), dict(ball.cells))
