"""Edge springs of Bridson, Marino and Fedkiw, V = k c (2 cos(θ₀/2) - 2 cos(θ/2) - (θ - θ₀) sin(θ₀/2))."""

from taut.formula import cos, sin
from taut.formula.law import energy
from taut.laws.geometry import HINGE_FAULTS, fold, slenderness


@energy(
    rest={"theta0": fold, "ratio": slenderness}, invariant="rigid motion", limits={"k": ">= 0", "ratio": "> 0"}, proper=HINGE_FAULTS
)
def bridson_bending(x, k, ratio, theta0):
    """Bending force of Bridson, Marino and Fedkiw (2003), F = k |E|²/(|N₁| + |N₂|) (sin(θ/2) - sin(θ₀/2)) u, and its energy.

    k : [J]; the rigidity of a regular sheet is k/4
    ratio : c = |Ē|²/(|N̄₁| + |N̄₂|) (default: measured on the rest shape, where the paper takes the current one: equal as long as the
        triangles keep their shape)
    theta0 : rest angle [rad] (default: measured on the rest shape)

    V = k c (2 cos(θ₀/2) - 2 cos(θ/2) - (θ - θ₀) sin(θ₀/2)), zero at rest, on `Mesh.hinges`. Bounded, as cloth that creases needs
    it; damping of bending is `bridson_damping`. V jumps at θ = ±π where θ₀ is not zero. In physical units use `shell_bending`.
    """
    theta = fold(x)
    return k * ratio * (2 * cos(theta0 / 2) - 2 * cos(theta / 2) - (theta - theta0) * sin(theta0 / 2))
