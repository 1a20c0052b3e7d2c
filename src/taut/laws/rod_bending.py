"""Bending of a rod in physical units, V = ½ (EI/l) (θ - θ₀)²."""

from taut.binding.decorators import energy
from taut.laws._geometry import (
    ANGLE_LIMITS,
    ROD_FAULTS,
    require_particles,
    rest_turning_angle,
    turning_angle,
    voronoi_length,
)


@energy(
    rest={"theta0": rest_turning_angle, "l": voronoi_length},
    invariant="rigid motion",
    limits={"EI": ">= 0", "l": "> 0", "theta0": ANGLE_LIMITS},
    proper=ROD_FAULTS,
    check=require_particles(3),
)
def rod_bending(x, EI, l, theta0):  # noqa: E741
    """Bending of a rod: V = ½ (EI/l) (θ - θ₀)², θ the turning angle at the middle of three.

    EI : bending stiffness [N m²], Young's modulus times the second moment of area: π r⁴/4 for a
        round rod, b t³/12 for a strip
    l : length of rod that bends here [m] (default: half of each segment at rest)
    theta0 : rest angle [rad], from 0 to π (default: measured on the rest shape; less than 1e-6
        counts as straight)

    With stiff springs between neighbours it is the discrete elastica (Bergou et al. 2008, without
    twist), of second order in l; derived in docs/theory/04-rods.md. At a clamped end add
    `rod_clamp`. `Mesh.rod_hinges` has the triples of every rod of a mesh of lines; where more than
    two lines meet, list them yourself. Like `rod_hinge` it has no twist, and θ has no sign: a
    curved rod may bend to either side (in the plane, use `planar_rod_bending`).
    """
    return EI / l / 2 * (turning_angle(x) - theta0) ** 2
