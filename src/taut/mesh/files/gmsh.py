"""Gmsh's MSH: versions 2.x, 4.0 and 4.1, as text or binary in either byte order; 4.1 as text is written.

A file is a row of sections, `$Name … $EndName`. Physical groups become groups under their names; those without one are called
"physical1", or "physical1_2d" where the number occurs in several dimensions. Physical points become points of a group. Points keep
the order of the file, whatever their numbers, and so do the cells of each kind. Values at nodes and elements become `point_data`
and `cell_data`, NaN where a section has none; a second section of the same name is "name@1". Other sections are left out: those
that only serve Gmsh, such as `$Periodic`, without a word, the others with a line on the log.
"""

from __future__ import annotations

import logging
import re
from pathlib import Path

from taut.errors import MeshError
from taut.mesh.files import gmsh2, gmsh4
from taut.mesh.files.gmsh_ascii import Ascii
from taut.mesh.files.gmsh_build import build
from taut.mesh.files.gmsh_bytes import Bytes
from taut.mesh.files.gmsh_data import read_data, read_names
from taut.mesh.files.gmsh_sections import Section, sections
from taut.mesh.files.gmsh_types import CODES, Raw
from taut.mesh.files.gmsh_write import text
from taut.mesh.files.text import shown
from taut.mesh.mesh import Mesh

NAME = "MSH"
CELLS = frozenset(CODES) - {"point"}
KEEPS = frozenset({"groups", "point_data", "cell_data"})

_log = logging.getLogger("taut")
_FIRST = ("PhysicalNames", "Entities", "PartitionedEntities")  # needed by the others, wherever they stand
_QUIET = ("Comments", "Periodic", "GhostElements", "InterpolationScheme", "Parametrizations")
_FORMAT = re.compile(rb"(\d+)(?:\.(\d+))?\s+([01])\s+(\d{1,9})")
_SAVE = "save it as MSH 4.1 (Mesh.MshFileVersion = 4.1)"


def read(path: Path, data: bytes) -> Mesh:
    """The mesh in a file.

    >>> nodes = b"$Nodes\\n3\\n7 0 0 0\\n5 1 0 0\\n9 0 1 0\\n$EndNodes\\n"
    >>> elements = b"$Elements\\n1\\n1 2 2 4 1 7 5 9\\n$EndElements\\n"
    >>> mesh = read(Path("one.msh"), b"$MeshFormat\\n2.2 0 8\\n$EndMeshFormat\\n" + nodes + elements)
    >>> mesh.cells["triangle"].tolist(), list(mesh.groups)
    ([[0, 1, 2]], ['physical4'])
    """
    major, minor, types, after = _head(path, data)
    raw = Raw()
    left_out: dict[str, None] = {}
    for section in sorted(sections(path, data, types is not None, after), key=lambda s: s.name not in _FIRST):
        if section.name == "PhysicalNames":
            read_names(raw, section)
        elif section.name == "NodeData":
            raw.node_data.append(read_data(section, types))
        elif section.name == "ElementData":
            raw.element_data.append(read_data(section, types))
        elif major == 2:
            _read2(raw, section, types, left_out)
        else:
            _read4(raw, section, types, left_out, minor == 0)
    names = [f"${name[:40]}" for name in left_out if name not in _QUIET]
    if names:
        _log.info("%s: left out: %s", path, ", ".join(names))
    if not raw.nodes:
        raise MeshError("it has no nodes: there is no section $Nodes, or it is empty", path=path)
    return build(raw, path, len(data))


def write(mesh: Mesh) -> bytes:
    """The mesh as MSH 4.1, text. Points in the plane get z = 0; each set of groups that cells share becomes an entity.

    >>> made = write(Mesh([[0, 0], [1, 0], [0, 1]], {"triangle": [[0, 1, 2]]}, groups={"edge": [0, 1]}))
    >>> read(Path("made.msh"), made).groups["edge"]["point"].tolist()
    [0, 1]
    """
    return text(mesh)


def _head(path: Path, data: bytes) -> tuple[int, int, dict[str, str] | None, int]:
    """Version, how numbers are stored (None: as text), and where the other sections begin."""
    start = data.lstrip()[:12]
    if start.startswith((b"$NOD", b"$ParametricN")):
        raise MeshError(f"this is MSH 1, which is not read; {_SAVE}", path=path)
    if start.startswith(b"("):
        raise MeshError("this looks like a mesh of Fluent, not of Gmsh, though both are called .msh", path=path)
    first = next(sections(path, data, True), None)
    if first is None or first.name != "MeshFormat":
        raise MeshError("an MSH file begins with $MeshFormat", path=path, line=1)
    line, at = first.line(first.start, "the version")
    found = _FORMAT.fullmatch(line)
    if found is None:
        raise first.error(f"{shown(line)} is not 'version 0 8' or 'version 1 8'", first.start)
    version = int(found[1][:9]), int((found[2] or b"0")[:9])
    if version[0] != 2 and version not in ((4, 0), (4, 1)):
        raise first.error(f"MSH {version[0]}.{version[1]} is not read; {_SAVE}", first.start)
    after = first.end + len(b"$EndMeshFormat")
    if found[3] == b"0":
        return *version, None, after
    order = {b"\1\0\0\0": "<", b"\0\0\0\1": ">"}.get(data[at : at + 4])
    if order is None:
        raise first.error("the four bytes after the version are not the number 1 in either byte order", at)
    size = int(found[4])
    if size not in ((4, 8) if version == (4, 1) else (8,)):
        raise first.error(f"numbers of {size} bytes are not read", first.start)
    return *version, {"int": f"{order}i4", "size": f"{order}u{size}", "double": f"{order}f8"}, after


def _read2(raw: Raw, section: Section, types: dict[str, str] | None, left_out: dict[str, None]) -> None:
    """Add a section of MSH 2, or its name to `left_out`."""
    if section.name == "Nodes":
        gmsh2.read_nodes(raw, section, types)
    elif section.name == "Elements":
        gmsh2.read_elements(raw, section, types)
    elif section.name == "ParametricNodes":
        raise section.error("nodes with parameters are not read in MSH 2; save with Mesh.SaveParametric = 0", section.start)
    else:
        left_out[section.name] = None


def _read4(raw: Raw, section: Section, types: dict[str, str] | None, left_out: dict[str, None], old: bool) -> None:
    """Add a section of MSH 4, or its name to `left_out`; `old` is 4.0."""
    if section.name in ("Entities", "PartitionedEntities", "Nodes", "Elements"):
        stream = Ascii(section) if types is None else Bytes(section, types)
        gmsh4.read_section(raw, section, stream, old=old)
    else:
        left_out[section.name] = None
