"""Preservation of an enclosed volume, V = ½ k (v - v₀)²/v₀."""

from taut.binding.decorators import energy
from taut.formula import total
from taut.laws._geometry import SURFACE_FAULTS, check_closed, cone_volume


@energy(
    rest={"volume0": lambda x: total(cone_volume(x))},
    invariant="rigid motion",
    limits={"k": ">= 0", "volume0": "> 0"},
    proper=SURFACE_FAULTS,
    check=check_closed,
)
def enclosed_volume(x, k, volume0):
    """Closed surface full of liquid: V = ½ k (v - v₀)²/v₀, v the enclosed volume.

    k : bulk modulus of the filling [Pa]; of water 2.2e9
    volume0 : rest volume v₀ [m³] (default: enclosed by the rest shape); a function of time fills or
        empties the body

    Elements are the triangles of a closed surface that faces outwards. There is one energy for all
    triangles together, which couples every particle with every other; the solvers handle this
    without a full matrix. For the volume of each cell of a solid use `volume`, for air `gas`. If
    one of its triangles leaves because an edge broke, all leave. Derived in
    docs/theory/06-areas-volumes-pressure.md.
    """
    v = total(cone_volume(x))
    return k / 2 * (v - volume0) ** 2 / volume0
