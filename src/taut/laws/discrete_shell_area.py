"""Area term of Discrete Shells, V = k (1 - A/Ā)² Ā."""

from taut.binding.decorators import energy
from taut.laws._geometry import area_ratio, polygon_area, require_particles


@energy(
    rest={"area0": polygon_area},
    invariant="rigid motion",
    limits={"k": ">= 0", "area0": "> 0"},
    proper={"has no area": area_ratio},
    check=require_particles(3),
)
def discrete_shell_area(x, k, area0):
    """Change of a triangle's area in Discrete Shells (Grinspun et al. 2003): V = k (1 - A/Ā)² Ā.

    k : [N/m]
    area0 : rest area Ā [m²] (default: measured on the rest shape)

    As printed in the paper, without a factor ½: it equals `area` with 2k. Use it to reproduce the
    paper, together with `discrete_shell_edge` and `discrete_shell_bending`; in a model of your own
    use `area`, whose k is a modulus.
    """
    return k * (1 - polygon_area(x) / area0) ** 2 * area0
