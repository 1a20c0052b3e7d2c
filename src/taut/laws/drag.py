"""Drag proportional to mass, Ψ = ½ α m |v|²."""

from taut.binding.decorators import dissipation
from taut.formula import dot, rate


@dissipation(limits={"alpha": ">= 0"})
def drag(x, alpha, mass):
    """Drag proportional to mass: Ψ = ½ α m |v|², force -α m v.

    alpha : [1/s]; speed falls by the factor e in 1/α
    mass : [kg] (default: that of the particles). With mass=1, alpha is the coefficient c [N s/m]
        of a force -c v

    On all particles, or those given. It slows every motion, rigid motion included: for bringing a
    system to rest, or as a simple model of a surrounding fluid. To damp vibrations only use
    `spring_damping`, and `wind` for air on a surface.
    """
    v = rate(x[0])
    return alpha * mass / 2 * dot(v, v)
