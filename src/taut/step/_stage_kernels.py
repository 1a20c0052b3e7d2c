"""The minimum of an implicit stage of a small system, in one compiled call, alone or for many.

Newton's method of `taut.optimise.newton` on the objective of `taut.step._objective`, with the same
operations in the same order, for what nearly every step of a small system consists of: models whose
minimum lies inside of the trust region and keeps its promise. Where anything else is met, such as
negative curvature, a step that must be relaxed, a singular state or the rounding floor, `OTHER` is
returned, and the general method solves the stage from its start. So the bits are the same whichever
of the two has solved it, and the certificate means the same.

All arrays are flat: the vector of particle i is at 3i, block k at 9k.
"""

from math import isfinite, sqrt

import numpy as np
from numba import float64, from_dtype, int64, prange, types

from taut.binding.batch_call import call_batch
from taut.linalg._elimination import Elimination, factor, solve
from taut.linalg._ordered_sums import dot_flat, pairwise_sum, weighted_dot
from taut.linalg._worksharing import array_types, compiled, entry_point
from taut.linalg.simd import multiply_last_row, multiply_row
from taut.step._stage_arrays import (
    ADDRESS,
    ARRAY_TYPES,
    BLOCK_AT,
    BLOCKS,
    COLUMNS,
    ELEMENT_AT,
    ELEMENTS,
    ENERGY_AT,
    FORCE,
    FREE_MASS,
    GAMMA,
    GAMMA4,
    INCIDENCE_AT,
    IS_CONSTANT,
    IS_INCREMENT,
    IS_PAIR,
    METRIC_FLAG,
    PAIR_AT,
    PARAMETER_AT,
    PARTICLES,
    RELATIVE,
    RELAXED_FLAG,
    RELAXED_SIZE,
    SIZE,
    VECTOR_AT,
    VECTORS,
    WIDTH,
    StageTables,
)
from taut.system._relaxing import relax_particles

CONVERGED, OTHER = 0, 1
MAX_ITERATIONS = 100  # of Newton's method and of conjugate gradients; beyond, the general method
ELEMENTS_PER_CHUNK = 256  # as in taut.binding.batch_kernels
# The constants of taut.optimise: newton, descent, tolerance and _line_search
EPS = 2.220446049250313e-16
ROUNDING_UNITS = 8.0
RELATIVE_ROUNDING = 1e-12
TINY_FORCE = 1e-150
RELATIVE_NOISE, FORMULA_NOISE = 1e-10, 1e-13
FORCING = 1e-3
MIN_RATIO, AIM, GOOD_RATIO, FAITHFUL = 1e-4, 0.5, 0.75, 0.01
MAX_GROWTH, MAX_SHRINKAGE = 3.0, 0.05
REGION, MAX_SWEEPS, VISITS = 0.003, 20, 2.0
RESIDUAL_DECREASE = 0.9
# The flags of taut.formula.source
PREDICT, HOLD = np.int64(4), np.int64(8)
DIVERGENCE_FACTOR, ADDED_SIZE, ADDED_FORCE = 1e12, 1.0, 1e88

PLAN = array_types(Elimination, **dict.fromkeys(Elimination._fields, int64))
TABLES = array_types(
    StageTables, **{name: from_dtype(np.dtype(t)) for name, t in ARRAY_TYPES.items()}
)

# A point: y, gradient, gross force, size, residual and element energies, one after the other; and
# four numbers.
VALUE, MAGNITUDE, NOISE, ACCELERATION = 0, 1, 2, 3


