"""Contact as a part of a System: what can touch, how near it may come, and how strongly it repels.

`taut.contact` describes it. The search for pairs is in `contact_search`, the sums over them in
`contact_assembly`, and the formulas are laws like any other (`taut.laws.point_triangle_contact`,
…). `join_contacts` is what `taut.join` needs.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from taut.arrays import Float, Int, describe
from taut.collision.proximity import Primitives
from taut.errors import ModelError
from taut.mesh.mesh import Mesh

CONTACT_NAME = "contact"  # of its energy in tables of laws
# The range if none is given: the smaller one of these parts of the size and of the shortest edge
_RANGE_OF_SIZE, _RANGE_OF_EDGE = 2e-3, 0.25
_SLIP_OF_SIZE = 1e-3  # per second


@dataclass(frozen=True, eq=False)
class Plane:
    """A plane that nothing passes.

    point : a point of it [m], (3,); normal : towards the free side, of length 1, (3,)
    """

    point: Float
    normal: Float

    def measure_gaps(self, x: Float) -> Float:
        """Return how far points x [m], (m, 3), are above the plane [m], (m,)."""
        gaps: Float = (x - self.point) @ self.normal
        return gaps


@dataclass(frozen=True, eq=False)
class Contact:
    """What can touch in a System; made by `taut.contact`.

    primitives : points, edges and triangles, as particle indices
    planes : planes that nothing passes
    range : gap below which two surfaces repel each other [m], or None: chosen by the System
    k : stiffness of the repulsion [N/m], or None: chosen by the System
    thickness : of the bodies [m], one number or one for each particle of the System
    friction : coefficient of Coulomb's law [1]
    slip_speed : sliding speed at which friction is fully developed [m/s], or None: chosen by the
        System
    exempt : pairs of groups of particles whose surfaces do not touch each other
    """

    primitives: Primitives
    planes: tuple[Plane, ...]
    range: float | None
    k: float | None
    thickness: Float
    friction: float
    slip_speed: float | None
    exempt: tuple[tuple[Int, Int], ...] = ()


def contact(
    *surfaces: Mesh | ArrayLike,
    range: float | None = None,
    k: float | None = None,
    thickness: ArrayLike = 0.0,
    friction: float = 0.0,
    slip_speed: float | None = None,
    planes: Iterable[tuple[ArrayLike, ArrayLike]] = (),
    exempt: Iterable[tuple[ArrayLike, ArrayLike]] = (),
) -> Contact:
    """Let bodies touch, and never pass through each other or themselves.

    surfaces : what can touch: Meshes whose points are the particles of the System in order (of
        solids the boundary), or arrays of triangles (m, 3), edges (m, 2) or particles (m,) in its
        numbers. Obstacles are surfaces whose particles are held
    range : gap below which two surfaces repel each other [m] (default: 0.2% of the size of all
        bodies, but at most a quarter of the shortest edge)
    k : stiffness [N/m]: at a gap of half the range a pair is pushed apart by 1.19·k·range
        (default: so that this is ten times the mean weight of a particle)
    thickness : of the bodies [m], one number or one for each particle: surfaces touch at half the
        sum of theirs
    friction : coefficient μ of Coulomb's law [1]
    slip_speed : sliding speed at which friction is fully developed [m/s]; what sticks creeps with
        less (default: 0.1% of the size of all bodies in a second)
    planes : pairs of a point [m] and a normal towards the free side
    exempt : pairs of groups of particles: a surface with a particle of the one does not touch a
        surface with a particle of the other, such as the two sides of a seam

    Pass it as `System(…, contact=…)`. Pairs that share a particle do not repel each other. Steps
    need an implicit integrator with Newton's method, which tests the way of every iteration.

    >>> import taut
    >>> ball = taut.System([[0, 0.01, 0]], mass=0.1, energies=[taut.laws.gravity()],
    ...     contact=taut.contact([0], range=1e-3, planes=[([0, 0, 0], [0, 1, 0])]))
    >>> summary = taut.simulate(ball, taut.ImplicitEuler(), h=0.01, until=1.0)
    """
    for name, value in (("range", range), ("k", k), ("slip_speed", slip_speed)):
        if value is not None and not (_is_finite(value) and value > 0.0):
            raise ModelError(f"{name} of a contact must be positive, got {value!r}")
    if not (_is_finite(friction) and friction >= 0.0):
        raise ModelError(f"friction of a contact must not be negative, got {friction!r}")
    try:
        widths = np.array(thickness, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ModelError(f"thickness of a contact must be numbers: {error}") from error
    if not (np.isfinite(widths).all() and (widths >= 0.0).all()):
        raise ModelError(f"thickness of a contact must not be negative, got {thickness!r}")
    if not surfaces:
        raise ModelError("a contact needs at least one surface, edge or particle")
    return Contact(
        _gather_primitives(surfaces),
        tuple(_make_plane(given) for given in planes),
        range,
        k,
        widths,
        float(friction),
        slip_speed,
        tuple(_make_exempt(given) for given in exempt),
    )


def _is_finite(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)


def _make_plane(given: Any) -> Plane:
    try:
        point, normal = (np.array(part, dtype=np.float64) for part in given)
    except (TypeError, ValueError):
        point = normal = np.zeros(0)
    length = float(np.linalg.norm(normal))
    finite = np.isfinite(point).all() and np.isfinite(length)
    if point.shape != (3,) or normal.shape != (3,) or not (finite and length > 0.0):
        raise ModelError(
            "a plane of a contact must be a point and a normal, not zero, of three numbers each, "
            f"got {given!r}"
        )
    return Plane(point, normal / length)


def _make_exempt(given: Any) -> tuple[Int, Int]:
    try:
        one, other = (np.atleast_1d(np.array(group)) for group in given)
    except (TypeError, ValueError):
        one = other = np.zeros(0)
    if any(group.dtype.kind not in "iu" or group.ndim != 1 for group in (one, other)):
        raise ModelError(
            f"exempt of a contact must be pairs of groups of particles, got {describe(given)}"
        )
    return one.astype(np.int64), other.astype(np.int64)


def find_surface(mesh: Mesh) -> tuple[Int, Int, Int]:
    """Return the points (p,), edges (m, 2) and triangles (l, 3) with which a mesh touches others.

    Of a solid they are those of its boundary: what is inside touches nothing.
    """
    if not mesh.blocks(3):
        return np.arange(mesh.n), np.asarray(mesh.edges), np.asarray(mesh.triangles)
    triangles = np.asarray(Mesh(mesh.positions, mesh.boundary_faces).triangles)
    return np.unique(triangles), np.empty((0, 2), dtype=np.int64), triangles


def _gather_primitives(surfaces: Sequence[Mesh | ArrayLike]) -> Primitives:
    points, edges, triangles = [], [], []
    for surface in surfaces:
        if isinstance(surface, Mesh):
            own = find_surface(surface)
            points.append(own[0])
            edges.append(own[1])
            triangles.append(own[2])
            continue
        array = np.array(surface)
        if array.dtype.kind not in "iu" or array.ndim not in (1, 2):
            raise ModelError(
                f"a surface must be a Mesh or an array of indices, got {describe(surface)}"
            )
        if array.ndim == 1:
            points.append(array)
        elif array.shape[1] == 2:
            edges.append(array)
        elif array.shape[1] == 3:
            triangles.append(array)
        else:
            raise ModelError(
                f"a surface must have two or three particles in a row, got shape {array.shape}"
            )
    faces = _stack(triangles, 3)
    _reject_repeated(faces, "triangle")
    _reject_repeated(_stack(edges, 2), "edge")
    sides = np.concatenate([_stack(edges, 2), faces[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2)])
    lines = np.unique(np.sort(sides, axis=1), axis=0)
    every = np.concatenate([np.concatenate([*points, np.zeros(0, np.int64)]), lines.ravel()])
    every = np.unique(every.astype(np.int64))
    # A particle without an edge is an edge of no length.
    loose = np.setdiff1d(every, lines)
    return Primitives(every, lines, loose, faces)


def _reject_repeated(rows: Int, what: str) -> None:
    """Raise ModelError for a row that has a particle twice."""
    ordered = np.sort(rows, axis=1)
    bad = np.flatnonzero((ordered[:, 1:] == ordered[:, :-1]).any(axis=1))
    if len(bad):
        raise ModelError(f"a {what} of a contact must have different particles, got {rows[bad[0]]}")


def _stack(arrays: list[Int], columns: int) -> Int:
    rows = [np.asarray(a, dtype=np.int64).reshape(-1, columns) for a in arrays]
    return np.concatenate([np.empty((0, columns), dtype=np.int64), *rows])


def resolve(contact: Contact, x: Float, weight: float, inertia: float) -> Contact:
    """Choose what a contact leaves open, and check it against the positions x [m], (n, 3).

    weight : mean weight of a particle [N]; inertia : stiffness to use where nothing weighs [N/m]
    """
    n, primitives = len(x), contact.primitives
    for group in (primitives.points, *(g for pair in contact.exempt for g in pair)):
        outside = group[(group < 0) | (group >= n)]
        if len(outside):
            raise ModelError(f"contact names particle {outside[0]}, but there are {n}")
    if contact.thickness.shape not in ((), (n,)):
        raise ModelError(
            f"thickness of a contact must be one number or {n}, got shape {contact.thickness.shape}"
        )
    edges = primitives.edges
    shortest = float(np.linalg.norm(x[edges[:, 1]] - x[edges[:, 0]], axis=1).min(initial=np.inf))
    range, slip_speed = contact.range, contact.slip_speed
    size = float(np.ptp(x[primitives.points], axis=0).max(initial=0.0))
    if range is None:
        range = min(_RANGE_OF_SIZE * size, _RANGE_OF_EDGE * shortest)
        if not range > 0.0:
            raise ModelError("the range of a contact must be given: the bodies have no size")
    if range >= shortest:
        raise ModelError(
            f"range of a contact must be less than the shortest edge, {shortest:g} m, got {range:g}"
        )
    if slip_speed is None:
        slip_speed = _SLIP_OF_SIZE * (size if size > 0.0 else 1.0)
    k = contact.k
    if k is None:
        k = 10.0 * weight / (1.19 * range) if weight > 0.0 else inertia
    return replace(contact, range=range, k=k, slip_speed=slip_speed)


def join_contacts(contacts: Sequence[Contact | None], counts: Sequence[int]) -> Contact | None:
    """Return the contact of bodies joined in one system, or None if none of them has any.

    contacts : of each system, resolved; counts : of their particles
    """
    given = [contact for contact in contacts if contact is not None]
    if not given:
        return None
    for name in ("range", "k", "friction", "slip_speed"):
        values = sorted({getattr(contact, name) for contact in given})
        if len(values) > 1:
            raise ModelError(
                f"join: contacts must have the same {name}, got {values[0]:g} and {values[-1]:g}; "
                "join without contact, and give the joined system its own by with_(contact=…)"
            )
    starts = np.cumsum([0, *counts[:-1]]).tolist()
    moved = [(c, s) for c, s in zip(contacts, starts, strict=True) if c is not None]
    parts = [c.primitives for c, _ in moved]
    offsets = [s for _, s in moved]

    def shift(name: str) -> Int:
        rows = [getattr(part, name) + s for part, s in zip(parts, offsets, strict=True)]
        return np.concatenate(rows)

    thickness = [
        np.broadcast_to(0.0 if contact is None else contact.thickness, n)
        for contact, n in zip(contacts, counts, strict=True)
    ]
    planes: dict[bytes, Plane] = {}
    for contact in given:
        for plane in contact.planes:
            planes.setdefault(np.concatenate([plane.point, plane.normal]).tobytes(), plane)
    return replace(
        given[0],
        primitives=Primitives(*(shift(name) for name in ("points", "edges", "loose", "triangles"))),
        planes=tuple(planes.values()),
        thickness=np.concatenate(thickness),
        exempt=tuple((a + s, b + s) for contact, s in moved for a, b in contact.exempt),
    )
