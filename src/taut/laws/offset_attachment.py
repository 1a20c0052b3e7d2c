"""Attachment of a particle at a height d above a triangle, V = ½ k |x₀ - Σ wᵢ xᵢ - d n|²."""

from taut.binding.decorators import energy
from taut.formula import cross, dot, unit
from taut.laws._geometry import area_ratio, require_particles, triangle_weights


def _height(x):
    """Height of x[0] above the plane of the triangle x[1:] [m]."""
    return dot(x[0] - x[1], unit(cross(x[2] - x[1], x[3] - x[1])))


@energy(
    rest={"weights": lambda x: triangle_weights(x[0], [x[1], x[2], x[3]]), "offset": _height},
    invariant="rigid motion",
    limits={"k": ">= 0"},
    proper={"is attached to a triangle without area": lambda x: area_ratio([x[1], x[2], x[3]])},
    check=require_particles(4),
)
def offset_attachment(x, k, weights, offset):
    """Spring of length zero to a point above a triangle: V = ½ k |x₀ - Σ wᵢ xᵢ/Σ wᵢ - d n|².

    k : stiffness [N/m]
    weights : wᵢ of the corners [1], shape (m, 3), divided by their sum (default: barycentric
        coordinates of the particle's position at rest, projected onto the triangle)
    offset : d, the height above the triangle [m] (default: measured on the rest shape)

    Elements are (particle, a, b, c), and n = (b - a) × (c - a)/|…|. The particle keeps its place in
    the frame of the triangle, as a cape on a shoulder or a button on a coat does: at rest the
    spring has no length, wherever the particle is. For a point in the triangle itself `attachment`
    is simpler, and its stiffness is constant. A triangle without area has no normal; there the
    offset counts as zero. The energy does not change in rigid motions, so that momentum and angular
    momentum are conserved (docs/theory/06-areas-volumes-pressure.md).
    """
    a, b, c = x[1], x[2], x[3]
    total = weights[0] + weights[1] + weights[2]
    foot = a + (weights[1] * (b - a) + weights[2] * (c - a)) / total
    gap = x[0] - foot - offset * unit(cross(b - a, c - a))
    return k / 2 * dot(gap, gap)
