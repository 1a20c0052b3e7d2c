"""Tension-only spring, V = ½ k max(l - l₀, 0)²."""

from taut.binding.decorators import energy
from taut.formula import maximum
from taut.laws._geometry import length


@energy(rest={"l0": length}, invariant="rigid motion", limits={"k": ">= 0", "l0": ">= 0"})
def cable(x, k, l0):
    """Cable, a spring that carries no compression: V = ½ k max(l - l₀, 0)².

    k : stiffness [N/m]; of a wire E·A/l₀
    l0 : slack length [m] (default: measured on the rest shape)

    Elements are pairs of particles. For nets, tensegrity, strings, and membranes without
    compression. Prestress is a slack length shorter than the distance: `taut.rest_length` computes
    it for a given force. Where everything is slack, only inertia determines a step, and there is no
    equilibrium. Hooke's law in tension only; see docs/theory/04-rods.md.
    """
    return k / 2 * maximum(length(x) - l0, 0) ** 2
