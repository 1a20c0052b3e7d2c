"""Relaxation within a compiled stage: `taut.system.relaxation`, operation by operation."""

import numpy as np
from numba import int64

from taut.step._stage_arrays import (
    ADDRESS,
    BLOCKS,
    COLUMNS,
    ELEMENT_AT,
    GAMMA,
    INCIDENCE_AT,
    IS_INCREMENT,
    IS_PAIR,
    PAIR_AT,
    PARAMETER_AT,
    PARTICLES,
    RELAXED_FLAG,
    RELAXED_SIZE,
    VECTORS,
    WIDTH,
    compiled,
)
from taut.system.relaxing import relax_particles

# Constants of taut.optimise.newton
REGION, MAX_SWEEPS, VISITS = 0.003, 20, 2.0


@compiled
def relax(tables, parameters, numbers, inertia, ahead, frozen, point, out):
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
