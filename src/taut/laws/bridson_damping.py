"""Damping of bending after Bridson, Marino and Fedkiw, Ψ = ½ k |E| (dθ/dt)²."""

from taut.formula import norm, rate
from taut.formula.law import dissipation
from taut.laws.geometry import HINGE_FAULTS, fold


@dissipation(invariant="rigid motion", limits={"k": ">= 0"}, proper=HINGE_FAULTS)
def bridson_damping(x, k):
    """Damper of the angle between two triangles (`Mesh.hinges`), Bridson, Marino and Fedkiw (2003): F = -k |E| (dθ/dt) ∂θ/∂x.

    k : [N s]

    It opposes only the folding, no stretching and no rigid motion. In the paper's terms u = -∂θ/∂x and Σ u·v = -dθ/dt. In an
    implicit step it is ½ k |E| (θ - θ_n)²/h, so that angular momentum is kept; a hinge that folds flat and beyond, past θ = ±π,
    is held back.
    """
    return k / 2 * norm(x[3] - x[2]) * rate(fold(x)) ** 2
