"""Bending of a rod at a particle, V = ½ k (1 - cos(θ - θ₀))."""

from taut.formula import cos, cross, dot, norm, sin, unit
from taut.formula.law import energy
from taut.laws.geometry import HALF_TURN, TURN_FAULTS, rest_turn, sized


@energy(
    rest={"theta0": rest_turn},
    invariant="rigid motion",
    limits={"k": ">= 0", "theta0": HALF_TURN},
    proper=TURN_FAULTS,
    check=sized(3),
)
def rod_hinge(x, k, theta0):
    """Hinge at the middle one of three particles: V = ½ k (1 - cos(θ - θ₀)) = k sin²((θ - θ₀)/2), θ the angle between the segments.

    k : [J]; a rod of segment length l has the bending stiffness EI = k l/2
    theta0 : rest angle [rad], from 0 to π (default: measured on the rest shape; less than 1e-6 counts as straight)

    Its force has a bound, k/2 a radian at most, so that a fold costs no more than k: for threads that may fold. `rod_bending` keeps
    resisting and has the stiffness of a material. θ carries no sign and no direction: a curved rod springs back to its angle on
    whichever side it bends, and does not resist being turned about its segments (in the plane, `planar_rod_bending` has a sign).
    The hinge energy of slides on mass-spring models, with a rest angle; derived in docs/theory/04-rods.md.

    If two of the particles come to coincide, the segment between them counts as the zero vector, and has no force.
    """
    a, b = unit(x[1] - x[0]), unit(x[2] - x[1])
    along, across = dot(a, b) - cos(theta0), norm(cross(a, b)) - sin(theta0)
    return k / 4 * (along**2 + across**2)  # 2 - 2 cos(θ - θ₀), without its cancellation
