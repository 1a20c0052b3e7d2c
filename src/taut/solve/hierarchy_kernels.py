"""The levels of a multigrid, by who is joined to whom alone: aggregates of particles, and the lists of sparse products."""

import numpy as np
from numba import njit


@njit("Tuple((i4[::1], i8))(i4[::1], i4[::1])", cache=True, error_model="numpy", nogil=True)
def aggregate(indptr, indices):
    """The aggregate of each row, and how many there are; a row without neighbours has none, -1.

    First come rows none of whose neighbours is taken, each with all its neighbours; the rest join the aggregate to which most of
    their neighbours belong.
    """
    n = indptr.shape[0] - 1
    group = np.full(n, -1, dtype=np.int32)
    count = 0
    for i in range(n):
        free = group[i] < 0 and indptr[i + 1] - indptr[i] > 1
        for k in range(indptr[i], indptr[i + 1]):
            free = free and group[indices[k]] < 0
        if free:
            for k in range(indptr[i], indptr[i + 1]):
                group[indices[k]] = count
            count += 1
    first = group.copy()
    votes = np.zeros(count + 1, dtype=np.int64)  # the last one is for neighbours without a group
    for i in range(n):
        if first[i] >= 0:
            continue
        best = -1
        for k in range(indptr[i], indptr[i + 1]):
            g = first[indices[k]]
            votes[g] += 1
            if g >= 0 and (best < 0 or votes[g] > votes[best]):
                best = g
        for k in range(indptr[i], indptr[i + 1]):
            votes[first[indices[k]]] = 0
        group[i] = best
    return group, count


@njit("i8(i4[::1], i4[::1], i4[::1])", cache=True, error_model="numpy", nogil=True)
def pairs(left_indptr, left_indices, right_indptr):
    """How many products of single entries make up the product of two sparse matrices."""
    total = 0
    for e in range(left_indptr[-1]):
        j = left_indices[e]
        total += right_indptr[j + 1] - right_indptr[j]
    return total


@njit(
    "Tuple((i4[::1], i4[::1], i4[::1], i4[::1], i4[::1]))(i4[::1], i4[::1], i4[::1], i4[::1], i8, i8)",
    cache=True, error_model="numpy", nogil=True,
)  # fmt: skip
def product_lists(left_indptr, left_indices, right_indptr, right_indices, columns, total):
    """The pattern (indptr, indices) of the product of two sparse matrices, and for its entries, from start[s] to start[s + 1], the
    `total` pairs of entries of both whose products they add up: (indptr, indices, start, left entry, right entry)."""
    n = left_indptr.shape[0] - 1
    count = np.zeros(columns, dtype=np.int32)  # in this row, of each column
    place = np.zeros(columns, dtype=np.int32)
    indptr = np.zeros(n + 1, dtype=np.int32)
    indices = np.empty(total, dtype=np.int32)
    start = np.zeros(total + 1, dtype=np.int32)
    left, right = np.empty(total, dtype=np.int32), np.empty(total, dtype=np.int32)
    slot = filled = 0
    for i in range(n):
        begin = slot
        for e in range(left_indptr[i], left_indptr[i + 1]):
            j = left_indices[e]
            for f in range(right_indptr[j], right_indptr[j + 1]):
                c = right_indices[f]
                if count[c] == 0:
                    at = slot  # insertion keeps the row sorted; a library's sort would take a second to compile
                    while at > begin and indices[at - 1] > c:
                        indices[at] = indices[at - 1]
                        at -= 1
                    indices[at] = c
                    slot += 1
                count[c] += 1
        for s in range(begin, slot):
            c = indices[s]
            place[c] = filled
            filled += count[c]
            start[s + 1] = filled
            count[c] = 0
        for e in range(left_indptr[i], left_indptr[i + 1]):
            j = left_indices[e]
            for f in range(right_indptr[j], right_indptr[j + 1]):
                c = right_indices[f]
                left[place[c]], right[place[c]] = e, f
                place[c] += 1
        indptr[i + 1] = slot
    return indptr, indices[:slot].copy(), start[: slot + 1].copy(), left, right
