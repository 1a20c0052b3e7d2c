"""Formats of other programs (Abaqus, Nastran, MED, XDMF, Exodus, SU2…) through meshlane.

It runs in a child process, so that a crash, an exit or an endless loop of the package becomes a
MeshError. A kind of cell that a Mesh cannot hold is an error, so that nothing is dropped silently.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from taut.errors import MeshError
from taut.extras import require_extra
from taut.mesh.isolated import Arrays, call_isolated
from taut.mesh.mesh import Mesh

NAME = "a format that is only read"
CELLS: frozenset[str] = frozenset()
KEEPS: frozenset[str] = frozenset()
_KINDS = {  # meshlane's name → kind of a Mesh
    "line": "line",
    "triangle": "triangle",
    "quad": "quad",
    "tetra": "tet",
    "pyramid": "pyramid",
    "wedge": "wedge",
    "hexahedron": "hex",
}
_TIMEOUT = 300.0  # s


def read(path: Path, data: bytes) -> Mesh:
    """Return the mesh in a file that meshlane reads; raise MissingExtra if it is not installed."""
    require_extra("meshlane", "meshlane", f"{path}: {path.suffix} files")
    try:
        arrays, facts = call_isolated(
            "taut.mesh.files.meshlane:_read_in_child",
            {},
            {"path": str(path.absolute())},
            what="reading it with meshlane",
            timeout=_TIMEOUT,
        )
    except MeshError as error:
        raise MeshError(str(error), path=path) from None
    if facts["refused"]:
        raise MeshError(
            f"cells must be of first order and of a kind that a Mesh has, got {facts['refused']}",
            path=path,
        )
    parts = _split_keys(arrays)
    names = facts["names"]
    return Mesh(
        arrays["points"].astype(np.float64),
        {kind: cells.astype(np.int64) for kind, cells in parts["cells"].items()},
        groups=_sort_by_kind(parts["groups"], names),
        point_data={names[number]: values for number, values in parts["point_data"].items()},
        cell_data=_sort_by_kind(parts["cell_data"], names),
    )


def _split_keys(arrays: Arrays) -> dict[str, Arrays]:
    """Sort arrays called "part:name" by part and name."""
    parts: dict[str, Arrays] = {"cells": {}, "groups": {}, "point_data": {}, "cell_data": {}}
    for key, values in arrays.items():
        part, _, name = key.partition(":")
        if part in parts:
            parts[part][name] = values
    return parts


def _sort_by_kind(arrays: Arrays, names: dict[str, str]) -> dict[str, Any]:
    """Sort arrays called "number:kind" by the name with that number, and by kind."""
    by_name: dict[str, Any] = {}
    for key, values in arrays.items():
        number, _, kind = key.partition(":")
        by_name.setdefault(names[number], {})[kind] = values
    return by_name


def _read_in_child(arrays: Arrays, *, path: str) -> tuple[Arrays, dict[str, Any]]:
    """Read a file in the child process; return plain arrays with keys "part:name[:kind]".

    Names of groups and data are replaced by numbers, since a name may contain anything.
    """
    import meshlane

    mesh = meshlane.read(path)
    refused = ""
    for block in mesh.cells:
        if block.type not in _KINDS and block.type != "vertex":
            refused = block.type
            break
    out: Arrays = {"points": np.asarray(mesh.points)}
    names: dict[str, str] = {}
    blocks: list[tuple[str, int]] = []  # the kind of each block, and its first cell of that kind
    totals = dict.fromkeys(_KINDS.values(), 0)
    for block in mesh.cells:
        kind = _KINDS.get(block.type, "")
        blocks.append((kind, totals.get(kind, 0)))
        if kind:
            totals[kind] += len(block.data)
    for kind in totals:
        cells = [np.asarray(b.data) for b in mesh.cells if _KINDS.get(b.type) == kind]
        if cells and not refused:
            out[f"cells:{kind}"] = np.concatenate(cells)

    def number(name: str) -> str:
        names[str(len(names))] = name
        return str(len(names) - 1)

    for name, values in mesh.point_data.items():
        if np.asarray(values).dtype.kind in "biuf":
            out[f"point_data:{number(name)}"] = np.asarray(values)
    for name, members in (mesh.point_sets or {}).items():
        out[f"groups:{number(name)}:point"] = np.asarray(members, dtype=np.int64).ravel()
    for name, members_by_block in (mesh.cell_sets or {}).items():
        group = f"groups:{number(name)}"
        for (kind, first), members in zip(blocks, members_by_block, strict=True):
            if kind and members is not None and len(members):
                before = out.get(f"{group}:{kind}", np.empty(0, np.int64))
                added = first + np.asarray(members, dtype=np.int64).ravel()
                out[f"{group}:{kind}"] = np.concatenate([before, added])
    for name, values_by_block in mesh.cell_data.items():
        data = f"cell_data:{number(name)}"
        columns = [np.asarray(values) for values in values_by_block]
        for kind in totals:
            parts = [c for c, (k, _) in zip(columns, blocks, strict=True) if k == kind]
            if parts and all(part.dtype.kind in "biuf" for part in parts):
                out[f"{data}:{kind}"] = np.concatenate(parts)
    return out, {"refused": refused, "names": names}
