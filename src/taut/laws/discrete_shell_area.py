"""Area term of Discrete Shells, V = k (1 - A/Ā)² Ā."""

from taut.formula.law import energy
from taut.laws.geometry import area as measured
from taut.laws.geometry import fullness, sized


@energy(
    rest={"area0": measured},
    invariant="rigid motion",
    limits={"k": ">= 0", "area0": "> 0"},
    proper={"has no area": fullness},
    check=sized(3),
)
def discrete_shell_area(x, k, area0):
    """Change of the area of a triangle, Grinspun, Hirani, Desbrun and Schröder (2003): V = k (1 - A/Ā)² Ā.

    k : [N/m]
    area0 : rest area Ā [m²] (default: measured on the rest shape)

    As the paper prints it, without a ½: it is `area` with 2k. Use it to reproduce the paper, together with `discrete_shell_edge`
    and `discrete_shell_bending`; in a model of your own use `area`, whose k is a modulus.
    """
    return k * (1 - measured(x) / area0) ** 2 * area0
