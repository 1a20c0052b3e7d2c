"""Tension-only spring, V = ½ k max(l - l₀, 0)²."""

from taut.formula import maximum
from taut.formula.law import energy
from taut.laws.geometry import length


@energy(rest={"l0": length}, invariant="rigid motion", limits={"k": ">= 0", "l0": ">= 0"})
def cable(x, k, l0):
    """Cable between two particles, V = ½ k max(l - l₀, 0)²: pulls like a spring when longer than l₀, and is slack when shorter.

    k : stiffness [N/m]; of a wire E·A/l₀
    l0 : slack length [m] (default: measured on the rest shape)

    Prestress is a slack length shorter than the distance: `taut.rest_length` gives it for a force. For nets, tensegrity, strings
    and membranes without compression. Where everything goes slack a step has nothing to hold on to but inertia, and an
    equilibrium none. Hooke's law without its compression; see docs/theory/04-rods.md.
    """
    return k / 2 * maximum(length(x) - l0, 0) ** 2
