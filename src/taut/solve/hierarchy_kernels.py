"""The levels of a multigrid, by who is joined to whom alone: aggregates of particles, and the lists of sparse products.

Arrays are made by the caller: to make one here takes longer to compile than the loops do.
"""

from numba import njit


@njit("i8(i4[::1], i4[::1], i4[::1], i4[::1], i8[::1])", cache=True, error_model="numpy", nogil=True)
def aggregate(indptr, indices, group, first, votes):
    """How many aggregates there are, and in `group` that of each row; a row without neighbours has none, -1.

    First come rows none of whose neighbours is taken, each with all its neighbours; the rest join the aggregate to which most of
    their neighbours belong.

    group : -1 of each; first : room for as many; votes : zeros, one more
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
            g = first[indices[k]]  # the last of the votes are for -1
            votes[g] += 1
            if g >= 0 and (best < 0 or votes[g] > votes[best]):
                best = g
        for k in range(indptr[i], indptr[i + 1]):
            votes[first[indices[k]]] = 0
        group[i] = best
    return count


@njit("i8(i4[::1], i4[::1], i4[::1])", cache=True, error_model="numpy", nogil=True)
def pairs(left_indptr, left_indices, right_indptr):
    """How many products of single entries make up the product of two sparse matrices."""
    total = 0
    for e in range(left_indptr[-1]):
        j = left_indices[e]
        total += right_indptr[j + 1] - right_indptr[j]
    return total


@njit("i8(" + "i4[::1], " * 10 + "i4[::1])", cache=True, error_model="numpy", nogil=True)
def product_lists(left_indptr, left_indices, right_indptr, right_indices, count, place, indptr, indices, start, left, right):
    """The pattern (indptr, indices) of the product of two sparse matrices, and for its entries, from start[s] to start[s + 1], the
    pairs of entries of both whose products they add up, left and right. Returns how many entries the product has.

    count, place : zeros, for each column; indptr and start begin with 0; indices, start, left, right have room for all pairs
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
    return slot
