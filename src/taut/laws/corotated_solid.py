"""Corotated linear solid, V = v (μ |F - R|² + ½ λ tr(RᵀF - I)²)."""

from taut.binding.decorators import energy
from taut.formula import Matrix3, dot, frozen, minimum, sqrt, stretch_sum
from taut.laws._continuum import (
    extreme_eigenvalues,
    gradient,
    lame_modulus,
    rest_volume,
    shear_modulus,
    tet_inverse,
)
from taut.laws._geometry import require_particles, volume_ratio


def _metric(x, young, poisson, Dm_inv):
    """The Hessian 2μ|dF|² - k d²s + λ(R:dF)² with k = 2μ - λ(s - 3) limited.

    The Hessian of s = Σσ has the eigenvalues 2/(σᵢ + σⱼ) and 0, so that k ≤ μ(σ₂ + σ₃) leaves the
    sum positive. At rest k = 2μ, and nothing is left out.
    """
    F = gradient(x, Dm_inv)
    s, now = stretch_sum(F), frozen(F)
    mu, lam = shear_modulus(young, poisson), lame_modulus(young, poisson)
    smaller_two = frozen(s) - sqrt(extreme_eigenvalues(now.T @ now)[1])
    k = minimum(2 * mu - lam * (frozen(s) - 3), mu * smaller_two)
    change = s - frozen(s)
    return rest_volume(Dm_inv) * (mu * dot(F, F) - frozen(k) * s + lam / 2 * change**2)


@energy(
    rest={"Dm_inv": tet_inverse},
    invariant="rigid motion",
    limits={"young": ">= 0", "poisson": "> -1 and < 0.5"},
    proper={"is flat or inverted": volume_ratio},
    check=require_particles(4),
    metric=_metric,
)
def corotated_solid(x, young, poisson, Dm_inv: Matrix3):
    """Tetrahedron with a linear law that turns with it: V = v (μ |F - R|² + ½ λ (s - 3)²).

    young : Young's modulus [Pa]
    poisson : Poisson's ratio ν [1], above -1 and below 0.5
    Dm_inv : inverse of the rest edges, 3×3 [1/m] (default: measured on the rest shape)

    R is the rotation in F = R U and s = tr U = σ₁ + σ₂ + σ₃ the sum of the principal stretches, so
    that s - 3 = tr(RᵀF - I); μ and λ are Lamé's moduli, v is the rest volume. Linear elasticity
    that turns with the material: for solids that turn by any angle and strain by some per cent, and
    wherever elements may be inverted at the start. σ₃ < 0 in an inverted element, whose energy is
    finite and which is pushed back; no barrier keeps others from inverting, as in
    `neo_hookean_solid`. There is no force where σ₃ = -σ₂: R is not unique. Tetrahedra lock as ν
    approaches 0.5. Derived in docs/theory/09-continua.md.
    """
    F = gradient(x, Dm_inv)
    s = stretch_sum(F)
    mu, lam = shear_modulus(young, poisson), lame_modulus(young, poisson)
    return rest_volume(Dm_inv) * (mu * (dot(F, F) - 2 * s + 3) + lam / 2 * (s - 3) ** 2)
