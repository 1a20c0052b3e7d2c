"""Pairs of primitives that may come near each other, kept while particles move a little.

A list of candidates (a Verlet list) is made at reference positions: all pairs whose boxes, enlarged
by half the reach and by a skin, meet. It has every pair nearer than the reach until a particle has
moved by more than the skin; only then is it rebuilt.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from taut.arrays import Float, Int, Mask
from taut.collision.box_tree import LARGEST, Boxes, BoxTree, find_unusable_row
from taut.errors import SingularState
from taut.jit.compile import kernels
from taut.linalg.blocks import row_norms

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


def find_candidates(
    primitives: Primitives,
    movable: Mask,
    margin: float,
    *positions: Float,
    radius: Float | float = 0.0,
) -> Candidates:
    """Return all pairs without a common particle whose boxes over all positions come near.

    movable : whether each particle can move, (n,); pairs of which none can are left out
    margin : by which each box is enlarged [m]
    radius : of each particle [m], one number or (n,), by which boxes are enlarged in addition

    Raises SingularState for a position that is not finite or too large to measure distances.
    """
    for x in positions:
        bad = find_unusable_row(x)
        if bad is not None:
            raise SingularState(
                f"contact: positions must be finite, below {LARGEST:g} m, "
                f"got {x[bad].tolist()} of particle {bad}"
            )
    points, edges, triangles = primitives.points, primitives.segments, primitives.triangles

    radii = np.broadcast_to(radius, len(movable))

    def enclose(rows: Int) -> Boxes:
        return Boxes.of(rows, *positions, margin=margin + find_largest(radii, rows)[:, None])

    pairs = BoxTree(enclose(triangles)).find_meeting(enclose(points[:, None]))
    point_triangle = np.column_stack([points[pairs[:, 0]], triangles[pairs[:, 1]]])
    keep = _can_touch(point_triangle, 1, movable)
    first_keys = pairs[keep, 0] * max(len(triangles), 1) + pairs[keep, 1]
    pairs = BoxTree(enclose(edges)).find_pairs()
    edge_edge = np.column_stack([edges[pairs[:, 0]], edges[pairs[:, 1]]])
    touching = _can_touch(edge_edge, 2, movable)
    offset = max(len(points), 1) * max(len(triangles), 1)
    second_keys = offset + pairs[touching, 0] * max(len(edges), 1) + pairs[touching, 1]
    return Candidates(
        np.ascontiguousarray(point_triangle[keep]),
        np.ascontiguousarray(edge_edge[touching]),
        (pairs[touching] >= len(primitives.edges)).sum(axis=1),
        np.concatenate([first_keys, second_keys]),
    )


def _can_touch(quadruples: Int, split: int, movable: Mask) -> Mask:
    """Whether the two sides have no particle in common, and one of them can move."""
    common = (quadruples[:, :split, None] == quadruples[:, None, split:]).any(axis=(1, 2))
    moves: Mask = ~common & movable[quadruples].any(axis=1)
    return moves


class ProximityList:
    """A list of candidates that follows the particles.

    primitives, movable, radius : see `find_candidates`
    reach : gap, between surfaces with these radii, below which every pair must be listed [m]
    travel : how far particles are expected to move [m]; longer ways cost time, nothing else

    Two lists. The wide one has all pairs that may come near while particles travel; boxes find it.
    The narrow one has those of the wide list whose distance is less than the reach and two skins;
    it decides on the sparsity pattern, and is rebuilt as soon as a particle has moved by more
    than its skin, which costs one evaluation of distances.
    """

    def __init__(
        self,
        primitives: Primitives,
        movable: Mask,
        reach: float,
        *,
        radius: Float | float = 0.0,
        travel: float = 0.0,
    ) -> None:
        self.primitives, self.movable, self.reach = primitives, movable, reach
        self.radius = np.broadcast_to(radius, len(movable))
        self._skin = _SKIN * reach
        self._wide_skin = max(travel, self._skin)
        self._wide = self.candidates = Candidates.none()
        self._wide_reference: Float | None = None
        self._reference: Float | None = None

    def _find(self, margin: float, *positions: Float) -> Candidates:
        return find_candidates(
            self.primitives, self.movable, margin, *positions, radius=self.radius
        )

    def _has_wide(self, x: Float) -> bool:
        return _is_within(x, self._wide_reference, self._wide_skin)

    def update(self, x: Float) -> None:
        """Rebuild the lists where a particle has moved by more than their skins."""
        if not self._has_wide(x):
            margin = 0.5 * self.reach + self._wide_skin
            self._wide = self._find(margin, x)
            self._wide_reference, self._reference = x.copy(), None
        if not _is_within(x, self._reference, self._skin):
            self.candidates = self._wide.within(x, self.reach + 2.0 * self._skin, self.radius)
            self._reference = x.copy()

    def find_between(self, x: Float, end: Float) -> Candidates:
        """Return all pairs that may come near on straight paths from x to end."""
        if self._has_wide(x) and self._has_wide(end):
            return self._wide  # and so is everything between, as balls are convex
        return self._find(0.5 * self.reach, x, end)


def _is_within(x: Float, reference: Float | None, skin: float) -> bool:
    """Whether no particle is farther than a skin from where it was."""
    if reference is None:
        return False
    return bool(row_norms(x - reference).max(initial=0.0) <= skin)


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
