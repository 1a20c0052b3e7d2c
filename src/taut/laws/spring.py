"""Hookean spring, V = ½ k (l - l₀)², l = |x₁ - x₀|."""

from taut.formula.law import energy
from taut.laws.geometry import length


@energy(rest={"l0": length}, invariant="rigid motion", limits={"k": ">= 0", "l0": ">= 0"})
def spring(x, k, l0):
    """Hookean spring between two particles: V = ½ k (l - l₀)².

    k : stiffness [N/m]
    l0 : rest length [m] (default: measured on the rest shape)

    A chain of N springs that shall be as stiff as one of constant k_s has N·k_s in each. Between neighbours springs carry tension;
    across the diagonals of a grid (`Mesh.diagonals`) they resist shear; between particles that have one in between (`Mesh.skips`)
    they resist bending, though not of a straight rod or flat sheet: there their force is of third order, and they add to the
    stiffness in tension. For bending itself use `rod_bending` or `shell_bending`. Hooke's law in tension and compression
    (a string that goes slack is a `cable`); derived in docs/theory/01-formula-to-step.md.

    At zero length the direction is undefined: the force is zero there and the Hessian k·I.
    """
    return k / 2 * (length(x) - l0) ** 2
