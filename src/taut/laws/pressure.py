"""Constant pressure inside a closed surface, V = -p v."""

from taut.formula import cross, dot
from taut.formula.law import energy
from taut.mesh.topology import edge_balance


def _closed(triangles):
    """What keeps triangles from enclosing a volume, in words."""
    if triangles.shape[1] != 3:
        return f"elements are triangles (see Mesh.triangles), not of {triangles.shape[1]} particles"
    edges, faces, balance = edge_balance(triangles, int(triangles.max(initial=-1)) + 1)
    alone, turned = "belong to one triangle only", "are run through the same way by both triangles"
    for wrong, why in ((faces == 1, alone), (balance != 0, turned)):
        if wrong.any():
            return f"the surface is not closed: {wrong.sum()} edges {why}, such as {edges[wrong][0].tolist()}"
    return None


@energy(load=True, check=_closed)
def pressure(x, p):
    """Pressure on the triangles of a closed surface that faces outwards: V = -p v, v the enclosed volume, Σ x₀·(x₁×x₂)/6.

    p : [Pa], inside less outside; a number for all triangles alike, or a function of time to inflate with

    The pressure stays what it is however large the body grows, as with a pump or a chimney: the ledger books its work. For a
    sealed body, whose pressure falls as it grows, use `gas`. Take `Mesh.triangles` of a closed surface, or of `taut.mesh.surface`
    of a solid.
    """
    return -p / 6 * dot(x[0], cross(x[1], x[2]))
