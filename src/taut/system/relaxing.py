"""Particles of a region moved one after the other, each to where its own part of a sum is lower.

One thread does it, in the order of the region, so the result does not depend on their number.
"""

from math import isfinite

import numpy as np
from numba import int64, njit

from taut.binding.batch_call import call_batch

MAX_HALVINGS = 6
SUFFICIENT = 1e-4  # part of the slope by which a move must lower the sum


@njit(error_model="numpy", nogil=True)
def _solve(a, r, x):
    """Solve a x = -r for a positive definite 3×3 matrix; whether it is one."""
    c00 = a[1, 1] * a[2, 2] - a[1, 2] * a[1, 2]
    c01 = a[0, 2] * a[1, 2] - a[0, 1] * a[2, 2]
    c02 = a[0, 1] * a[1, 2] - a[0, 2] * a[1, 1]
    c11 = a[0, 0] * a[2, 2] - a[0, 2] * a[0, 2]
    c12 = a[0, 1] * a[0, 2] - a[0, 0] * a[1, 2]
    c22 = a[0, 0] * a[1, 1] - a[0, 1] * a[0, 1]
    det = a[0, 0] * c00 + a[0, 1] * c01 + a[0, 2] * c02
    if not (a[0, 0] > 0.0 and c22 > 0.0 and det > 0.0):
        return False
    x[0] = -(c00 * r[0] + c01 * r[1] + c02 * r[2]) / det
    x[1] = -(c01 * r[0] + c11 * r[1] + c12 * r[2]) / det
    x[2] = -(c02 * r[0] + c12 * r[1] + c22 * r[2]) / det
    return isfinite(x[0]) and isfinite(x[1]) and isfinite(x[2])


@njit(error_model="numpy", nogil=True)
def _evaluate(i, kind, q, frozen, h, data):
    """Evaluate the elements of particle i of the region; return their energy, NaN if it has none.

    kind : 0: energies and gradients, 1: also Hessians. They are written to the buffers at the end
        of `data`, the elements of each term one after the other.
    """
    terms, address, start, elements, parameters, energies, vectors, blocks = data
    total = 0.0
    for k in range(terms.shape[0]):
        s, width, size = terms[k, 0], terms[k, 1], terms[k, 4]
        mode = terms[k, 5] * kind
        y = frozen if terms[k, 6] else q
        first, last = start[k, i], start[k, i + 1]
        for j in range(first, last, size):
            at = j - first
            found = call_batch(
                address[k, kind],
                int64(0),
                int64(min(size, last - j)),
                q,
                y,
                h,
                elements[terms[k, 7] + s * j :],
                parameters[terms[k, 8] + width * j :],
                int64(mode),
                energies[k, at:],
                vectors[k, 3 * terms[k, 2] * at :],
                blocks[k, 9 * terms[k, 3] * at :],
            )
            if found >= 0:
                return np.nan
        for j in range(last - first):
            total += energies[k, j]
    return total


@njit(error_model="numpy", nogil=True)
def relax_particles(
    q,
    frozen,
    h,
    region,
    gradient,
    weights,
    sweeps,
    terms,
    address,
    start,
    elements,
    parameters,
    slots,
    coefficients,
    energies,
    vectors,
    blocks,
):
    """Sweep over the region, forwards and backwards in turn, and move its particles in q.

    The arrays are those of `taut.system.relaxation`. Returns the number of moves.
    """
    data = (terms, address, start, elements, parameters, energies, vectors, blocks)
    origin, linear = np.empty((region.size, 3)), np.zeros((region.size, 3))
    a, r, x, old = np.empty((3, 3)), np.empty(3), np.empty(3), np.empty(3)
    moves = 0
    for sweep in range(-1, sweeps):
        for turn in range(region.size):
            i = turn if sweep % 2 == 0 else region.size - 1 - turn
            n = region[i]
            before = _evaluate(i, 1, q, frozen, h, data)
            if not isfinite(before):
                continue
            r[:] = 0.0
            a[:] = 0.0
            for k in range(terms.shape[0]):
                vector_count, block_count, at = terms[k, 2], terms[k, 3], terms[k, 9]
                for j in range(start[k, i + 1] - start[k, i]):
                    entry = at + start[k, i] + j
                    c = coefficients[entry]
                    v = 3 * (vector_count * j + slots[entry, 0])
                    b = 9 * (block_count * j + slots[entry, 1])
                    for d in range(3):
                        r[d] += c * vectors[k, v + d]
                        for f in range(3):
                            a[d, f] += c * c * blocks[k, b + 3 * d + f]
            if sweep < 0:  # what the other terms exert is held
                for d in range(3):
                    origin[i, d] = q[n, d]
                    linear[i, d] = gradient[n, d] - r[d]
                continue
            trace = weights[n]
            for d in range(3):
                r[d] += linear[i, d] + weights[n] * (q[n, d] - origin[i, d])
                a[d, d] += weights[n]
                trace += abs(a[d, d])
                old[d] = q[n, d]
            shift = 1e-3 * trace
            while not _solve(a, r, x) and isfinite(shift) and shift > 0.0:
                for d in range(3):
                    a[d, d] += shift
                shift *= 4.0
            slope = x[0] * r[0] + x[1] * r[1] + x[2] * r[2]
            if not slope < 0.0:
                continue
            part = 1.0
            for _ in range(MAX_HALVINGS):
                change = 0.0
                for d in range(3):
                    q[n, d] = old[d] + part * x[d]
                    change += (
                        part
                        * x[d]
                        * (linear[i, d] + weights[n] * (0.5 * (q[n, d] + old[d]) - origin[i, d]))
                    )
                after = _evaluate(i, 0, q, frozen, h, data)
                if after - before + change <= SUFFICIENT * part * slope:
                    moves += 1
                    break
                part *= 0.5
            else:
                q[n] = old
    return moves
