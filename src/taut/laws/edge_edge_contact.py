"""Contact of two edges, V = b(√F - r), F their squared distance, smooth where they are parallel."""

from taut.binding.decorators import energy
from taut.formula import cross, dot, sqrt
from taut.laws._barrier import CONTACT_LIMITS, barrier


@energy(invariant="rigid motion", limits={**CONTACT_LIMITS, "smoothing": ">= 0"})
def edge_edge_contact(x, k, thickness, range, smoothing):
    """Contact of two edges: V = -k (g - d)² ln(g/d) where the gap g < d.

    k : stiffness [N/m]: at a gap of half the range the force is 1.19 k d
    thickness : r, the √F at which they touch [m]
    range : d, the gap below which they repel each other [m]
    smoothing : ε² [m²]

    Elements are (end, end, end, end). g = √F - r with

        F = min over s, t of |x₀ + s(x₁ - x₀) - x₂ - t(x₃ - x₂)|² + ε²((s - ½)² + (t - ½)²).

    Closest points of parallel edges are not unique, and their distance has a kink; F has none. It
    exceeds the squared distance by ε²/2 at most: with r = √(r₀² + ε²/2) edges never come nearer
    than r₀. `taut.contact` supplies the elements as bodies move, where the closest points are
    inside of both edges. Derived in docs/theory/10-contact.md.
    """
    e, f, r = x[1] - x[0], x[3] - x[2], x[0] - x[2]
    b, c = dot(f, f) + smoothing, dot(e, f)
    # Cross products, as differences such as |e|²|f|² - c² lose all digits where edges are parallel
    n = cross(e, f)
    determinant = dot(n, n) + smoothing * (dot(e, e) + b)
    s = (dot(n, cross(f, r)) + smoothing * ((b + c) / 2 - dot(e, r))) / determinant
    t = (dot(f, r) + smoothing / 2 + s * c) / b
    w = r + s * e - t * f
    square = dot(w, w) + smoothing * ((s - 0.5) ** 2 + (t - 0.5) ** 2)
    return barrier(sqrt(square), k, thickness, range)
