"""Pairs of primitives that may come near each other, listed while particles go a way.

All particles go straight from one place to another, at once. Boxes find the pairs whose ways come
near each other, and of those the ones are listed whose distance half way does not exceed what they
can approach each other by: neighbours in a sheet move together, and are far apart for that.

The list is that of a tube: it has every pair nearer than the reach wherever particles are, as long
as there is one time at which none of them is farther than a skin from where it is on its way. So
the same list serves the test of a way, the evaluation of its end, and what is near by. A list for
a ball about one place, as in molecular dynamics, lost: it has to be as wide as the way is long.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from taut.arrays import Float, Int, Mask
from taut.collision.box_tree import LARGEST, BoxTree, bound_primitives, find_unusable_row
from taut.errors import SingularState
from taut.jit.compile import kernels
from taut.linalg.blocks import dot, row_norms

# The skin in units of the reach. A larger one makes lists that last longer, and are longer.
_SKIN = 1.0


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


class _Group:
    """Primitives of one kind of which all can move, or none.

    particles : of each, (m, k); numbers : among all of its kind, (m,)

    The tree is that of the first positions, and follows the others until it is dropped.
    """

    def __init__(self, particles: Int, numbers: Int) -> None:
        self.particles, self.numbers = np.ascontiguousarray(particles[numbers]), numbers
        self._tree: BoxTree | None = None

    @staticmethod
    def divide(particles: Int, movable: Mask) -> tuple[_Group, _Group]:
        """Return those that can move, and those that cannot."""
        moves = movable[particles].any(axis=1)
        return _Group(particles, np.flatnonzero(moves)), _Group(particles, np.flatnonzero(~moves))

    def __len__(self) -> int:
        return len(self.numbers)

    @property
    def tree(self) -> BoxTree:
        """The tree of its boxes."""
        assert self._tree is not None
        return self._tree

    def drop_tree(self) -> None:
        """Forget the tree."""
        self._tree = None

    def bound(self, x: Float, end: Float, margin: float) -> None:
        """Give each its box from x to end [m], (n, 3), enlarged by a margin [m]."""
        boxes = bound_primitives(self.particles, x, end, margin)
        if self._tree is None:
            self._tree = BoxTree(boxes)
        else:
            self._tree.refit(boxes)


class ProximityList:
    """Lists the pairs that may come near on a way, until particles leave it.

    movable : whether each particle can move, (n,); pairs of which none can are left out
    reach : distance below which every pair must be listed [m]
    skin : how far particles may be from their way [m] (default: the reach)
    """

    def __init__(
        self, primitives: Primitives, movable: Mask, reach: float, skin: float | None = None
    ) -> None:
        self.primitives, self.reach = primitives, reach
        self._skin = _SKIN * reach if skin is None else skin
        # Each kind as those that can move, and those that cannot
        self._points = _Group.divide(primitives.points[:, None], movable)
        self._edges = _Group.divide(primitives.segments, movable)
        self._triangles = _Group.divide(primitives.triangles, movable)
        self._candidates = Candidates.none()
        self._start: Float | None = None
        self._move = np.zeros((0, 3))

    def forget(self) -> None:
        """Forget the list and the trees: what follows does not depend on what was before."""
        self._candidates, self._start = Candidates.none(), None
        for group in (*self._points, *self._edges, *self._triangles):
            group.drop_tree()

    def find_near(self, x: Float) -> Candidates:
        """Return all pairs that may be nearer than the reach at positions x [m], (n, 3)."""
        return self.find_between(x, x)

    def find_between(self, x: Float, end: Float) -> Candidates:
        """Return all pairs that may come nearer than the reach on the way from x to end.

        Raises SingularState for a position that is not finite or too large to measure distances.
        """
        # Where both ends are near the way of the list, all between them is.
        if not (self._is_near_way(x) and (end is x or self._is_near_way(end))):
            self._candidates = self._search(x, end)
            self._start, self._move = x.copy(), end - x
        return self._candidates

    def _is_near_way(self, x: Float) -> bool:
        """Whether there is a time at which all particles are no farther than a skin from there."""
        if self._start is None:
            return False
        offset, square = x - self._start, dot(self._move, self._move)
        if square > 0.0:
            offset -= min(max(dot(offset, self._move) / square, 0.0), 1.0) * self._move
        return bool(row_norms(offset).max(initial=0.0) <= self._skin)

    def _search(self, x: Float, end: Float) -> Candidates:
        for positions in (x, end):
            bad = find_unusable_row(positions)
            if bad is not None:
                raise SingularState(
                    f"contact: positions must be finite, below {LARGEST:g} m, "
                    f"got {positions[bad].tolist()} of particle {bad}"
                )
        for group in (*self._points, *self._edges, *self._triangles):
            group.bound(x, end, 0.5 * self.reach + self._skin)
        (points, held_points), (edges, held_edges) = self._points, self._edges
        triangles, held_triangles = self._triangles
        move = end - x
        way = (x + 0.5 * move, move)
        touching = [
            self._find_pairs(points, triangles, way),
            self._find_pairs(points, held_triangles, way),
            self._find_pairs(held_points, triangles, way),
        ]
        crossing = [
            self._find_pairs(edges, edges, way),
            self._find_pairs(edges, held_edges, way),
        ]
        return self._list(np.concatenate(touching), np.sort(np.concatenate(crossing), axis=1))

    def _find_pairs(self, first: _Group, second: _Group, way: tuple[Float, Float]) -> Int:
        """Return the numbers of pairs of two groups that may come near, (k, 2).

        way : positions half way and the whole move [m], (n, 3)
        """
        if first is second:
            found = first.tree.find_pairs()
        else:
            found = first.tree.find_meetings(second.tree)
        kernels("taut.collision.distance_kernels").keep_near(
            *way,
            first.particles,
            second.particles,
            self.reach + 2.0 * self._skin,
            found.pairs,
            found.start,
            found.counts,
        )
        pairs = found.join()
        return np.stack([first.numbers[pairs[:, 0]], second.numbers[pairs[:, 1]]], axis=1)

    def _list(self, touching: Int, crossing: Int) -> Candidates:
        """Return pairs (point, triangle) and (edge, edge), by their numbers, as candidates."""
        points, edges = self.primitives.points, self.primitives.segments
        triangles = self.primitives.triangles
        # In one order, whatever tree has found them
        first_keys = touching[:, 0] * max(len(triangles), 1) + touching[:, 1]
        order = np.argsort(first_keys)
        touching, first_keys = touching[order], first_keys[order]
        second_keys = crossing[:, 0] * max(len(edges), 1) + crossing[:, 1]
        order = np.argsort(second_keys)
        crossing, second_keys = crossing[order], second_keys[order]
        offset = max(len(points), 1) * max(len(triangles), 1)
        return Candidates(
            np.column_stack([points[touching[:, 0]], triangles[touching[:, 1]]]),
            np.column_stack([edges[crossing[:, 0]], edges[crossing[:, 1]]]),
            (crossing >= len(self.primitives.edges)).sum(axis=1),
            np.concatenate([first_keys, offset + second_keys]),
        )


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
