"""Given forces, V = -f·x."""

from taut.formula import Vector, dot
from taut.formula.law import energy


@energy(load=True)
def force(x, f: Vector):
    """A given force on each particle: V = -f·x. On some particles a point force; with no particles given, uniform on all.
    The ledger books its work.

    f : [N], a vector for each element alike, one per element (m, 3), or a function of time

    For loads that do not depend on the motion: hands, hung weights, an end load. Weight itself is `gravity`, the pressure on a
    closed surface `pressure`, and a force that follows from positions and velocities a load of your own (`taut.load`).
    """
    return -dot(f, x[0])
