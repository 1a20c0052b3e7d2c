"""The objective of a stage in compiled functions: `taut.step._objective`, operation by operation.

A point is one array: y, gradient, gross force, size and residual of each particle, and the energies
of the elements, one after the other; and four numbers.
"""

from math import isfinite, sqrt

import numpy as np
from numba import int64

from taut.binding.batch_call import call_batch
from taut.linalg.ordered_sums import dot_flat, pairwise_sum, weighted_dot
from taut.step._stage_arrays import (
    ACCELERATION,
    ADDRESS,
    BLOCK_AT,
    BLOCKS,
    COLUMNS,
    ELEMENT_AT,
    ELEMENTS,
    ENERGY_AT,
    EPS,
    FORMULA_NOISE,
    FREE_MASS,
    GAMMA,
    GAMMA4,
    IS_CONSTANT,
    IS_INCREMENT,
    IS_PAIR,
    MAGNITUDE,
    METRIC_FLAG,
    NOISE,
    PAIR_AT,
    PARAMETER_AT,
    PARTICLES,
    RELATIVE_NOISE,
    ROUNDING_UNITS,
    SIZE,
    VALUE,
    VECTOR_AT,
    VECTORS,
    compiled,
)
from taut.system.negative_parts import add_negative_parts

ELEMENTS_PER_CHUNK = 256  # as in taut.binding.batch_kernels


@compiled
def evaluate_terms(
    tables, parameters, kind, metric, flag, q, frozen, before, h, energies, vectors, blocks
):
    """Run the batches of all terms; False if a result is not finite.

    kind : 0: energies and gradients, 1: Hessians too; metric : whether it is the metric instead
    flag, before : how the forces in Hessians are predicted, and from which positions
    """
    count = tables.terms.shape[0] // COLUMNS
    for k in range(count):
        t = tables.terms[COLUMNS * k : COLUMNS * (k + 1)]
        if kind == 1 and t[BLOCKS] == 0:
            continue
        m = t[ELEMENTS]
        address, size = t[ADDRESS + kind], t[SIZE + kind]
        flags, y = int64(0), q
        if t[IS_INCREMENT]:
            y = frozen
        if kind == 1:
            if not t[IS_INCREMENT]:
                flags += flag
                y = before
            if metric:
                flags += t[METRIC_FLAG]
        elements = tables.elements[t[ELEMENT_AT] :]
        own = parameters[t[PARAMETER_AT] :]
        a = energies[t[ENERGY_AT] :]
        v = vectors[3 * t[VECTOR_AT] :]
        c = blocks[9 * t[BLOCK_AT] :]
        for chunk in range(0, m, ELEMENTS_PER_CHUNK):
            last = min(m, chunk + ELEMENTS_PER_CHUNK)
            for i in range(chunk, last, size):
                found = call_batch(
                    address,
                    int64(i),
                    int64(min(size, last - i)),
                    *(q, y, h, elements, own, flags, a, v, c),
                )
                if found >= 0:
                    return False
    return True


@compiled
def _project(tables, vectors):
    """Remove constrained directions, in place."""
    for c in range(tables.constrained.shape[0]):
        for k in range(3 * tables.constrained[c], 3 * tables.constrained[c] + 3):
            vectors[k] = tables.free[k] * vectors[k] + 0.0


