"""Bending of Discrete Shells, V = k (θ - θ̄)² |ē|/h̄."""

from taut.binding.decorators import energy
from taut.laws._geometry import (
    HINGE_FAULTS,
    SIGNED_ANGLE_LIMITS,
    edge_area_ratio,
    fold_angle,
    require_particles,
    squared_fold_change,
)


@energy(
    rest={"theta0": fold_angle, "ratio": lambda x: 6 * edge_area_ratio(x)},
    invariant="rigid motion",
    limits={"k": ">= 0", "ratio": "> 0", "theta0": SIGNED_ANGLE_LIMITS},
    proper=HINGE_FAULTS,
    check=require_particles(4),
)
def discrete_shell_bending(x, k, ratio, theta0):
    """Bending of Discrete Shells (Grinspun et al. 2003): V = k (θ - θ̄)² |ē|/h̄.

    k : [J]; the rigidity of a sheet of equilateral triangles is 6k
    ratio : |ē|/h̄ = 3|ē|²/(Ā₁ + Ā₂) [1], h̄ a third of the mean height (default: measured on the
        rest shape)
    theta0 : rest angle θ̄ [rad], from -π to π (default: measured on the rest shape)

    Elements are `Mesh.hinges`, rows (c, d, a, b) with the edge from a to b in its direction in the
    first triangle. Seen from the side from which a, b, c are counterclockwise, θ > 0 is a ridge,
    with c and d behind the edge, and θ < 0 a valley.

    θ - θ̄ is taken the shorter way around, from -π to π. The membrane terms of the same paper are
    `discrete_shell_edge` and `discrete_shell_area`. It equals `shell_bending` with c = 6k: use that
    for the stiffness of a material, and this one to reproduce the paper.
    """
    return k * ratio * squared_fold_change(x, theta0)
