"""Bending of a rod in physical units, V = ½ (EI/l) (θ - θ₀)²."""

from taut.formula.law import energy
from taut.laws.geometry import HALF_TURN, TURN_FAULTS, rest_turn, share, sized, turn


@energy(
    rest={"theta0": rest_turn, "l": share},
    invariant="rigid motion",
    limits={"EI": ">= 0", "l": "> 0", "theta0": HALF_TURN},
    proper=TURN_FAULTS,
    check=sized(3),
)
def rod_bending(x, EI, l, theta0):  # noqa: E741 - as the formula is written
    """Bending at the middle one of three particles: V = ½ (EI/l) (θ - θ₀)², θ the angle between the segments.

    EI : bending stiffness [N m²], Young's modulus times the second moment of area: π r⁴/4 for a round rod, b t³/12 for a strip
    l : length of rod that bends here [m] (default: half of either segment at rest)
    theta0 : rest angle [rad], from 0 to π (default: measured on the rest shape; less than 1e-6 counts as straight)

    With stiff springs between neighbours it is the discrete elastica (Bergou et al. 2008, without twist), of second order in l;
    derived in docs/theory/04-rods.md. At a clamped end add `rod_clamp`. On `Mesh.rod_hinges` it bends every rod of a mesh of lines;
    where more than two lines meet, name the triples yourself. Like `rod_hinge` it knows no twist, and no side to which a curved rod
    bends (in the plane, `planar_rod_bending` does).
    """
    return EI / l / 2 * (turn(x) - theta0) ** 2
