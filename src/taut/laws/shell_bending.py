"""Bending of a shell over an edge, V = ½ c |ē|²/(Ā₁ + Ā₂) (θ - θ₀)²."""

from taut.formula.law import energy
from taut.laws.geometry import HINGE_FAULTS, SIGNED_TURN, fold, sized, slenderness


@energy(
    rest={"theta0": fold, "ratio": lambda x: 2 * slenderness(x)},
    invariant="rigid motion",
    limits={"c": ">= 0", "ratio": "> 0", "theta0": SIGNED_TURN},
    proper=HINGE_FAULTS,
    check=sized(4),
)
def shell_bending(x, c, ratio, theta0):
    """Bending of two triangles over their common edge (`Mesh.hinges`): V = ½ c |ē|²/(Ā₁ + Ā₂) (θ - θ₀)².

    c : bending rigidity [J]: that of a sheet of equilateral triangles; other meshes have one that depends on the direction
    ratio : |ē|²/(Ā₁ + Ā₂) [1], of the edge and the areas (default: measured on the rest shape)
    theta0 : rest angle θ₀ [rad], from -π to π (default: measured on the rest shape)

    Elements are (c, d, a, b) with the edge from a to b as it runs in the first triangle. Seen from the side from which a, b, c run
    counterclockwise, θ > 0 is a ridge: c and d go back, behind the edge, as on a closed surface that faces outwards. θ < 0 is a
    valley.

    The bending energy of cloth and shells of any triangle mesh. A plate has c = E t³/12/(1 - ν²) in mind, but the hinges have a
    Poisson's ratio of their own: -1/3 on equilateral triangles, where a free strip has EI/b = 8c/9; on grids 0.8c.
    `taut.materials` calibrates c for the mesh at hand. Where a hinge folds flat onto itself, at θ = ±π, its moment turns over,
    and V jumps if θ₀ is not 0. Derived in docs/theory/05-cloth-and-shells.md.
    """
    return c / 2 * ratio * (fold(x) - theta0) ** 2
