"""Damping of bending of Bridson, Marino and Fedkiw, Ψ = ½ k |E| (dθ/dt)²."""

from taut.binding.decorators import dissipation
from taut.formula import norm, rate
from taut.laws._geometry import HINGE_FAULTS, fold_cos_sin, require_particles


@dissipation(
    invariant="rigid motion", limits={"k": ">= 0"}, proper=HINGE_FAULTS, check=require_particles(4)
)
def bridson_damping(x, k):
    """Damping of bending of Bridson, Marino and Fedkiw (2003): Ψ = ½ k |E| (dθ/dt)².

    k : [N s]

    Elements are `Mesh.hinges`. For sheets that flutter: it opposes only folding, no stretching (see
    `spring_damping`) and no rigid motion. It is the paper's force F = -k |E| (dθ/dt) ∂θ/∂x, with
    u = -∂θ/∂x and Σ u·v = -dθ/dt in the paper's terms. (dθ/dt)² is written as the sum of the
    squared rates of cos θ and sin θ, which do not jump where θ changes from π to -π. In an implicit
    step it is ½ k |E| (2 sin((θ - θ_n)/2))²/h, and the angular momentum law holds
    (docs/theory/05-cloth-and-shells.md).
    """
    along, across = fold_cos_sin(x)
    return k / 2 * norm(x[3] - x[2]) * (rate(along) ** 2 + rate(across) ** 2)
