"""Write a Mesh as a GLB file with one mesh: a primitive for its triangles, one for its lines.

`split_at_seams` also serves the export of animations (`show/export/glb.py`).
"""

from __future__ import annotations

import json
import logging
import struct
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taut.arrays import Int, Single
from taut.errors import MeshError
from taut.mesh.files.glb._accessors import WIDTHS
from taut.mesh.files.glb._build import EXTRAS_KEY
from taut.mesh.files.glb.document import BIN, JSON, MAGIC
from taut.mesh.mesh import Mesh
from taut.mesh.parts import UV

_TYPES = {width: name for name, width in reversed(WIDTHS.items())}
_log = logging.getLogger("taut")
_FLOAT, _UNSIGNED = 5126, 5125
_MODES = {"triangle": 4, "line": 1}


class _Buffer:
    """Arrays one after another, with the accessors and views that describe them."""

    def __init__(self) -> None:
        self.pieces: list[bytes] = []
        self.size = 0
        self.views: list[dict[str, int]] = []
        self.accessors: list[dict[str, Any]] = []

    def add(self, array: NDArray[Any], component: int, **more: Any) -> int:
        """Add an array (count, width) of 4-byte numbers; return the number of its accessor."""
        content = array.tobytes()
        self.views.append({"buffer": 0, "byteOffset": self.size, "byteLength": len(content)})
        kind = {"componentType": component, "count": len(array), "type": _TYPES[array.shape[1]]}
        self.accessors.append({"bufferView": len(self.views) - 1, **kind, **more})
        self.pieces.append(content)
        self.size += len(content)
        return len(self.accessors) - 1


def format_file(mesh: Mesh) -> bytes:
    """Return the content of the file."""
    cells = {kind: mesh.cells[kind] for kind in _MODES if kind in mesh.cells}
    origin, coordinates = np.arange(mesh.n), None
    if mesh.uv is not None and "triangle" in cells and "triangle" in mesh.uv.corners:
        cells["triangle"], origin, coordinates = split_at_seams(cells["triangle"], mesh.uv, mesh.n)
    buffer = _Buffer()
    points = _to_single(mesh.positions, "the positions")[origin]
    low, high = (f(points, axis=0).tolist() if mesh.n else [0.0] * 3 for f in (np.min, np.max))
    attributes = {"POSITION": buffer.add(points, _FLOAT, min=low, max=high)}
    names = {}
    finite = {name: values for name, values in mesh.point_data.items() if np.isfinite(values).all()}
    gaps = [f"point_data.{name}" for name in mesh.point_data if name not in finite]
    if gaps:
        _log.info("left out what is not finite everywhere, as glTF requires: %s", ", ".join(gaps))
    for name, values in finite.items():
        table = values if values.ndim == 2 else values[:, None]
        if table.shape[1] not in _TYPES:
            raise MeshError(
                f"data in GLB must have {sorted(_TYPES)} numbers per point, "
                f"got {table.shape[1]} in '{name}'"
            )
        key = _choose_attribute(name, table.shape[1], attributes)
        names[key] = name
        attributes[key] = buffer.add(_to_single(table, f"the data '{name}'")[origin], _FLOAT)
    textured = {} if coordinates is None else {"TEXCOORD_0": buffer.add(coordinates, _FLOAT)}
    primitives = [
        {
            "attributes": attributes | (textured if kind == "triangle" else {}),
            "indices": buffer.add(array.astype("<u4").reshape(-1, 1), _UNSIGNED),
            "mode": _MODES[kind],
        }
        for kind, array in cells.items()
    ]
    extras = {"groups": _list_groups(mesh, origin), "point_data": names}
    document = {
        "asset": {"version": "2.0", "generator": "taut"},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": primitives, "extras": {EXTRAS_KEY: extras}}],
        "buffers": [{"byteLength": buffer.size}],
        "bufferViews": buffer.views,
        "accessors": buffer.accessors,
    }
    return _pack(document, b"".join(buffer.pieces))


def _pack(document: dict[str, Any], binary: bytes) -> bytes:
    text = json.dumps(document, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 4)
    length = 12 + 8 + len(text) + 8 + len(binary)
    head = struct.pack("<3I", MAGIC, 2, length)
    return (
        head
        + struct.pack("<2I", len(text), JSON)
        + text
        + struct.pack("<2I", len(binary), BIN)
        + binary
    )


def _to_single(array: NDArray[Any], what: str) -> Single:
    """Return 32-bit floats; raise if a number is too large."""
    with np.errstate(over="ignore", invalid="ignore"):
        single = array.astype("<f4")
    bad = np.flatnonzero((np.isinf(single) & np.isfinite(array)).any(axis=1))
    if len(bad):
        raise MeshError(
            f"{what} must fit 32-bit floats in GLB, got {array[bad[0]].tolist()}",
            element=f"point {bad[0]}",
        )
    return single


def _choose_attribute(name: str, width: int, taken: dict[str, int]) -> str:
    """Return the attribute of some data, in capitals; `extras` has the name itself."""
    if name == "color" and width in (3, 4):
        return "COLOR_0"
    key = f"_{name.upper()}"
    while key in taken:
        key += "_"
    return key


def _list_groups(mesh: Mesh, origin: Int) -> dict[str, dict[str, list[int]]]:
    """Return groups as lists; a copy of a point is in the groups of the point."""
    found: dict[str, dict[str, list[int]]] = {}
    for name, by_kind in mesh.groups.items():
        found[name] = {kind: members.tolist() for kind, members in by_kind.items()}
        if "point" in by_kind:
            found[name]["point"] = np.flatnonzero(np.isin(origin, by_kind["point"])).tolist()
    return found


def split_at_seams(triangles: Int, uv: UV, n: int) -> tuple[Int, Int, Single]:
    """Copy points so that each has one texture coordinate, which is all that glTF can store.

    Returns triangles on the new points, the old point of each new one, and the coordinates.
    """
    corner, point = uv.corners["triangle"].ravel(), triangles.ravel()
    table = _to_single(
        np.vstack([uv.coordinates, np.zeros((1, 2))]) * [1, -1] + [0, 1], "the texture coordinates"
    )
    different, number = np.unique(table, axis=0, return_inverse=True)
    number = number.reshape(-1)
    adopted = np.full(n, number[-1])
    given = np.flatnonzero(corner >= 0)[::-1]  # backwards: the first corner of a point wins
    adopted[point[given]] = number[corner[given]]
    chosen = np.where(corner >= 0, number[corner], adopted[point])
    pairs, first, which = np.unique(
        point * len(different) + chosen, return_index=True, return_inverse=True
    )
    owner, coordinate = pairs // len(different), pairs % len(different)
    extra = np.flatnonzero(coordinate != adopted[owner])
    extra = extra[np.argsort(first[extra])]
    place = owner.copy()
    place[extra] = n + np.arange(len(extra))
    origin = np.concatenate([np.arange(n), owner[extra]])
    coordinates = different[np.concatenate([adopted, coordinate[extra]])]
    return place[which.reshape(-1)].reshape(triangles.shape), origin, coordinates
