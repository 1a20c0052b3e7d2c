"""The product of a block matrix with a vector, and blocks added to those of another matrix."""

from numba import njit, prange

from taut.linalg.simd import multiply_last_row, multiply_row

ROWS_PER_CHUNK = 128  # enough work for a thread to be worth waking
BLOCKS_PER_CHUNK = 1024


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
    "void(i8[::1], f8, f8[:, :, ::1], f8[:, :, ::1])",
    parallel=True,
    cache=True,
    error_model="numpy",
    nogil=True,
)
def add_blocks(slots, factor, data, out):
    """out[slots] += factor·data, for different slots, (m,), and blocks (m, 3, 3)."""
    m = slots.shape[0]
    for c in prange((m + BLOCKS_PER_CHUNK - 1) // BLOCKS_PER_CHUNK):
        for b in range(BLOCKS_PER_CHUNK * c, min(m, BLOCKS_PER_CHUNK * (c + 1))):
            slot = slots[b]
            for i in range(3):
                for j in range(3):
                    out[slot, i, j] += factor * data[b, i, j]
