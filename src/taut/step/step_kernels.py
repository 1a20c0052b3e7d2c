"""Compiled loops of steps: sums of explicit stages, and the inertia of implicit ones."""

from numba import njit, prange, types

# Numbers that a thread takes at a time: they stay in the first cache while terms are added.
CHUNK = 1024
# Particles whose sums are added up first: rounding grows with it, and with their number.
SUM_CHUNK = 512
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


@njit(
    "UniTuple(f8, 3)(f8[:, ::1], f8[:, ::1], f8[:, ::1], f8[::1], f8[:, ::1], f8[::1], f8[::1])",
    cache=True,
    error_model="numpy",
    nogil=True,
)
def add_inertia(forces, y, q, inertia, residual, gross, size):
    """Write residual = forces + inertia·y, gross += |inertia·y|₁, size = max(|q| + |y|).

    Returns Σ inertia·|y|², Σ |residual|² and Σ gross·size.
    """
    n = y.shape[0]
    all_kinetic = all_square = all_work = 0.0
    for c in range((n + SUM_CHUNK - 1) // SUM_CHUNK):
        kinetic = square = work = 0.0
        for i in range(SUM_CHUNK * c, min(n, SUM_CHUNK * c + SUM_CHUNK)):
            m = inertia[i]
            a, b, d = m * y[i, 0], m * y[i, 1], m * y[i, 2]
            kinetic += a * y[i, 0] + b * y[i, 1] + d * y[i, 2]
            u, v, w = forces[i, 0] + a, forces[i, 1] + b, forces[i, 2] + d
            square += u * u + v * v + w * w
            residual[i, 0], residual[i, 1], residual[i, 2] = u, v, w
            gross[i] += abs(a) + abs(b) + abs(d)
            size[i] = max(
                abs(q[i, 0]) + abs(y[i, 0]),
                abs(q[i, 1]) + abs(y[i, 1]),
                abs(q[i, 2]) + abs(y[i, 2]),
            )
            work += gross[i] * size[i]
        all_kinetic, all_square, all_work = (
            all_kinetic + kinetic,
            all_square + square,
            all_work + work,
        )
    return all_kinetic, all_square, all_work
