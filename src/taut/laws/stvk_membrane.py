"""Membrane of a St. Venant-Kirchhoff material, V = A t (μ tr E² + ½ λ' (tr E)²)."""

import numpy as np

from taut.binding.decorators import energy
from taut.formula import Matrix2, tr
from taut.laws._continuum import (
    gradient,
    green_strain,
    linear_part,
    rest_area,
    shear_modulus,
    stress_energy,
    triangle_inverse,
)
from taut.laws._geometry import area_ratio, require_particles


def _metric(x, young, poisson, thickness, Dm_inv):
    F = gradient(x, Dm_inv)
    mu, lam = shear_modulus(young, poisson), young * poisson / (1 - poisson**2)
    E = green_strain(F)
    stress = 2 * mu * E + lam * tr(E) * np.eye(2)
    e = linear_part(F) / 2
    material = mu * tr(e @ e) + lam / 2 * tr(e) ** 2
    return rest_area(Dm_inv) * thickness * (material + stress_energy(F, stress))


@energy(
    rest={"Dm_inv": triangle_inverse},
    invariant="rigid motion",
    limits={"young": ">= 0", "poisson": "> -1 and <= 0.5", "thickness": "> 0"},
    proper={"has no area": area_ratio},
    check=require_particles(3),
    metric=_metric,
)
def stvk_membrane(x, young, poisson, thickness, Dm_inv: Matrix2):
    """Triangle of a sheet with a linear law of Green's strain: V = A t (μ tr E² + ½ λ' (tr E)²).

    young : Young's modulus [Pa]
    poisson : Poisson's ratio ν [1], above -1 and up to 0.5
    thickness : t [m]
    Dm_inv : inverse of the rest edges in the plane of the triangle, 2×2 [1/m] (default: measured on
        the rest shape)

    E = (FᵀF - I)/2, μ = young/2(1 + ν) and, in plane stress, λ' = ν young/(1 - ν²). For sheets
    that turn and bend by any angle but stretch little: paper, sheet metal, woven cloth (whose warp
    and weft differ: `orthotropic_membrane`). It softens in compression and loses all stiffness
    where it is pressed to 1/√3 of its length; `neo_hookean_membrane` does not, and suits large
    strains. It has no bending stiffness: add `shell_bending`. Derived in
    docs/theory/09-continua.md.
    """
    E = green_strain(gradient(x, Dm_inv))
    mu, lam = shear_modulus(young, poisson), young * poisson / (1 - poisson**2)
    return rest_area(Dm_inv) * thickness * (mu * tr(E @ E) + lam / 2 * tr(E) ** 2)
