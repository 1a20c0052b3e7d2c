"""Coulomb friction with a smooth transition, Ψ = F φ(|u|), u the sliding velocity of a contact."""

from taut.binding.decorators import dissipation
from taut.errors import LawError
from taut.formula import Vector, dot, norm, rate, where


@dissipation(limits={"force": ">= 0", "speed": "> 0"})
def contact_friction(x, force, normal: Vector, weights, speed):
    """Coulomb friction of a contact: Ψ = F φ(|u|), a force F in the direction of -u.

    force : F, friction coefficient times normal force [N]
    normal : of the contact, of length 1 [1]
    weights : w of the particles [1], (m, s): the velocity of one side against the other is
        Σ wᵢvᵢ; with one particle it is against what does not move
    speed : ε, sliding speed at which the whole force is reached [m/s]

    u is the part of Σ wᵢvᵢ along the surface. φ = u²/ε - u³/(3ε²) below ε and u - ε/3 above, so
    that the force grows as F(2u/ε - u²/ε²) and then is F: what sticks creeps with less than ε
    (Li et al. 2020). `taut.contact(friction=…)` supplies elements and normal forces. Derived in
    docs/theory/10-contact.md.
    """
    if len(weights) != len(x):
        raise LawError(
            f"weights must have one number for each of the {len(x)} particles, got {len(weights)}"
        )
    place = weights[0] * x[0]
    for i in range(1, len(x)):
        place = place + weights[i] * x[i]
    v = rate(place)
    u = norm(v - dot(normal, v) * normal)
    return force * where(u < speed, u**2 / speed - u**3 / (3 * speed**2), u - speed / 3)
