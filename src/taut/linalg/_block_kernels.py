"""Loops over a block matrix: its product with a vector, and the bandwidth of its pattern."""

from numba import njit, prange

from taut.linalg.simd import multiply_last_row, multiply_row

ROWS_PER_CHUNK = 128  # enough work for a thread to be worth waking


@njit(
    "void(i4[::1], i4[::1], f8[::1], f8[::1], f8[:, ::1])",
    parallel=True,
    cache=True,
    error_model="numpy",
    nogil=True,
)
def multiply(indptr, indices, data, x, out):
    """out = A x; data (9·blocks,) and x (3n + 3,) are flat, the last row of x is spare."""
    n = out.shape[0]
    for c in prange((n + ROWS_PER_CHUNK - 1) // ROWS_PER_CHUNK):
        for i in range(ROWS_PER_CHUNK * c, min(n, ROWS_PER_CHUNK * c + ROWS_PER_CHUNK)):
            if i < n - 1:
                u, v, w = multiply_row(data, indices, x, indptr[i], indptr[i + 1])
            else:  # data has no spare block after its last
                u, v, w = multiply_last_row(data, indices, x, indptr[i], indptr[i + 1])
            out[i, 0], out[i, 1], out[i, 2] = u, v, w


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
