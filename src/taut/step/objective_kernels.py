"""What inertia adds to the forces of an implicit stage, in one pass over the particles."""

from numba import njit, prange

CHUNK = 512  # particles a thread takes at a time


@njit(
    "UniTuple(f8, 3)(f8[:, ::1], f8[:, ::1], f8[:, ::1], f8[::1], f8[:, ::1], f8[::1], f8[::1], f8[:, ::1])",
    parallel=True, cache=True, error_model="numpy", nogil=True,
)  # fmt: skip
def add_inertia(forces, y, q, inertia, residual, gross, size, sums):
    """residual = forces + inertia·y, gross += |inertia·y|₁, size = max(|q| + |y|), particle by particle.

    sums : room for those of each chunk, (chunks, 3). Returns Σ inertia·|y|², Σ |residual|² and Σ gross·size, each added up in an
    order that does not depend on the number of threads.
    """
    n = y.shape[0]
    chunks = (n + CHUNK - 1) // CHUNK
    for c in prange(chunks):
        kinetic = square = work = 0.0
        for i in range(CHUNK * c, min(n, CHUNK * c + CHUNK)):
            m = inertia[i]
            a, b, d = m * y[i, 0], m * y[i, 1], m * y[i, 2]
            kinetic += a * y[i, 0] + b * y[i, 1] + d * y[i, 2]
            u, v, w = forces[i, 0] + a, forces[i, 1] + b, forces[i, 2] + d
            square += u * u + v * v + w * w
            residual[i, 0], residual[i, 1], residual[i, 2] = u, v, w
            gross[i] += abs(a) + abs(b) + abs(d)
            size[i] = max(abs(q[i, 0]) + abs(y[i, 0]), abs(q[i, 1]) + abs(y[i, 1]), abs(q[i, 2]) + abs(y[i, 2]))
            work += gross[i] * size[i]
        sums[c, 0], sums[c, 1], sums[c, 2] = kinetic, square, work
    kinetic = square = work = 0.0
    for c in range(chunks):
        kinetic += sums[c, 0]
        square += sums[c, 1]
        work += sums[c, 2]
    return kinetic, square, work
