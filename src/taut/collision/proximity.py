"""Pairs of primitives that may come near each other, listed while particles go a way.

All particles go straight from one place to another, at once. Boxes find the pairs whose ways come
near each other, and of those the ones are listed whose distance half way does not exceed what they
can approach each other by: neighbours in a sheet move together, and are far apart for that.

The list is that of a tube: it has every pair nearer than the reach wherever particles are, as long
as there is one time at which none of them is farther than a skin from where it is on its way. So
the same list serves the test of a way, the evaluation of its end, and what is near by. A list for
a ball about one place, as in molecular dynamics, lost: it has to be as wide as the way is long.

Newton's method moves a few particles far, and most of them hardly at all. So where only some have
left the tube, those and their neighbours are searched for, and the list stays that of the others:
of 56 searches in a step of a wrinkling cloth of 100² particles, 4 were left.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from taut.arrays import Float, Int, Mask
from taut.collision.box_tree import LARGEST, BoxTree, bound_primitives, find_unusable_row
from taut.errors import SingularState
from taut.jit.compile import kernels
from taut.linalg.blocks import dot, row_norms

# The skin in units of the reach. A larger one makes lists that last longer, and are longer: with 1,
# neighbours in a mesh are listed whose edges are four times the range, and steps took longer.
_SKIN = 0.4
# For how many strays, as a part of all particles that can move, searches go on until all particles
# are searched for: so many together take as long as that.
_MAX_STRAYS = 0.1


@dataclass(frozen=True, eq=False)
class Primitives:
    """What can touch: particles, edges and triangles.

    points : all of them, (p,); edges : (m, 2); loose : points without an edge, (k,);
    triangles : (l, 3), all particle indices
    """

    points: Int
    edges: Int
    loose: Int
    triangles: Int

    @property
    def segments(self) -> Int:
        """The edges, and after them each loose point as an edge of no length, (m + k, 2)."""
        return np.concatenate([self.edges, self.loose[:, None].repeat(2, axis=1)])


@dataclass(frozen=True, eq=False)
class Candidates:
    """Pairs that may touch, as particles.

    point_triangle : (point, corner, corner, corner), (m, 4)
    edge_edge : (end, end, end, end), (l, 4); the ends of a loose point are both that point
    loose : how many of the two edges of a pair are loose points, (l,): the second, or both
    keys : one number for each pair, the first m those of points and triangles, (m + l,)
    """

    point_triangle: Int
    edge_edge: Int
    loose: Int
    keys: Int

    @staticmethod
    def none() -> Candidates:
        """Return no pairs."""
        none, quadruples = np.empty(0, dtype=np.int64), np.empty((0, 4), dtype=np.int64)
        return Candidates(quadruples, quadruples, none, none)

    def thickness(self, radius: Float) -> tuple[Float, Float]:
        """Return the sums of the radii of both sides [m]: of points and triangles; of edges.

        radius : of each particle [m], (n,); of an edge or triangle the largest of its particles'
        """
        first, second = self.point_triangle, self.edge_edge
        return (
            radius[first[:, 0]] + find_largest(radius, first[:, 1:]),
            find_largest(radius, second[:, :2]) + find_largest(radius, second[:, 2:]),
        )

    def within(self, x: Float, gap: float, radius: Float) -> Candidates:
        """Return the pairs with less than a gap [m] at positions x [m], (n, 3).

        radius : of each particle [m], (n,)
        """
        thickness, edge_thickness = self.thickness(radius)
        loops = kernels("taut.collision.distance_kernels")
        first, second = self.point_triangle, self.edge_edge
        m = len(first)
        distances, features = np.empty(m), np.empty(m, dtype=np.int8)
        loops.measure_points_and_triangles(x, first, distances, features)
        near = np.flatnonzero(~(distances - thickness >= gap))
        distances, features = np.empty(len(second)), np.empty(len(second), dtype=np.int8)
        loops.measure_edges(x, second, np.zeros(len(second)), distances, features)
        edges = np.flatnonzero(~(distances - edge_thickness >= gap))
        return Candidates(
            np.ascontiguousarray(first[near]),
            np.ascontiguousarray(second[edges]),
            self.loose[edges],
            np.concatenate([self.keys[:m][near], self.keys[m:][edges]]),
        )


def find_largest(values: Float, rows: Int) -> Float:
    """Return the largest of the values, (n,), of each row of indices, (m, k)."""
    largest = values[rows[:, 0]]
    for k in range(1, rows.shape[1]):
        np.maximum(largest, values[rows[:, k]], out=largest)
    return largest


class _Group:
    """Primitives of one kind of which all can move, or none.

    particles : of each, (m, k); numbers : among all of its kind, (m,); radius : of each [m], (m,)
    """

    def __init__(self, particles: Int, numbers: Int, radius: Float) -> None:
        self.particles, self.numbers = np.ascontiguousarray(particles), numbers
        self.radius = radius
        self._tree: BoxTree | None = None

    @staticmethod
    def divide(particles: Int, movable: Mask, radius: Float) -> tuple[_Group, _Group]:
        """Return those that can move, and those that cannot."""
        moves = movable[particles].any(axis=1)
        able, unable = np.flatnonzero(moves), np.flatnonzero(~moves)
        own = find_largest(radius, particles)
        return (
            _Group(particles[able], able, own[able]),
            _Group(particles[unable], unable, own[unable]),
        )

    def select(self, particles: Mask) -> _Group:
        """Return those with one of the particles, given as a mask (n,)."""
        rows = np.flatnonzero(particles[self.particles].any(axis=1))
        return _Group(self.particles[rows], self.numbers[rows], self.radius[rows])

    @property
    def tree(self) -> BoxTree:
        """The tree of its boxes."""
        assert self._tree is not None
        return self._tree

    def bound(self, x: Float, end: Float, margin: float) -> None:
        """Give each its box from x to end [m], (n, 3), enlarged by a margin [m].

        The first tree is kept, and follows the boxes, until it is dropped.
        """
        boxes = bound_primitives(self.particles, x, end, margin)
        # Each by its own radius: one thick body does not lengthen the lists of all others.
        boxes[:, :3] -= self.radius[:, None]
        boxes[:, 3:] += self.radius[:, None]
        if self._tree is None:
            self._tree = BoxTree(boxes)
        else:
            self._tree.refit(boxes)

    def drop_tree(self) -> None:
        """Forget the tree."""
        self._tree = None


@dataclass(frozen=True, eq=False)
class _Tube:
    """Where every near pair is listed.

    start, move : the way of the particles [m], (n, 3); skin : how far they may be from it [m]
    touching, crossing : points and triangles, and edges, by their numbers, (m, 2) and (l, 2)
    candidates : the same as particles
    """

    start: Float
    move: Float
    skin: float
    touching: Int
    crossing: Int
    candidates: Candidates

    def find_strays(self, x: Float) -> Mask:
        """Whether each particle is farther than the skin from where it is at one time, (n,)."""
        offset, square = x - self.start, dot(self.move, self.move)
        if square > 0.0:
            offset -= min(max(dot(offset, self.move) / square, 0.0), 1.0) * self.move
        strays: Mask = ~(row_norms(offset) <= self.skin)
        return strays


class ProximityList:
    """Lists the pairs that may come near on a way, until particles leave it.

    movable : whether each particle can move, (n,); pairs of which none can are left out
    reach : gap below which every pair must be listed [m], between surfaces of the given radius
    radius : of each particle [m], one number or (n,)
    skin : how far particles may be from their way [m] (default: 0.4 of the reach)
    """

    def __init__(
        self,
        primitives: Primitives,
        movable: Mask,
        reach: float,
        *,
        radius: Float | float = 0.0,
        skin: float | None = None,
    ) -> None:
        self.primitives, self.reach = primitives, reach
        self._skin = _SKIN * reach if skin is None else skin
        self._max_strays = int(_MAX_STRAYS * np.count_nonzero(movable))
        # Each kind as those that can move, and those that cannot
        radii = np.broadcast_to(radius, len(movable))
        self._points = _Group.divide(primitives.points[:, None], movable, radii)
        self._edges = _Group.divide(primitives.segments, movable, radii)
        self._triangles = _Group.divide(primitives.triangles, movable, radii)
        self._all: _Tube | None = None  # of all particles
        # Of a way on which the strays have left the former, and its strays, (n,)
        self._local: tuple[_Tube, Mask] | None = None
        self._strays = 0  # that have been searched for since all were

    def forget(self) -> None:
        """Forget lists and trees: what follows does not depend on what was before."""
        self._all = self._local = None
        for group in (*self._points, *self._edges, *self._triangles):
            group.drop_tree()

    def find_near(self, x: Float) -> Candidates:
        """Return all pairs that may be nearer than the reach at positions x [m], (n, 3)."""
        return self.find_between(x, x)

    def find_between(self, x: Float, end: Float) -> Candidates:
        """Return all pairs that may come nearer than the reach on the way from x to end.

        Raises SingularState for a position that is not finite or too large to measure distances.
        """
        ends = (x,) if end is x else (x, end)
        # Where both ends are in a tube, all between them is.
        if self._all is not None:
            strays = np.logical_or.reduce([self._all.find_strays(z) for z in ends])
            if not strays.any():
                return self._all.candidates
            if self._local is not None:
                tube, known = self._local
                if not (strays & ~known).any() and not any(tube.find_strays(z).any() for z in ends):
                    return tube.candidates
        _raise_if_unusable(ends)
        if self._all is not None:
            self._strays += int(np.count_nonzero(strays))
            if self._strays <= self._max_strays:
                tube = self._search_strays(x, end, strays, self._all)
                self._local = (tube, strays)
                return tube.candidates
        self._all, self._local, self._strays = self._search_all(x, end), None, 0
        return self._all.candidates

    def _search_all(self, x: Float, end: Float) -> _Tube:
        for group in (*self._points, *self._edges, *self._triangles):
            group.bound(x, end, 0.5 * self.reach + self._skin)
        (points, held_points), (edges, held_edges) = self._points, self._edges
        triangles, held_triangles = self._triangles
        pairs = _PairSearch(x, end, self.reach + 2.0 * self._skin)
        touching = [
            pairs.find(points, triangles),
            pairs.find(points, held_triangles),
            pairs.find(held_points, triangles),
        ]
        crossing = [pairs.find(edges, edges), pairs.find(edges, held_edges)]
        return self._list(x, end, touching, crossing)

    def _search_strays(self, x: Float, end: Float, strays: Mask, others: _Tube) -> _Tube:
        """Add to a list the pairs of particles that have left its tube.

        The boxes of primitives without them are still those of the tube.
        """

        def select(group: _Group) -> _Group:
            chosen = group.select(strays)
            chosen.bound(x, end, 0.5 * self.reach + self._skin)
            return chosen

        (points, held_points), (edges, held_edges) = self._points, self._edges
        triangles, held_triangles = self._triangles
        stray_points, stray_held_points = select(points), select(held_points)
        stray_triangles, stray_held_triangles = select(triangles), select(held_triangles)
        stray_edges, stray_held_edges = select(edges), select(held_edges)
        pairs = _PairSearch(x, end, self.reach + 2.0 * self._skin)
        touching = [others.touching]
        for first, second, all_first, all_second in (
            (stray_points, stray_triangles, points, triangles),
            (stray_points, stray_held_triangles, points, held_triangles),
            (stray_held_points, stray_triangles, held_points, triangles),
        ):
            touching.append(pairs.find(first, second))
            touching.append(pairs.find(first, all_second))
            touching.append(pairs.find(all_first, second))
        crossing = [
            others.crossing,
            pairs.find(stray_edges, stray_edges),
            pairs.find(stray_edges, edges),
            pairs.find(stray_edges, stray_held_edges),
            pairs.find(stray_edges, held_edges),
            pairs.find(stray_held_edges, edges),
        ]
        return self._list(x, end, touching, crossing)

    def _list(self, x: Float, end: Float, touching: list[Int], crossing: list[Int]) -> _Tube:
        """Return pairs of points and triangles, and of edges, by their numbers, as a tube."""
        points, edges = self.primitives.points, self.primitives.segments
        triangles = self.primitives.triangles
        # Each once and in one order, whatever tree has found them
        first, first_keys = _order_pairs(np.concatenate(touching), len(triangles))
        crossings = np.sort(np.concatenate(crossing), axis=1)
        second, second_keys = _order_pairs(crossings, len(edges))
        offset = max(len(points), 1) * max(len(triangles), 1)
        candidates = Candidates(
            np.column_stack([points[first[:, 0]], triangles[first[:, 1]]]),
            np.column_stack([edges[second[:, 0]], edges[second[:, 1]]]),
            (second >= len(self.primitives.edges)).sum(axis=1),
            np.concatenate([first_keys, offset + second_keys]),
        )
        return _Tube(x.copy(), end - x, self._skin, first, second, candidates)


class _PairSearch:
    """Finds the pairs of two groups that may come nearer than a reach on the way from x to end."""

    def __init__(self, x: Float, end: Float, reach: float) -> None:
        move = end - x
        self._way = (x + 0.5 * move, move)
        self._reach = reach

    def find(self, first: _Group, second: _Group) -> Int:
        """Return their numbers, (k, 2); pairs with a common particle are left out."""
        if not len(first.numbers) or not len(second.numbers):
            return np.empty((0, 2), dtype=np.int64)
        if first is second:
            found = first.tree.find_pairs()
        elif len(first.numbers) <= len(second.numbers):
            found = first.tree.find_meetings(second.tree)
        else:
            found = second.tree.find_meetings(first.tree).swap()
        kernels("taut.collision.distance_kernels").keep_near(
            *self._way,
            first.particles,
            second.particles,
            self._reach + float(first.radius.max() + second.radius.max()),
            found.pairs,
            found.start,
            found.counts,
        )
        pairs = found.join()
        return np.stack([first.numbers[pairs[:, 0]], second.numbers[pairs[:, 1]]], axis=1)


def _raise_if_unusable(ends: tuple[Float, ...]) -> None:
    for x in ends:
        bad = find_unusable_row(x)
        if bad is not None:
            raise SingularState(
                f"contact: positions must be finite, below {LARGEST:g} m, "
                f"got {x[bad].tolist()} of particle {bad}"
            )


def _order_pairs(pairs: Int, count: int) -> tuple[Int, Int]:
    """Return pairs, (m, 2), each once and ordered, and their keys; count : of the second ones."""
    keys, first = np.unique(pairs[:, 0] * max(count, 1) + pairs[:, 1], return_index=True)
    return pairs[first], keys


def find_free_part(
    x: Float,
    move: Float,
    candidates: Candidates,
    thickness: tuple[Float, Float],
    smoothing: Float,
) -> float:
    """Return the part of the way x + part·move, at most 1, that no pair's contact bounds.

    thickness : distance that each pair must exceed [m], of points and triangles, and of edges
    smoothing : ε² [m²] of edges, (l,), whose distance is √F (see `distance_kernels`): it must be
        what a barrier is a function of, or the move ends so near its pole that nothing comes back
    """
    loops = kernels("taut.collision.distance_kernels")
    least = 1.0
    for quadruples, own, is_edges, squares in (
        (candidates.point_triangle, thickness[0], False, np.zeros(len(thickness[0]))),
        (candidates.edge_edge, thickness[1], True, smoothing),
    ):
        parts = np.empty(len(quadruples))
        loops.write_free_parts(x, move, quadruples, own, is_edges, squares, parts)
        least = min(least, float(parts.min(initial=1.0)))
    return least
