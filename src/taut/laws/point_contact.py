"""Contact of two points, V = b(|x₁ - x₀| - r)."""

from taut.binding.decorators import energy
from taut.formula import norm
from taut.laws._barrier import barrier

LIMITS = {"k": ">= 0", "thickness": ">= 0", "range": "> 0"}

@energy(invariant="rigid motion", limits=LIMITS)
def point_contact(x, k, thickness, range):
    """x."""
    return barrier(norm(x[1] - x[0]) - thickness, k, range)
