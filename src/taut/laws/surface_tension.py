"""Uniform stress in a surface, V = σ A."""

from taut.binding.decorators import energy
from taut.laws._geometry import area_ratio, polygon_area, require_particles


@energy(invariant="rigid motion", proper={"has no area": area_ratio}, check=require_particles(3))
def surface_tension(x, stress):
    """Film or membrane of uniform stress σ: V = σ A, A the area of a triangle.

    stress : σ [N/m]

    It pulls every edge inwards with σ per metre. At rest it is a minimal surface (see
    `taut.form_finding`). It has no rest area: alone it shrinks to nothing; cloth that keeps its
    size has springs, and `area`. A triangle that has collapsed to a line has no force. Derived in
    docs/theory/06-areas-volumes-pressure.md.
    """
    return stress * polygon_area(x)
