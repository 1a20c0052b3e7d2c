"""Drag proportional to mass, Ψ = ½ α m |v|²."""

from taut.formula import dot, rate
from taut.formula.law import dissipation


@dissipation(limits={"alpha": ">= 0"})
def drag(x, alpha, mass):
    """Drag on every particle (or on those given), force -α m v: slows everything, motion as a whole included.

    alpha : [1/s]; speed falls by the factor e in 1/α
    mass : [kg] (default: the particles' own). With mass=1, alpha is a coefficient c [N s/m] of a force -c v
    """
    v = rate(x[0])
    return alpha * mass / 2 * dot(v, v)
