"""Fill a closed surface with tetrahedra.

Method "stuffing" (`stuffing.py`) classifies lattice points by the winding number and cuts the
lattice off at the surface. All angles are good; creases are rounded within one spacing. "tetwild":
fTetWild (Hu et al. 2020) through the package pytetwild: it follows creases and bridges holes, and
takes minutes where stuffing takes a second.
"""

from __future__ import annotations

import logging
import sys
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

import numpy as np

from taut.arrays import Float, Int
from taut.errors import MeshError
from taut.extras import require_extra
from taut.mesh.arguments import check_choice, check_length
from taut.mesh.filling.stuffing import stuff
from taut.mesh.filling.winding import Winding
from taut.mesh.isolated import Arrays, call_isolated
from taut.mesh.measure import enclosed_volume
from taut.mesh.mesh import Mesh
from taut.mesh.topology import components, edge_balance, pairs

_log = logging.getLogger("taut")

_WARN_BELOW = 0.95  # fraction of the enclosed volume that must be filled
_DEFAULT_CELLS = 30  # spacings along the diagonal of the bounding box, unless given
_TETWILD_TIMEOUT = 1800.0  # [s]


def fill(mesh: Mesh, spacing: float | None = None, *, method: str = "stuffing") -> Mesh:
    """Fill a closed surface with tetrahedra of positive volume.

    mesh : closed faces; coincident points count as one. Faces may all point inwards or all
        outwards. Where closed parts overlap, their union is filled; a part of opposite orientation
        inside another is a cavity.
    spacing : length of the longest edges inside [m], by default a thirtieth of the diagonal of the
        bounding box; thinner parts may be lost, which is logged
    method : "stuffing", or "tetwild", which needs `pip install 'taut[tetwild]'` and takes a surface
        that is open too

    >>> from taut.mesh.shapes.surfaces import sphere
    >>> fill(sphere(16), 0.4)
    Mesh(175 points, 648 tet)
    """
    check_choice(method, "method", ("stuffing", "tetwild"))
    if not len(mesh.triangles):
        raise MeshError("the mesh must have faces to fill, got no faces")
    points, first, merged = np.unique(
        mesh.positions, axis=0, return_index=True, return_inverse=True
    )
    triangles = merged.reshape(-1)[mesh.triangles]
    corners = points[triangles]
    low, high = corners.min(axis=(0, 1)), corners.max(axis=(0, 1))
    if not (low < high).all():
        raise MeshError("the faces must enclose a volume, got faces in a plane")
    size = (
        float(np.linalg.norm(high - low)) / _DEFAULT_CELLS
        if spacing is None
        else check_length(spacing, "spacing")
    )
    if method == "tetwild":
        return _fill_with_tetwild(points, triangles, size)
    _check_closed(triangles, first, mesh.positions)
    winding = Winding(points, triangles)

    def inside(x: Float) -> Float:
        number, distance = winding.at(x)
        return np.where(number == 0, 1.0, -1.0) * np.minimum(distance, size)

    filled = stuff(inside, low, high, size)
    _log_losses(filled, abs(enclosed_volume(points, triangles)), _count_pieces(triangles), size)
    return filled


def _log_losses(filled: Mesh, volume: float, pieces: int, spacing: float) -> None:
    """Log if thin parts were lost, or pieces fell apart because of it."""
    part, now = float(filled.volumes.sum()) / volume, _count_pieces(filled.cells["tet"])
    if part < _WARN_BELOW or now > pieces:
        _log.info(
            "filled with a spacing of %.3g m: %.0f %% of the volume, in %d pieces where the "
            "surface has %d; a smaller spacing keeps thin parts",
            spacing,
            100 * part,
            now,
            pieces,
        )


def _count_pieces(cells: Int) -> int:
    """Return the number of connected pieces of cells."""
    used, corner = np.unique(cells, return_inverse=True)
    star = pairs([(corner.reshape(cells.shape), tuple((0, i) for i in range(1, cells.shape[1])))])
    return int(components(star, len(used)).max()) + 1


def _check_closed(triangles: Int, name: Int, positions: Float) -> None:
    """Raise unless every edge is traversed equally often in both directions.

    name : the number in the mesh of each of the merged points
    """
    edges, faces, balance = edge_balance(triangles, int(triangles.max()) + 1)
    for bad, problem, cure in (
        (
            faces == 1,
            "the surface is not closed: {} of its edges belong to one face only",
            "; method='tetwild' bridges holes",
        ),
        (
            balance != 0,
            "the faces are not consistently oriented: {} edges disagree",
            "; use taut.mesh.oriented",
        ),
    ):
        if bad.any():
            a, b = name[edges[bad.argmax()]].tolist()
            raise MeshError(
                f"{problem.format(int(bad.sum()))}, such as that from point {a} to point {b} "
                f"at {positions[a].tolist()}{cure}",
                element=f"edge {a}-{b}",
            )


def _fill_with_tetwild(points: Float, triangles: Int, spacing: float) -> Mesh:
    require_extra("tetwild", "pytetwild", "fillings with method='tetwild'")
    arrays, _ = call_isolated(
        "taut.mesh.filling.fill:_run_tetwild",
        {"points": points, "triangles": triangles},
        {"spacing": spacing},
        what="filling the surface with tetwild",
        timeout=_TETWILD_TIMEOUT,
    )
    if not len(arrays["tets"]):
        raise MeshError(
            f"the surface must enclose a volume; tetwild found none at a spacing of {spacing:g} m"
        )
    return Mesh(arrays["points"], {"tet": arrays["tets"]})


def _run_tetwild(arrays: Arrays, *, spacing: float) -> tuple[Arrays, dict[str, Any]]:
    """Fill a surface; runs in the child process."""
    # pytetwild imports pyvista for methods that are not called here; an empty module avoids the
    # dependency on all of VTK.
    if find_spec("pyvista") is None:
        sys.modules["pyvista"] = ModuleType("pyvista")
    tetrahedralize = import_module("pytetwild").tetrahedralize
    triangles = arrays["triangles"].astype(np.int32)
    # In the order of VTK volumes are positive.
    points, tets = tetrahedralize(
        arrays["points"], triangles, edge_length_abs=spacing, vtk_ordering=True
    )
    return {"points": points, "tets": tets.astype(np.int64)}, {}
