"""Hookean spring, V = ½ k (l - l₀)², l = |x₁ - x₀|."""

from taut.formula import norm
from taut.formula.law import energy


@energy(rest={"l0": lambda x: norm(x[1] - x[0])}, invariant="rigid motion")
def spring(x, k, l0):
    """Hookean spring between two particles: V = ½ k (l - l₀)².

    k : stiffness [N/m]
    l0 : rest length [m] (default: measured on the rest shape)

    At zero length the direction is undefined: the force is zero there and the Hessian k·I.
    """
    return k / 2 * (norm(x[1] - x[0]) - l0) ** 2
