"""What intersects, is inside of a one-sided surface, or touches, in words."""

from __future__ import annotations

import numpy as np

from taut.arrays import Float, Int
from taut.collision.crossings import find_crossings
from taut.collision.intersections import find_enclosed, find_intersections
from taut.errors import ModelError
from taut.system.contact_groups import BodyNames
from taut.system.near_pairs import NearPairs

_MAX_NAMED_PAIRS = 5  # in an error
_KINDS = {1: "particle", 2: "edge", 3: "triangle"}  # by the number of particles


class ContactProblems:
    """Finds what must not be, by exact tests of the positions."""

    def __init__(self, pairs: NearPairs) -> None:
        self._pairs, self._contact = pairs, pairs.contact

    def require_apart(self, x: Float) -> None:
        """Raise ModelError, with the pairs by name, if bodies touch or intersect at x, (n, 3)."""
        problems = self.describe(np.array(x))
        if problems:
            more = len(problems) - _MAX_NAMED_PAIRS
            named = "; ".join(problems[:_MAX_NAMED_PAIRS])
            rest = f" (and {more} other pairs)" if more > 0 else ""
            raise ModelError(f"bodies in contact must be apart, but {named}{rest}")

    def describe(self, x: Float) -> list[str]:
        """Return what intersects at positions x [m], (n, 3), else what is inside, else touches."""
        return (
            self._describe_intersections(x)
            or self._describe_inside(x)
            or self._describe_touching(x)
        )

    def describe_crossings(self, x: Float, end: Float) -> list[str]:
        """Return which pairs meet on straight ways from x to end [m], (n, 3)."""
        found = self._pairs.find_between(x, end)
        describe = BodyNames(self._contact.bodies).describe
        problems = []
        for rows, split in ((found.point_triangle, 1), (found.edge_edge, 2)):
            for row in rows[find_crossings(x, end, rows, split)].tolist():
                one, other = (
                    describe(_KINDS[len(set(side))], side) for side in (row[:split], row[split:])
                )
                problems.append(f"{one} and {other} pass through each other")
        return problems

    def _describe_intersections(self, x: Float) -> list[str]:
        describe = BodyNames(self._contact.bodies).describe
        return [
            f"the {describe('edge', edge)} passes through the {describe('triangle', triangle)}"
            for edge, triangle in zip(*(s.tolist() for s in self.find_crossed(x)), strict=True)
        ]

    def _describe_inside(self, x: Float) -> list[str]:
        """Return what is inside of one-sided surfaces."""
        describe = BodyNames(self._contact.bodies).describe
        return [
            f"{describe('particle', [particle])} is inside of '{name}'"
            for name, _, enclosed in self.find_inside(x)
            for particle in enclosed.tolist()
        ]

    def _describe_touching(self, x: Float) -> list[str]:
        describe = BodyNames(self._contact.bodies).describe
        near = self._pairs.find(x)
        problems = []
        for pairs, gaps, split in zip(
            (near.point_triangle, near.edge_edge),
            self._pairs.measure(x, near)[0],
            (1, 2),
            strict=True,
        ):
            for i in np.flatnonzero(~(gaps > 0.0)):
                one, other = (
                    describe(_KINDS[len(np.unique(side))], side)
                    for side in (pairs[i, :split].tolist(), pairs[i, split:].tolist())
                )
                problems.append(f"the gap between {one} and {other} is {gaps[i]:.3g} m")
        for plane, points, gaps in self._pairs.measure_planes(x):
            problems += [
                f"the gap between {describe('particle', [points[j]])} and {plane.name} is "
                f"{gaps[j]:.3g} m"
                for j in np.flatnonzero(~(gaps > 0.0))
            ]
        return problems

    def find_crossed(self, x: Float) -> tuple[Int, Int]:
        """Return edges (m, 2) and the triangles (m, 3) through which they pass at x, (n, 3)."""
        edges, triangles = self._contact.primitives.edges, self._contact.primitives.triangles
        found = find_intersections(x, edges, triangles)
        first, second = edges[found[:, 0]], triangles[found[:, 1]]
        # Obstacles may intersect each other.
        keep = self._pairs.movable[first].any(axis=1) | self._pairs.movable[second].any(axis=1)
        keep &= ~self._pairs.is_exempt(first, second)
        return first[keep], second[keep]

    def find_inside(self, x: Float) -> list[tuple[str, Int, Int]]:
        """Return name, triangles and enclosed particles of each one-sided surface at x, (n, 3)."""
        found = []
        for name, triangles in self._contact.one_sided:
            points = np.setdiff1d(self._contact.primitives.points, triangles)
            wall = np.broadcast_to(np.unique(triangles), (len(points), len(np.unique(triangles))))
            may = self._pairs.movable[points] | self._pairs.movable[triangles].any()
            points = points[may & ~self._pairs.is_exempt(points[:, None], wall)]
            found.append((name, triangles, points[find_enclosed(x[points], x[triangles])]))
        return found
