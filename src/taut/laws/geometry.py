"""Lengths, angles, areas and volumes of a few particles, in the words of a formula, that several laws share."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taut.formula import atan2, cross, dot, maximum, minimum, norm, total, unit, where
from taut.mesh.kinds import known
from taut.mesh.topology import edge_balance

Int = NDArray[np.int64]

HALF_TURN = ">= 0 and <= 3.1415926535897936"  # the limits of an angle without a sign: π, rounded up
SIGNED_TURN = ">= -3.1415926535897936 and <= 3.1415926535897936"  # and of one with a sign
FLAT = 1e-9  # part of the gross volume below which an enclosed one counts as none
STRAIGHT = 1e-6  # rad: a rest angle of a rod that is smaller is what rounding makes of a straight one


def length(x: Any) -> Any:
    """Distance of the first two particles [m]."""
    return norm(x[1] - x[0])


def turn(x: Any) -> Any:
    """Angle [rad], from 0 to π, by which a rod through three particles turns at the middle one."""
    a, b = x[1] - x[0], x[2] - x[1]
    return atan2(norm(cross(a, b)), dot(a, b))


def rest_turn(x: Any) -> Any:
    """The same for a rest shape, where what is straight but for rounding is straight."""
    return where(turn(x) < STRAIGHT, 0.0, turn(x))


def share(x: Any) -> Any:
    """Length [m] of rod that belongs to the middle one of three particles: half of either segment."""
    return (norm(x[1] - x[0]) + norm(x[2] - x[1])) / 2


def nearest(x: Any) -> Any:
    """The smallest distance between two of the particles, as a part of the sum of all distances: zero where two coincide."""
    least = every = norm(x[1] - x[0])
    for i in range(2, len(x)):
        for j in range(i):
            apart = norm(x[i] - x[j])
            least, every = minimum(least, apart), every + apart
    return least / where(every > 0, every, 1.0)


def vector_area(x: Any) -> Any:
    """Area [m²] of a polygon along its normal, as a vector; of a warped one, what it shows from the side where it shows most."""
    twice = cross(x[1] - x[0], x[2] - x[0])
    for i in range(3, len(x)):
        twice = twice + cross(x[i - 1] - x[0], x[i] - x[0])
    return twice / 2


def area(x: Any) -> Any:
    """Area [m²] of a polygon."""
    return norm(vector_area(x))


def fullness(x: Any) -> Any:
    """Area of a polygon by the sum of the squares of its sides, without unit: zero where it is a line."""
    sides = [x[i] - x[i - 1] for i in range(len(x))]
    squares = dot(sides[0], sides[0])
    for side in sides[1:]:
        squares = squares + dot(side, side)
    return area(x) / where(squares > 0, squares, 1.0)


def tet_volume(a: Any, b: Any, c: Any, d: Any) -> Any:
    """Volume [m³] of a tetrahedron, negative where it is inverted."""
    return dot(cross(b - a, c - a), d - a) / 6


def volume(x: Any) -> Any:
    """Volume [m³] of a tetrahedron (four particles) or of a hexahedron (eight, in the order of `taut.mesh.Mesh`).

    The faces of a hexahedron are bilinear, which is the mean of the two ways to cut them into triangles: a face (a, b, c, d) and a
    point p make the volume ((a + b + c + d)/4 - p)·((c - a)×(d - b))/6.
    """
    if len(x) == 4:
        return tet_volume(*(x[i] for i in range(4)))
    parts = 0.0
    for i, j, k, m in known("hex").faces:
        parts = parts + dot(x[i] + x[j] + x[k] + x[m] - 4 * x[6], cross(x[k] - x[i], x[m] - x[j]))
    return parts / 24


def roundness(x: Any) -> Any:
    """Volume by the cube of the mean length of three edges, without unit: zero or negative where a solid is flat or inverted."""
    far = (1, 2, 3) if len(x) == 4 else (1, 3, 4)
    size = norm(x[far[0]] - x[0]) + norm(x[far[1]] - x[0]) + norm(x[far[2]] - x[0])
    return 27 * volume(x) / where(size > 0, size, 1.0) ** 3


def cone(x: Any) -> Any:
    """Volume [m³] between a triangle and the origin; over the triangles of a closed surface it adds up to the enclosed one."""
    return dot(x[0], cross(x[1], x[2])) / 6


def outwards(x: Any) -> Any:
    """Not positive where a closed surface faces inwards; one that is flat, such as two sheets sewn together, does not."""
    part = cone(x)
    gross = total(maximum(part, -part))
    return where(gross > 0, total(part) / where(gross > 0, gross, 1.0), 0.0) + FLAT


def unclosed(triangles: Int) -> str | None:
    """What keeps triangles from enclosing a volume, in words."""
    if triangles.shape[1] != 3:
        return f"elements are triangles (see Mesh.triangles), not of {triangles.shape[1]} particles"
    edges, faces, balance = edge_balance(triangles, int(triangles.max(initial=-1)) + 1)
    alone, turned = "belong to one triangle only", "are run through the same way by both triangles"
    for wrong, why in ((faces == 1, alone), (balance != 0, turned)):
        if wrong.any():
            return f"the surface is not closed: {wrong.sum()} edges {why}, such as {edges[wrong][0].tolist()}"
    return None


def normals(x: Any) -> tuple[Any, Any]:
    """Normals of the two triangles of a hinge (c, d, a, b), each twice its area long [m²]."""
    return cross(x[0] - x[2], x[0] - x[3]), cross(x[1] - x[3], x[1] - x[2])


def fold(x: Any) -> Any:
    """Signed angle θ [rad] between the normals of the two triangles of a hinge (c, d, a, b): 0 where it is flat.

    θ = atan2((n̂₁×n̂₂)·ê, n̂₁·n̂₂) with the edge e from a to b, as it runs in the first triangle. Seen from the side from which a, b, c
    run counterclockwise, θ > 0 is a ridge, c and d behind the edge, and θ < 0 a valley.
    """
    first, second = normals(x)
    edge = x[3] - x[2]
    return atan2(dot(cross(first, second), edge), norm(edge) * dot(first, second))


def fold_direction(x: Any) -> tuple[Any, Any]:
    """cos θ and sin θ of the same angle, which have no jump at θ = ±π."""
    first, second = map(unit, normals(x))
    return dot(first, second), dot(cross(first, second), unit(x[3] - x[2]))


def slenderness(x: Any) -> Any:
    """|e|²/(|N₁| + |N₂|) of a hinge, without unit: the square of its edge by twice the area of both its triangles."""
    first, second = normals(x)
    edge = x[3] - x[2]
    return dot(edge, edge) / (norm(first) + norm(second))


def sized(*counts: int) -> Callable[[Int], str | None]:
    """A check that elements have one of these numbers of particles."""

    def check(elements: Int) -> str | None:
        s = elements.shape[1]
        known = " or ".join(map(str, counts)) if len(counts) < 5 else f"{counts[0]} to {counts[-1]}"
        return None if s in counts else f"elements have {known} particles each, not {s}"

    return check


HINGE_FAULTS = {
    "has two particles in the same place": nearest,
    "has a first triangle without area": lambda x: fullness([x[2], x[3], x[0]]),
    "has a second triangle without area": lambda x: fullness([x[3], x[2], x[1]]),
}
TURN_FAULTS = {"has two particles in the same place": nearest}
SURFACE_FAULTS = {"has no area": fullness, "faces inwards, as the surface does": outwards}
