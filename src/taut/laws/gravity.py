"""Gravity, V = -m g·x."""

from taut.binding.decorators import energy
from taut.formula import Vector, dot


@energy
def gravity(x, mass, g: Vector = (0.0, -9.81, 0.0)):
    """Weight in a uniform field: V = -m g·x.

    g : acceleration [m/s²], a vector; default (0, -9.81, 0)
    mass : [kg] (default: that of the particles)

    On all particles, or those given. Its energy is stored. For a weight other than that of the
    particles use `force`; leave gravity out to find the shape without load.
    """
    return -mass * dot(g, x[0])
