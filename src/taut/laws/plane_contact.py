"""Contact of a particle and a plane, V = b(n·(x₀ - p) - r)."""

from taut.binding.decorators import energy
from taut.formula import Vector, dot
from taut.laws._barrier import CONTACT_LIMITS, barrier


@energy(limits=CONTACT_LIMITS)
def plane_contact(x, k, thickness, range, point: Vector, normal: Vector):
    """Contact of a particle and a plane: V = -k (g - d)² ln(g/d) where the gap g < d.

    k : stiffness [N/m]: at a gap of half the range the force is 1.19 k d
    thickness : r, the height at which the particle touches the plane [m]
    range : d, the gap below which the plane repels it [m]
    point : a point of the plane [m]
    normal : of length 1, towards the side that is free [1]

    g = n·(x₀ - p) - r. The plane never gives way, and a particle on its other side is refused; for
    an elastic support on both sides use `plane_spring`. `taut.contact` supplies the elements as
    bodies move. Derived in docs/theory/10-contact.md.
    """
    return barrier(dot(normal, x[0] - point), k, thickness, range)
