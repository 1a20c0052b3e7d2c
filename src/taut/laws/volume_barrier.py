"""Barrier against the inversion of a solid, V = -k v₀ (1 - 2v/v₀)² ln(2v/v₀) where v < v₀/2."""

from taut.binding.decorators import energy
from taut.formula import log, minimum
from taut.laws._geometry import require_particles, solid_volume, volume_ratio


@energy(
    rest={"volume0": solid_volume},
    invariant="rigid motion",
    limits={"k": ">= 0", "volume0": "> 0"},
    proper={"is flat or inverted": volume_ratio},
    domain={"is flat or inverted": volume_ratio},
    check=require_particles(4),
)
def volume_barrier(x, k, volume0):
    """Tetrahedron that cannot turn inside out: V = -k v₀ (1 - 2v/v₀)² ln(2v/v₀) where v < v₀/2.

    k : [Pa]; of the order of Young's modulus
    volume0 : rest volume v₀ [m³] (default: measured on the rest shape)

    Elements are tetrahedra, or those at the corners of hexahedra and other solids
    (`Mesh.corner_tets`), together with springs on their edges. A tetrahedron turned inside out has
    the same edges, so that springs do not resist it, and under a load of the order of their modulus
    many do turn. This energy grows without bound before that. It is zero, with two derivatives, as
    long as a tetrahedron keeps half of its volume, so that it does not change the moduli of a
    solid. To resist small changes of a volume as well use `volume`; `neo_hookean_solid` has a
    barrier of its own. A pose with an inverted element raises an error. Derived in
    docs/theory/06-areas-volumes-pressure.md.
    """
    part = minimum(2 * solid_volume(x) / volume0, 1.0)
    return -k * volume0 * (1 - part) ** 2 * log(part)
