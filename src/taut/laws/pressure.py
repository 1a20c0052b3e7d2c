"""Constant pressure inside a closed surface, V = -p v."""

from taut.formula import total
from taut.formula.law import energy
from taut.laws.geometry import SURFACE_FAULTS, cone, unclosed


@energy(load=True, invariant="rigid motion", proper=SURFACE_FAULTS, check=unclosed)
def pressure(x, p):
    """Pressure on the triangles of a closed surface that faces outwards: V = -p v, v the enclosed volume, Σ x₀·(x₁×x₂)/6.

    p : [Pa], inside less outside; a number for all triangles alike, or a function of time to inflate with

    The pressure stays what it is however large the body grows, as with a pump or a chimney: the ledger books its work. For a
    sealed body, whose pressure falls as it grows, use `gas`. Take `Mesh.triangles` of a closed surface, or of `taut.mesh.surface`
    of a solid. Derived in docs/theory/06-areas-volumes-pressure.md.
    """
    return -p * total(cone(x))
