"""Masses from cells: each gives equal shares of its own to its corners.

A line of linear density ρ and length l gives ρ l/2 to each end, a triangle of areal density ρ A/3, a tetrahedron ρ V/4; their sum
is ρ times the length, area or volume.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from taut.errors import ModelError
from taut.mesh.measure import to_corners
from taut.mesh.mesh import Mesh

Float = NDArray[np.float64]


def line_mass(mesh: Mesh, density: ArrayLike) -> Float:
    """Masses [kg], shape (n,), of the lines of a mesh.

    density : [kg/m], one value or one per line

    >>> import taut
    >>> line_mass(taut.mesh.rope(2), 0.5)
    array([0.125, 0.25 , 0.125])
    """
    return _lumped(mesh, density, 1, "lines")


def areal_mass(mesh: Mesh, density: ArrayLike) -> Float:
    """Masses [kg], shape (n,), of the faces of a mesh.

    density : [kg/m²], one value or one per face (in the order of `mesh.areas`, which are what is weighed)

    >>> import taut
    >>> areal_mass(taut.mesh.sheet(1, 1), 0.2).tolist()
    [0.05, 0.05, 0.05, 0.05]
    """
    return _lumped(mesh, density, 2, "faces")


def volume_mass(mesh: Mesh, density: ArrayLike) -> Float:
    """Masses [kg], shape (n,), of the solids of a mesh.

    density : [kg/m³], one value or one per solid (in the order of `mesh.volumes`)

    >>> import taut
    >>> volume_mass(taut.mesh.block(1, 1, 1, size=0.1), 1000.0).round(12).tolist()
    [0.125, 0.125, 0.125, 0.125, 0.125, 0.125, 0.125, 0.125]
    """
    return _lumped(mesh, density, 3, "solids")


def _lumped(mesh: Mesh, density: ArrayLike, dimension: int, what: str) -> Float:
    blocks = mesh.blocks(dimension)
    if not blocks:
        raise ModelError(f"the mesh has no {what} to weigh; it has {', '.join(mesh.cells) or 'no cells'}")
    total = sum(len(c) for _, c in blocks)
    try:
        given = np.asarray(density, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ModelError(f"density is not a number or an array of numbers: {density!r}") from error
    if given.shape not in ((), (total,)):
        raise ModelError(f"density has shape {given.shape}; give one value or one for each of the {total} {what}")
    if not (np.isfinite(given) & (given >= 0)).all():
        raise ModelError("a density is negative or not finite")
    each = np.split(np.broadcast_to(given, total), np.cumsum([len(c) for _, c in blocks])[:-1])
    mass = np.zeros(mesh.n)
    for (kind, cells), share in zip(blocks, each, strict=True):
        measure = mesh.measure(kind.name)
        inverted = np.flatnonzero(measure < 0)
        if len(inverted):
            i = inverted[0]
            raise ModelError(f"{kind.name} {i} is inverted: its volume is {measure[i]:.3g} m³ (taut.mesh.clean turns it over)")
        mass += to_corners(share * measure, cells, mesh.n)
    return mass
