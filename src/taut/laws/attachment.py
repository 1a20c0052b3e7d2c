"""Attachment of a particle to a point of a simplex, V = ½ k |Σ wᵢ (x₀ - xᵢ)|²/(Σ wᵢ)²."""

from taut.binding.decorators import energy
from taut.errors import LawError
from taut.formula import dot, norm, where
from taut.laws._geometry import (
    area_ratio,
    require_particles,
    tet_volume,
    triangle_weights,
    volume_ratio,
)


def _weights(x):
    """Barycentric coordinates of x[0], projected onto an edge or triangle, in the simplex x[1:]."""
    p, corners = x[0], [x[i] for i in range(1, len(x))]
    if len(corners) == 2:
        a, b = corners
        s = dot(p - a, b - a) / dot(b - a, b - a)
        return [1 - s, s]
    if len(corners) == 3:
        return triangle_weights(p, corners)
    a, b, c, d = corners
    size = tet_volume(a, b, c, d)
    parts = [
        tet_volume(a, p, c, d) / size,
        tet_volume(a, b, p, d) / size,
        tet_volume(a, b, c, p) / size,
    ]
    return [1 - parts[0] - parts[1] - parts[2], *parts]


def _extent(x):
    """Extent of the corners [1]: zero where they lie in one point, line or plane."""
    corners = [x[i] for i in range(1, len(x))]
    if len(corners) == 2:
        a, b = corners
        every = norm(b - a) + norm(x[0] - a) + norm(x[0] - b)
        return norm(b - a) / where(every > 0, every, 1.0)
    return area_ratio(corners) if len(corners) == 3 else volume_ratio(corners) ** 2


@energy(
    rest={"weights": _weights},
    invariant="rigid motion",
    limits={"k": ">= 0"},
    proper={"is attached to a cell without extent": _extent},
    check=require_particles(3, 4, 5),
)
def attachment(x, k, weights):
    """Spring of length zero from a particle to a point of a cell: V = ½ k |x₀ - Σ wᵢ xᵢ/Σ wᵢ|².

    k : stiffness [N/m]
    weights : wᵢ of the corners [1], shape (m, corners), divided by their sum (default: barycentric
        coordinates of the particle's position at rest, projected onto an edge or triangle)

    Elements are (particle, corners…) with the 2, 3 or 4 corners of an edge, triangle or
    tetrahedron. It joins a body to a point of another where the other has no particle;
    `taut.mesh.embed` finds cells and weights of many points. `offset_attachment` keeps a height
    above a triangle; from particle to particle `zero_length_spring` is simpler. The weights
    distribute the reaction to the corners, so that momentum and angular momentum are conserved.
    Derived in docs/theory/06-areas-volumes-pressure.md.
    """
    if len(weights) != len(x) - 1:
        raise LawError(
            f"weights must have one number for each of the {len(x) - 1} corners of an element, "
            f"got {len(weights)}"
        )
    gap = weights[0] * (x[0] - x[1])
    total_weight = weights[0]
    for i in range(2, len(x)):
        gap = gap + weights[i - 1] * (x[0] - x[i])
        total_weight = total_weight + weights[i - 1]
    return k / 2 * dot(gap, gap) / total_weight**2
