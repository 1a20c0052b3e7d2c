"""Contact of two points, V = b(√(|x₁ - x₀|² + c²) - r)."""

from taut.binding.decorators import energy
from taut.formula import dot, sqrt
from taut.laws._barrier import CONTACT_LIMITS, barrier


@energy(invariant="rigid motion", limits={**CONTACT_LIMITS, "offset": ">= 0"})
def point_point_contact(x, k, thickness, range, offset=0.0):
    """Contact of two points: V = -k (g - d)² ln(g/d) where the gap g = √(|x₁ - x₀|² + c) - r < d.

    k : stiffness [N/m]: at a gap of half the range the force is 1.19 k d
    thickness : r, the distance at which the points touch [m]
    range : d, the gap below which they repel each other [m]
    offset : c [m²], of ends of edges (see `edge_edge_contact`)

    As a repulsion among a few particles that are known the law can be used as any other;
    `taut.contact` supplies the pairs as bodies move, where the closest points of two surfaces are
    corners. Derived in docs/theory/10-contact.md.
    """
    r = x[1] - x[0]
    return barrier(sqrt(dot(r, r) + offset), k, thickness, range)
