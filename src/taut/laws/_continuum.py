"""Deformation gradients, moduli and metrics that the laws of continua share.

An element maps its rest shape to its shape now by F = Ds Dm⁻¹, with the edges from its first corner
as columns: Ds now, Dm at rest. F is constant over a triangle (3×2) or tetrahedron (3×3).

A metric (see `metric` of taut.energy) has the Hessian of an energy W(C), C = FᵀF, made positive
semi-definite: with the stress S = 2 ∂W/∂C that is ∂²W/∂C² on the linear part of C, and the positive
part of S, S⁺:dFᵀdF, which holds a stretched membrane against sideways motion.
"""

from typing import Any

import numpy as np

from taut.formula import (
    acos,
    columns,
    cos,
    cross,
    det,
    dot,
    frozen,
    inverse,
    maximum,
    minimum,
    norm,
    sqrt,
    tr,
    unit,
    where,
)

# Where two eigenvalues meet, the cosine formula has an error of this part of their spread, √eps.
_EIGENVALUE_ERROR = 1e-7


def shear_modulus(young: Any, poisson: Any) -> Any:
    """Lamé's μ [Pa]."""
    return young / (2 * (1 + poisson))


def lame_modulus(young: Any, poisson: Any) -> Any:
    """Lamé's λ [Pa] of a solid."""
    return young * poisson / ((1 + poisson) * (1 - 2 * poisson))


def edge_columns(x: Any) -> Any:
    """Edges from the first corner to the others as columns [m]: 3×2 or 3×3."""
    return columns(*(x[i] - x[0] for i in range(1, len(x))))


def plane_edges(edges: Any, direction: Any) -> Any:
    """Two edges (3×2) in coordinates of their plane, as columns (2×2).

    direction : its part in the plane is the first axis
    """
    a, b = edges.T
    normal = unit(cross(a, b))
    first = unit(direction - dot(direction, normal) * normal)
    second = cross(normal, first)
    return columns((dot(first, a), dot(second, a)), (dot(first, b), dot(second, b)))


def triangle_inverse(x: Any) -> Any:
    """Dm⁻¹ [1/m] of a triangle, 2×2, with the first edge along the first axis."""
    return inverse(plane_edges(edge_columns(x), x[1] - x[0]))


def tet_inverse(x: Any) -> Any:
    """Dm⁻¹ [1/m] of a tetrahedron, 3×3."""
    return inverse(edge_columns(x))


def rest_area(Dm_inv: Any) -> Any:
    """Area [m²] of a triangle at rest."""
    return 0.5 / abs(det(Dm_inv))


def rest_volume(Dm_inv: Any) -> Any:
    """Volume [m³] of a tetrahedron at rest."""
    return 1 / (6 * det(Dm_inv))


def gradient(x: Any, Dm_inv: Any) -> Any:
    """Deformation gradient F = Ds Dm⁻¹ [1]: 3×2 of a triangle, 3×3 of a tetrahedron."""
    return edge_columns(x) @ Dm_inv


def green_strain(F: Any) -> Any:
    """E = (FᵀF - I)/2 [1]."""
    return (F.T @ F - np.eye(F.shape[1])) / 2


def linear_part(F: Any) -> Any:
    """The part of FᵀF that is linear in the motion from where F is now."""
    now = frozen(F)
    return now.T @ F + F.T @ now


def stress_energy(F: Any, stress: Any) -> Any:
    """½ S⁺:FᵀF [Pa], with the positive part of a symmetric 2×2 stress S frozen."""
    s = frozen(stress)
    half_difference = (s[0, 0] - s[1, 1]) / 2
    mean, radius = tr(s) / 2, norm((half_difference, s[0, 1]))
    greatest, least = maximum(mean + radius, 0.0), maximum(mean - radius, 0.0)
    p, q = unit((half_difference, s[0, 1]))
    middle, half = (greatest + least) / 2, (greatest - least) / 2
    positive = columns((middle + half * p, half * q), (half * q, middle - half * p))
    return tr(positive @ (F.T @ F)) / 2


def extreme_eigenvalues(C: Any) -> tuple[Any, Any]:
    """A lower bound of the least and an upper bound of the greatest eigenvalue of C, 3×3.

    They are exact up to the error of the formula, which vanishes where all eigenvalues are equal.
    """
    mean = tr(C) / 3
    deviator = C - np.eye(3) * mean
    spread = norm(deviator) / sqrt(6.0)
    cosine = where(spread > 0, det(deviator) / (2 * spread**3), 0.0)
    angle = acos(maximum(minimum(cosine, 1.0), -1.0)) / 3
    error = _EIGENVALUE_ERROR * spread
    least = mean + 2 * spread * cos(angle + 2 * np.pi / 3) - error
    return maximum(least, 0.0), mean + 2 * spread * cos(angle) + error
