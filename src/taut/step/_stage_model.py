"""The quadratic model of a compiled stage: `FactoredModel`, operation by operation."""

from math import sqrt

import numpy as np
from numba import int64

from taut.linalg.elimination import solve
from taut.linalg.ordered_sums import dot_flat
from taut.linalg.simd import multiply_last_row, multiply_row
from taut.step._stage_arrays import (
    MAX_ITERATIONS,
    compiled,
)


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
def solve_model(tables, plan, data, factors, gradient, targets, radius, x):
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
