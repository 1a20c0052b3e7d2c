"""Barrier against the collapse of a face, V = -k A₀ (1 - 2A/A₀)² ln(2A/A₀) where A < A₀/2."""

from taut.binding.decorators import energy
from taut.formula import log, minimum
from taut.laws._geometry import area_ratio, polygon_area, require_particles


@energy(
    rest={"area0": polygon_area},
    invariant="rigid motion",
    limits={"k": ">= 0", "area0": "> 0"},
    proper={"has no area": area_ratio},
    check=require_particles(*range(3, 21)),
)
def area_barrier(x, k, area0):
    """Face that cannot collapse: V = -k A₀ (1 - 2A/A₀)² ln(2A/A₀) where A < A₀/2, else 0.

    k : [N/m]; of the order of Young's modulus times the thickness
    area0 : rest area A₀ [m²] (default: measured on the rest shape)

    Elements are triangles, quads or polygons (`Mesh.cells`), together with springs on the edges and
    bending over them. Springs do not resist the collapse of a sliver: its height vanishes while its
    edges hardly change. There the angle of a hinge has no value, and its force grows as one over
    the height. This energy grows without bound before that. It is zero, with two derivatives, as
    long as a face keeps half of its area, so that it does not change the moduli of a sheet. To
    resist small changes of an area as well use `area`. Derived in
    docs/theory/06-areas-volumes-pressure.md.
    """
    part = minimum(2 * polygon_area(x) / area0, 1.0)
    return -k * area0 * (1 - part) ** 2 * log(part)
