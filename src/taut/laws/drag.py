"""Drag proportional to mass, Ψ = ½ α m |v|²."""

from taut.formula import dot, rate
from taut.formula.law import dissipation


@dissipation(limits={"alpha": ">= 0"})
def drag(x, alpha, mass):
    """Drag on every particle (or on those given): Ψ = ½ α m |v|², force -α m v. Slows everything, motion as a whole included.

    alpha : [1/s]; speed falls by the factor e in 1/α
    mass : [kg] (default: the particles' own). With mass=1, alpha is a coefficient c [N s/m] of a force -c v

    For bringing a system to rest, or as a plain model of the surroundings. It takes momentum and slows a fall: where only
    vibrations are to go use `spring_damping`, and `wind` for the air on a surface.
    """
    v = rate(x[0])
    return alpha * mass / 2 * dot(v, v)
