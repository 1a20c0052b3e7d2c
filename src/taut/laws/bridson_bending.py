"""Bending of Bridson, Marino and Fedkiw,
V = k c (2 cos(θ₀/2) - 2 cos(θ/2) - (θ - θ₀) sin(θ₀/2))."""

from taut.binding.decorators import energy
from taut.formula import cos, sin
from taut.laws._geometry import (
    HINGE_FAULTS,
    SIGNED_ANGLE_LIMITS,
    edge_area_ratio,
    fold_angle,
    require_particles,
)


@energy(
    rest={"theta0": fold_angle, "ratio": edge_area_ratio},
    invariant="rigid motion",
    limits={"k": ">= 0", "ratio": "> 0", "theta0": SIGNED_ANGLE_LIMITS},
    proper=HINGE_FAULTS,
    check=require_particles(4),
)
def bridson_bending(x, k, ratio, theta0):
    """Bending of Bridson, Marino and Fedkiw (2003).

    V = k c (2 cos(θ₀/2) - 2 cos(θ/2) - (θ - θ₀) sin(θ₀/2)), zero at rest. It is the energy of the
    force printed in the paper, F = k |E|²/(|N₁| + |N₂|) (sin(θ/2) - sin(θ₀/2)) u.

    k : [J]; the rigidity of a sheet of equilateral triangles is k/4
    ratio : c = |Ē|²/(|N̄₁| + |N̄₂|) [1] (default: measured on the rest shape, where the paper takes
        the current one: equal as long as the triangles keep their shape)
    theta0 : rest angle θ₀ [rad], from -π to π (default: measured on the rest shape)

    Elements are `Mesh.hinges`, rows (c, d, a, b) with the edge from a to b in its direction in the
    first triangle. Seen from the side from which a, b, c are counterclockwise, θ > 0 is a ridge,
    with c and d behind the edge, and θ < 0 a valley.

    Its moment is bounded, as cloth that creases needs; `bridson_damping` damps bending. V jumps at
    θ = ±π where θ₀ is not zero. For a stiffness in physical units use `shell_bending`. Derived from
    the printed force in docs/theory/05-cloth-and-shells.md.
    """
    theta = fold_angle(x)
    return (
        k * ratio * (2 * cos(theta0 / 2) - 2 * cos(theta / 2) - (theta - theta0) * sin(theta0 / 2))
    )
