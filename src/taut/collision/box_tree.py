"""Bounding boxes, and a tree that finds those that meet (see `_box_tree_kernels`)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from taut.arrays import Float, Int
from taut.jit.compile import kernels

LARGEST = 1e100  # coordinate [m] with which products of three do not overflow
_CELLS = 2.0**21 - 1.0  # along each axis of the space-filling curve


def find_unusable_row(x: Float) -> int | None:
    """Return the first of positions x [m], (n, 3), that is not finite or too large, or None.

    >>> find_unusable_row(np.array([[0.0, 0.0, 0.0], [0.0, np.nan, 0.0]]))
    1
    """
    usable = np.abs(x) <= LARGEST
    if usable.all():
        return None
    return int(np.flatnonzero(~usable.all(axis=1))[0])


@dataclass(frozen=True, eq=False)
class Boxes:
    """Axis-parallel boxes, one for each primitive.

    low, high : their corners [m], (m, 3)
    """

    low: Float
    high: Float

    @staticmethod
    def of(primitives: Int, *positions: Float, margin: Float | float = 0.0) -> Boxes:
        """Return the boxes of primitives over several poses, enlarged by a margin [m].

        primitives : particles of each, (m, k); positions : [m], (n, 3)
        margin : one number, or one for each primitive, (m, 1)

        >>> x = np.array([[0.0, 0.0, 0.0], [1.0, 2.0, 0.0]])
        >>> boxes = Boxes.of(np.array([[0, 1]]), x, x + [0.0, 0.0, 3.0], margin=0.5)
        >>> boxes.low.tolist(), boxes.high.tolist()
        ([[-0.5, -0.5, -0.5]], [[1.5, 2.5, 3.5]])
        """
        # Corner by corner: reductions over a short axis take ten times as long.
        corners = [x[primitives[:, k]] for x in positions for k in range(primitives.shape[1])]
        low, high = corners[0].copy(), corners[0].copy()
        for corner in corners[1:]:
            np.minimum(low, corner, out=low)
            np.maximum(high, corner, out=high)
        low -= margin
        high += margin
        return Boxes(np.ascontiguousarray(low), np.ascontiguousarray(high))

    def __len__(self) -> int:
        return len(self.low)


class BoxTree:
    """A tree over boxes.

    >>> unit = np.array([[0.0, 0.0, 0.0], [2.0, 0.0, 0.0], [5.0, 0.0, 0.0]])
    >>> boxes = Boxes(unit, unit + 1.5)
    >>> tree = BoxTree(boxes)
    >>> tree.find_meeting(Boxes(unit[:1] + 1.0, unit[:1] + 2.0)).tolist()
    [[0, 0], [0, 1]]
    >>> BoxTree(Boxes(unit, unit + 2.0)).find_pairs().tolist()
    [[0, 1]]
    """

    def __init__(self, boxes: Boxes) -> None:
        self._kernels = kernels("taut.collision._box_tree_kernels")
        m = len(boxes)
        sizes = [m]
        while sizes[-1] > 1:
            sizes.append((sizes[-1] + 1) // 2)
        self._level_start = np.cumsum([0, *sizes])
        self._low = np.empty((self._level_start[-1], 3))
        self._high = np.empty((self._level_start[-1], 3))
        self._order = np.zeros(0, dtype=np.int64)
        if m:
            origin = boxes.low.min(axis=0)
            extent = boxes.high.max(axis=0) - origin
            scale = _CELLS / np.where(extent > 0.0, extent, 1.0)
            keys = np.empty(m, dtype=np.uint64)
            self._kernels.write_curve_keys(boxes.low, boxes.high, origin, scale, keys)
            # Stable, so that equal keys have one order.
            self._order = np.argsort(keys, kind="stable")
        self.refit(boxes)

    def refit(self, boxes: Boxes) -> None:
        """Follow boxes that have moved; the tree stays as it is, and is less good."""
        self._boxes = boxes
        if len(boxes):
            self._kernels.fit_boxes(
                boxes.low, boxes.high, self._order, self._level_start, self._low, self._high
            )

    def find_meeting(self, boxes: Boxes) -> Int:
        """Return which boxes meet which of the tree: pairs (box, leaf), (k, 2), sorted."""
        return self._find(boxes, within=False)

    def find_pairs(self) -> Int:
        """Return the pairs i < j of the tree's own boxes that meet, (k, 2), sorted."""
        return self._find(self._boxes, within=True)

    def _find(self, boxes: Boxes, *, within: bool) -> Int:
        m = len(boxes)
        if not m or not len(self._order):
            return np.empty((0, 2), dtype=np.int64)
        tree = (self._order, self._level_start, self._low, self._high)
        counts = np.empty(m, dtype=np.int64)
        self._kernels.count_meetings(boxes.low, boxes.high, within, *tree, counts)
        end = np.cumsum(counts)
        found = np.empty(int(end[-1]), dtype=np.int64)
        self._kernels.write_meetings(boxes.low, boxes.high, within, *tree, end - counts, found)
        return np.column_stack([np.repeat(np.arange(m), counts), found])
