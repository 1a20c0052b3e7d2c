"""Spring that stiffens with strain, V = k l₀² (ε²/2 + β ε⁴/4), ε = l/l₀ - 1."""

from taut.formula.law import energy
from taut.laws.geometry import length


@energy(
    rest={"l0": length},
    invariant="rigid motion",
    limits={"k": ">= 0", "beta": ">= 0", "l0": "> 0"},
)
def stiffening_spring(x, k, beta, l0):
    """Spring whose stiffness grows with strain: V = k l₀² (ε²/2 + β ε⁴/4), force k l₀ (ε + β ε³), stiffness k (1 + 3β ε²).

    k : stiffness at rest [N/m]
    beta : how fast it stiffens [1]; at the strain 1/√(3β) the stiffness has doubled
    l0 : rest length [m] (default: measured on the rest shape)

    For woven cloth, tissue and rope, which give way a little and then hardly at all, without the inextensible limit that would make
    steps hard to solve. It is even in ε = l/l₀ - 1 and stiffens in compression as in tension; what goes slack is a `cable`. It is
    the first term, in even powers, of every such curve; measured ones are fitted up to moderate strain. Derived in
    docs/theory/04-rods.md.
    """
    strain = length(x) / l0 - 1
    return k * l0**2 * (strain**2 / 2 + beta * strain**4 / 4)
