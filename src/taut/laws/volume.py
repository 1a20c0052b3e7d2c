"""Volume preservation, V = ½ k (v - v₀)²/v₀."""

from taut.formula.law import energy
from taut.laws.geometry import roundness, sized
from taut.laws.geometry import volume as measured


@energy(
    rest={"volume0": measured},
    invariant="rigid motion",
    limits={"k": ">= 0", "volume0": "> 0"},
    proper={"is flat or inverted": roundness},
    check=sized(4, 8),
)
def volume(x, k, volume0):
    """A tetrahedron or hexahedron that resists a change of its volume v: V = ½ k (v - v₀)²/v₀.

    k : [Pa]; the bulk modulus that it adds to the solid
    volume0 : rest volume [m³] (default: measured on the rest shape)

    What springs cannot express: with it a lattice of springs, stuck at Poisson's ratio 1/4, comes near to incompressible. v has a
    sign, so an inverted element is pushed back. A large k on all tetrahedra of a mesh locks it: there are more of them than
    particles that could move; take hexahedra, or `enclosed_volume` on its surface. Derived in
    docs/theory/06-areas-volumes-pressure.md.
    """
    return k / 2 * (measured(x) - volume0) ** 2 / volume0
