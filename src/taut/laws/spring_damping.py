"""Damping of a change of length, Ψ = ½ c (dl/dt)²."""

from taut.binding.decorators import dissipation
from taut.formula import rate
from taut.laws._geometry import length


@dissipation(invariant="rigid motion", limits={"c": ">= 0"})
def spring_damping(x, c):
    """Damper between two particles: Ψ = ½ c (dl/dt)², l their distance.

    c : [N s/m]

    On the same elements as every `spring` that should come to rest; its force on x₀ is
    c (v₁₀·d̂) d̂. It does not slow rigid motion, nor motion that keeps all lengths, such as the
    bending of cloth (`bridson_damping`) or a swing (`drag`). In an implicit step it is
    (c/2h)(l - l_n)², a spring with the old length as its rest length, which conserves momentum and
    obeys the angular momentum law exactly (docs/theory/01-formula-to-step.md).
    """
    return c / 2 * rate(length(x)) ** 2
