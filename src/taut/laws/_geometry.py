"""Lengths, angles, areas and volumes of a few particles, as formulas that several laws share."""

from collections.abc import Callable
from math import pi
from typing import Any

from taut.arrays import Int
from taut.formula import atan2, cross, dot, maximum, minimum, norm, total, unit, where
from taut.mesh.kinds import get_kind
from taut.mesh.topology import edge_balance

# Limits of angles, with π rounded up, so that a measured angle of π is within them.
ANGLE_LIMITS = ">= 0 and <= 3.1415926535897936"
SIGNED_ANGLE_LIMITS = ">= -3.1415926535897936 and <= 3.1415926535897936"
_FLAT = 1e-9  # an enclosed volume below this part of Σ |volumes| counts as zero
_STRAIGHT = 1e-6  # [rad]: a smaller rest angle of a rod is the rounding error of a straight one


def length(x: Any) -> Any:
    """Distance of the first two particles [m]."""
    return norm(x[1] - x[0])


def turning_angle(x: Any) -> Any:
    """Angle [rad], from 0 to π, by which a rod through three particles turns at the middle one."""
    a, b = x[1] - x[0], x[2] - x[1]
    return atan2(norm(cross(a, b)), dot(a, b))


def rest_turning_angle(x: Any) -> Any:
    """Turning angle of a rest shape [rad], zero for a rod that is straight up to rounding."""
    return where(turning_angle(x) < _STRAIGHT, 0.0, turning_angle(x))


def voronoi_length(x: Any) -> Any:
    """Length [m] of rod that belongs to the middle one of three particles: half of each segment."""
    return (norm(x[1] - x[0]) + norm(x[2] - x[1])) / 2


def smallest_distance(x: Any) -> Any:
    """Smallest distance of two particles divided by the sum of all distances [1]."""
    smallest = every = norm(x[1] - x[0])
    for i in range(2, len(x)):
        for j in range(i):
            distance = norm(x[i] - x[j])
            smallest, every = minimum(smallest, distance), every + distance
    return smallest / where(every > 0, every, 1.0)


def vector_area(x: Any) -> Any:
    """Area of a polygon times its normal [m²]; of a warped polygon, ½ Σ xᵢ × xᵢ₊₁."""
    twice = cross(x[1] - x[0], x[2] - x[0])
    for i in range(3, len(x)):
        twice = twice + cross(x[i - 1] - x[0], x[i] - x[0])
    return twice / 2


def polygon_area(x: Any) -> Any:
    """Area [m²] of a polygon."""
    return norm(vector_area(x))


def area_ratio(x: Any) -> Any:
    """Area of a polygon divided by the sum of its squared sides [1]: zero where it is a line."""
    sides = [x[i] - x[i - 1] for i in range(len(x))]
    squares = dot(sides[0], sides[0])
    for side in sides[1:]:
        squares = squares + dot(side, side)
    return polygon_area(x) / where(squares > 0, squares, 1.0)


def triangle_weights(p: Any, corners: Any) -> Any:
    """Barycentric coordinates [1] of a point p, projected onto the plane of a triangle."""
    a, b, c = (corners[i] for i in range(3))
    normal = cross(b - a, c - a)
    size = dot(normal, normal)
    v, w = dot(cross(p - a, c - a), normal) / size, dot(cross(b - a, p - a), normal) / size
    return [1 - v - w, v, w]


def tet_volume(a: Any, b: Any, c: Any, d: Any) -> Any:
    """Volume [m³] of a tetrahedron, negative where it is inverted."""
    return dot(cross(b - a, c - a), d - a) / 6


def solid_volume(x: Any) -> Any:
    """Volume [m³] of a tetrahedron (4 particles) or hexahedron (8, in the order of a Mesh).

    The faces of a hexahedron are bilinear, which gives the mean of the two ways to cut them into
    triangles: the cone over a face (a, b, c, d) from a point p has the volume
    ((a + b + c + d)/4 - p)·((c - a)×(d - b))/6.
    """
    if len(x) == 4:
        return tet_volume(*(x[i] for i in range(4)))
    volume = 0.0
    for i, j, k, m in get_kind("hex").faces:
        # p = x[6]; every point gives the same volume
        middle = x[i] + x[j] + x[k] + x[m] - 4 * x[6]
        volume = volume + dot(middle, cross(x[k] - x[i], x[m] - x[j]))
    return volume / 24


