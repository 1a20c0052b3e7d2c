"""Strain below a limit, V = -k d² (1 - p)² ln p with p = (s - ε)/(s - ε₀) where ε > ε₀."""

from taut.binding.decorators import energy
from taut.formula import log, minimum
from taut.laws._geometry import length


def _room(x, limit, l0):
    """How far a strain is below its limit."""
    return 1 + limit - length(x) / l0


@energy(
    rest={"l0": length},
    invariant="rigid motion",
    limits={"k": "> 0", "limit": "> 0", "start": ">= 0 and < 1", "l0": "> 0"},
    domain={"is stretched to its strain limit": _room},
)
def strain_limit(x, k, limit, l0, start=0.5):
    """Strain that never reaches a limit: V = -k d² (1 - p)² ln p where ε > ε₀ = start·s, else 0.

    k : [N/m]; of the order of the stiffness of the spring beside it. The strain stays below the
        limit for every k; with a larger one it stays farther below
    limit : largest strain s = l/l0 - 1 [1]
    l0 : rest length [m] (default: measured on the rest shape)
    start : part of the limit at which the force begins [1], from 0 to below 1

    p = (s - ε)/(s - ε₀) is the part of the room that is left, with ε = l/l₀ - 1, and
    d = l₀(s - ε₀) the length of that room. The energy has two continuous derivatives at ε₀ and
    grows without bound at the limit, so that no step and no equilibrium goes beyond it: exactly,
    not to a tolerance. The start must be below the limit. Elements are pairs of particles, with
    `spring` on the same edges; it resists stretch only. Cloth that stretches a little and then
    hardly at all can also be a `stiffening_spring`, which has no limit and is easier to solve.
    Derived in docs/theory/04-rods.md.
    """
    room = limit * (1 - start)
    part = minimum((1 + limit - length(x) / l0) / room, 1.0)
    return -k * (l0 * room) ** 2 * (1 - part) ** 2 * log(part)
