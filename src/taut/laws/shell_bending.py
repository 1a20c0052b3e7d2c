"""Bending of a shell over an edge, V = ½ c |ē|²/(Ā₁ + Ā₂) (θ - θ₀)²."""

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
    rest={"theta0": fold_angle, "ratio": lambda x: 2 * edge_area_ratio(x)},
    invariant="rigid motion",
    limits={"c": ">= 0", "ratio": "> 0", "theta0": SIGNED_ANGLE_LIMITS},
    proper=HINGE_FAULTS,
    check=require_particles(4),
)
def shell_bending(x, c, ratio, theta0):
    """Bending of two triangles about their common edge: V = ½ c |ē|²/(Ā₁ + Ā₂) (θ - θ₀)².

    c : bending rigidity [J] of a sheet of equilateral triangles; other meshes have one that depends
        on the direction
    ratio : |ē|²/(Ā₁ + Ā₂) [1], of the edge and the areas (default: measured on the rest shape)
    theta0 : rest angle θ₀ [rad], from -π to π (default: measured on the rest shape)

    Elements are `Mesh.hinges`, rows (c, d, a, b) with the edge from a to b in its direction in the
    first triangle. Seen from the side from which a, b, c are counterclockwise, θ > 0 is a ridge,
    with c and d behind the edge, and θ < 0 a valley.

    The bending energy of cloth and shells on any triangle mesh. A plate has the rigidity
    E t³/12/(1 - ν²), but hinges have a Poisson's ratio of their own: -1/3 on equilateral triangles,
    where a free strip has EI/b = 8c/9; on grids 0.8c. `taut.materials` calibrates c for a given
    mesh. θ - θ₀ is taken the shorter way around: a hinge may fold flat onto itself, at θ = ±π, and
    beyond. Opposite to its rest angle its moment changes sign. Where a triangle collapses, θ has no
    value: `area_barrier` keeps it from that. Derived in docs/theory/05-cloth-and-shells.md.
    """
    return c / 2 * ratio * squared_fold_change(x, theta0)
