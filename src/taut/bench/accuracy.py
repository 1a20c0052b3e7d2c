"""The accuracy of a step, measured from its positions alone.

The residual of implicit Euler at y is g(y) = M(y - x - h v) - h² f(y) on the free particles. The
residual ratio

    |g(x')| / |g(x + h v)|

compares the positions x' after a step with its inertial prediction: 1 means no progress beyond the
prediction, 0 an exact solution. A trajectory that has broken down inflates the denominator, so the
ratio is meaningful only together with the lowest point and the largest strain.

`unbalanced_acceleration` states the same in the words of taut's tolerance: the acceleration that is
left over at the worst particle, relative to the accelerations at work (see taut.step).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from taut.arrays import Float
from taut.bench.net import GRAVITY, Net
from taut.linalg.blocks import dot, row_norms


def residual(net: Net, y: Float, x: Float, v: Float, h: float) -> float:
    """Return |g(y)| [kg m] for a step from positions x [m] and velocities v [m/s].

    y, x, v : all (n, 3); h : step [s]
    """
    g = net.mass[:, None] * (y - x - h * v) - h**2 * net.force(y)
    return _norm(g[net.free])


def residual_ratio(net: Net, y: Float, x: Float, v: Float, h: float) -> float:
    """Return |g(y)| / |g(x + h v)|, with fixed particles at their positions in both.

    >>> from taut.bench.net import cloth
    >>> flat = cloth(4)
    >>> still = np.zeros_like(flat.points)
    >>> residual_ratio(flat, flat.points, flat.points, still, 0.01)
    1.0
    """
    ahead = x + h * v
    ahead[net.fixed] = x[net.fixed]
    return residual(net, y, x, v, h) / residual(net, ahead, x, v, h)


def unbalanced_acceleration(net: Net, y: Float, x: Float, v: Float, h: float) -> float:
    """Return the worst particle's |g|/(m h²) over the accelerations at work, √(a² + |g₀|²).

    a is the root mean square of (y - x - h v)/h² over the free mass, and g₀ that of gravity:
    the numbers that `taut.Tolerance` compares with 1e-6.
    """
    mass = net.mass[net.free]
    own = (y - x - h * v)[net.free] / h**2
    left = own - net.force(y)[net.free] / mass[:, None]
    squares = dot(mass[:, None] * own, own) / float(mass.sum())
    at_work = math.sqrt(squares + float((GRAVITY**2).sum()))
    return float(row_norms(left).max()) / at_work


def largest_strain(net: Net, x: Float) -> float:
    """Return the largest |l/l₀ - 1| of all springs at positions x [m], (n, 3)."""
    return float(np.abs(net.lengths(x) / net.rest - 1.0).max())


def linear_residual(net: Net, stiffness: Any, x: Float, v: Float, v_end: Float, h: float) -> float:
    """Return |A Δv - b| / |b| of a linearly implicit step, A = M + h²K, b = h(f(x) - hK v).

    Only the free particles count.

    stiffness : K, a sparse matrix (3n, 3n) [N/m]
    x, v, v_end : positions and velocities before the step, velocities after it, all (n, 3)
    """

    def multiply(u: Float) -> Float:
        return np.asarray(stiffness @ u.reshape(-1)).reshape(u.shape)

    dv = v_end - v
    b = h * (net.force(x) - h * multiply(v))
    left = net.mass[:, None] * dv + h**2 * multiply(dv) - b
    return _norm(left[net.free]) / _norm(b[net.free])


def _norm(vectors: Float) -> float:
    """Return the norm of all vectors (n, 3) together, without BLAS.

    The threads of BLAS spin for a while after each call, and would slow down the step timed next.
    """
    return math.sqrt(dot(vectors, vectors))
