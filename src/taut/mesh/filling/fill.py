"""A closed surface filled with tetrahedra.

"stuffing" is our own: the winding number says what is inside, and a lattice is cut off at the surface (`stuffing`). All angles are
good; creases are rounded off within one spacing. "tetwild" is fTetWild (Hu et al. 2020) through the package pytetwild: it follows
creases and bridges holes, and takes minutes where stuffing takes a second.
"""

from __future__ import annotations

import logging
import sys
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taut.errors import MeshError
from taut.extras import require
from taut.mesh.arguments import choice, length
from taut.mesh.filling.stuffing import stuff
from taut.mesh.filling.winding import Winding
from taut.mesh.isolated import Arrays, isolated
from taut.mesh.measure import enclosed_volume
from taut.mesh.mesh import Mesh
from taut.mesh.topology import components, edge_balance, pairs

_log = logging.getLogger("taut")
Float = NDArray[np.float64]
Int = NDArray[np.int64]

ENOUGH = 0.95  # of the volume: less is said
_PARTS = 30  # of the diagonal of the bounding box: the spacing when none is given
_TETWILD_SECONDS = 1800.0  # after which it is given up


def fill(mesh: Mesh, spacing: float | None = None, *, method: str = "stuffing") -> Mesh:
    """The inside of a surface as a mesh of tetrahedra, with positive volumes.

    mesh : faces that close; points at the same place count as one. Faces all turned inwards are taken as well as all outwards, and
        where closed parts overlap the whole is filled, but a part turned the other way inside another one is a cavity.
    spacing : length of the longest edges inside [m]; a thirtieth of the diagonal of the bounding box if not given
        (what is thinner than that may be lost, and the log says so)
    method : "stuffing", or "tetwild", which needs `pip install 'taut[tetwild]'` and takes a surface that is open too

    >>> from taut.mesh.shapes.surfaces import sphere
    >>> fill(sphere(16), 0.4)
    Mesh(175 points, 648 tet)
    """
    choice(method, "method", ("stuffing", "tetwild"))
    if not len(mesh.triangles):
        raise MeshError("there are no faces to fill")
    points, first, merged = np.unique(mesh.positions, axis=0, return_index=True, return_inverse=True)
    triangles = merged.reshape(-1)[mesh.triangles]
    corners = points[triangles]
    low, high = corners.min(axis=(0, 1)), corners.max(axis=(0, 1))
    if not (low < high).all():
        raise MeshError("the faces lie in a plane: there is nothing to fill")
    size = float(np.linalg.norm(high - low)) / _PARTS if spacing is None else length(spacing, "spacing")
    if method == "tetwild":
        return _by_tetwild(points, triangles, size)
    _check_closed(triangles, first, mesh.positions)
    winding = Winding(points, triangles)

    def inside(x: Float) -> Float:
        number, distance = winding.at(x)
        return np.where(number == 0, 1.0, -1.0) * np.minimum(distance, size)

    filled = stuff(inside, low, high, size)
    _say_what_is_lost(filled, abs(enclosed_volume(points, triangles)), _pieces(triangles), size)
    return filled


def _say_what_is_lost(filled: Mesh, volume: float, pieces: int, spacing: float) -> None:
    """Parts thinner than the spacing are lost, and what they held together falls apart: one line on the log."""
    part, now = float(filled.volumes.sum()) / volume, _pieces(filled.cells["tet"])
    if part < ENOUGH or now > pieces:
        _log.info(
            "filled with a spacing of %.3g m: %.0f %% of the volume, in %d pieces where the surface has %d; a smaller spacing "
            "keeps thin parts", spacing, 100 * part, now, pieces,
        )  # fmt: skip


def _pieces(cells: Int) -> int:
    """How many connected pieces cells make."""
    used, corner = np.unique(cells, return_inverse=True)
    star = pairs([(corner.reshape(cells.shape), tuple((0, i) for i in range(1, cells.shape[1])))])
    return int(components(star, len(used)).max()) + 1


def _check_closed(triangles: Int, name: Int, positions: Float) -> None:
    """Refuse a surface with an edge that is not run through as often in one direction as in the other; `name` is of a point."""
    edges, faces, balance = edge_balance(triangles, int(triangles.max()) + 1)
    for bad, problem, cure in (
        (faces == 1, "the surface is not closed: {} of its edges have one face only", "; method='tetwild' bridges holes"),
        (balance != 0, "the faces are not all turned the same way out: {} edges disagree", "; taut.mesh.oriented turns them"),
    ):
        if bad.any():
            a, b = name[edges[bad.argmax()]].tolist()
            raise MeshError(
                f"{problem.format(int(bad.sum()))}, such as that from point {a} to point {b} at {positions[a].tolist()}{cure}",
                element=f"edge {a}-{b}",
            )


def _by_tetwild(points: Float, triangles: Int, spacing: float) -> Mesh:
    require("tetwild", "pytetwild", "fillings with method='tetwild'")
    arrays, _ = isolated(
        "taut.mesh.filling.fill:_tetwild", {"points": points, "triangles": triangles}, {"spacing": spacing},
        what="filling the surface with tetwild", timeout=_TETWILD_SECONDS,
    )  # fmt: skip
    if not len(arrays["tets"]):
        raise MeshError(f"tetwild found nothing inside at a spacing of {spacing:g} m")
    return Mesh(arrays["points"], {"tet": arrays["tets"]})


def _tetwild(arrays: Arrays, *, spacing: float) -> tuple[Arrays, dict[str, Any]]:
    """What the child runs."""
    if find_spec("pyvista") is None:  # pytetwild imports it for methods that we do not call, and it would bring all of VTK
        sys.modules["pyvista"] = ModuleType("pyvista")
    tetrahedralize = import_module("pytetwild").tetrahedralize
    triangles = arrays["triangles"].astype(np.int32)
    points, tets = tetrahedralize(arrays["points"], triangles, edge_length_abs=spacing, vtk_ordering=True)  # that is, positive
    return {"points": points, "tets": tets.astype(np.int64)}, {}