@compiled
def _evaluate_terms(
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
        gross[i] = (
            tables.free[3 * i] * p + tables.free[3 * i + 1] * q
        ) + tables.free[3 * i + 2] * r
        if not isfinite(a + b + c + p + q + r):
            return False
    return True


@compiled
def _gather_blocks(tables, blocks, inertia, n, data):
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
def _multiply(tables, data, x, out, n):
    """out = A x; x has a spare row at its end."""
    for i in range(n):
        first, last = int64(tables.indptr[i]), int64(tables.indptr[i + 1])
        if i < n - 1:
            u, v, w = multiply_row(data, tables.indices, x, first, last)
        else:
            u, v, w = multiply_last_row(data, tables.indices, x, first, last)
        out[3 * i], out[3 * i + 1], out[3 * i + 2] = u, v, w


@compiled
def _evaluate(tables, numbers, parameters, inertia, ahead, frozen, y, vectors, loads, point, found):
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
    if not _evaluate_terms(
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
            abs(q[x]) + abs(own[x]), abs(q[x + 1]) + abs(own[x + 1]), abs(q[x + 2]) + abs(own[x + 2])
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
def _change(tables, inertia, start, end):
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
def _find_change(tables, inertia, start, end, found, found_end, move, record):
    """The change of the objective, and whether rounding hides it: `_TrustRegion._change`."""
    n = inertia.shape[0]
    change = _change(tables, inertia, start, end)
    noise = max(
        found[NOISE] + found_end[NOISE],
        RELATIVE_NOISE * (found[MAGNITUDE] + found_end[MAGNITUDE]),
    )
    noise = max(noise, FORMULA_NOISE * record[0])
    if abs(change) > noise or found_end[VALUE] > record[1]:
        return change, False
    return 0.5 * dot_flat(move, start[3 * n : 6 * n] + end[3 * n : 6 * n], 3 * n), True


@compiled
def _all_at_most(residuals, limits):
    for i in range(limits.shape[0]):
        if not residuals[i] <= limits[i]:
            return False
    return True


@compiled
def _find_targets(tables, numbers, point, found, targets):
    """The residual that each particle must reach: `Tolerance.targets`."""
    n = targets.shape[0]
    relative, least = numbers[RELATIVE], max(numbers[FORCE], TINY_FORCE)
    rounding = min(relative, RELATIVE_ROUNDING)
    for i in range(n):
        at_work = tables.mass[i] * found[ACCELERATION]
        targets[i] = max(max(relative * at_work, rounding * point[6 * n + i]), least)


@compiled
def _all_within(residuals, limits):
    for i in range(limits.shape[0]):
        if not (residuals[i] <= limits[i] and isfinite(limits[i])):
            return False
    return True


@compiled
def _find_worst(residuals, units):
    worst = 0.0
    for i in range(units.shape[0]):
        worst = max(worst, residuals[i] / units[i])
    return worst


@compiled
def _solve_model(tables, plan, data, factors, gradient, targets, radius, x):
    """Conjugate gradients for H x = -gradient inside of the radius: `FactoredModel`.

    Returns the decrease of the model (-1: this is not the usual case), |x| in the metric and the
    number of iterations.
    """
    n = targets.shape[0]
    lower, inverse, work = factors
    residual, z, product = -gradient, np.empty(3 * n), np.zeros(3 * n)
    direction, last = np.zeros(3 * n + 3), np.empty(3 * n)
    ratios, slopes = np.empty(MAX_ITERATIONS), np.empty(MAX_ITERATIONS)
    x[:] = 0.0
    curvature, xx, xp, pp = 1.0, 0.0, 0.0, 0.0
    for iteration in range(MAX_ITERATIONS):
        converged = True
        for i in range(n):
            a, b, c = residual[3 * i], residual[3 * i + 1], residual[3 * i + 2]
            converged = converged and sqrt(a * a + b * b + c * c) <= targets[i]
        if converged:
            length = sqrt(xx)
            if iteration == 0 or 0.0 < radius < length:
                return -1.0, 0.0, iteration
            return dot_flat(slopes, ratios, iteration) / 2.0, length, iteration
        solve(plan, lower, inverse, residual, z, work)
        square = dot_flat(residual, z, 3 * n)
        if not 0.0 < square < np.inf:
            break
        beta = -dot_flat(product, z, 3 * n) / curvature
        for k in range(3 * n):
            direction[k] = z[k] + beta * direction[k]
        _multiply(tables, data, direction, last, n)
        curvature, slope = dot_flat(direction, last, 3 * n), dot_flat(direction, residual, 3 * n)
        if not 0.0 < curvature < np.inf:
            break
        slopes[iteration], ratios[iteration] = slope, slope / curvature
        length = slope / curvature
        xp, pp = beta * xp, square + beta * beta * pp
        xx, xp = xx + length * (2.0 * xp + length * pp), xp + length * pp
        for k in range(3 * n):
            x[k] += length * direction[k]
            residual[k] -= length * last[k]
            product[k] = last[k]
        if 0.0 < radius * radius < xx:
            break
    return -1.0, 0.0, MAX_ITERATIONS


@compiled
def _relax(tables, parameters, numbers, inertia, ahead, frozen, point, out):
    """Lower the worst particles of a point one by one: `_TrustRegion._relax`; write y to `out`."""
    n = inertia.shape[0]
    residuals = point[8 * n : 9 * n]
    worst, chosen = residuals.max(), 0
    is_constrained = np.zeros(n, dtype=np.bool_)
    for c in range(tables.constrained.shape[0]):
        is_constrained[tables.constrained[c]] = True
    region, size = np.empty(n, dtype=np.int64), 0
    for i in range(n):
        if residuals[i] > REGION * worst:
            chosen += 1
            if not is_constrained[i]:
                region[size] = i
                size += 1
    region = region[:size]
    sweeps = min(MAX_SWEEPS, max(1, int(VISITS * n / chosen)))
    q = np.empty((n, 3))
    for k in range(3 * n):
        q.reshape(-1)[k] = ahead[k] + point[k]
    _relax_region(
        *(tables, parameters, numbers[GAMMA], q, frozen, region, point[3 * n : 6 * n]),
        *(inertia, sweeps),
    )
    for k in range(3 * n):
        out[k] = point[k] + (q.reshape(-1)[k] - (ahead[k] + point[k]))


@compiled
def _relax_region(tables, parameters, h, q, frozen, region, gradient, inertia, sweeps):
    """Collect the elements of a region and move its particles: `relax_region`."""
    n, size, count = q.shape[0], region.shape[0], tables.terms.shape[0] // COLUMNS
    used = 0
    entries = elements_size = parameters_size = 0
    for k in range(count):
        t = tables.terms[COLUMNS * k : COLUMNS * (k + 1)]
        if t[BLOCKS] == 0:
            continue
        used += 1
        starts = tables.incidence_start[(n + 1) * k : (n + 1) * (k + 1)]
        for r in range(size):
            own = starts[region[r] + 1] - starts[region[r]]
            entries += own
            elements_size += own * t[PARTICLES]
            parameters_size += own * t[WIDTH]
    if used == 0 or size == 0:
        return
    rows, address = np.zeros((used, 10), dtype=np.int64), np.empty((used, 2), dtype=np.int64)
    start = np.zeros((used, size + 1), dtype=np.int64)
    elements = np.zeros(elements_size + 1, dtype=np.int64)
    values = np.zeros(parameters_size + 1)
    slots, coefficients = np.zeros((entries, 2), dtype=np.int64), np.ones(entries)
    used = entry = element_at = parameter_at = 0
    longest, vectors, blocks = int64(1), int64(1), int64(1)
    for k in range(count):
        t = tables.terms[COLUMNS * k : COLUMNS * (k + 1)]
        if t[BLOCKS] == 0:
            continue
        s, width = t[PARTICLES], t[WIDTH]
        row = rows[used]
        row[0], row[1], row[2], row[3] = s, width, t[VECTORS], t[BLOCKS]
        row[4], row[5], row[6] = t[RELAXED_SIZE], t[RELAXED_FLAG], t[IS_INCREMENT]
        row[7], row[8], row[9] = element_at, parameter_at, entry
        address[used, 0], address[used, 1] = t[ADDRESS], t[ADDRESS + 1]
        vectors, blocks = max(vectors, t[VECTORS]), max(blocks, t[BLOCKS])
        starts = tables.incidence_start[(n + 1) * k : (n + 1) * (k + 1)]
        for r in range(size):
            first, last = starts[region[r]], starts[region[r] + 1]
            start[used, r + 1] = start[used, r] + last - first
            longest = max(longest, last - first)
            for e in range(t[INCIDENCE_AT] + first, t[INCIDENCE_AT] + last):
                which, place = tables.incidence_element[e], tables.incidence_place[e]
                for p in range(s):
                    elements[element_at] = tables.elements[t[ELEMENT_AT] + s * which + p]
                    element_at += 1
                for p in range(width):
                    values[parameter_at] = parameters[t[PARAMETER_AT] + width * which + p]
                    parameter_at += 1
                if t[IS_PAIR]:
                    coefficients[entry] = tables.pairs[t[PAIR_AT] + place]
                else:
                    slots[entry, 0] = place
                    slots[entry, 1] = place * (2 * s + 1 - place) // 2
                entry += 1
        used += 1
    relax_particles(
        *(q, frozen.reshape((n, 3)), h, region, gradient.reshape((n, 3)), inertia, sweeps),
        *(rows, address, start, elements, values, slots, coefficients),
        np.zeros((used, longest + 1)),
        np.zeros((used, 3 * longest * vectors + 3)),
        np.zeros((used, 9 * longest * blocks + 9)),
    )


@compiled
def _accept(found, record):
    """Bound the value of further points: `Descent.bound_value`.

    record : the largest magnitude so far, and the value that no further point may exceed
    """
    magnitude = found[MAGNITUDE]
    record[0] = max(record[0], magnitude)
    noise = max(found[NOISE] + found[NOISE], RELATIVE_NOISE * (magnitude + magnitude))
    hidden = max(max(noise, FORMULA_NOISE * record[0]), RELATIVE_NOISE * magnitude)
    record[1] = min(record[1], found[VALUE] + hidden)


@compiled
def _solve_stage(tables, plan, numbers, inertia, parameters, ahead, frozen, old, y, gradient, out):
    """Minimise one stage: `Implicit._minimise`. Returns CONVERGED or OTHER.

    ahead, frozen, old : the prediction, the positions that damping acts from, y of the old ones
    y, gradient, out : results
    """
    n = inertia.shape[0]
    last_term = tables.terms[tables.terms.shape[0] - COLUMNS :]
    length = last_term[ENERGY_AT] + last_term[ELEMENTS]
    stored = last_term[VECTOR_AT]
    stored += last_term[VECTORS] * last_term[ELEMENTS]
    block_count = last_term[BLOCK_AT]
    block_count += last_term[BLOCKS] * last_term[ELEMENTS]
    points, found = np.empty((5, 9 * n + length)), np.empty((5, 4))
    vectors, blocks = np.empty(3 * stored + 1), np.empty(9 * block_count)
    unused = np.empty(length)
    data = np.empty(9 * tables.indices.shape[0] + 1)
    factors = (np.empty(plan.l_row.shape[0] + 1), np.empty(3 * n), np.empty(3 * n))
    filled = np.empty(3 * n, dtype=np.int64)
    at, targets, linear_targets = np.empty(3 * n), np.empty(n), np.empty(n)
    units, loads, record = np.empty(n), np.full(1, -1.0), np.array([0.0, np.inf])
    q, before, x = np.empty(3 * n), np.empty(3 * n), np.empty(3 * n)
    gamma = numbers[GAMMA]
    # The lowest of three starts: the old positions, the prediction, and that with the old forces.
    if not _evaluate(
        *(tables, numbers, parameters, inertia, ahead, frozen, old, vectors, loads),
        *(points[0], found[0]),
    ):
        return OTHER
    lowest, other = 0, 1
    for start in range(2):
        for k in range(3 * n):
            own = points[0, k]
            to = 0.0 if start == 0 else own - points[0, 3 * n + k] / inertia[k // 3]
            at[k] = own + 1.0 * (to - own)
        if not _evaluate(
            *(tables, numbers, parameters, inertia, ahead, frozen, at, vectors, loads),
            *(points[other], found[other]),
        ):
            return OTHER
        if _change(tables, inertia, points[lowest], points[other]) < 0.0:
            lowest = other
            other += 1
    present, trial, spare = lowest, 3, 4
    evaluations, iterations, linear_iterations = 3, 0, 0
    _accept(found[present], record)
    radius, max_size, max_force = 0.0, np.inf, np.inf
    first_worst, least, hidden_change = 0.0, np.inf, 0.0
    has_previous = False
    while True:
        residuals, gross = points[present, 8 * n : 9 * n], points[present, 6 * n : 7 * n]
        _find_targets(tables, numbers, points[present], found[present], targets)
        if _all_within(residuals, targets):
            break
        largest_size = largest_residual = largest_gross = 0.0
        for i in range(n):
            largest_size = max(largest_size, points[present, 7 * n + i])
            largest_residual = max(largest_residual, residuals[i])
            units[i] = max(targets[i], EPS * gross[i])
        if not (largest_size <= max_size and largest_residual <= max_force):
            return OTHER
        if iterations == MAX_ITERATIONS:
            return OTHER
        iterations += 1
        # The model, and how well it must be solved
        worst = _find_worst(residuals, units)
        if iterations == 1:
            first_worst = worst
        forcing = min(FORCING, sqrt(worst / first_worst))
        for i in range(n):
            linear_targets[i] = max(forcing * worst * units[i], 0.1 * targets[i])
        for k in range(3 * n):
            q[k] = ahead[k] + points[present, k]
            if not has_previous:
                before[k] = ahead[k] + old[k]
        flag = PREDICT if has_previous else HOLD
        if not _evaluate_terms(
            *(tables, parameters, 1, True, flag, q, frozen, before, gamma, unused, vectors, blocks),
        ):
            return OTHER
        _gather_blocks(tables, blocks, inertia, n, data)
        if not factor(plan, data, factors[0], factors[1], factors[2], filled):
            return OTHER
        if not _evaluate_terms(
            *(tables, parameters, 1, False, flag, q, frozen, before, gamma, unused, vectors, blocks),
        ):
            return OTHER
        _gather_blocks(tables, blocks, inertia, n, data)
        decrease, length_of_step, used = _solve_model(
            *(tables, plan, data, factors, points[present, 3 * n : 6 * n]),
            *(linear_targets, radius, x),
        )
        if not decrease > 0.0:
            return OTHER
        linear_iterations += used
        longest = 0.0
        for i in range(n):
            a, b, c = x[3 * i], x[3 * i + 1], x[3 * i + 2]
            longest = max(longest, sqrt(a * a + b * b + c * c))
        if max_size == np.inf:
            max_size = DIVERGENCE_FACTOR * (ADDED_SIZE + largest_size + longest)
            max_force = DIVERGENCE_FACTOR * (ADDED_FORCE + largest_residual)
        if not longest > EPS * EPS * largest_size:
            return OTHER
        # The trial
        for k in range(3 * n):
            at[k] = points[present, k] + x[k]
        evaluations += 1
        if not _evaluate(
            *(tables, numbers, parameters, inertia, ahead, frozen, at, vectors, loads),
            *(points[trial], found[trial]),
        ):
            return OTHER
        for i in range(n):
            if not isfinite(points[trial, 8 * n + i]):
                return OTHER
        change, is_hidden = _find_change(
            *(tables, inertia, points[present], points[trial], found[present], found[trial]),
            *(x, record),
        )
        is_relaxed = False
        if not abs(change + decrease) <= FAITHFUL * decrease and not _all_at_most(
            points[trial, 8 * n : 9 * n], targets
        ):
            _relax(tables, parameters, numbers, inertia, ahead, frozen, points[trial], at)
            evaluations += 1
            if not _evaluate(
                *(tables, numbers, parameters, inertia, ahead, frozen, at, vectors, loads),
                *(points[spare], found[spare]),
            ):
                return OTHER
            if not isfinite(points[spare, 8 * n : 9 * n].max()):
                return OTHER
            is_relaxed = _change(tables, inertia, points[trial], points[spare]) < 0.0
        if is_relaxed:
            trial, spare = spare, trial
            for k in range(3 * n):
                x[k] = points[trial, k] - points[present, k]
            change, is_hidden = _find_change(
                *(tables, inertia, points[present], points[trial], found[present], found[trial]),
                *(x, record),
            )
        ratio = -change / decrease
        if not ratio > MIN_RATIO:
            return OTHER
        if ratio > GOOD_RATIO:
            radius = max(radius, MAX_GROWTH * length_of_step)
        else:
            shorter = sqrt(AIM / max(1.0 - ratio, AIM / (MAX_GROWTH * MAX_GROWTH)))
            radius = length_of_step * max(shorter, MAX_SHRINKAGE)
        origin = trial if is_relaxed else present
        for k in range(3 * n):
            before[k] = ahead[k] + points[origin, k]
        has_previous = True
        # Move there, unless nothing has improved
        present = trial
        trial = 1 if present != 1 else 2  # not 0: the old positions are kept
        spare = 3 if present != 3 else 4
        _find_targets(tables, numbers, points[present], found[present], targets)
        _accept(found[present], record)
        hidden_change += change
        largest_gross = 0.0
        for i in range(n):
            largest_gross = max(largest_gross, points[present, 6 * n + i])
        for i in range(n):
            units[i] = targets[i] + EPS * largest_gross
        worst = _find_worst(points[present, 8 * n : 9 * n], units)
        if not is_hidden:
            least, hidden_change = worst, 0.0
        elif worst <= RESIDUAL_DECREASE * least or -hidden_change > 2.0 * found[present, NOISE]:
            least, hidden_change = min(worst, least), 0.0
        elif not _all_within(points[present, 8 * n : 9 * n], targets):
            return OTHER
    y[:], gradient[:] = points[present, : 3 * n], points[present, 3 * n : 6 * n]
    residuals = points[present, 8 * n : 9 * n]
    particle = 0
    for i in range(n):
        if residuals[i] / targets[i] > residuals[particle] / targets[particle]:
            particle = i
    squares = np.empty(n)
    for i in range(n):
        squares[i] = residuals[i] * residuals[i]
    out[0], out[1], out[2] = iterations, evaluations, linear_iterations
    out[3] = -_change(tables, inertia, points[0], points[present])
    out[4], out[5] = found[present, ACCELERATION], 0.0
    if numbers[FREE_MASS] != 0.0:
        total = dot_flat(squares, tables.inverse_mass, n)
        out[5] = gamma * sqrt(total / numbers[FREE_MASS])
    out[6], out[7], out[8] = particle, residuals[particle], targets[particle]
    return CONVERGED


_ONE, _MANY = float64[::1], float64[:, ::1]


@entry_point(
    int64(TABLES, PLAN, _ONE, _ONE, _ONE, _ONE, _ONE, _ONE, _ONE, _ONE, _ONE),
)
def solve_stage(tables, plan, numbers, inertia, parameters, ahead, frozen, old, y, gradient, out):
    """Minimise a stage of one system; returns CONVERGED or OTHER."""
    return _solve_stage(
        *(tables, plan, numbers, inertia, parameters, ahead, frozen, old, y, gradient, out)
    )


@entry_point(
    types.void(
        *(TABLES, PLAN, _ONE, _ONE, _MANY, _MANY, _MANY, _MANY, _MANY, _MANY, _MANY, int64[::1])
    ),
    parallel=True,
)
def solve_stages(
    tables, plan, numbers, inertia, parameters, ahead, frozen, old, y, gradient, out, outcome
):
    """Minimise a stage of many copies of a system, one in each row of the arrays."""
    for i in prange(outcome.shape[0]):
        outcome[i] = _solve_stage(
            *(tables, plan, numbers, inertia, parameters[i]),
            *(ahead[i], frozen[i], old[i], y[i], gradient[i], out[i]),
        )
