"""Preservation of an enclosed volume, V = ½ k (v - v₀)²/v₀."""

from taut.formula import total
from taut.formula.law import energy
from taut.laws.geometry import SURFACE_FAULTS, cone, unclosed


@energy(
    rest={"volume0": lambda x: total(cone(x))},
    invariant="rigid motion",
    limits={"k": ">= 0", "volume0": "> 0"},
    proper=SURFACE_FAULTS,
    check=unclosed,
)
def enclosed_volume(x, k, volume0):
    """A closed surface that faces outwards and is full of something: V = ½ k (v - v₀)²/v₀, v the enclosed volume.

    k : bulk modulus of what is inside [Pa]; of water 2.2e9
    volume0 : v₀ [m³] (default: enclosed by the rest shape); another one, or a function of time, fills it up or lets it out

    One energy for all triangles together: it joins every particle with every other, which the solvers take into account without a
    full matrix. For the volume of each element of a solid use `volume`, for air `gas`. If one of its triangles leaves because an
    edge broke, all leave. Derived in docs/theory/06-areas-volumes-pressure.md.
    """
    v = total(cone(x))
    return k / 2 * (v - volume0) ** 2 / volume0
