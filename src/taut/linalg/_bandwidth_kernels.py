"""The bandwidth of a sparsity pattern."""

from numba import njit


@njit(
    "i8(i4[::1], i4[::1], i8[::1], i8[::1], i8[::1])", cache=True, error_model="numpy", nogil=True
)
def compute_bandwidth(indptr, indices, by_degree, place, order):
    """The largest |i - j| of coupled rows, numbered by the rule of Cuthill and McKee.

    From a row with the fewest neighbours on, each row is followed by those of its neighbours that
    have no number yet, the ones with the fewest neighbours first; then the same for the next
    component of the graph.

    by_degree : the rows, those with the fewest neighbours first
    place : -1 for each row; receives its number
    order : receives the rows in their order
    """
    count = done = widest = 0
    for s in range(by_degree.shape[0]):
        start = by_degree[s]
        if place[start] < 0:
            place[start], order[count] = count, start
            count += 1
        while done < count:
            i = order[done]
            done += 1
            begin = count
            for k in range(indptr[i], indptr[i + 1]):
                j = indices[k]
                if place[j] >= 0:
                    continue
                d, at = indptr[j + 1] - indptr[j], count
                while at > begin and indptr[order[at - 1] + 1] - indptr[order[at - 1]] > d:
                    order[at] = order[at - 1]
                    at -= 1
                order[at] = j
                place[j] = count  # provisional, until the neighbours of i are sorted
                count += 1
            for at in range(begin, count):
                place[order[at]] = at
    for i in range(by_degree.shape[0]):
        for k in range(indptr[i], indptr[i + 1]):
            widest = max(widest, abs(place[i] - place[indices[k]]))
    return widest
