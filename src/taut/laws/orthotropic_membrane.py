"""Membrane with a warp and a weft, V = ½ A t (D₁₁E₁₁² + 2D₁₂E₁₁E₂₂ + D₂₂E₂₂² + 4G E₁₂²)."""

from taut.binding.decorators import energy
from taut.formula import Vector, columns, inverse
from taut.laws._continuum import (
    edge_columns,
    gradient,
    green_strain,
    linear_part,
    plane_edges,
    rest_area,
    stress_energy,
)
from taut.laws._geometry import area_ratio, require_particles


def _stress(E, warp_young, weft_young, poisson, shear):
    """The stress [Pa] of a strain, both 2×2 with the warp as the first axis."""
    scale = 1 - poisson**2 * weft_young / warp_young
    first = (warp_young * E[0, 0] + poisson * weft_young * E[1, 1]) / scale
    second = weft_young * (poisson * E[0, 0] + E[1, 1]) / scale
    return columns((first, 2 * shear * E[0, 1]), (2 * shear * E[0, 1], second))


def _product(S, E):
    """S:E of symmetric matrices 2×2."""
    return S[0, 0] * E[0, 0] + 2 * S[0, 1] * E[0, 1] + S[1, 1] * E[1, 1]


def _metric(x, warp_young, weft_young, poisson, shear, thickness, warp, edges0):
    Dm_inv = inverse(plane_edges(edges0, warp))
    F = gradient(x, Dm_inv)
    moduli = (warp_young, weft_young, poisson, shear)
    e = linear_part(F) / 2
    material = _product(_stress(e, *moduli), e) / 2
    geometric = stress_energy(F, _stress(green_strain(F), *moduli))
    return rest_area(Dm_inv) * thickness * (material + geometric)


@energy(
    rest={"edges0": edge_columns},
    invariant="rigid motion",
    limits={
        "warp_young": "> 0",
        # With the weft no stiffer than the warp, c > 0 for every ν₁₂ < 1.
        "weft_young": "> 0 and <= warp_young",
        "poisson": ">= 0 and < 1",
        "shear": ">= 0",
        "thickness": "> 0",
        "warp": "> 0",
    },
    proper={"has no area": area_ratio},
    check=require_particles(3),
    metric=_metric,
)
def orthotropic_membrane(
    x, warp_young, weft_young, poisson, shear, thickness, warp: Vector, edges0
):
    """Triangle of a woven sheet: V = ½ A t (D₁₁E₁₁² + 2D₁₂E₁₁E₂₂ + D₂₂E₂₂² + 4G E₁₂²).

    warp_young : Young's modulus E₁ along the warp [Pa]
    weft_young : Young's modulus E₂ along the weft [Pa], at most E₁
    poisson : ν₁₂ [1]: a pull along the warp by ε narrows the sheet by ν₁₂ε
    shear : shear modulus G [Pa] between warp and weft
    thickness : t [m]
    warp : direction of the warp in the rest shape [1], of any length; its part in the plane of each
        triangle counts
    edges0 : rest edges from the first corner as columns, 3×2 [m] (default: measured on the rest
        shape)

    E is Green's strain with the warp as its first axis; D₁₁ = E₁/c, D₂₂ = E₂/c and D₁₂ = ν₁₂E₂/c
    with c = 1 - ν₁₂²E₂/E₁; the stiffer direction is the warp. Cloth, sails, paper and fibre sheets;
    with E₁ = E₂ and G = E₁/2(1 + ν) it is `stvk_membrane`, whose limits it shares. A warp at right
    angles to a triangle has no part in its plane, and its energy no value. Derived in
    docs/theory/09-continua.md.
    """
    Dm_inv = inverse(plane_edges(edges0, warp))
    E = green_strain(gradient(x, Dm_inv))
    density = _product(_stress(E, warp_young, weft_young, poisson, shear), E) / 2
    return rest_area(Dm_inv) * thickness * density
