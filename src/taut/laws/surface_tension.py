"""Uniform stress in a surface, V = σ A."""

from taut.formula.law import energy
from taut.laws.geometry import area, fullness, sized


@energy(invariant="rigid motion", proper={"has no area": fullness}, check=sized(3))
def surface_tension(x, stress):
    """A film or a membrane of uniform stress on a triangle: V = σ A, A its area. It pulls every edge inwards with σ a metre.

    stress : σ [N/m]

    At rest it is a minimal surface (see `taut.form_finding`). It has no rest area: alone it shrinks to nothing; cloth that keeps
    its size has springs, and `area`. A triangle that has collapsed to a line has no force. Derived in
    docs/theory/06-areas-volumes-pressure.md.
    """
    return stress * area(x)
