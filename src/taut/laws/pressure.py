"""Constant pressure in a closed surface, V = -p v."""

from taut.arrays import Int
from taut.binding.decorators import energy
from taut.formula import total
from taut.laws._geometry import SURFACE_FAULTS, check_closed, cone_volume


def _check_closed(triangles: Int) -> str | None:
    problem = check_closed(triangles)
    if problem is not None and triangles.shape[1] == 3:
        problem += "; for a membrane held at its rim use membrane_pressure"
    return problem


@energy(load=True, invariant="rigid motion", proper=SURFACE_FAULTS, check=_check_closed)
def pressure(x, p):
    """Constant pressure in a closed surface: V = -p v, v = Σ x₀·(x₁×x₂)/6 the enclosed volume.

    p : pressure difference, inside minus outside [Pa]: one number for all triangles, or a function
        of time for inflating

    Elements are the triangles of a closed surface that faces outwards: `Mesh.triangles`, or of a
    solid those of `taut.mesh.surface`. The pressure does not depend on the volume, as with a pump:
    the ledger books its work. For a sealed body, whose pressure falls as it grows, use `gas`; for
    an open membrane held at its rim `membrane_pressure`. Derived in
    docs/theory/06-areas-volumes-pressure.md.
    """
    return -p * total(cone_volume(x))
