"""Gravity, V = -m g·x."""

from taut.formula import Vector, dot
from taut.formula.law import energy


@energy
def gravity(x, mass, g: Vector = (0.0, -9.81, 0.0)):
    """Weight of every particle (or of those given): V = -m g·x.

    g : acceleration [m/s²], a vector; default (0, -9.81, 0)
    mass : [kg] (default: the particles' own)

    The uniform field near the ground, stored as an energy. For a weight that is not the particles' own use `force`; leave it out
    where only the shape at rest without load is wanted.
    """
    return -mass * dot(g, x[0])
