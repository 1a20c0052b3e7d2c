"""Attachment of a particle to a point of an edge, triangle or tetrahedron, V = ½ k |Σ wᵢ (x₀ - xᵢ)|²/(Σ wᵢ)²."""

from taut.errors import LawError
from taut.formula import cross, dot, norm, where
from taut.formula.law import energy
from taut.laws.geometry import fullness, roundness, sized, tet_volume


def _weights(x):
    """Barycentric coordinates of x[0] in the simplex x[1:], of its foot there if it lies beside an edge or a triangle."""
    p, corners = x[0], [x[i] for i in range(1, len(x))]
    if len(corners) == 2:
        a, b = corners
        s = dot(p - a, b - a) / dot(b - a, b - a)
        return [1 - s, s]
    if len(corners) == 3:
        a, b, c = corners
        normal = cross(b - a, c - a)
        size = dot(normal, normal)
        v, w = dot(cross(p - a, c - a), normal) / size, dot(cross(b - a, p - a), normal) / size
        return [1 - v - w, v, w]
    a, b, c, d = corners
    size = tet_volume(a, b, c, d)
    parts = [tet_volume(a, p, c, d) / size, tet_volume(a, b, p, d) / size, tet_volume(a, b, c, p) / size]
    return [1 - parts[0] - parts[1] - parts[2], *parts]


def _extent(x):
    """How far the corners are from being in one point, line or plane, without unit."""
    corners = [x[i] for i in range(1, len(x))]
    if len(corners) == 2:
        a, b = corners
        every = norm(b - a) + norm(x[0] - a) + norm(x[0] - b)
        return norm(b - a) / where(every > 0, every, 1.0)
    return fullness(corners) if len(corners) == 3 else roundness(corners) ** 2


@energy(
    rest={"weights": _weights},
    invariant="rigid motion",
    limits={"k": ">= 0"},
    proper={"is attached to a cell without extent": _extent},
    check=sized(3, 4, 5),
)
def attachment(x, k, weights):
    """Spring of rest length zero from a particle to a point of an edge, triangle or tetrahedron: V = ½ k |x₀ - Σ wᵢ xᵢ/Σ wᵢ|².

    k : stiffness [N/m]
    weights : wᵢ of the corners [1], shape (m, corners), each divided by their sum (default: those of the particle's place, or of
        its foot, at rest)

    Elements are (particle, corners…): three, four or five particles. It joins a body to another where the other has no particle;
    `taut.mesh.embed` finds the cells and the weights of many points. Where it has one, `zero_length_spring` is simpler. The
    reaction is shared out to the corners by the weights, so momentum and angular momentum are kept. Derived in
    docs/theory/06-areas-volumes-pressure.md.
    """
    if len(weights) != len(x) - 1:
        raise LawError(f"weights has one number for each of the {len(x) - 1} corners of an element, not {len(weights)}")
    gap, whole = weights[0] * (x[0] - x[1]), weights[0]
    for i in range(2, len(x)):
        gap, whole = gap + weights[i - 1] * (x[0] - x[i]), whole + weights[i - 1]
    return k / 2 * dot(gap, gap) / whole**2
