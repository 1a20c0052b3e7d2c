"""Bending of Discrete Shells, V = k (θ - θ̄)² |ē|/h̄."""

from taut.formula.law import energy
from taut.laws.geometry import HINGE_FAULTS, SIGNED_TURN, fold, sized, slenderness


@energy(
    rest={"theta0": fold, "ratio": lambda x: 6 * slenderness(x)},
    invariant="rigid motion",
    limits={"k": ">= 0", "ratio": "> 0", "theta0": SIGNED_TURN},
    proper=HINGE_FAULTS,
    check=sized(4),
)
def discrete_shell_bending(x, k, ratio, theta0):
    """Bending energy of Grinspun, Hirani, Desbrun and Schröder (2003): V = k (θ - θ̄)² |ē|/h̄, h̄ a third of the mean height.

    k : [J]; the rigidity of a sheet of equilateral triangles is 6k
    ratio : |ē|/h̄ = 3|ē|²/(Ā₁ + Ā₂) [1] (default: measured on the rest shape)
    theta0 : rest angle θ̄ [rad], from -π to π (default: measured on the rest shape)

    On `Mesh.hinges`, rows (c, d, a, b) with the edge from a to b as it runs in the first triangle. Seen from the side from which
    a, b, c run counterclockwise, θ > 0 is a ridge: c and d go back, behind the edge. θ < 0 is a valley.

    The membrane terms of the same paper are `discrete_shell_edge` and `discrete_shell_area`. It is `shell_bending` with c = 6k: use
    that where the stiffness of a material is wanted, and this one to reproduce the paper.
    """
    return k * ratio * (fold(x) - theta0) ** 2
