"""A tree of bounding boxes, and which boxes of one set meet those of another.

Leaves are boxes in the order of a space-filling curve; each level above halves their number, and a
node is the box of its two children. So the tree is two arrays of corners, one level after another,
without links, and moving the leaves means computing the same unions again.

Queries are counted first and written afterwards, each to its own place and by index within it: the
result does not depend on the number of threads, nor on the shape of the tree.
"""

import numpy as np
from numba import njit, prange

QUERIES_PER_CHUNK = 64  # taken by a thread at a time
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
    "void(f8[:, ::1], f8[:, ::1], f8[::1], f8[::1], u8[::1])",
    cache=True,
    error_model="numpy",
    nogil=True,
)
def write_curve_keys(low, high, origin, cells_per_metre, keys):
    """Write the place of each box's centre on a Morton curve.

    low, high : corners, (m, 3); origin : of the curve, (3,); cells_per_metre : (3,)
    """
    for i in range(low.shape[0]):
        key = np.uint64(0)
        for k in range(3):
            cell = (0.5 * (low[i, k] + high[i, k]) - origin[k]) * cells_per_metre[k]
            cell = min(max(cell, 0.0), 2097151.0)
            key |= _spread_bits(np.uint64(cell)) << np.uint64(k)
        keys[i] = key


@njit(
    "void(f8[:, ::1], f8[:, ::1], i8[::1], i8[::1], f8[:, ::1], f8[:, ::1])",
    cache=True,
    error_model="numpy",
    nogil=True,
)
def fit_boxes(low, high, order, level_start, tree_low, tree_high):
    """Write the boxes of all nodes, from the leaves up.

    low, high : corners of the leaves, (m, 3); order : leaf at each place of level 0, (m,)
    level_start : the first node of each level, and the end of the last
    """
    for i in range(order.shape[0]):
        for k in range(3):
            tree_low[i, k] = low[order[i], k]
            tree_high[i, k] = high[order[i], k]
    for level in range(1, level_start.shape[0] - 1):
        below, first, end = level_start[level - 1], level_start[level], level_start[level + 1]
        for i in range(end - first):
            left = below + 2 * i
            right = min(left + 1, first - 1)  # the last node of a level may have one child
            for k in range(3):
                tree_low[first + i, k] = min(tree_low[left, k], tree_low[right, k])
                tree_high[first + i, k] = max(tree_high[left, k], tree_high[right, k])


@njit(error_model="numpy")
def _meet(low, high, i, tree_low, tree_high, node):
    """Whether two boxes have a point in common; a box with a NaN meets none."""
    for k in range(3):
        if not (low[i, k] <= tree_high[node, k] and tree_low[node, k] <= high[i, k]):
            return False
    return True


@njit(error_model="numpy")
def _query(low, high, i, after, order, level_start, tree_low, tree_high, found, at):
    """Write the leaves that meet box i, in order of their index; return how many there are.

    after : only leaves with a greater index count; found : with at < 0 nothing is written
    """
    stack = np.empty(2 * MAX_DEPTH, dtype=np.int64)
    levels = np.empty(2 * MAX_DEPTH, dtype=np.int64)
    top = level_start.shape[0] - 2
    stack[0], levels[0], depth, count = level_start[top], top, 1, 0
    while depth > 0:
        depth -= 1
        node, level = stack[depth], levels[depth]
        if not _meet(low, high, i, tree_low, tree_high, node):
            continue
        if level > 0:
            left = level_start[level - 1] + 2 * (node - level_start[level])
            for child in range(left, min(left + 2, level_start[level])):
                stack[depth], levels[depth] = child, level - 1
                depth += 1
            continue
        leaf = order[node]
        if leaf <= after:
            continue
        if at >= 0:
            place = at + count
            while place > at and found[place - 1] > leaf:
                found[place] = found[place - 1]
                place -= 1
            found[place] = leaf
        count += 1
    return count


@njit(
    "void(f8[:, ::1], f8[:, ::1], b1, i8[::1], i8[::1], f8[:, ::1], f8[:, ::1], i8[::1])",
    cache=True,
    error_model="numpy",
    nogil=True,
    parallel=True,
)
def count_meetings(low, high, within, order, level_start, tree_low, tree_high, counts):
    """Count the leaves that meet each box; `within` one set, only those of a greater index."""
    m = low.shape[0]
    nothing = np.empty(0, dtype=np.int64)
    for c in prange((m + QUERIES_PER_CHUNK - 1) // QUERIES_PER_CHUNK):
        for i in range(c * QUERIES_PER_CHUNK, min(m, (c + 1) * QUERIES_PER_CHUNK)):
            after = i if within else -1
            counts[i] = _query(
                low, high, i, after, order, level_start, tree_low, tree_high, nothing, -1
            )


@njit(
    "void(f8[:, ::1], f8[:, ::1], b1, i8[::1], i8[::1], f8[:, ::1], f8[:, ::1], i8[::1], i8[::1])",
    cache=True,
    error_model="numpy",
    nogil=True,
    parallel=True,
)
def write_meetings(low, high, within, order, level_start, tree_low, tree_high, start, found):
    """Write the leaves that meet each box, those of box i from start[i] on."""
    m = low.shape[0]
    for c in prange((m + QUERIES_PER_CHUNK - 1) // QUERIES_PER_CHUNK):
        for i in range(c * QUERIES_PER_CHUNK, min(m, (c + 1) * QUERIES_PER_CHUNK)):
            after = i if within else -1
            _query(low, high, i, after, order, level_start, tree_low, tree_high, found, start[i])
