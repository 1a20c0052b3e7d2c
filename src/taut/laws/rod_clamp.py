"""Clamped end of a rod, V = ½ (2EI/l) θ²."""

from taut.binding.decorators import energy
from taut.formula import Vector, atan2, cross, dot, norm, unit
from taut.laws._geometry import length


@energy(
    rest={"direction": lambda x: unit(x[1] - x[0]), "l": length},
    invariant="translation",
    limits={"EI": ">= 0", "l": "> 0", "direction": "> 0"},
)
def rod_clamp(x, EI, l, direction: Vector):  # noqa: E741
    """Clamped end of a rod: V = ½ (2EI/l) θ², θ the angle of its first segment with a direction.

    EI : bending stiffness [N m²], as in `rod_bending`
    l : length of the first segment [m] (default: measured on the rest shape)
    direction : of the clamp [any unit], of any length, or a function of time (default: that of the
        segment at rest)

    Elements are pairs; the first particle is the clamped one, and must be fixed. The wall bends
    half a segment only, hence 2EI/l instead of EI/l: with the latter the end is too soft by an
    error of first order (13% at the tip of ten segments), with the former the rod is accurate to
    second order (docs/theory/04-rods.md). Fixing two particles by `taut.constraints.fixed` instead
    clamps the rod half a segment too far in.
    """
    segment = x[1] - x[0]
    return EI / l * atan2(norm(cross(direction, segment)), dot(direction, segment)) ** 2
