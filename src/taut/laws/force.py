"""Given forces, V = -f·x."""

from taut.binding.decorators import energy
from taut.formula import Vector, dot


@energy(load=True)
def force(x, f: Vector):
    """Given force on each particle: V = -f·x. The ledger books its work.

    f : [N], one vector for all elements, one per element (m, 3), or a function of time

    A point force on the particles given, or a uniform one on all. For loads that do not depend on
    the motion: hands, hung weights, end loads. For weight use `gravity`, for the pressure in a
    closed surface `pressure`, and for a force that depends on positions and velocities write a
    load (`taut.load`).
    """
    return -dot(f, x[0])
