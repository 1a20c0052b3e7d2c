"""Member of given force density, V = ½ d l², l = |x₁ - x₀|."""

from taut.binding.decorators import energy
from taut.formula import dot


@energy(invariant="rigid motion")
def force_density(x, d):
    """Cable or strut of given force density d, force over length: V = ½ d l².

    d : force density [N/m]; positive in tension, negative in a strut

    Its force d·l is linear in the positions, so that the form of a net of such members is a linear
    problem (see `taut.form_finding`). Where d is negative the energy has no lower bound of its own:
    other members must hold the strut. For a member that joins two bodies use `zero_length_spring`,
    for a given force `tension`, for a given length `spring`. Derived in
    docs/theory/03-equilibrium.md.
    """
    span = x[1] - x[0]
    return d / 2 * dot(span, span)
