"""Bending of a rod at a particle, V = ½ k (1 - cos θ)."""

from taut.formula import dot, unit
from taut.formula.law import energy


@energy(invariant="rigid motion")
def rod_hinge(x, k):
    """Hinge at the middle one of three particles: V = ½ k (1 - cos θ) = k sin²(θ/2), θ the angle between the two segments.

    k : [J]; a rod of segment length l has the bending stiffness EI = k l/2

    Straight is its rest state: cos θ carries no signed rest angle. If two of the particles coincide, the segment between them
    counts as the zero vector, so cos θ = 0 and there is no force on that segment.
    """
    return k / 2 * (1 - dot(unit(x[1] - x[0]), unit(x[2] - x[1])))
