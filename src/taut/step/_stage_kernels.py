"""The minimum of an implicit stage of a small system, in one compiled call, alone or for many.

Newton's method of `taut.optimise.newton` on the objective of `taut.step._objective`, with the same
operations in the same order, for what nearly every step of a small system consists of: models whose
minimum lies inside of the trust region and keeps its promise. Where anything else is met, such as
negative curvature, a step that must be relaxed, a singular state or the rounding floor, `OTHER` is
returned, and the general method solves the stage from its start. So the bits are the same whichever
of the two has solved it, and the certificate means the same.

All arrays are flat: the vector of particle i is at 3i, block k at 9k. `_stage_objective`,
`_stage_model` and `_stage_relaxation` have the parts.
"""

from math import isfinite, sqrt

import numpy as np
from numba import float64, from_dtype, int64, prange, types

from taut.linalg.elimination import Elimination, factor
from taut.linalg.ordered_sums import dot_flat
from taut.step._stage_arrays import (
    ACCELERATION,
    ARRAY_TYPES,
    BLOCK_AT,
    BLOCKS,
    COLUMNS,
    ELEMENTS,
    ENERGY_AT,
    EPS,
    FACTORED_PART,
    FORCE,
    FORMULA_NOISE,
    FREE_MASS,
    GAMMA,
    MAGNITUDE,
    MIN_DEFINITE_PART,
    NOISE,
    RELATIVE,
    RELATIVE_NOISE,
    VALUE,
    VECTOR_AT,
    VECTORS,
    StageTables,
    array_types,
    compiled,
    entry_point,
)
from taut.step._stage_model import solve_model
from taut.step._stage_objective import (
    evaluate,
    evaluate_terms,
    find_change,
    find_change_of_value,
    find_definite_part,
    gather_blocks,
)
from taut.step._stage_relaxation import relax

CONVERGED, OTHER = 0, 1
MAX_NEWTON_ITERATIONS = 12  # then it may have to be left for heavy masses: see _heavy_start
# The flags of taut.formula.source
PREDICT, HOLD = np.int64(4), np.int64(8)
# Constants of taut.optimise: newton, descent, tolerance and _line_search
RELATIVE_ROUNDING = 1e-12
TINY_FORCE = 1e-150
FORCING = 1e-3
MIN_RATIO, AIM, GOOD_RATIO, FAITHFUL = 1e-4, 0.5, 0.75, 0.01
MAX_GROWTH, MAX_SHRINKAGE = 3.0, 0.05
RESIDUAL_DECREASE = 0.9
DIVERGENCE_FACTOR, ADDED_SIZE, ADDED_FORCE = 1e12, 1.0, 1e88

PLAN = array_types(Elimination, **dict.fromkeys(Elimination._fields, int64))
TABLES = array_types(
    StageTables, **{name: from_dtype(np.dtype(t)) for name, t in ARRAY_TYPES.items()}
)


@compiled
def _all_at_most(residuals, limits):
    within = True
    for i in range(limits.shape[0]):
        within = within and residuals[i] <= limits[i]
    return within


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
    within = True
    for i in range(limits.shape[0]):
        within = within and residuals[i] <= limits[i] and isfinite(limits[i])
    return within


@compiled
def _find_worst(residuals, units):
    worst = 0.0
    for i in range(units.shape[0]):
        worst = max(worst, residuals[i] / units[i])
    return worst


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
    if not evaluate(
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
        if not evaluate(
            *(tables, numbers, parameters, inertia, ahead, frozen, at, vectors, loads),
            *(points[other], found[other]),
        ):
            return OTHER
        if find_change_of_value(tables, inertia, points[lowest], points[other]) < 0.0:
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
        if iterations == MAX_NEWTON_ITERATIONS:
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
        if not evaluate_terms(
            *(tables, parameters, 1, True, flag, q, frozen, before, gamma, unused, vectors, blocks),
        ):
            return OTHER
        gather_blocks(tables, blocks, inertia, n, data)
        if not factor(plan, data, factors[0], factors[1], factors[2], filled):
            return OTHER
        if not evaluate_terms(
            *(
                tables,
                parameters,
                1,
                False,
                flag,
                q,
                frozen,
                before,
                gamma,
                unused,
                vectors,
                blocks,
            ),
        ):
            return OTHER
        gather_blocks(tables, blocks, inertia, n, data)
        decrease, length_of_step, used = solve_model(
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
        if not evaluate(
            *(tables, numbers, parameters, inertia, ahead, frozen, at, vectors, loads),
            *(points[trial], found[trial]),
        ):
            return OTHER
        for i in range(n):
            if not isfinite(points[trial, 8 * n + i]):
                return OTHER
        change, is_hidden = find_change(
            *(tables, inertia, points[present], points[trial], found[present], found[trial]),
            *(x, record),
        )
        is_relaxed, is_faithful = False, abs(change + decrease) <= FAITHFUL * decrease
        if not is_faithful and not -change > GOOD_RATIO * decrease:
            return OTHER  # it would be bent
        if not is_faithful and not _all_at_most(points[trial, 8 * n : 9 * n], targets):
            relax(tables, parameters, numbers, inertia, ahead, frozen, points[trial], at)
            evaluations += 1
            if not evaluate(
                *(tables, numbers, parameters, inertia, ahead, frozen, at, vectors, loads),
                *(points[spare], found[spare]),
            ):
                return OTHER
            if not isfinite(points[spare, 8 * n : 9 * n].max()):
                return OTHER
            is_relaxed = find_change_of_value(tables, inertia, points[trial], points[spare]) < 0.0
        if is_relaxed:
            trial, spare = spare, trial
            for k in range(3 * n):
                x[k] = points[trial, k] - points[present, k]
            change, is_hidden = find_change(
                *(tables, inertia, points[present], points[trial], found[present], found[trial]),
                *(x, record),
            )
            if is_hidden and change >= 0.0:
                return OTHER  # the straight step would be judged again
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
    out[3] = -find_change_of_value(tables, inertia, points[0], points[present])
    out[4], out[5] = found[present, ACCELERATION], 0.0
    if numbers[FREE_MASS] != 0.0:
        for k in range(3 * n):
            q[k] = ahead[k] + points[present, k]
        part = find_definite_part(tables, parameters, inertia, q, frozen, gamma, blocks)
        if -np.inf < part < FACTORED_PART:
            gather_blocks(tables, blocks, (1.0 - FACTORED_PART) * inertia, n, data)
            if factor(plan, data, factors[0], factors[1], factors[2], filled):
                part = FACTORED_PART
        out[5] = np.nan
        if part >= MIN_DEFINITE_PART:
            total = dot_flat(squares, tables.inverse_mass, n)
            out[5] = gamma * sqrt(total / numbers[FREE_MASS]) / part
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
