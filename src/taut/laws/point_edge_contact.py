"""Contact of a point and an edge, V = b(distance of x₀ from the line through x₁ and x₂ - r)."""

from taut.binding.decorators import energy
from taut.formula import dot, sqrt
from taut.laws._barrier import CONTACT_LIMITS, barrier


@energy(invariant="rigid motion", limits={**CONTACT_LIMITS, "smoothing": ">= 0", "offset": ">= 0"})
def point_edge_contact(x, k, thickness, range, smoothing=0.0, offset=0.0):
    """Contact of a point and an edge: V = -k (g - d)² ln(g/d) where the gap g < d.

    k : stiffness [N/m]: at a gap of half the range the force is 1.19 k d
    thickness : r, the distance at which they touch [m]
    range : d, the gap below which they repel each other [m]
    smoothing : ε² [m²], of an end of an edge (see `edge_edge_contact`)
    offset : c [m²], likewise

    Elements are (point, end, end). g = √F - r, F = min over t of
    |x₀ - x₁ - t(x₂ - x₁)|² + ε²(t - ½)² + c: with ε = c = 0 the squared distance from the line.
    `taut.contact` supplies the elements as bodies move. Derived in docs/theory/10-contact.md.
    """
    e, r = x[2] - x[1], x[0] - x[1]
    t = (dot(r, e) + smoothing / 2) / (dot(e, e) + smoothing)
    w = r - t * e
    square = dot(w, w) + smoothing * (t - 0.5) ** 2 + offset
    return barrier(sqrt(square), k, thickness, range)
