"""Solid of rubber, V = v (½ μ (tr C - 3 - 2 ln J) + ¼ λ (J² - 1 - 2 ln J)), C = FᵀF."""

from taut.binding.decorators import energy
from taut.formula import Matrix3, det, dot, frozen, inverse, log, maximum, minimum, tr
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
    """The Hessian μ|dF|² + p(|sym Y|² - |skew Y|²) + λJ²(tr Y)², Y = dF F⁻¹, p = μ - ½λ(J² - 1).

    |dF|² = |Y F|² is at least σ²|Y|², with the least stretch σ of F: up to μσ² of p on the skew
    part leaves the sum positive. At rest p = μ and σ = 1, and nothing is left out.
    """
    F = gradient(x, Dm_inv)
    now = frozen(F)
    mu, lam = shear_modulus(young, poisson), lame_modulus(young, poisson)
    J2 = det(now) ** 2
    p = maximum(mu - lam / 2 * (J2 - 1), 0.0)
    least = extreme_eigenvalues(now.T @ now)[0]
    Y = F @ inverse(now)
    symmetric, skew = (Y + Y.T) / 2, (Y - Y.T) / 2
    return rest_volume(Dm_inv) * (
        mu / 2 * dot(F, F)
        + frozen(p) / 2 * dot(symmetric, symmetric)
        - frozen(minimum(p, mu * least)) / 2 * dot(skew, skew)
        + lam / 2 * J2 * tr(Y) ** 2
    )


@energy(
    rest={"Dm_inv": tet_inverse},
    invariant="rigid motion",
    limits={"young": ">= 0", "poisson": ">= 0 and < 0.5"},
    proper={"is flat or inverted": volume_ratio},
    domain={"is flat or inverted": volume_ratio},
    check=require_particles(4),
    metric=_metric,
)
def neo_hookean_solid(x, young, poisson, Dm_inv: Matrix3):
    """Tetrahedron of rubber: V = v (½ μ (tr C - 3 - 2 ln J) + ¼ λ (J² - 1 - 2 ln J)), C = FᵀF.

    young : Young's modulus at small strain [Pa]
    poisson : Poisson's ratio ν at small strain [1], from 0 to below 0.5
    Dm_inv : inverse of the rest edges, 3×3 [1/m] (default: measured on the rest shape)

    J = det F; μ = young/2(1 + ν) and λ = ν young/(1 + ν)(1 - 2ν) are Lamé's moduli, v is the rest
    volume. Rubber, flesh and other soft solids at any strain. The energy is infinite where an
    element is flat, and no step inverts one; a pose with an inverted element raises an error.
    Elements that may start inverted need `corotated_solid`, thin sheets `neo_hookean_membrane`.
    Tetrahedra lock as ν approaches 0.5: at 0.49 they are several times too stiff in bending.
    Derived in docs/theory/09-continua.md.
    """
    F = gradient(x, Dm_inv)
    J = det(F)
    mu, lam = shear_modulus(young, poisson), lame_modulus(young, poisson)
    shape = mu / 2 * (dot(F, F) - 3 - 2 * log(J))
    return rest_volume(Dm_inv) * (shape + lam / 4 * (J**2 - 1 - 2 * log(J)))
