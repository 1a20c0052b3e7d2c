"""Damping of a spring's change of length, Ψ = ½ c (dl/dt)²."""

from taut.formula import rate
from taut.formula.law import dissipation
from taut.laws.geometry import length


@dissipation(invariant="rigid motion", limits={"c": ">= 0"})
def spring_damping(x, c):
    """Damper between two particles: Ψ = ½ c (dl/dt)². It opposes only the change of their distance l, with c (v₁₀·d̂) d̂ on x₀.

    c : [N s/m]

    Beside every `spring` that shall come to rest. It does not slow motion as a whole, nor what keeps all lengths, such as the
    bending of cloth (`bridson_damping`) or a swing (`drag`). In an implicit step it is (c/2h)(l - l_n)², a spring with the old
    length as its rest length, which conserves linear momentum and obeys the angular momentum law exactly
    (docs/theory/01-formula-to-step.md).
    """
    return c / 2 * rate(length(x)) ** 2
