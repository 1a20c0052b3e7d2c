"""Volume preservation, V = ½ k (v - v₀)²/v₀."""

from taut.binding.decorators import energy
from taut.laws._geometry import require_particles, solid_volume, volume_ratio


@energy(
    rest={"volume0": solid_volume},
    invariant="rigid motion",
    limits={"k": ">= 0", "volume0": "> 0"},
    proper={"is flat or inverted": volume_ratio},
    check=require_particles(4, 8),
)
def volume(x, k, volume0):
    """Tetrahedron or hexahedron that resists a change of its volume v: V = ½ k (v - v₀)²/v₀.

    k : bulk modulus that it adds to the solid [Pa]
    volume0 : rest volume v₀ [m³] (default: measured on the rest shape)

    A lattice of springs alone has Poisson's ratio 1/4; with this law it becomes nearly
    incompressible. v has a sign, so that an inverted element is pushed back. A large k on all
    tetrahedra of a mesh locks it, because there are more of them than particles that could move:
    use hexahedra, or `enclosed_volume` on its surface. Derived in
    docs/theory/06-areas-volumes-pressure.md.
    """
    return k / 2 * (solid_volume(x) - volume0) ** 2 / volume0
