"""Gas sealed in a closed surface, V = -P v₀ ln(v/v₀) + Pₐ (v - v₀), v the enclosed volume."""

from taut.formula import log, total
from taut.formula.law import energy
from taut.laws.geometry import SURFACE_FAULTS, cone, unclosed


@energy(
    rest={"volume0": lambda x: total(cone(x))},
    invariant="rigid motion",
    limits={"p": ">= -ambient", "volume0": "> 0", "ambient": ">= 0"},
    proper=SURFACE_FAULTS,
    check=unclosed,
)
def gas(x, p, volume0, ambient=101325.0):
    """Gas sealed in a closed surface that faces outwards: V = -(p + pₐ) v₀ ln(v/v₀) + pₐ (v - v₀), v the enclosed volume.

    p : pressure inside less outside [Pa] when the volume is v₀
    volume0 : v₀ [m³] (default: enclosed by the rest shape)
    ambient : pressure of the air outside pₐ [Pa]; default 101325

    The pressure inside is (p + pₐ) v₀/v, as at constant temperature (Boyle): a ball that springs back, a balloon that keeps its
    air. One energy for all triangles together: it joins every particle with every other, which the solvers take into account
    without a full matrix. For a pressure that stays what it is use `pressure`, for a body full of water `enclosed_volume`. If one
    of its triangles leaves because an edge broke, all leave: it bursts. Derived in docs/theory/06-areas-volumes-pressure.md.
    """
    v = total(cone(x))
    return ambient * (v - volume0) - (p + ambient) * volume0 * log(v / volume0)
