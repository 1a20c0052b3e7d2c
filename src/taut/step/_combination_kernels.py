"""Sums of the stages of explicit integrators."""

from numba import njit, prange, types

# Numbers that a thread takes at a time: they stay in the first cache while terms are added.
CHUNK = 1024
NUMBERS = types.Array(types.float64, 1, "C", readonly=True)  # of a State, (3n,)


@njit(
    types.int64(NUMBERS, NUMBERS, types.f8[:, ::1], types.f8[:, ::1], types.f8[:, ::1]),
    parallel=True,
    cache=True,
    error_model="numpy",
    nogil=True,
)
def combine(q, v, accelerations, weights, out):
    """Write out[k] = x q + y v + Σ z_s accelerations[s], with the weights x, y, z… in row k.

    Returns how many numbers are not finite.
    """
    size = q.shape[0]
    wrong = 0
    for chunk in prange((size + CHUNK - 1) // CHUNK):
        first, last = CHUNK * chunk, min(size, CHUNK * chunk + CHUNK)
        for k in range(out.shape[0]):
            x, y = weights[k, 0], weights[k, 1]
            to = out[k, first:last]
            if x != 0.0:
                for i in range(last - first):
                    to[i] = x * q[first + i] + y * v[first + i]
            else:
                for i in range(last - first):
                    to[i] = y * v[first + i]
            for s in range(accelerations.shape[0]):
                z, a = weights[k, 2 + s], accelerations[s, first:last]
                if z != 0.0:
                    for i in range(last - first):
                        to[i] += z * a[i]
            for i in range(last - first):
                wrong += not abs(to[i]) < float("inf")
    return wrong
