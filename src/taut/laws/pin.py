"""Soft pin, V = ½ k |x - target|²."""

from taut.binding.decorators import energy
from taut.formula import Vector, dot


@energy(rest={"target": lambda x: x[0]}, limits={"k": ">= 0"})
def pin(x, k, target: Vector):
    """Soft hold of a particle at a point: V = ½ k |x - target|².

    k : stiffness [N/m]
    target : [m], a point, one per element (m, 3), or a function of time (default: the particle's
        rest position)

    A spring of rest length zero whose other end is not a particle. For elastic supports, and for a
    hand that pulls: the ledger books its work. For exact positions use `fixed` or `scripted` of
    `taut.constraints`, which need no large k. Between particles use `zero_length_spring`.
    """
    d = x[0] - target
    return k / 2 * dot(d, d)
