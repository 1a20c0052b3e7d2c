"""Bending of a rod in the plane, V = ½ (EI/l) (θ - θ₀)², θ with a sign."""

from taut.binding.decorators import energy
from taut.formula import atan2
from taut.laws._geometry import ROD_FAULTS, SIGNED_ANGLE_LIMITS, require_particles, voronoi_length


def _signed_turn(x):
    """Angle [rad], from -π to π, by which a rod in the plane z = 0 turns counterclockwise."""
    a, b = x[1] - x[0], x[2] - x[1]
    return atan2(a[0] * b[1] - a[1] * b[0], a[0] * b[0] + a[1] * b[1])


@energy(
    rest={"theta0": _signed_turn, "l": voronoi_length},
    invariant="translation",
    limits={"EI": ">= 0", "l": "> 0", "theta0": SIGNED_ANGLE_LIMITS},
    proper=ROD_FAULTS,
    check=require_particles(3),
)
def planar_rod_bending(x, EI, l, theta0):  # noqa: E741
    """Bending of a rod in the plane z = 0: V = ½ (EI/l) (θ - θ₀)², θ > 0 counterclockwise.

    EI : bending stiffness [N m²]
    l : length of rod that bends here [m] (default: half of each segment at rest)
    theta0 : rest angle [rad], from -π to π (default: measured on the rest shape)

    Elements are triples of particles along the rod (`Mesh.rod_hinges`); θ is the angle by which the
    direction turns at the middle one, with x to the right and y up.

    For arches, curved springs and other naturally curved strips in 2D: unlike `rod_bending` it
    distinguishes the two sides. Of particles outside of the plane it uses the projection onto it. V
    jumps where the rod folds back on itself, at θ = ±π. Derived in docs/theory/04-rods.md.
    """
    return EI / l / 2 * (_signed_turn(x) - theta0) ** 2
