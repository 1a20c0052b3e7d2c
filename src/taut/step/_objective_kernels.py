"""The inertia of implicit stages."""

from numba import njit

# Particles whose sums are added up first: rounding grows with it, and with their number.
SUM_CHUNK = 512


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
