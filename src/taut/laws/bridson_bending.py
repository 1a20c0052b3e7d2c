"""Edge springs of Bridson, Marino and Fedkiw, V = k c (2 cos(θ₀/2) - 2 cos(θ/2) - (θ - θ₀) sin(θ₀/2))."""

from taut.formula import cos, sin
from taut.formula.law import energy
from taut.laws.geometry import HINGE_FAULTS, SIGNED_TURN, fold, sized, slenderness


@energy(
    rest={"theta0": fold, "ratio": slenderness},
    invariant="rigid motion",
    limits={"k": ">= 0", "ratio": "> 0", "theta0": SIGNED_TURN},
    proper=HINGE_FAULTS,
    check=sized(4),
)
def bridson_bending(x, k, ratio, theta0):
    """Bending force of Bridson, Marino and Fedkiw (2003), F = k |E|²/(|N₁| + |N₂|) (sin(θ/2) - sin(θ₀/2)) u, and its energy
    V = k c (2 cos(θ₀/2) - 2 cos(θ/2) - (θ - θ₀) sin(θ₀/2)), zero at rest.

    k : [J]; the rigidity of a sheet of equilateral triangles is k/4
    ratio : c = |Ē|²/(|N̄₁| + |N̄₂|) [1] (default: measured on the rest shape, where the paper takes the current one: equal as long as
        the triangles keep their shape)
    theta0 : rest angle θ₀ [rad], from -π to π (default: measured on the rest shape)

    On `Mesh.hinges`, rows (c, d, a, b) with the edge from a to b as it runs in the first triangle. Seen from the side from which
    a, b, c run counterclockwise, θ > 0 is a ridge: c and d go back, behind the edge. θ < 0 is a valley.

    Its moment has a bound, as cloth that creases needs it; damping of bending is `bridson_damping`. V jumps at θ = ±π where θ₀ is
    not zero. In physical units use `shell_bending`. Derived from the printed force in docs/theory/05-cloth-and-shells.md.
    """
    theta = fold(x)
    return k * ratio * (2 * cos(theta0 / 2) - 2 * cos(theta / 2) - (theta - theta0) * sin(theta0 / 2))
