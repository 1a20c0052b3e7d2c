"""Stanford PLY, text and binary: vertices, faces of any size, edges, triangle strips. `ply_mesh` says what properties become."""

from __future__ import annotations

from pathlib import Path

from taut.mesh.files.binary import Binary
from taut.mesh.files.ply_body import Table, from_binary
from taut.mesh.files.ply_header import header_size, parse
from taut.mesh.files.ply_mesh import mesh_from
from taut.mesh.files.ply_text import Text
from taut.mesh.files.ply_write import write
from taut.mesh.files.text import Rows
from taut.mesh.mesh import Mesh

__all__ = ["CELLS", "KEEPS", "NAME", "read", "write"]

NAME = "PLY"
CELLS = frozenset({"line", "triangle", "quad", "polygon"})
KEEPS = frozenset({"groups", "point_data", "cell_data", "uv"})
BREAKS = (b"", b"\n", b"\r\n", b"\r")  # what may stand behind the last element of a binary file


def read(path: Path, data: bytes) -> Mesh:
    """The mesh in a PLY file."""
    start = header_size(data)
    form, header = parse(Rows(path, data[:start], comment=b""))
    elements = [element for element in header if element.count or element.name == "vertex"]
    tables: dict[str, Table] = {}
    if form == "ascii":
        text = Text(path, data, start)
        for element in elements:
            tables[element.name] = text.take(element)
        text.end()
    else:
        binary = Binary(path, data, start)
        for element in elements:
            tables[element.name] = from_binary(binary, element)
        if data[binary.at : binary.at + 3] not in BREAKS:
            raise binary.error(f"the file goes on after its last element; {binary.left} bytes are too many")
    return mesh_from(path, len(data), tables)