def volume_ratio(x: Any) -> Any:
    """Volume of a solid divided by the cube of the mean length of three edges [1].

    Zero or negative where the solid is flat or inverted.
    """
    i, j, k = (1, 2, 3) if len(x) == 4 else (1, 3, 4)  # neighbours of the first particle
    size = norm(x[i] - x[0]) + norm(x[j] - x[0]) + norm(x[k] - x[0])
    return 27 * solid_volume(x) / where(size > 0, size, 1.0) ** 3


def cone_volume(x: Any) -> Any:
    """Signed volume [m³] of the cone from the origin over a triangle.

    Over the triangles of a closed surface these add up to the enclosed volume.
    """
    return dot(x[0], cross(x[1], x[2])) / 6


def outwardness(x: Any) -> Any:
    """Enclosed volume divided by Σ |cone volumes| [1]: negative where a surface faces inwards.

    A flat surface, such as two sheets sewn together, encloses nothing and is accepted.
    """
    volume = cone_volume(x)
    gross = total(maximum(volume, -volume))
    return where(gross > 0, total(volume) / where(gross > 0, gross, 1.0), 0.0) + _FLAT


def check_closed(triangles: Int) -> str | None:
    """Return why triangles do not enclose a volume, or None if they do."""
    if triangles.shape[1] != 3:
        return (
            "elements must be triangles (see Mesh.triangles), "
            f"got {triangles.shape[1]} particles each"
        )
    edges, faces, balance = edge_balance(triangles, int(triangles.max(initial=-1)) + 1)
    faults = (
        (faces == 1, "belong to one triangle only"),
        (balance != 0, "have the same direction in both triangles"),
    )
    for wrong, why in faults:
        if wrong.any():
            example = edges[wrong][0].tolist()
            return f"the surface is not closed: {wrong.sum()} edges {why}, such as {example}"
    return None


def require_particles(*counts: int) -> Callable[[Int], str | None]:
    """Return a check that elements have one of these numbers of particles."""

    def check(elements: Int) -> str | None:
        s = elements.shape[1]
        if s in counts:
            return None
        allowed = " or ".join(map(str, counts))
        if len(counts) > 4:
            allowed = f"{counts[0]} to {counts[-1]}"
        return f"elements must have {allowed} particles each, got {s}"

    return check


def hinge_normals(x: Any) -> tuple[Any, Any]:
    """Normals of the two triangles of a hinge (c, d, a, b), each twice its area long [m²]."""
    return cross(x[0] - x[2], x[0] - x[3]), cross(x[1] - x[3], x[1] - x[2])


def fold_angle(x: Any) -> Any:
    """Signed angle θ [rad] between the normals of a hinge (c, d, a, b): 0 where it is flat.

    θ = atan2((n̂₁×n̂₂)·ê, n̂₁·n̂₂) with the edge e from a to b, its direction in the first triangle.
    Seen from the side from which a, b, c are counterclockwise, θ > 0 is a ridge, with c and d
    behind the edge, and θ < 0 a valley.
    """
    first, second = hinge_normals(x)
    edge = x[3] - x[2]
    return atan2(dot(cross(first, second), edge), norm(edge) * dot(first, second))


def squared_fold_change(x: Any, theta0: Any) -> Any:
    """(θ - θ₀)² of a hinge [rad²], the shorter way around: at most π².

    θ jumps from π to -π where a hinge folds flat onto itself. The shorter way goes on beyond that;
    where it is π, opposite to the rest angle, its square has its maximum.
    """
    change = fold_angle(x) - theta0
    longer = minimum((change - 2 * pi) ** 2, (change + 2 * pi) ** 2)
    return minimum(change**2, longer)


def fold_cos_sin(x: Any) -> tuple[Any, Any]:
    """cos θ and sin θ of the fold angle, which do not jump at θ = ±π."""
    first, second = map(unit, hinge_normals(x))
    return dot(first, second), dot(cross(first, second), unit(x[3] - x[2]))


def edge_area_ratio(x: Any) -> Any:
    """|e|²/(|N₁| + |N₂|) of a hinge [1]: its edge squared by twice the area of its triangles."""
    first, second = hinge_normals(x)
    edge = x[3] - x[2]
    return dot(edge, edge) / (norm(first) + norm(second))


# Quantities that must be positive at rest, by the words of the error (see `proper` of taut.energy).
HINGE_FAULTS = {
    "has two particles in the same place": smallest_distance,
    "has a first triangle without area": lambda x: area_ratio([x[2], x[3], x[0]]),
    "has a second triangle without area": lambda x: area_ratio([x[3], x[2], x[1]]),
}
ROD_FAULTS = {"has two particles in the same place": smallest_distance}
SURFACE_FAULTS = {"has no area": area_ratio, "faces inwards, as the surface does": outwardness}
