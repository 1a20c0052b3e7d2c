"""Damping of a spring's change of length, Ψ = ½ c (dl/dt)²."""

from taut.formula import rate
from taut.formula.law import dissipation
from taut.laws.geometry import length


@dissipation(invariant="rigid motion", limits={"c": ">= 0"})
def spring_damping(x, c):
    """Damper between two particles: opposes only the change of their distance l. Force on x₀: c (v₁₀·d̂) d̂.

    c : [N s/m]

    In an implicit step it is (c/2h)(l - l_n)², a spring with the old length as its rest length, which conserves linear momentum
    and obeys the angular momentum law exactly.
    """
    return c / 2 * rate(length(x)) ** 2
