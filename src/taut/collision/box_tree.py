"""Bounding boxes, and a tree that finds those that meet (see `_box_tree_kernels`)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from taut.arrays import Float, Int
from taut.jit.compile import kernels

LARGEST = 1e100  # coordinate [m] with which products of three do not overflow
_CELLS = 2.0**21 - 1.0  # along each axis of the space-filling curve
# Room for what a chunk of queries finds, at first: more is found in a second pass.
_ROOM = 1024


def find_unusable_row(x: Float) -> int | None:
    """Return the first of positions x [m], (n, 3), that is not finite or too large, or None.

    >>> find_unusable_row(np.array([[0.0, 0.0, 0.0], [0.0, np.nan, 0.0]]))
    1
    """
    usable = np.abs(x) <= LARGEST
    if usable.all():
        return None
    return int(np.flatnonzero(~usable.all(axis=1))[0])


def bound_primitives(primitives: Int, x: Float, end: Float, margin: float = 0.0) -> Float:
    """Return the boxes of primitives on the way from x to end, enlarged by a margin [m].

    primitives : particles of each, (m, k); x, end : [m], (n, 3)

    A box is a row of its lower and its upper corner [m].

    >>> x = np.array([[0.0, 0.0, 0.0], [1.0, 2.0, 0.0]])
    >>> bound_primitives(np.array([[0, 1]]), x, x + [0.0, 0.0, 3.0], margin=0.5).tolist()
    [[-0.5, -0.5, -0.5, 1.5, 2.5, 3.5]]
    """
    boxes = np.empty((len(primitives), 6))
    loops = kernels("taut.collision._box_tree_kernels")
    loops.write_boxes(np.ascontiguousarray(primitives), x, end, margin, boxes)
    return boxes


@dataclass(frozen=True, eq=False)
class Meetings:
    """Pairs of boxes that meet, in parts that threads have written.

    pairs : indices of both, (room, 2); start, counts : where each part begins, and its length
    """

    pairs: NDArray[np.int32]
    start: Int
    counts: Int

    def swap(self) -> Meetings:
        """Return the same pairs the other way round."""
        return Meetings(np.ascontiguousarray(self.pairs[:, ::-1]), self.start, self.counts)

    def join(self) -> Int:
        """Return all pairs, (k, 2), part after part."""
        first = np.repeat(self.start - np.cumsum(self.counts) + self.counts, self.counts)
        return self.pairs[first + np.arange(len(first))].astype(np.int64)


class BoxTree:
    """A tree over boxes, (m, 6).

    >>> unit = np.array([[0.0, 0.0, 0.0], [2.0, 0.0, 0.0], [5.0, 0.0, 0.0]])
    >>> tree = BoxTree(np.hstack([unit, unit + 1.5]))
    >>> other = BoxTree(np.hstack([unit[:1] + 1.0, unit[:1] + 2.0]))
    >>> other.find_meetings(tree).join().tolist()
    [[0, 0], [0, 1]]
    >>> BoxTree(np.hstack([unit, unit + 2.0])).find_pairs().join().tolist()
    [[0, 1]]
    """

    def __init__(self, boxes: Float) -> None:
        self._kernels = kernels("taut.collision._box_tree_kernels")
        m = len(boxes)
        sizes = [-(-m // self._kernels.LEAVES)]
        while sizes[-1] > 1:
            sizes.append((sizes[-1] + 1) // 2)
        self._level_start = np.cumsum([0, *sizes])
        self._leaves, self._nodes = np.empty((m, 6)), np.empty((self._level_start[-1], 6))
        self._order = np.zeros(0, dtype=np.int64)
        chunks = -(-sizes[0] // self._kernels.BLOCKS_PER_CHUNK)
        # Where what each chunk of queries finds may begin, for those within this tree and others
        self._rooms = {within: _ROOM * np.arange(chunks + 1) for within in (False, True)}
        if m:
            origin = boxes[:, :3].min(axis=0)
            extent = boxes[:, 3:].max(axis=0) - origin
            scale = _CELLS / np.where(extent > 0.0, extent, 1.0)
            keys = np.empty(m, dtype=np.uint64)
            self._kernels.write_curve_keys(boxes, origin, scale, keys)
            # Stable, so that equal keys have one order.
            self._order = np.argsort(keys, kind="stable")
        self.refit(boxes)

    def __len__(self) -> int:
        return len(self._order)

    def refit(self, boxes: Float) -> None:
        """Follow boxes that have moved; the tree stays as it is, and is less good."""
        if len(boxes):
            self._kernels.fit_boxes(
                boxes, self._order, self._level_start, self._leaves, self._nodes
            )

    def find_meetings(self, other: BoxTree) -> Meetings:
        """Return which boxes of this tree meet which of another: pairs (own, other's)."""
        return self._find(other, within=False)

    def find_pairs(self) -> Meetings:
        """Return the pairs of different boxes of this tree that meet, each once."""
        return self._find(self, within=True)

    def _find(self, other: BoxTree, *, within: bool) -> Meetings:
        if not len(self) or not len(other):
            none = np.empty(0, dtype=np.int64)
            return Meetings(np.empty((0, 2), dtype=np.int32), none, none)
        room = self._rooms[within]
        counts = np.empty(len(room) - 1, dtype=np.int64)
        while True:
            found = np.empty((int(room[-1]), 2), dtype=np.int32)
            self._kernels.find_meetings(
                self._leaves,
                self._nodes,
                self._order,
                within,
                other._leaves,
                other._nodes,
                other._order,
                other._level_start,
                room,
                counts,
                found,
            )
            if (counts <= np.diff(room)).all():
                return Meetings(found, room[:-1], counts)
            room = np.concatenate([[0], np.cumsum(counts)])
            self._rooms[within] = np.concatenate([[0], np.cumsum(counts + counts // 4 + _ROOM)])