@compiled
def _find_load_squares(tables, vectors, n):
    """Σ |f|²/m of the forces that are the same everywhere; `vectors` holds them."""
    loads, part = np.zeros(3 * n), np.empty(n)
    for k in range(tables.terms.shape[0] // COLUMNS):
        t = tables.terms[COLUMNS * k : COLUMNS * (k + 1)]
        if not t[IS_CONSTANT]:
            continue
        s, stored = t[PARTICLES], t[VECTORS]
        for p in range(s):
            c, which = 1.0, p
            if t[IS_PAIR]:
                c, which = tables.pairs[t[PAIR_AT] + p], 0
            for d in range(3):
                part[:] = 0.0
                for e in range(t[ELEMENTS]):
                    i = tables.elements[t[ELEMENT_AT] + s * e + p]
                    part[i] += vectors[3 * (t[VECTOR_AT] + stored * e + which) + d]
                for i in range(n):
                    loads[3 * i + d] += c * part[i]
    _project(tables, loads)
    return weighted_dot(tables.inverse_mass, loads, loads, n)


@compiled
def _gather_forces(tables, vectors, n, total, gross):
    """Add up forces, and their magnitudes in the free directions; False if one is not finite."""
    for i in range(n):
        a = b = c = p = q = r = 0.0
        for e in range(tables.vector_start[i], tables.vector_start[i + 1]):
            factor, at = tables.vector_table[tables.vector_code[e]], 3 * tables.vector_source[e]
            u, v, w = factor * vectors[at], factor * vectors[at + 1], factor * vectors[at + 2]
            a, b, c = a + u, b + v, c + w
            p, q, r = p + abs(u), q + abs(v), r + abs(w)
        # times one: the scale of gather_vectors
        total[3 * i], total[3 * i + 1], total[3 * i + 2] = a, b, c
        gross[i] = (tables.free[3 * i] * p + tables.free[3 * i + 1] * q) + tables.free[
            3 * i + 2
        ] * r
        if not isfinite(a + b + c + p + q + r):
            return False
    return True


@compiled
def gather_blocks(tables, blocks, inertia, n, data):
    """Write Σ of the elements' blocks + inertia, with constraints applied, into data."""
    sums, turned = np.empty(9), np.empty(9)
    for i in range(n):
        extra = inertia[i]
        for u in range(tables.block_row[i], tables.block_row[i + 1]):
            sums[:] = 0.0
            turned[:] = 0.0
            for e in range(tables.block_start[u], tables.block_start[u + 1]):
                source, factor = tables.block_source[e], tables.block_table[tables.block_code[e]]
                if source >= 0:
                    for k in range(9):
                        sums[k] += factor * blocks[9 * source + k]
                else:
                    for k in range(9):
                        turned[k] += factor * blocks[9 * (-1 - source) + k]
            at, back = 9 * tables.slot[u], 9 * tables.mirror[u]
            for k in range(3):
                for j in range(3):
                    shift = extra if k == j else 0.0
                    value = (sums[3 * k + j] + turned[3 * j + k]) + shift
                    data[at + 3 * k + j] = value
                    if back >= 0:
                        data[back + 3 * j + k] = value
            extra = 0.0
    # S A S + a (I - S), see taut.system.projector
    constrained = tables.constrained
    sizes = np.empty(constrained.shape[0])
    for c in range(constrained.shape[0]):
        at = 9 * tables.diagonal[constrained[c]]
        size = ((data[at] + data[at + 4]) + data[at + 8]) / 3
        sizes[c] = size if size > 0.0 else 1.0
    for e in range(tables.affected.shape[0]):
        at = 9 * tables.affected[e]
        i, j = 3 * tables.affected_rows[e], 3 * tables.indices[tables.affected[e]]
        for k in range(3):
            for m in range(3):
                data[at + 3 * k + m] = (
                    tables.free[i + k] * data[at + 3 * k + m] * tables.free[j + m] + 0.0
                )
    for c in range(constrained.shape[0]):
        i = constrained[c]
        at = 9 * tables.diagonal[i]
        for k in range(3):
            data[at + 4 * k] += sizes[c] * (1.0 - tables.free[3 * i + k])


@compiled
def evaluate(tables, numbers, parameters, inertia, ahead, frozen, y, vectors, loads, point, found):
    """Evaluate the objective at y: `ImplicitObjective.evaluate`; False where it has no value.

    ahead : the prediction; loads : Σ |f|²/m of constant forces, -1: not known yet, or in `found`
    point, found : arrays and numbers of a point
    """
    n = inertia.shape[0]
    own, gradient = point[: 3 * n], point[3 * n : 6 * n]
    gross, size, residuals = point[6 * n : 7 * n], point[7 * n : 8 * n], point[8 * n : 9 * n]
    energies = point[9 * n :]
    own[:] = y[: 3 * n]
    _project(tables, own)
    q, none = np.empty(3 * n), np.empty(0)
    for k in range(3 * n):
        q[k] = ahead[k] + own[k]
    h = numbers[GAMMA]
    if not evaluate_terms(
        *(tables, parameters, 0, False, int64(0), q, frozen, q, h, energies, vectors, none),
    ):
        return False
    total = np.empty(3 * n)
    if not _gather_forces(tables, vectors, n, total, gross):
        return False
    value = magnitude = 0.0
    absolute = np.abs(energies)
    for k in range(tables.terms.shape[0] // COLUMNS):
        first = tables.terms[COLUMNS * k + ENERGY_AT]
        count = tables.terms[COLUMNS * k + ELEMENTS]
        value += pairwise_sum(energies, first, count)
        magnitude += pairwise_sum(absolute, first, count)
    kinetic = square = work = 0.0
    for i in range(n):
        x, a = 3 * i, inertia[i] * own[3 * i]
        b, c = inertia[i] * own[x + 1], inertia[i] * own[x + 2]
        kinetic += a * own[x] + b * own[x + 1] + c * own[x + 2]
        u, v, w = total[x] + a, total[x + 1] + b, total[x + 2] + c
        square += u * u + v * v + w * w
        gradient[x], gradient[x + 1], gradient[x + 2] = u, v, w
        gross[i] += abs(a) + abs(b) + abs(c)
        size[i] = max(
            abs(q[x]) + abs(own[x]),
            abs(q[x + 1]) + abs(own[x + 1]),
            abs(q[x + 2]) + abs(own[x + 2]),
        )
        work += gross[i] * size[i]
    added = 0.5 * kinetic + 0.0
    if loads[0] < 0.0:
        loads[0] = _find_load_squares(tables, vectors, n)
    if not isfinite(value + added) or not isfinite(square) or not isfinite(work):
        return False
    _project(tables, gradient)
    for i in range(n):
        a, b, c = gradient[3 * i], gradient[3 * i + 1], gradient[3 * i + 2]
        residuals[i] = sqrt(a * a + b * b + c * c)
    magnitude += abs(added)
    found[VALUE], found[MAGNITUDE] = value + added, magnitude
    found[NOISE] = ROUNDING_UNITS * EPS * (magnitude + dot_flat(gross, size, n))
    found[ACCELERATION] = 0.0
    if numbers[FREE_MASS] != 0.0:
        squares = weighted_dot(tables.mass, own, own, n) / numbers[GAMMA4]
        found[ACCELERATION] = sqrt((squares + loads[0]) / numbers[FREE_MASS])
    return isfinite(found[ACCELERATION])


@compiled
def find_change_of_value(tables, inertia, start, end):
    """The change of the objective between two points: `ImplicitObjective.change`."""
    n = inertia.shape[0]
    move, both = np.empty(3 * n), np.empty(3 * n)
    for k in range(3 * n):
        move[k], both[k] = end[k] - start[k], end[k] + start[k]
    change = 0.5 * weighted_dot(inertia, move, both, n)
    difference = end[9 * n :] - start[9 * n :]
    for k in range(tables.terms.shape[0] // COLUMNS):
        first = tables.terms[COLUMNS * k + ENERGY_AT]
        count = tables.terms[COLUMNS * k + ELEMENTS]
        change += pairwise_sum(difference, first, count)
    return change


@compiled
def find_change(tables, inertia, start, end, found, found_end, move, record):
    """The change of the objective, and whether rounding hides it: `_TrustRegion._change`."""
    n = inertia.shape[0]
    change = find_change_of_value(tables, inertia, start, end)
    noise = max(
        found[NOISE] + found_end[NOISE],
        RELATIVE_NOISE * (found[MAGNITUDE] + found_end[MAGNITUDE]),
    )
    noise = max(noise, FORMULA_NOISE * record[0])
    if abs(change) > noise or found_end[VALUE] > record[1]:
        return change, False
    return 0.5 * dot_flat(move, start[3 * n : 6 * n] + end[3 * n : 6 * n], 3 * n), True


@compiled
def find_definite_part(tables, parameters, inertia, q, frozen, h, blocks):
    """A c ≤ 1 for which the Hessian is at least c M/γ², from the elements alone.

    See `ImplicitObjective.definite_part`. -inf if their Hessians are not finite.

    blocks : a buffer; it has the blocks of the Hessian at the end
    """
    n = inertia.shape[0]
    last = tables.terms[tables.terms.shape[0] - COLUMNS :]
    energies = np.empty(last[ENERGY_AT] + last[ELEMENTS])
    vectors = np.empty(3 * (last[VECTOR_AT] + last[VECTORS] * last[ELEMENTS]) + 1)
    none = int64(0)
    if not evaluate_terms(
        *(tables, parameters, 1, True, none, q, frozen, q, h, energies, vectors, blocks),
    ):
        return -np.inf
    metric, sums = blocks.copy(), np.zeros(n)
    if not evaluate_terms(
        *(tables, parameters, 1, False, none, q, frozen, q, h, energies, vectors, blocks),
    ):
        return -np.inf
    for k in range(tables.terms.shape[0] // COLUMNS):
        t = tables.terms[COLUMNS * k : COLUMNS * (k + 1)]
        if t[BLOCKS] == 0:
            continue
        weight, at, s = 1.0, 9 * t[BLOCK_AT], t[PARTICLES]
        if t[IS_PAIR]:
            weight = 0.0
            for p in range(t[PAIR_AT], t[PAIR_AT] + s):
                weight += tables.pairs[p] * tables.pairs[p]
        add_negative_parts(
            *(metric[at:], blocks[at:], t[ELEMENTS], t[VECTORS], weight),
            *(tables.elements[t[ELEMENT_AT] :], s, sums),
        )
    worst = 0.0
    for i in range(n):
        if tables.free[3 * i] + tables.free[3 * i + 1] + tables.free[3 * i + 2] > 0.0:
            worst = max(worst, sums[i] / inertia[i])
    return 1.0 - worst
