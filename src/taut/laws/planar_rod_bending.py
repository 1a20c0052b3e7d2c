"""Bending of a rod in the plane z = 0, V = ½ (EI/l) (θ - θ₀)², with a signed angle."""

from taut.formula import atan2
from taut.formula.law import energy
from taut.laws.geometry import SIGNED_TURN, TURN_FAULTS, share, sized


def _signed_turn(x):
    """Angle [rad], from -π to π, by which a rod in the plane z = 0 turns to the left at the middle one of three particles."""
    a, b = x[1] - x[0], x[2] - x[1]
    return atan2(a[0] * b[1] - a[1] * b[0], a[0] * b[0] + a[1] * b[1])


@energy(
    rest={"theta0": _signed_turn, "l": share},
    invariant="translation",
    limits={"EI": ">= 0", "l": "> 0", "theta0": SIGNED_TURN},
    proper=TURN_FAULTS,
    check=sized(3),
)
def planar_rod_bending(x, EI, l, theta0):  # noqa: E741 - as the formula is written
    """Bending at the middle one of three particles in the plane z = 0: V = ½ (EI/l) (θ - θ₀)², θ positive to the left.

    EI : bending stiffness [N m²]
    l : length of rod that bends here [m] (default: half of either segment at rest)
    theta0 : rest angle [rad], from -π to π (default: measured on the rest shape)

    To the left of one who walks from the first particle to the last, x to the right and y up: θ > 0 turns counterclockwise.

    For arches, curved springs and anything of naturally curved strips in 2D: unlike `rod_bending` it tells one side from the other.
    Of particles that leave the plane it sees the shadow in it. V jumps where the rod folds back on itself, at θ = ±π. Derived in
    docs/theory/04-rods.md.
    """
    return EI / l / 2 * (_signed_turn(x) - theta0) ** 2
