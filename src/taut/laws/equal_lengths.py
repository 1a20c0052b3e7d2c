"""Two members of equal length, V = ½ k (l₁ - l₂)²."""

from taut.binding.decorators import energy
from taut.formula import norm
from taut.laws._geometry import require_particles


@energy(invariant="rigid motion", limits={"k": ">= 0"}, check=require_particles(3, 4))
def equal_lengths(x, k):
    """Two members that resist a difference of their lengths: V = ½ k (l₁ - l₂)².

    k : stiffness against the difference [N/m]

    Elements are (a, b, c), for the successive members ab and bc, or (a, b, c, d), for ab and cd. A
    goal of form finding: bars that can be cut in one piece size. Where the length itself is given
    use `spring` with that rest length. Derived in docs/theory/03-equilibrium.md.
    """
    first = norm(x[1] - x[0])
    second = norm(x[2] - x[1]) if len(x) == 3 else norm(x[3] - x[2])
    return k / 2 * (first - second) ** 2
