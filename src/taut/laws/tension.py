"""Member of given force, V = N l, l = |x₁ - x₀|."""

from taut.binding.decorators import energy
from taut.laws._geometry import length


@energy(invariant="rigid motion")
def tension(x, force):
    """Member that carries a given force N whatever its length: V = N l.

    force : N [N], positive in tension, negative in a strut

    A rope over a pulley with a weight at its end, or the target force of a cable in form finding.
    It has no rest length: other members must keep it open. For a force that grows with the length
    use `force_density` or `spring`. At zero length the force is zero. Derived in
    docs/theory/03-equilibrium.md.
    """
    return force * length(x)
