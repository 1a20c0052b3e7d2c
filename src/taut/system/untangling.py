"""Untangle a start: move particles apart until nothing intersects and nothing touches.

Of two bodies that intersect, each is on one side of the other's surface with most of its points:
that is where all of it belongs, but outside of a one-sided surface whatever most points say. In
rounds, points that are on the wrong side, or nearer than they may be, move along the normal of the
nearest triangle, which gives way, each by the smallest moves that undo the fault (projection, as in
position-based dynamics); edges that still pass through triangles, as round the rim of a box, follow
little by little. Then what is nearer than its thickness and half of the range is pushed apart, and
what is beyond planes comes back.

So this frees sheets, surfaces and solids that overlap by less than an edge is long. It frees
neither a body from itself nor ropes that cross, and it never returns a start that is not free.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from taut.arrays import Float, Int, Mask
from taut.collision.box_tree import BoxTree, bound_primitives
from taut.collision.proximity import Primitives
from taut.errors import ModelError
from taut.jit.compile import kernels
from taut.linalg.blocks import row_norms
from taut.system.building import join
from taut.system.contact import Contact
from taut.system.contact_choices import join_contacts, resolve
from taut.system.contact_search import ContactSearch
from taut.system.obstacles import Obstacle
from taut.system.system import System

_MAX_ROUNDS = 500
_APART = 0.5  # the gap that particles are moved to, in units of the range
_OVERSHOOT = 1.2  # of a correction: averages of several fall short

_FACE = 6  # the closest feature of a triangle (see `distance_kernels`)

Correction = tuple[Int, Float, Float]
"""Particles (m, s), directions (m, s, 3) of their moves, and how far each must go [m], (m,)."""


@dataclass(frozen=True, eq=False)
class Untangled:
    """A system that starts free, and what was moved for it.

    system : with contact, and with its start untangled
    moves : of each particle [m], (n, 3)
    rounds : of corrections
    """

    system: System
    moves: Float
    rounds: int

    @property
    def moved(self) -> Int:
        """The particles that were moved."""
        return np.flatnonzero(self.moves.any(axis=1))

    def __str__(self) -> str:
        if not len(self.moved):
            return "the start is free; nothing was moved"
        lengths = row_norms(self.moves)
        return (
            f"{len(self.moved)} particles were moved, particle {int(np.argmax(lengths))} farthest, "
            f"by {lengths.max():.3g} m, in {self.rounds} rounds"
        )


def untangle(system: System, contact: Contact, *obstacles: Obstacle) -> Untangled:
    """Give a system a contact, and move what intersects or touches at the start apart.

    system : without contact; contact : see `taut.contact`
    obstacles : to join it with (see `taut.obstacles`)

    Held and scripted particles stay, and so do constrained directions. ModelError names what could
    not be untangled: bodies through themselves, ropes that cross, overlaps deeper than an edge.

    >>> import taut
    >>> x = [[0, 0, 0], [1, 0, 0], [0, 0, 1], [0.2, -0.01, 0.2], [0.2, 0.5, 0.2]]
    >>> system = taut.System(x, mass=1.0, fixed=[0, 1, 2])
    >>> free = taut.untangle(system, taut.contact([[0, 1, 2]], [[3, 4]], range=1e-3))
    >>> free.moved.tolist(), bool(free.system.pose[3, 1] > 0.0)
    ([3, 4], True)
    """
    if system.contact is not None:
        raise ModelError("untangle: the system must be without contact, which is given apart")
    if not isinstance(contact, Contact):
        raise ModelError("untangle: contact must be a taut.contact(…)")
    if obstacles:
        x = np.array(system.initial_state().q)
        chosen = resolve(contact, x, system.rest, 0.0, 1.0)
        # k, range and slip speed as given: the joined system chooses what is open.
        open_values = {name: getattr(contact, name) for name in ("range", "k", "slip_speed")}
        contacts = [chosen, *(obstacle.to_contact(chosen) for obstacle in obstacles)]
        counts = [system.n, *(len(obstacle.points) for obstacle in obstacles)]
        joined = join_contacts(contacts, counts)
        assert joined is not None
        contact = replace(joined, **open_values)
        system = join(system, *(obstacle.to_system(None) for obstacle in obstacles))
    start = np.array(system.initial_state().q)
    movable = np.logical_not(system._projector.is_fixed)
    search = ContactSearch(resolve(contact, start, system.rest, 0.0, 1.0), movable)
    resolved = search.contact
    assert not isinstance(resolved.thickness, Mapping)
    closed = [triangles[0, :1] for _, triangles in resolved.one_sided]
    sides = _Sides(
        resolved.primitives,
        np.broadcast_to(resolved.thickness / 2.0, len(start)),
        np.concatenate([np.empty(0, dtype=np.int64), *closed]),
        len(start),
    )
    x = start.copy()
    for done in range(_MAX_ROUNDS):
        if not search.problems.describe(x):
            return Untangled(system.with_(pose=x, contact=contact), x - start, done)
        total, count = np.zeros_like(x), np.zeros(len(x))
        for particles, directions, ways in _find_corrections(search, sides, x):
            _add(particles, directions, ways, movable, total, count)
        move = _OVERSHOOT * total / np.maximum(count, 1.0)[:, None]
        x = x + system._projector.project(move)
    left = search.problems.describe(x)
    raise ModelError(
        f"untangle: could not free the start in {_MAX_ROUNDS} rounds: {len(left)} pairs are left, "
        f"such as {left[0]}; a body through itself, ropes that cross, and overlaps deeper than an "
        "edge is long must be moved apart by hand"
    )


def _add(
    particles: Int, directions: Float, ways: Float, movable: Mask, total: Float, count: Float
) -> None:
    """Add the least moves along directions that change each measure by its way."""
    free = directions * movable[particles][:, :, None]
    squares = np.einsum("esi,esi->e", free, free)
    factors = np.where(squares > 0.0, ways / np.where(squares > 0.0, squares, 1.0), 0.0)
    moves = free * factors[:, None, None]
    np.add.at(total, particles, moves)
    np.add.at(count, particles, (np.abs(moves).sum(axis=2) > 0.0).astype(np.float64))


def _find_corrections(search: ContactSearch, sides: _Sides, x: Float) -> Iterator[Correction]:
    contact = search.contact
    assert contact.range is not None
    apart = _APART * contact.range
    for plane, points, gaps in search.pairs.measure_planes(x):
        close = np.flatnonzero(gaps < apart)
        along = np.tile(plane.normal, (len(close), 1, 1))
        yield points[close][:, None], along, apart - gaps[close]
    if sides.has_crossed(search, x):
        yield from sides.find_corrections(x, apart)
        yield from sides.follow(*search.problems.find_crossed(x), x, apart)
        return  # the closest points of what intersects say nothing
    pairs, weights, gaps = search.find_close_pairs(x, apart)
    between = np.einsum("es,esi->ei", weights, x[pairs])
    lengths = row_norms(between)
    normals = between / np.where(lengths > 0.0, lengths, 1.0)[:, None]
    yield pairs, weights[:, :, None] * normals[:, None, :], apart - gaps


class _Sides:
    """Which side of a body's surface another body is on.

    primitives : of the contact; radius : of the particles [m], (n,)
    one_sided : a particle of each one-sided surface; n : number of particles
    """

    def __init__(self, primitives: Primitives, radius: Float, one_sided: Int, n: int) -> None:
        ends = np.concatenate([primitives.edges, primitives.triangles[:, :2]])
        graph = coo_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), (n, n))
        self._body = connected_components(graph, directed=False)[1]
        self._primitives, self._radius = primitives, radius
        self._closed = set(self._body[one_sided].tolist())
        self._signs: dict[tuple[int, int], float] = {}

    def has_crossed(self, search: ContactSearch, x: Float) -> bool:
        """Whether bodies intersect at x; those that have begun to do so are remembered."""
        edges, triangles = search.problems.find_crossed(x)
        pairs = [
            (self._body[e[0]], self._body[t[0]]) for e, t in zip(edges, triangles, strict=True)
        ]
        for _, surface, enclosed in search.problems.find_inside(x):
            pairs += [(self._body[p], self._body[surface[0, 0]]) for p in enclosed]
        for one, other in {(int(a), int(b)) for a, b in pairs}:
            for body, wall in ((one, other), (other, one)):
                if body != wall and (body, wall) not in self._signs:
                    self._signs[body, wall] = self._find_side(body, wall, x)
        return bool(pairs)

    def _find_side(self, body: int, wall: int, x: Float) -> float:
        if wall in self._closed:
            return 1.0
        heights = self._measure(body, wall, x)[2]
        return float(np.sign(heights.sum())) or 1.0

    def find_corrections(self, x: Float, apart: float) -> Iterator[Correction]:
        """Return moves of points that are on the wrong side of a surface, or too near it."""
        for (body, wall), sign in self._signs.items():
            rows, normals, heights = self._measure(body, wall, x)
            thickness = self._radius[rows[:, 0]] + self._radius[rows[:, 1:]].max(axis=1, initial=0)
            ways = thickness + apart - sign * heights
            wrong = np.flatnonzero(ways > 0.0)
            shares = np.array([1.0, -1 / 3, -1 / 3, -1 / 3])  # the triangle gives way as a whole
            directions = shares[None, :, None] * (sign * normals[wrong])[:, None, :]
            yield rows[wrong], directions, ways[wrong]

    def follow(self, edges: Int, triangles: Int, x: Float, apart: float) -> Iterator[Correction]:
        """Return small moves of edges through triangles, to the side where they belong."""
        for edge, triangle in zip(edges, triangles, strict=True):
            sign = self._signs.get((int(self._body[edge[0]]), int(self._body[triangle[0]])))
            if sign is None:
                continue
            wall = self._primitives.triangles
            wall = wall[self._body[wall[:, 0]] == self._body[triangle[0]]]
            normal = sign * _find_normals(x, wall, triangle[None])[0]
            shares = np.array([0.5, 0.5, -1 / 3, -1 / 3, -1 / 3])
            yield np.append(edge, triangle)[None], shares[None, :, None] * normal, np.array([apart])

    def _measure(self, body: int, wall: int, x: Float) -> tuple[Int, Float, Float]:
        """Return the points of a body that are near a wall, each with its nearest triangle.

        Rows (point, corner, corner, corner), (m, 4), normals (m, 3), and heights above the triangle
        [m], negative behind it, (m,).
        """
        points = self._primitives.points[self._body[self._primitives.points] == body]
        triangles = self._primitives.triangles
        triangles = triangles[self._body[triangles[:, 0]] == wall]
        if not len(triangles):
            return np.empty((0, 4), np.int64), np.empty((0, 3)), np.empty(0)
        edges = self._primitives.edges
        edges = edges[np.isin(self._body[edges[:, 0]], (body, wall))]
        depth = float(row_norms(x[edges[:, 1]] - x[edges[:, 0]]).max(initial=0.0))
        tree = BoxTree(bound_primitives(points[:, None], x, x))
        found = tree.find_meetings(BoxTree(bound_primitives(triangles, x, x, depth))).join()
        found = found[np.lexsort(found.T[::-1])]
        rows = np.column_stack([points[found[:, 0]], triangles[found[:, 1]]])
        distances, features = np.empty(len(rows)), np.empty(len(rows), dtype=np.int8)
        loops = kernels("taut.collision.distance_kernels")
        loops.measure_points_and_triangles(x, np.ascontiguousarray(rows), distances, features)
        order = np.lexsort((distances, rows[:, 0]))
        order = order[np.unique(rows[order, 0], return_index=True)[1]]
        rows, distances = rows[order], distances[order]
        normals = _find_normals(x, triangles, rows[:, 1:])
        is_face = features[order] == _FACE
        normals[is_face] = _find_face_normals(x, rows[is_face, 1:])
        above = np.einsum("ei,ei->e", normals, x[rows[:, 0]] - x[rows[:, 1:]].mean(axis=1))
        return rows, normals, np.where(above >= 0.0, distances, -distances)


def _find_face_normals(x: Float, triangles: Int) -> Float:
    a, b, c = (x[triangles[:, k]] for k in range(3))
    areas = np.cross(b - a, c - a)
    normals: Float = areas / np.maximum(row_norms(areas), 1e-300)[:, None]
    return normals


def _find_normals(x: Float, triangles: Int, chosen: Int) -> Float:
    """Return the mean of the normals at the corners of chosen triangles, (m, 3)."""
    a, b, c = (x[triangles[:, k]] for k in range(3))
    areas = np.cross(b - a, c - a)
    at_corners = np.zeros_like(x)
    for k in range(3):
        np.add.at(at_corners, triangles[:, k], areas)
    at_corners /= np.maximum(row_norms(at_corners), 1e-300)[:, None]
    normals = at_corners[chosen].mean(axis=1)
    mean: Float = normals / np.maximum(row_norms(normals), 1e-300)[:, None]
    return mean
