"""Edge term of Discrete Shells, V = k (1 - |e|/|ē|)² |ē|."""

from taut.formula.law import energy
from taut.laws.geometry import length


@energy(rest={"l0": length}, invariant="rigid motion", limits={"k": ">= 0", "l0": "> 0"})
def discrete_shell_edge(x, k, l0):
    """Stretching of an edge, Grinspun, Hirani, Desbrun and Schröder (2003): V = k (1 - |e|/|ē|)² |ē|.

    k : [N]
    l0 : rest length |ē| [m] (default: measured on the rest shape)

    A `spring` of the constant 2k/|ē|: by the same k short edges are stiffer than long ones, as pieces of one wire are. Use it to
    reproduce the paper, together with `discrete_shell_area` and `discrete_shell_bending`; in a model of your own use `spring`.
    """
    return k * (1 - length(x) / l0) ** 2 * l0
