"""What a step has reached, measured from its positions alone.

The residual of implicit Euler at y is g(y) = M(y - x - h v) - h² f(y) on the free particles. Its
ratio

    |g(x')| / |g(x + h v)|

says how much of the way a step went that began with nothing but inertia: 1 for none of it, 0 for a
solution. A broken trajectory inflates the denominator, so a ratio counts only together with the
lowest point and the largest strain.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from taut.arrays import Float
from taut.bench.net import Net
from taut.linalg.blocks import dot


def residual(net: Net, y: Float, x: Float, v: Float, h: float) -> float:
    """|g(y)| [kg m] for a step of h seconds from positions x [m] and velocities v [m/s], all (n.

    3).
    """
    g = net.mass[:, None] * (y - x - h * v) - h**2 * net.force(y)
    return _norm(g[net.free])


def residual_ratio(net: Net, y: Float, x: Float, v: Float, h: float) -> float:
    """|g(y)| / |g(x + h v)| with held particles where they are.

    >>> from taut.bench.net import cloth
    >>> flat = cloth(4)
    >>> still = np.zeros_like(flat.points)
    >>> residual_ratio(flat, flat.points, flat.points, still, 0.01)
    1.0
    """
    ahead = x + h * v
    ahead[net.fixed] = x[net.fixed]
    return residual(net, y, x, v, h) / residual(net, ahead, x, v, h)


def strain(net: Net, x: Float) -> float:
    """The largest |l/l₀ - 1| of all springs at positions x (n, 3) [m]."""
    return float(np.abs(net.lengths(x) / net.rest - 1.0).max())


def linear_residual(net: Net, stiffness: Any, x: Float, v: Float, v_end: Float, h: float) -> float:
    """|A Δv - b| / |b| of a linearly implicit step, A = M + h²K, b = h(f(x) - hK v).

    On the free particles.

    stiffness : K, a sparse matrix (3n, 3n) [N/m]; x, v : the state before the step, v_end :
        velocities after it, all (n, 3)
    """

    def times(u: Float) -> Float:
        return np.asarray(stiffness @ u.reshape(-1)).reshape(u.shape)

    faster = v_end - v
    b = h * (net.force(x) - h * times(v))
    left = net.mass[:, None] * faster + h**2 * times(faster) - b
    return _norm(left[net.free]) / _norm(b[net.free])


def _norm(vectors: Float) -> float:
    """|vectors|, (n, 3), without BLAS.

    Its threads keep waiting for more work on the processors that the next step wants.
    """
    return math.sqrt(dot(vectors, vectors))
