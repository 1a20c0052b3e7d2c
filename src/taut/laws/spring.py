"""Hookean spring, V = ½ k (l - l₀)², l = |x₁ - x₀|."""

from taut.binding.decorators import energy
from taut.laws._geometry import length


@energy(rest={"l0": length}, invariant="rigid motion", limits={"k": ">= 0", "l0": ">= 0"})
def spring(x, k, l0):
    """Hookean spring between two particles: V = ½ k (l - l₀)².

    k : stiffness [N/m]
    l0 : rest length [m] (default: measured on the rest shape)

    A chain of N springs has the stiffness k_s of a single one if each has N·k_s. Between neighbours
    springs carry tension and compression (a string that goes slack is a `cable`); across the
    diagonals of a grid (`Mesh.diagonals`) they resist shear; between second neighbours
    (`Mesh.skips`) they resist bending, though not of a straight rod or flat sheet: there their
    force is of third order, and they add to the stiffness in tension. For bending use `rod_bending`
    or `shell_bending`. Derived in docs/theory/01-formula-to-step.md.

    At zero length the direction is undefined: the force is zero there and the Hessian k·I.
    """
    return k / 2 * (length(x) - l0) ** 2
