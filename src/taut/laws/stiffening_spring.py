"""Spring that stiffens with strain, V = k l₀² (ε²/2 + β ε⁴/4), ε = l/l₀ - 1."""

from taut.binding.decorators import energy
from taut.laws._geometry import length


@energy(
    rest={"l0": length}, invariant="rigid motion", limits={"k": ">= 0", "beta": ">= 0", "l0": "> 0"}
)
def stiffening_spring(x, k, beta, l0):
    """Spring that stiffens with strain ε = l/l₀ - 1: V = k l₀² (ε²/2 + β ε⁴/4).

    k : stiffness at rest [N/m]
    beta : stiffening coefficient β [1]; at the strain 1/√(3β) the stiffness has doubled
    l0 : rest length [m] (default: measured on the rest shape)

    Its force is k l₀ (ε + β ε³), its stiffness k (1 + 3β ε²). For woven cloth, tissue and rope,
    which stretch a little and then hardly at all, without the inextensible limit that would make
    steps hard to solve. V is even in ε: it stiffens in compression as in tension; a string that
    goes slack is a `cable`. It has the first two terms, in even powers, of every such curve;
    measured ones can be fitted up to moderate strain. Derived in docs/theory/04-rods.md.
    """
    strain = length(x) / l0 - 1
    return k * l0**2 * (strain**2 / 2 + beta * strain**4 / 4)
