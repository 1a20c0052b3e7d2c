"""Tension-only spring, V = ½ k max(l - l₀, 0)²."""

from taut.formula import maximum, norm
from taut.formula.law import energy


@energy(rest={"l0": lambda x: norm(x[1] - x[0])}, invariant="rigid motion")
def cable(x, k, l0):
    """Cable between two particles: pulls like a spring when longer than l₀, and is slack when shorter.

    k : stiffness [N/m]
    l0 : slack length [m] (default: measured on the rest shape)
    """
    return k / 2 * maximum(norm(x[1] - x[0]) - l0, 0) ** 2
