"""A tree of bounding boxes, and which boxes of one set meet those of another.

Leaves are boxes in the order of a space-filling curve, taken `LEAVES` at a time. Such a block is
the lowest node of the tree; each level above halves their number, and a node is the box of its two
children. So the tree is one array of boxes, one level after another, without links, and moving the
leaves means computing the same unions again. Blocks of single leaves took twice the time: their
trees have three levels more, and each leaf goes down all of them.

A query is a block of the one tree that goes down the other. What it finds is written to a place of
its own, so that results do not depend on the number of threads. Within one tree a block only meets
itself and those behind it.
"""

import numpy as np
from numba import njit, prange

LEAVES = 8  # in a block
BLOCKS_PER_CHUNK = 8  # taken by a thread at a time
MAX_DEPTH = 64  # of the stack of a traversal: more than levels of any tree


@njit(error_model="numpy")
def _spread_bits(v):
    """Return the lowest 21 bits of v with two zeros after each."""
    v &= np.uint64(0x1FFFFF)
    v = (v | (v << np.uint64(32))) & np.uint64(0x1F00000000FFFF)
    v = (v | (v << np.uint64(16))) & np.uint64(0x1F0000FF0000FF)
    v = (v | (v << np.uint64(8))) & np.uint64(0x100F00F00F00F00F)
    v = (v | (v << np.uint64(4))) & np.uint64(0x10C30C30C30C30C3)
    return (v | (v << np.uint64(2))) & np.uint64(0x1249249249249249)


@njit(
    "void(f8[:, ::1], f8[::1], f8[::1], u8[::1])",
    cache=True,
    error_model="numpy",
    nogil=True,
)
def write_curve_keys(boxes, origin, cells_per_metre, keys):
    """Write the place of each box's centre on a Morton curve.

    boxes : lower and upper corners, (m, 6); origin : of the curve, (3,); cells_per_metre : (3,)
    """
    for i in range(boxes.shape[0]):
        key = np.uint64(0)
        for k in range(3):
            cell = (0.5 * (boxes[i, k] + boxes[i, 3 + k]) - origin[k]) * cells_per_metre[k]
            cell = min(max(cell, 0.0), 2097151.0)
            key |= _spread_bits(np.uint64(cell)) << np.uint64(k)
        keys[i] = key


@njit(
    "void(i8[:, ::1], f8[:, ::1], f8[:, ::1], f8, f8[:, ::1])",
    cache=True,
    error_model="numpy",
    nogil=True,
    parallel=True,
)
def write_boxes(primitives, x, end, margin, boxes):
    """Write the boxes, (m, 6), of primitives, (m, k), that go from x to end, with a margin [m]."""
    m = primitives.shape[0]
    size = LEAVES * BLOCKS_PER_CHUNK
    for chunk in prange((m + size - 1) // size):
        for i in range(chunk * size, min(m, (chunk + 1) * size)):
            for k in range(3):
                low = high = x[primitives[i, 0], k]
                for j in range(primitives.shape[1]):
                    p = primitives[i, j]
                    low = min(low, x[p, k], end[p, k])
                    high = max(high, x[p, k], end[p, k])
                boxes[i, k] = low - margin
                boxes[i, 3 + k] = high + margin


@njit(
    "void(f8[:, ::1], i8[::1], i8[::1], f8[:, ::1], f8[:, ::1])",
    cache=True,
    error_model="numpy",
    nogil=True,
)
def fit_boxes(boxes, order, level_start, leaves, nodes):
    """Write the boxes of all nodes, from the leaves up.

    boxes : of the leaves, (m, 6); order : leaf at each place, (m,); leaves : boxes by place, (m, 6)
    level_start : the first node of each level, and the end of the last
    """
    m = order.shape[0]
    for i in range(m):
        for k in range(6):
            leaves[i, k] = boxes[order[i], k]
    for block in range(level_start[1]):
        first = block * LEAVES
        for k in range(3):
            low, high = leaves[first, k], leaves[first, 3 + k]
            for i in range(first + 1, min(m, first + LEAVES)):
                low, high = min(low, leaves[i, k]), max(high, leaves[i, 3 + k])
            nodes[block, k], nodes[block, 3 + k] = low, high
    for level in range(1, level_start.shape[0] - 1):
        below, first, end = level_start[level - 1], level_start[level], level_start[level + 1]
        for i in range(end - first):
            left = below + 2 * i
            right = min(left + 1, first - 1)  # the last node of a level may have one child
            for k in range(3):
                nodes[first + i, k] = min(nodes[left, k], nodes[right, k])
                nodes[first + i, 3 + k] = max(nodes[left, 3 + k], nodes[right, 3 + k])


@njit(inline="always", error_model="numpy")
def _meet(a, i, b, j):
    """Whether two boxes have a point in common; a box with a NaN meets none."""
    return (
        a[i, 0] <= b[j, 3]
        and b[j, 0] <= a[i, 3]
        and a[i, 1] <= b[j, 4]
        and b[j, 1] <= a[i, 4]
        and a[i, 2] <= b[j, 5]
        and b[j, 2] <= a[i, 5]
    )


@njit(
    "void(f8[:, ::1], f8[:, ::1], i8[::1], b1, f8[:, ::1], f8[:, ::1], i8[::1], i8[::1], "
    "i8[::1], i8[::1], i4[:, ::1])",
    cache=True,
    error_model="numpy",
    nogil=True,
    parallel=True,
)
def find_meetings(
    own_leaves, own_nodes, own_order, within, leaves, nodes, order, level_start, room, counts, found
):
    """Write the pairs of leaves of two trees that meet, as indices.

    own_… : the tree whose blocks go down the other; within : both are the same tree
    room : where the pairs of each chunk may begin, and the end of the last one; counts : how many
        each chunk has, also if there was no room for all of them
    """
    m, own_m = order.shape[0], own_order.shape[0]
    blocks = (own_m + LEAVES - 1) // LEAVES
    top = level_start.shape[0] - 2
    for chunk in prange((blocks + BLOCKS_PER_CHUNK - 1) // BLOCKS_PER_CHUNK):
        stack = np.empty(2 * MAX_DEPTH, dtype=np.int64)
        levels = np.empty(2 * MAX_DEPTH, dtype=np.int64)
        at, end = room[chunk], room[chunk + 1]
        for a in range(chunk * BLOCKS_PER_CHUNK, min(blocks, (chunk + 1) * BLOCKS_PER_CHUNK)):
            stack[0], levels[0], depth = 0, top, 1
            while depth > 0:
                depth -= 1
                i, level = stack[depth], levels[depth]
                if within and ((i + 1) << level) <= a:
                    continue  # all of its blocks are before this one
                if not _meet(own_nodes, a, nodes, level_start[level] + i):
                    continue
                if level > 0:
                    size = level_start[level] - level_start[level - 1]
                    for child in range(2 * i, min(2 * i + 2, size)):
                        stack[depth], levels[depth] = child, level - 1
                        depth += 1
                    continue
                for p in range(a * LEAVES, min(own_m, (a + 1) * LEAVES)):
                    if not _meet(own_leaves, p, nodes, i):
                        continue
                    first = p + 1 if within and i == a else i * LEAVES
                    for q in range(first, min(m, (i + 1) * LEAVES)):
                        if _meet(own_leaves, p, leaves, q):
                            if at < end:
                                found[at, 0], found[at, 1] = own_order[p], order[q]
                            at += 1
        counts[chunk] = at - room[chunk]
