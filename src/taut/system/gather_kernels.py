"""Sum what elements contribute to particles and to blocks, in an order that does not depend on the number of threads.

Each sum belongs to one thread, which adds its terms in the order of a list made once; so one thread and two give the same bits.
"""

from numba import njit, prange

CHUNK = 256  # rows a thread takes at a time


@njit(
    "void(i8[::1], i8[::1], f8[::1], f8[:, ::1], f8[:, ::1], f8[:, ::1])",
    parallel=True, cache=True, error_model="numpy", nogil=True,
)  # fmt: skip
def gather_vectors(start, source, coefficient, vectors, out, gross):
    """out[i] = Σ c·v over the entries of particle i; gross[i] = Σ |c·v|, component by component."""
    n = out.shape[0]
    for chunk in prange((n + CHUNK - 1) // CHUNK):
        for i in range(CHUNK * chunk, min(n, CHUNK * chunk + CHUNK)):
            a = b = c = p = q = r = 0.0
            for e in range(start[i], start[i + 1]):
                s, k = source[e], coefficient[e]
                u, v, w = k * vectors[s, 0], k * vectors[s, 1], k * vectors[s, 2]
                a += u
                b += v
                c += w
                p += abs(u)
                q += abs(v)
                r += abs(w)
            out[i, 0], out[i, 1], out[i, 2] = a, b, c
            gross[i, 0], gross[i, 1], gross[i, 2] = p, q, r


@njit(
    "void(i8[::1], i8[::1], i8[::1], f8[::1], f8[:, :, ::1], f8[::1], i8[::1], i8[::1], f8[:, :, ::1])",
    parallel=True, cache=True, error_model="numpy", nogil=True,
)  # fmt: skip
def gather_blocks(row, start, source, coefficient, blocks, shift, slot, mirror, data):
    """data[slot] = Σ c·B (Bᵀ where source is negative, counted from -1) for the upper blocks, and their mirror.

    `row[i]` is where particle i's blocks begin in `slot`; the first of them is its diagonal block, to which shift[i]·I is added.
    """
    n = row.shape[0] - 1
    for chunk in prange((n + CHUNK - 1) // CHUNK):
        for i in range(CHUNK * chunk, min(n, CHUNK * chunk + CHUNK)):
            for u in range(row[i], row[i + 1]):
                a00 = a01 = a02 = a10 = a11 = a12 = a20 = a21 = a22 = 0.0
                for e in range(start[u], start[u + 1]):
                    s, k = source[e], coefficient[e]
                    if s >= 0:
                        a01 += k * blocks[s, 0, 1]
                        a02 += k * blocks[s, 0, 2]
                        a10 += k * blocks[s, 1, 0]
                        a12 += k * blocks[s, 1, 2]
                        a20 += k * blocks[s, 2, 0]
                        a21 += k * blocks[s, 2, 1]
                    else:
                        s = -1 - s
                        a01 += k * blocks[s, 1, 0]
                        a02 += k * blocks[s, 2, 0]
                        a10 += k * blocks[s, 0, 1]
                        a12 += k * blocks[s, 2, 1]
                        a20 += k * blocks[s, 0, 2]
                        a21 += k * blocks[s, 1, 2]
                    a00 += k * blocks[s, 0, 0]
                    a11 += k * blocks[s, 1, 1]
                    a22 += k * blocks[s, 2, 2]
                if u == row[i]:
                    a00 += shift[i]
                    a11 += shift[i]
                    a22 += shift[i]
                d = slot[u]
                data[d, 0, 0], data[d, 0, 1], data[d, 0, 2] = a00, a01, a02
                data[d, 1, 0], data[d, 1, 1], data[d, 1, 2] = a10, a11, a12
                data[d, 2, 0], data[d, 2, 1], data[d, 2, 2] = a20, a21, a22
                if u > row[i]:
                    m = mirror[u]
                    data[m, 0, 0], data[m, 0, 1], data[m, 0, 2] = a00, a10, a20
                    data[m, 1, 0], data[m, 1, 1], data[m, 1, 2] = a01, a11, a21
                    data[m, 2, 0], data[m, 2, 1], data[m, 2, 2] = a02, a12, a22
