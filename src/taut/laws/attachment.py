"""Attachment of a particle to a point of an edge, triangle or tetrahedron, V = ½ k |Σ wᵢ (x₀ - xᵢ)|²."""

from taut.errors import LawError
from taut.formula import cross, dot, norm
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
        return norm(corners[1] - corners[0])
    return fullness(corners) if len(corners) == 3 else roundness(corners) ** 2


@energy(
    rest={"weights": _weights},
    invariant="rigid motion",
    limits={"k": ">= 0"},
    proper={"is attached to a cell without extent": _extent},
    check=sized(3, 4, 5),
)
def attachment(x, k, weights):
    """A spring of rest length zero from a particle to a point of an edge, a triangle or a tetrahedron: V = ½ k |Σ wᵢ (x₀ - xᵢ)|².

    k : stiffness [N/m]
    weights : wᵢ of the corners, shape (m, corners), adding up to one (default: of the particle's place, or its foot, at rest)

    Elements are (particle, corners…): three, four or five particles. It joins a body to another where the other has no particle;
    `taut.mesh.embed` finds the cells and the weights of many points. The reaction is shared out to the corners by the weights, so
    momentum and angular momentum are kept. Weights that do not add up to one scale the force.
    """
    if len(weights) != len(x) - 1:
        raise LawError(f"weights has one number for each of the {len(x) - 1} corners of an element, not {len(weights)}")
    gap = weights[0] * (x[0] - x[1])
    for i in range(2, len(x)):
        gap = gap + weights[i - 1] * (x[0] - x[i])
    return k / 2 * dot(gap, gap)
