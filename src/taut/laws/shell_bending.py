"""Bending of a shell over an edge, V = ½ c |ē|²/(Ā₁ + Ā₂) (θ - θ₀)²."""

from taut.formula.law import energy
from taut.laws.geometry import HINGE_FAULTS, fold, slenderness


@energy(
    rest={"theta0": fold, "ratio": lambda x: 2 * slenderness(x)},
    invariant="rigid motion",
    limits={"c": ">= 0", "ratio": "> 0"},
    proper=HINGE_FAULTS,
)
def shell_bending(x, c, ratio, theta0):
    """Bending of two triangles over their common edge (`Mesh.hinges`): V = ½ c |ē|²/(Ā₁ + Ā₂) (θ - θ₀)².

    c : bending rigidity [J]: that of a sheet of equilateral triangles; other meshes have one that depends on the direction
    ratio : |ē|²/(Ā₁ + Ā₂), of the edge and the areas (default: measured on the rest shape)
    theta0 : rest angle [rad] (default: measured on the rest shape)

    The bending energy of cloth and shells of any triangle mesh. A plate has c = E t³/12/(1 - ν²) in mind, but the hinges have a
    Poisson's ratio of their own: -1/3 on equilateral triangles, where a free strip has EI/b = 8c/9; on grids 0.8c.
    `taut.materials` calibrates c for the mesh at hand. Where a hinge folds flat onto itself, at θ = ±π, its moment turns over,
    and V jumps if θ₀ is not 0.
    """
    return c / 2 * ratio * (fold(x) - theta0) ** 2
