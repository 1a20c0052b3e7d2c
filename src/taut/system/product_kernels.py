"""The product of a block matrix and a vector."""

from numba import njit, prange

from taut.system.block_rows import last_row_times, row_times

CHUNK = 128  # rows a thread takes at a time


@njit("void(i4[::1], i4[::1], f8[::1], f8[::1], f8[:, ::1])", parallel=True, cache=True, error_model="numpy", nogil=True)
def times(indptr, indices, data, x, out):
    """out = A x; data (9·blocks,) and x (3n + 3,) are flat, the last row of x is spare."""
    n = out.shape[0]
    for c in prange((n + CHUNK - 1) // CHUNK):
        for i in range(CHUNK * c, min(n, CHUNK * c + CHUNK)):
            if i < n - 1:
                u, v, w = row_times(data, indices, x, indptr[i], indptr[i + 1])
            else:
                u, v, w = last_row_times(data, indices, x, indptr[i], indptr[i + 1])
            out[i, 0], out[i, 1], out[i, 2] = u, v, w
