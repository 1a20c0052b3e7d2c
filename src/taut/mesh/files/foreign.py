"""Formats of other programs (Abaqus, Nastran, MED, XDMF, Exodus, SU2…) through the package meshlane.

It runs in a child interpreter, where a crash, an exit or an endless loop of the library is an error of ours. Kinds of cell that a
Mesh cannot hold are refused, so nothing is dropped in silence.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from taut.errors import MeshError
from taut.extras import require
from taut.mesh.isolated import Arrays, isolated
from taut.mesh.mesh import Mesh

NAME = "a format that is only read"
CELLS: frozenset[str] = frozenset()
KEEPS: frozenset[str] = frozenset()
EXTENSIONS = (
    ".inp", ".cdb", ".bdf", ".nas", ".fem", ".med", ".xdmf", ".xmf", ".e", ".exo", ".ex2", ".cgns", ".su2", ".ugrid", ".avs",
    ".vol", ".mdpa", ".f3grid", ".meshb", ".tec",
)  # fmt: skip
KINDS = {
    "line": "line", "triangle": "triangle", "quad": "quad", "tetra": "tet", "pyramid": "pyramid", "wedge": "wedge",
    "hexahedron": "hex",
}  # fmt: skip
SECONDS = 300.0


def read(path: Path, data: bytes) -> Mesh:
    """The mesh in a file that meshlane knows; MissingExtra where that is not installed."""
    require("meshlane", "meshlane", f"{path}: {path.suffix} files")
    try:
        arrays, facts = isolated(
            "taut.mesh.files.foreign:_read", {}, {"path": str(path.absolute())}, what="reading it with meshlane", timeout=SECONDS
        )
    except MeshError as error:
        raise MeshError(str(error), path=path) from None
    if facts["refused"]:
        raise MeshError(f"it has {facts['refused']} cells, which a Mesh cannot hold; save first-order cells", path=path)
    points = arrays["points"].astype(np.float64)
    part = _parts(arrays)
    return Mesh(
        points,
        {kind: c.astype(np.int64) for kind, c in part["cells"].items()},
        groups=_by_kind(part["groups"], facts["names"]),
        point_data={facts["names"][number]: values for number, values in part["point_data"].items()},
        cell_data=_by_kind(part["cell_data"], facts["names"]),
    )


def _parts(arrays: Arrays) -> dict[str, Arrays]:
    """Arrays called "part:name" by part and name."""
    found: dict[str, Arrays] = {"cells": {}, "groups": {}, "point_data": {}, "cell_data": {}}
    for key, values in arrays.items():
        part, _, name = key.partition(":")
        if part in found:
            found[part][name] = values
    return found


def _by_kind(arrays: Arrays, names: dict[str, str]) -> dict[str, Any]:
    """Arrays called "number:kind" by the name of that number, and kind."""
    found: dict[str, Any] = {}
    for key, values in arrays.items():
        number, _, kind = key.partition(":")
        found.setdefault(names[number], {})[kind] = values
    return found


def _read(arrays: Arrays, *, path: str) -> tuple[Arrays, dict[str, Any]]:
    """What the child runs: everything as plain arrays. Names are numbered, since they may hold anything."""
    import meshlane

    mesh = meshlane.read(path)
    refused = next((block.type for block in mesh.cells if block.type not in {**KINDS, "vertex": ""}), "")
    out: Arrays = {"points": np.asarray(mesh.points)}
    names: dict[str, str] = {}
    starts, total = [], dict.fromkeys(KINDS.values(), 0)
    for block in mesh.cells:
        kind = KINDS.get(block.type, "")
        starts.append((kind, total.get(kind, 0)))
        if kind:
            total[kind] += len(block.data)
    for kind in total:
        blocks = [np.asarray(b.data) for b in mesh.cells if KINDS.get(b.type) == kind]
        if blocks and not refused:
            out[f"cells:{kind}"] = np.concatenate(blocks)

    def number(name: str) -> str:
        names[str(len(names))] = name
        return str(len(names) - 1)

    for name, values in mesh.point_data.items():
        if np.asarray(values).dtype.kind in "biuf":
            out[f"point_data:{number(name)}"] = np.asarray(values)
    for name, members in (mesh.point_sets or {}).items():
        out[f"groups:{number(name)}:point"] = np.asarray(members, dtype=np.int64).ravel()
    for name, per_block in (mesh.cell_sets or {}).items():
        key = number(name)
        for (kind, start), members in zip(starts, per_block, strict=True):
            if kind and members is not None and len(members):
                before = out.get(f"groups:{key}:{kind}", np.empty(0, np.int64))
                out[f"groups:{key}:{kind}"] = np.concatenate([before, start + np.asarray(members, dtype=np.int64).ravel()])
    for name, per_block in mesh.cell_data.items():
        key, columns = number(name), [np.asarray(values) for values in per_block]
        for kind in total:
            parts = [c for c, (k, _) in zip(columns, starts, strict=True) if k == kind]
            if parts and all(p.dtype.kind in "biuf" for p in parts):
                out[f"cell_data:{key}:{kind}"] = np.concatenate(parts)
    return out, {"refused": refused, "names": names}
