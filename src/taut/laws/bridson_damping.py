"""Damping of bending after Bridson, Marino and Fedkiw, Ψ = ½ k |E| (dθ/dt)²."""

from taut.formula import norm, rate
from taut.formula.law import dissipation
from taut.laws.geometry import HINGE_FAULTS, fold_direction, sized


@dissipation(invariant="rigid motion", limits={"k": ">= 0"}, proper=HINGE_FAULTS, check=sized(4))
def bridson_damping(x, k):
    """Damper of the angle between two triangles (`Mesh.hinges`), Bridson, Marino and Fedkiw (2003): Ψ = ½ k |E| (dθ/dt)², which is
    the paper's force F = -k |E| (dθ/dt) ∂θ/∂x.

    k : [N s]

    For sheets that flutter: it opposes only the folding, no stretching (that is `spring_damping`) and no rigid motion. In the
    paper's terms u = -∂θ/∂x and Σ u·v = -dθ/dt. (dθ/dt)² is written as the sum of the squared rates of cos θ and sin θ, so that
    nothing happens where θ jumps from π to -π; in an implicit step it is ½ k |E| (2 sin((θ - θ_n)/2))²/h, and the angular momentum
    law holds (docs/theory/05-cloth-and-shells.md).
    """
    along, across = fold_direction(x)
    return k / 2 * norm(x[3] - x[2]) * (rate(along) ** 2 + rate(across) ** 2)
