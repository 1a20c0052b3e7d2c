"""Membrane of rubber, V = ½ A t μ (tr C - 2 - (1-ν)/(1-2ν) ln J²), C = FᵀF."""

import numpy as np

from taut.binding.decorators import energy
from taut.formula import Matrix2, det, frozen, inverse, log, tr, where
from taut.laws._continuum import (
    gradient,
    linear_part,
    rest_area,
    shear_modulus,
    stress_energy,
    triangle_inverse,
)
from taut.laws._geometry import area_ratio, require_particles


def _thickness_stretch(d, poisson):
    """The squared stretch of the thickness at which it has no stress, where det C = d."""
    return (1 - poisson) / (1 - 2 * poisson + poisson * d)


def _metric(x, young, poisson, thickness, Dm_inv):
    F = gradient(x, Dm_inv)
    C = F.T @ F
    now, d = inverse(frozen(C)), frozen(det(C))
    mu, s = shear_modulus(young, poisson), frozen(_thickness_stretch(d, poisson))
    # ½ dS:dC with S = μ(I - s C⁻¹) = μ/2 (s tr (C⁻¹dC)² + s²νd/(1-ν) (tr C⁻¹dC)²)
    change = now @ linear_part(F)
    material = s * tr(change @ change) + s**2 * poisson * d / (1 - poisson) * tr(change) ** 2
    stress = mu * (np.eye(2) - s * now)
    return rest_area(Dm_inv) * thickness * (mu / 4 * material + stress_energy(F, stress))


@energy(
    rest={"Dm_inv": triangle_inverse},
    invariant="rigid motion",
    limits={"young": ">= 0", "poisson": ">= 0 and <= 0.5", "thickness": "> 0"},
    proper={"has no area": area_ratio},
    domain={"has no area": area_ratio},
    check=require_particles(3),
    metric=_metric,
)
def neo_hookean_membrane(x, young, poisson, thickness, Dm_inv: Matrix2):
    """Triangle of a rubber sheet: V = ½ A t μ (tr C - 2 - (1-ν)/(1-2ν) ln J²), C = FᵀF.

    young : Young's modulus at small strain [Pa]
    poisson : Poisson's ratio ν at small strain [1], from 0 to 0.5, incompressible
    thickness : t of the rest shape [m]
    Dm_inv : inverse of the rest edges in the plane of the triangle, 2×2 [1/m] (default: measured on
        the rest shape)

    The material of `neo_hookean_solid` in plane stress: the thickness follows so that its stress is
    zero, and J² = (1-ν) det C/(1 - 2ν + ν det C) is the squared change of volume. With ν = 0.5 it
    is V = ½ A t μ (tr C + 1/det C - 3). Balloons, gloves, films at large strain; the force is
    infinite where the area goes to zero. For stiff sheets `stvk_membrane` is cheaper. It has no
    bending stiffness (`shell_bending`), and in compression it wrinkles as finely as the mesh
    allows. Rounding is 1e-16/(1 - 2ν): use 0.5 itself rather than 0.4999999. Derived in
    docs/theory/09-continua.md.
    """
    F = gradient(x, Dm_inv)
    C = F.T @ F
    d = det(C)
    incompressible = 1 - 1 / d
    thin = _thickness_stretch(d, poisson) * d
    volume = where(poisson < 0.5, (1 - poisson) / (1 - 2 * poisson) * log(thin), incompressible)
    return rest_area(Dm_inv) * thickness * shear_modulus(young, poisson) / 2 * (tr(C) - 2 - volume)
