"""The triad a = b + s c, which measures memory bandwidth: two operations move three numbers."""

from numba import njit, prange

CHUNK = 1 << 16  # numbers a thread takes at a time


@njit(
    "void(f8[::1], f8[::1], f8[::1], f8)",
    parallel=True,
    cache=True,
    error_model="numpy",
    nogil=True,
)
def triad(a, b, c, s):
    """a ← b + s c."""
    n = a.shape[0]
    for chunk in prange((n + CHUNK - 1) // CHUNK):
        for i in range(CHUNK * chunk, min(n, CHUNK * chunk + CHUNK)):
            a[i] = b[i] + s * c[i]
