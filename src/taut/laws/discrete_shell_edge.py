"""Edge term of Discrete Shells, V = k (1 - |e|/|ē|)² |ē|."""

from taut.binding.decorators import energy
from taut.laws._geometry import length


@energy(rest={"l0": length}, invariant="rigid motion", limits={"k": ">= 0", "l0": "> 0"})
def discrete_shell_edge(x, k, l0):
    """Stretching of an edge in Discrete Shells (Grinspun et al. 2003): V = k (1 - |e|/|ē|)² |ē|.

    k : [N]
    l0 : rest length |ē| [m] (default: measured on the rest shape)

    It equals a `spring` of stiffness 2k/|ē|: with the same k short edges are stiffer than long
    ones, like pieces of one wire. Use it to reproduce the paper, together with
    `discrete_shell_area` and `discrete_shell_bending`; in a model of your own use `spring`.
    """
    return k * (1 - length(x) / l0) ** 2 * l0
