"""Gas sealed in a closed surface, V = -(p + pₐ) v₀ ln(v/v₀) + pₐ (v - v₀)."""

from taut.binding.decorators import energy
from taut.formula import log, total
from taut.laws._geometry import SURFACE_FAULTS, check_closed, cone_volume


@energy(
    rest={"volume0": lambda x: total(cone_volume(x))},
    invariant="rigid motion",
    limits={"p": ">= -ambient", "volume0": "> 0", "ambient": ">= 0"},
    proper=SURFACE_FAULTS,
    check=check_closed,
)
def gas(x, p, volume0, ambient=101325.0):
    """Gas sealed in a closed surface of volume v: V = -(p + pₐ) v₀ ln(v/v₀) + pₐ (v - v₀).

    p : pressure difference, inside minus outside [Pa], at the volume v₀
    volume0 : v₀ [m³] (default: enclosed by the rest shape)
    ambient : pressure outside pₐ [Pa]; default 101325

    Elements are the triangles of a closed surface that faces outwards. The pressure inside is
    (p + pₐ) v₀/v, as at constant temperature (Boyle): a ball that bounces, a balloon that keeps its
    air. There is one energy for all triangles together, which couples every particle with every
    other; the solvers handle this without a full matrix. For constant pressure use `pressure`, for
    a body full of water `enclosed_volume`. If one of its triangles leaves because an edge broke,
    all leave: it bursts. Derived in docs/theory/06-areas-volumes-pressure.md.
    """
    v = total(cone_volume(x))
    return ambient * (v - volume0) - (p + ambient) * volume0 * log(v / volume0)
