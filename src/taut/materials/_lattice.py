"""Which pairs of points a mesh joins by springs, and a first guess of their stiffness.

Van Gelder (1998): a triangle of area A and thickness t gives each of its edges E t A/l², a
tetrahedron of volume V gives E V/l². Then Σ k l² is that of the isotropic tensor of this modulus,
3 E t A or 6 E V, and each spring has the same part of it. Cells with diagonals give E t A w/l² and
E V w/l² with the same sum; for squares and cubes the w are those that make them isotropic:

    quad: ⅜ on an edge, ¾ on a diagonal;    hex: ⅒ on an edge, ⅖ on the diagonal of a face.

A spring of several cells has the sum, so one on the boundary has less.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from taut.arrays import Float, Int, Mask
from taut.errors import MeshError
from taut.materials._cells import Cells
from taut.materials._tensors import ISOTROPIC_TRACE
from taut.mesh.kinds import Kind
from taut.mesh.mesh import Mesh
from taut.mesh.topology import keys, unique_pairs

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

_WEIGHTS = {"quad": (3 / 8, 3 / 4), "hex": (1 / 10, 2 / 5)}  # of an edge, of a diagonal
_BODY_DIAGONAL_PART = 1 / 10  # the first guess for the diagonals through a hex, if it has them


class Lattice(NamedTuple):
    """Springs between the points of a mesh."""

    pairs: Int  # (m, 2), sorted
    length: Float  # (m,) [m]
    direction: Float  # (m, 3), unit vectors
    guess: Float  # (m,) stiffness for a modulus E (E t for a sheet) of 1
    share: csr_matrix  # (c, m), the part of each spring that belongs to each cell; columns sum to 1


def build_lattice(mesh: Mesh, cells: Cells, *, body_diagonals: bool = False) -> Lattice:
    """Join the points of faces or solids by springs.

    Along edges, along diagonals of faces with more than three corners, and if `body_diagonals` is
    set along those through hexes.
    """
    from scipy.sparse import csr_matrix

    ends, of_cell, weight = [], [], []
    start = 0
    for kind, corners in cells.blocks:
        volume = cells.volume[start : start + len(corners)]
        for pair, w in _spring_weights(kind, body_diagonals):
            _reject_repeated_corners(kind, corners[:, pair[0]] == corners[:, pair[1]])
            ends.append(corners[:, list(pair)])
            of_cell.append(start + np.arange(len(corners)))
            weight.append(w * volume)
        start += len(corners)
    every, cell, amount = np.concatenate(ends), np.concatenate(of_cell), np.concatenate(weight)
    pairs = unique_pairs(every, mesh.n)
    along = mesh.positions[pairs[:, 1]] - mesh.positions[pairs[:, 0]]
    length = np.linalg.norm(along, axis=1)
    _reject_coincident_points(pairs, length)
    spring = np.searchsorted(keys(pairs, mesh.n), keys(every, mesh.n))
    total = np.bincount(spring, weights=amount, minlength=len(pairs))
    share = csr_matrix((amount / total[spring], (cell, spring)), shape=(cells.total, len(pairs)))
    return Lattice(pairs, length, along / length[:, None], total / length**2, share)


def _spring_weights(kind: Kind, body_diagonals: bool) -> list[tuple[tuple[int, ...], float]]:
    """Return the pairs of corners of a cell, each with its weight w."""
    second_neighbours = {
        tuple(sorted((f[i], f[(i + 2) % len(f)])))
        for f in kind.faces
        if len(f) > 3
        for i in range(len(f))
    }
    diagonals = sorted(second_neighbours - {tuple(sorted(e)) for e in kind.edges})
    even = ISOTROPIC_TRACE[kind.dimension] / (len(kind.edges) + len(diagonals))
    on_edge, on_diagonal = _WEIGHTS.get(kind.name, (even, even))
    weights = [(e, on_edge) for e in kind.edges] + [(e, on_diagonal) for e in diagonals]
    if not body_diagonals or not kind.body_diagonals:
        return weights
    through = _BODY_DIAGONAL_PART * ISOTROPIC_TRACE[3] / len(kind.body_diagonals)
    return [(e, w * (1 - _BODY_DIAGONAL_PART)) for e, w in weights] + [
        (e, through) for e in kind.body_diagonals
    ]


def _reject_repeated_corners(kind: Kind, same: Mask) -> None:
    repeated = np.flatnonzero(same)
    if len(repeated):
        raise MeshError(
            "it names a corner twice; taut.mesh.clean repairs such cells",
            element=f"{kind.name} {repeated[0]}",
        )


def _reject_coincident_points(pairs: Int, length: Float) -> None:
    coincident = np.flatnonzero(length <= 0)
    if len(coincident):
        i, j = pairs[coincident[0]].tolist()
        raise MeshError(
            f"points {i} and {j} coincide: a spring between them has no direction",
            element=f"spring {i}-{j}",
        )
