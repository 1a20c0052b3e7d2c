"""Soft pin, V = ½ k |x - target|²."""

from taut.formula import Vector, dot
from taut.formula.law import energy


@energy(rest={"target": lambda x: x[0]}, limits={"k": ">= 0"})
def pin(x, k, target: Vector):
    """Spring of rest length zero from a particle to a point, which may move.

    k : stiffness [N/m]
    target : [m], a point, one per element (m, 3), or a function of time (default: the particle's rest position)
    """
    d = x[0] - target
    return k / 2 * dot(d, d)
