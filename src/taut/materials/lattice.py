"""Which pairs of points a mesh joins by springs, and a first guess of their stiffness.

Van Gelder (1998): a triangle of area A and thickness t gives each of its edges E t A/l², a tetrahedron of volume V gives E V/l².
Then Σ k l² is what the isotropic tensor of that modulus asks for, 3 E t A or 6 E V, and each spring has the same part of it. Cells
with diagonals get E t A w/l² and E V w/l² with the same sum; for squares and cubes the w are those that make them isotropic:

    quad: ⅜ on an edge, ¾ on a diagonal;    hex: ⅒ on an edge, ⅖ on the diagonal of a face.

A spring of several cells has the sum, so one on the boundary has less.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from taut.errors import MeshError
from taut.materials.cells import Cells
from taut.materials.tensors import TRACE
from taut.mesh.kinds import Kind
from taut.mesh.mesh import Mesh
from taut.mesh.topology import keys, unique_pairs

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

Float = NDArray[np.float64]
Int = NDArray[np.int64]
WEIGHTS = {"quad": (3 / 8, 3 / 4), "hex": (1 / 10, 2 / 5)}  # of an edge, of a diagonal
THROUGH = 1 / 10  # the part of a hex that its body diagonals have at first, if they are there


class Lattice(NamedTuple):
    """Springs between the points of a mesh."""

    pairs: Int  # (m, 2), sorted
    length: Float  # (m,) [m]
    direction: Float  # (m, 3), unit vectors
    guess: Float  # (m,) stiffness for a modulus E (E t for a sheet) of 1
    share: csr_matrix  # (c, m), the part of each spring that belongs to each cell; columns sum to 1


def lattice_of(mesh: Mesh, cells: Cells, *, body: bool = False) -> Lattice:
    """The springs of faces or solids: edges, diagonals of faces with more than three corners, and those through hexes (`body`)."""
    from scipy.sparse import csr_matrix

    ends, of_cell, weight = [], [], []
    start = 0
    for kind, corners in cells.blocks:
        volume = cells.volume[start : start + len(corners)]
        for pair, w in _springs(kind, body):
            _refuse_a_corner_twice(kind, corners[:, pair[0]] == corners[:, pair[1]])
            ends.append(corners[:, list(pair)])
            of_cell.append(start + np.arange(len(corners)))
            weight.append(w * volume)
        start += len(corners)
    every, cell, amount = np.concatenate(ends), np.concatenate(of_cell), np.concatenate(weight)
    pairs = unique_pairs(every, mesh.n)
    along = mesh.positions[pairs[:, 1]] - mesh.positions[pairs[:, 0]]
    length = np.linalg.norm(along, axis=1)
    _refuse_points_that_meet(pairs, length)
    spring = np.searchsorted(keys(pairs, mesh.n), keys(every, mesh.n))
    total = np.bincount(spring, weights=amount, minlength=len(pairs))
    share = csr_matrix((amount / total[spring], (cell, spring)), shape=(cells.many, len(pairs)))
    return Lattice(pairs, length, along / length[:, None], total / length**2, share)


def _springs(kind: Kind, body: bool) -> list[tuple[tuple[int, ...], float]]:
    """The pairs of corners of a cell, each with its weight."""
    around = {tuple(sorted((f[i], f[(i + 2) % len(f)]))) for f in kind.faces if len(f) > 3 for i in range(len(f))}
    across = sorted(around - {tuple(sorted(e)) for e in kind.edges})
    even = TRACE[kind.dimension] / (len(kind.edges) + len(across))
    edge, diagonal = WEIGHTS.get(kind.name, (even, even))
    found = [(e, edge) for e in kind.edges] + [(e, diagonal) for e in across]
    through = kind.body_diagonals if body else ()
    if not through:
        return found
    return [(e, w * (1 - THROUGH)) for e, w in found] + [(e, THROUGH * TRACE[3] / len(through)) for e in through]


def _refuse_a_corner_twice(kind: Kind, same: NDArray[np.bool_]) -> None:
    twice = np.flatnonzero(same)
    if len(twice):
        raise MeshError("it names a corner twice; taut.mesh.clean mends such cells", element=f"{kind.name} {twice[0]}")


def _refuse_points_that_meet(pairs: Int, length: Float) -> None:
    met = np.flatnonzero(length <= 0)
    if len(met):
        i, j = pairs[met[0]].tolist()
        raise MeshError(f"points {i} and {j} are in one place: a spring between them has no direction", element=f"spring {i}-{j}")
