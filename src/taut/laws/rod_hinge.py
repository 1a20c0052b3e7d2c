"""Bending of a thread, V = ½ k (1 - cos(θ - θ₀))."""

from typing import Any

from taut.binding.decorators import energy
from taut.formula import cos, cross, dot, norm, sin, unit, where
from taut.laws._geometry import (
    ANGLE_LIMITS,
    ROD_FAULTS,
    require_particles,
    rest_turning_angle,
    voronoi_length,
)

_SHORT = 0.1  # part of its rest length below which a segment loses its direction


def _direction(d: Any, length: Any) -> Any:
    """Return d/|d|; of a vector shorter than `length`, one that fades to zero with it, smoothly."""
    faded = d * (3 - dot(d, d) / length**2) / (2 * length)
    return where(dot(d, d) < length**2, faded, unit(d))


@energy(
    rest={"theta0": rest_turning_angle, "l": voronoi_length},
    invariant="rigid motion",
    limits={"k": ">= 0", "l": "> 0", "theta0": ANGLE_LIMITS},
    proper=ROD_FAULTS,
    check=require_particles(3),
)
def rod_hinge(x, k, l, theta0):  # noqa: E741
    """Bending of a thread: V = ½ k (1 - cos(θ - θ₀)), θ the turning angle at the middle of three.

    k : [J]; a rod of segment length l has the bending stiffness EI = k l/2
    l : length of a segment [m] (default: the mean of both at rest); shorter than a tenth of it, a
        segment has no sharp direction
    theta0 : rest angle [rad], from 0 to π (default: measured on the rest shape; less than 1e-6
        counts as straight)

    V is k sin²((θ - θ₀)/2), the hinge energy of lecture slides on mass-spring models, with a
    rest angle. Its moment is at most k/2, so that a fold costs no more than k: for threads that may
    fold. `rod_bending` keeps resisting and has the stiffness of a material. θ has no sign and no
    direction: a curved rod springs back to its angle on either side, and does not resist rotation
    about its segments (in the plane, `planar_rod_bending` has a sign). Derived in
    docs/theory/04-rods.md.

    Where a segment shrinks to nothing, its direction may be any, and an energy of the angle alone
    would jump: a step across the jump has no minimum. So below a tenth of l the direction fades to
    zero with the length, and V to k/4, which lies between straight and folded. A segment that soft
    springs do not hold thus resists being turned over.
    """
    short = _SHORT * l
    a, b = _direction(x[1] - x[0], short), _direction(x[2] - x[1], short)
    along, across = dot(a, b) - cos(theta0), norm(cross(a, b)) - sin(theta0)
    return k / 4 * (along**2 + across**2)  # 2 - 2 cos(θ - θ₀), without its cancellation
