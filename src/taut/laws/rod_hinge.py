"""Bending of a thread, V = ½ k (1 - cos(θ - θ₀))."""

from taut.binding.decorators import energy
from taut.formula import cos, cross, dot, norm, sin, unit
from taut.laws._geometry import ANGLE_LIMITS, ROD_FAULTS, require_particles, rest_turning_angle


@energy(
    rest={"theta0": rest_turning_angle},
    invariant="rigid motion",
    limits={"k": ">= 0", "theta0": ANGLE_LIMITS},
    proper=ROD_FAULTS,
    check=require_particles(3),
)
def rod_hinge(x, k, theta0):
    """Bending of a thread: V = ½ k (1 - cos(θ - θ₀)), θ the turning angle at the middle of three.

    k : [J]; a rod of segment length l has the bending stiffness EI = k l/2
    theta0 : rest angle [rad], from 0 to π (default: measured on the rest shape; less than 1e-6
        counts as straight)

    V is k sin²((θ - θ₀)/2), the hinge energy of lecture slides on mass-spring models, with a
    rest angle. Its moment is at most k/2, so that a fold costs no more than k: for threads that may
    fold. `rod_bending` keeps resisting and has the stiffness of a material. θ has no sign and no
    direction: a curved rod springs back to its angle on either side, and does not resist rotation
    about its segments (in the plane, `planar_rod_bending` has a sign). Derived in
    docs/theory/04-rods.md.

    If two of the particles coincide, the segment between them counts as the zero vector, and there
    is no force.
    """
    a, b = unit(x[1] - x[0]), unit(x[2] - x[1])
    along, across = dot(a, b) - cos(theta0), norm(cross(a, b)) - sin(theta0)
    return k / 4 * (along**2 + across**2)  # 2 - 2 cos(θ - θ₀), without its cancellation
