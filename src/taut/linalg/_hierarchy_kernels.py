"""Loops over the graph of a pattern: aggregates of rows, and lists for sparse products.

The caller allocates all arrays: np.empty would take longer to compile than the loops do.
"""

from numba import njit


@njit(
    "i8(i4[::1], i4[::1], i4[::1], i4[::1], i8[::1])", cache=True, error_model="numpy", nogil=True
)
def aggregate(indptr, indices, group, first, votes):
    """Group rows into aggregates; returns their number.

    First, each row none of whose neighbours is grouped forms an aggregate with them. The rest join
    the aggregate to which most of their neighbours belong. A row without neighbours joins none.

    group : -1 for each row; receives its aggregate, or -1
    first : room for one number per row; votes : zeros, one more than rows
    """
    n = indptr.shape[0] - 1
    count = 0
    for i in range(n):
        free = group[i] < 0 and indptr[i + 1] - indptr[i] > 1
        for k in range(indptr[i], indptr[i + 1]):
            free = free and group[indices[k]] < 0
        if free:
            for k in range(indptr[i], indptr[i + 1]):
                group[indices[k]] = count
            count += 1
    for i in range(n):
        first[i] = group[i]
    for i in range(n):
        if first[i] >= 0:
            continue
        best = -1
        for k in range(indptr[i], indptr[i + 1]):
            g = first[indices[k]]  # -1, no aggregate, votes for the last entry
            votes[g] += 1
            if g >= 0 and (best < 0 or votes[g] > votes[best]):
                best = g
        for k in range(indptr[i], indptr[i + 1]):
            votes[first[indices[k]]] = 0
        group[i] = best
    return count


@njit("i8(i4[::1], i4[::1], i4[::1])", cache=True, error_model="numpy", nogil=True)
def count_products(left_indptr, left_indices, right_indptr):
    """The number of products of single entries in the product of two sparse matrices."""
    total = 0
    for e in range(left_indptr[-1]):
        j = left_indices[e]
        total += right_indptr[j + 1] - right_indptr[j]
    return total


@njit("i8(" + "i4[::1], " * 10 + "i4[::1])", cache=True, error_model="numpy", nogil=True)
def product_lists(
    left_indptr,
    left_indices,
    right_indptr,
    right_indices,
    count,
    place,
    indptr,
    indices,
    start,
    left,
    right,
):
    """Find the pattern (indptr, indices) of the product of two sparse matrices, and its sums.

    Entry s of the product is the sum of products of the entries left[e] and right[e] of the two
    matrices for start[s] ≤ e < start[s + 1]. Returns the number of entries of the product.

    count, place : zeros, one for each column
    indptr, start : begin with 0
    indices, start, left, right : have room for all products of single entries
    """
    n = left_indptr.shape[0] - 1
    slot = filled = 0
    for i in range(n):
        begin = slot
        for e in range(left_indptr[i], left_indptr[i + 1]):
            j = left_indices[e]
            for f in range(right_indptr[j], right_indptr[j + 1]):
                c = right_indices[f]
                if count[c] == 0:
                    # insertion keeps the row sorted; a library's sort would take a second to
                    # compile
                    at = slot
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
    return slot
