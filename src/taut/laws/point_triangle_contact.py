"""Contact of a point and a triangle, V = b(distance of x₀ from the plane of x₁, x₂, x₃ - r)."""

from taut.binding.decorators import energy
from taut.formula import cross, dot, norm, where
from taut.laws._barrier import CONTACT_LIMITS, barrier


@energy(invariant="rigid motion", limits=CONTACT_LIMITS)
def point_triangle_contact(x, k, thickness, range):
    """Contact of a point and a triangle's plane: V = -k (g - d)² ln(g/d) where the gap g < d.

    k : stiffness [N/m]: at a gap of half the range the force is 1.19 k d
    thickness : r, the distance at which they touch [m]
    range : d, the gap below which they repel each other [m]

    Elements are (point, corner, corner, corner); g is the distance from the plane less r.
    `taut.contact` supplies the elements as bodies move, where the point is above the triangle.
    Derived in docs/theory/10-contact.md.
    """
    normal = cross(x[2] - x[1], x[3] - x[1])
    height = dot(normal, x[0] - x[1])
    return barrier(where(height > 0, height, -height) / norm(normal), k, thickness, range)
