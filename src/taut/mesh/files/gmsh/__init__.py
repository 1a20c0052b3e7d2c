"""Gmsh's MSH 2.x, 4.0 and 4.1, as text or binary in either byte order; written as 4.1, text.

A file consists of sections, `$Name … $EndName`. Physical groups become groups under their names;
those without one are called "physical1", or "physical1_2d" where the number occurs in several
dimensions. Physical points become points of a group. Points keep the order of the file, whatever
their tags, and so do the cells of each kind. Values at nodes and elements become `point_data` and
`cell_data`, NaN where a section has none; a second section of the same name is "name@1". Other
sections are not kept: those that only Gmsh needs, such as `$Periodic`, silently, the others with a
line on the log.

_sections        the sections of a file, and the records read from them
_streams         the numbers of a section, as text or as bytes
_msh2, _msh4     nodes and elements of MSH 2.x; entities, nodes and elements of MSH 4.x
_build           the Mesh: tags become indices, values arrays
_write           write a Mesh
"""

from __future__ import annotations

import logging
import re
from pathlib import Path

from taut.errors import MeshError
from taut.mesh.files.gmsh import _msh2, _msh4
from taut.mesh.files.gmsh._build import build_mesh
from taut.mesh.files.gmsh._sections import CODES, Data, Records, Section, split_sections
from taut.mesh.files.gmsh._streams import ByteStream, Fields, TextStream
from taut.mesh.files.gmsh._write import format_file
from taut.mesh.files.numbers import quote_word
from taut.mesh.mesh import Mesh

NAME = "MSH"
CELLS = frozenset(CODES) - {"point"}
KEEPS = frozenset({"groups", "point_data", "cell_data"})

_log = logging.getLogger("taut")
_READ_FIRST = ("PhysicalNames", "Entities", "PartitionedEntities")  # the others refer to them
_SILENT = ("Comments", "Periodic", "GhostElements", "InterpolationScheme", "Parametrizations")
_NAME = re.compile(rb'(?:(\d{1,18})\s+)?(\d{1,18})\s+"(.*)"')
_FORMAT = re.compile(rb"(\d+)(?:\.(\d+))?\s+([01])\s+(\d{1,9})")
_ADVICE = "save it as MSH 4.1 (Mesh.MshFileVersion = 4.1)"


def read(path: Path, data: bytes) -> Mesh:
    """Return the mesh in a file.

    >>> nodes = b"$Nodes\\n3\\n7 0 0 0\\n5 1 0 0\\n9 0 1 0\\n$EndNodes\\n"
    >>> elements = b"$Elements\\n1\\n1 2 2 4 1 7 5 9\\n$EndElements\\n"
    >>> start = b"$MeshFormat\\n2.2 0 8\\n$EndMeshFormat\\n"
    >>> mesh = read(Path("one.msh"), start + nodes + elements)
    >>> mesh.cells["triangle"].tolist(), list(mesh.groups)
    ([[0, 1, 2]], ['physical4'])
    """
    major, minor, types, after = _read_format(path, data)
    records = Records()
    left_out: dict[str, None] = {}
    sections = list(split_sections(path, data, types is not None, after))
    first = [section for section in sections if section.name in _READ_FIRST]
    others = [section for section in sections if section.name not in _READ_FIRST]
    for section in [*first, *others]:
        if section.name == "PhysicalNames":
            _read_names(records, section)
        elif section.name == "NodeData":
            records.node_data.append(_read_data(section, types))
        elif section.name == "ElementData":
            records.element_data.append(_read_data(section, types))
        elif major == 2:
            _read_section_2(records, section, types, left_out)
        else:
            _read_section_4(records, section, types, left_out, minor == 0)
    names = [f"${name[:40]}" for name in left_out if name not in _SILENT]
    if names:
        _log.info("%s: left out: %s", path, ", ".join(names))
    if not records.nodes:
        raise MeshError(
            "the file must have nodes, got no section $Nodes or an empty one", path=path
        )
    return build_mesh(records, path, len(data))


def write(mesh: Mesh) -> bytes:
    """Return the mesh as MSH 4.1, text. Points in the plane get z = 0.

    >>> cells = {"triangle": [[0, 1, 2]]}
    >>> mesh = Mesh([[0, 0], [1, 0], [0, 1]], cells, groups={"edge": [0, 1]})
    >>> read(Path("made.msh"), write(mesh)).groups["edge"]["point"].tolist()
    [0, 1]
    """
    return format_file(mesh)


def _read_format(path: Path, data: bytes) -> tuple[int, int, dict[str, str] | None, int]:
    """Return version, how numbers are stored (None for text), and where other sections begin."""
    start = data.lstrip()[:12]
    if start.startswith((b"$NOD", b"$ParametricN")):
        raise MeshError(f"the version must be 2, 4.0 or 4.1, got 1; {_ADVICE}", path=path)
    if start.startswith(b"("):
        raise MeshError(
            "must be a mesh of Gmsh, got one of Fluent, whose files are called .msh too", path=path
        )
    first = next(split_sections(path, data, True), None)
    if first is None or first.name != "MeshFormat":
        raise MeshError("the file must start with $MeshFormat", path=path, line=1)
    line, at = first.read_line(first.start, "the version")
    found = _FORMAT.fullmatch(line)
    if found is None:
        raise first.error(
            f"must be 'version 0 8' or 'version 1 8', got {quote_word(line)}", first.start
        )
    version = int(found[1][:9]), int((found[2] or b"0")[:9])
    if version[0] != 2 and version not in ((4, 0), (4, 1)):
        raise first.error(
            f"the version must be 2, 4.0 or 4.1, got {version[0]}.{version[1]}; {_ADVICE}",
            first.start,
        )
    after = first.end + len(b"$EndMeshFormat")
    if found[3] == b"0":
        return *version, None, after
    order = {b"\1\0\0\0": "<", b"\0\0\0\1": ">"}.get(data[at : at + 4])
    if order is None:
        raise first.error(
            "the four bytes after the version must be the number 1 in either byte order", at
        )
    size = int(found[4])
    possible = (4, 8) if version == (4, 1) else (8,)
    if size not in possible:
        raise first.error(f"the size of numbers must be 8 bytes, got {size}", first.start)
    types = {"int": f"{order}i4", "size": f"{order}u{size}", "double": f"{order}f8"}
    return *version, types, after


def _read_section_2(
    records: Records, section: Section, types: dict[str, str] | None, left_out: dict[str, None]
) -> None:
    """Add a section of MSH 2, or its name to `left_out`."""
    if section.name == "Nodes":
        _msh2.read_nodes(records, section, types)
    elif section.name == "Elements":
        _msh2.read_elements(records, section, types)
    elif section.name == "ParametricNodes":
        raise section.error(
            "nodes must have no parameters in MSH 2; save with Mesh.SaveParametric = 0",
            section.start,
        )
    else:
        left_out[section.name] = None


def _read_section_4(
    records: Records,
    section: Section,
    types: dict[str, str] | None,
    left_out: dict[str, None],
    old: bool,
) -> None:
    """Add a section of MSH 4, or its name to `left_out`; `old` is 4.0."""
    if section.name in ("Entities", "PartitionedEntities", "Nodes", "Elements"):
        stream = TextStream(section) if types is None else ByteStream(section, types)
        _msh4.read_section(records, section, stream, old=old)
    else:
        left_out[section.name] = None


def _read_names(records: Records, section: Section) -> None:
    """Add the names of physical groups: `dimension number "name"`; MSH 2.0 has no dimension."""
    count, at = section.read_count(section.start, "the number of names")
    for i in range(count):
        here = at
        text, at = section.read_line(at, f"name {i} of {count}")
        found = _NAME.fullmatch(text)
        if found is None:
            raise section.error(
                f"must be 'dimension number \"name\"', got {quote_word(text)}", here, f"name {i}"
            )
        dimensions = range(4) if found[1] is None else [int(found[1])]
        for dimension in dimensions:
            records.names[dimension, int(found[2])] = _decode(found[3])
    if section.data[at : section.end].strip():
        raise section.error(f"the section must end after its {count} names, got more", at)


def _read_data(section: Section, types: dict[str, str] | None) -> Data:
    """Return the values of a section at some nodes or elements.

    The head is text in binary files too: the number of strings, then the strings, of which the
    first is the name; the same with reals, and with integers: time step, components, values.
    """
    strings, at = _read_lines(section, section.start, "string")
    _, at = _read_lines(section, at, "real")
    head = at
    integers, at = _read_lines(section, at, "integer")
    numbers = [int(word) if re.fullmatch(rb"-?\d{1,18}", word) else -1 for word in integers]
    if len(numbers) < 3 or min(numbers[1:3]) < 0:
        raise section.error(
            "the integers must be a time step, a number of components and a number of values", head
        )
    width, count = numbers[1:3]
    if width > section.end - section.start:
        raise section.error(
            f"values must have as many components as fit the section, got {width}", head
        )
    fields: Fields = (("int", 1), ("double", width))
    stream = TextStream(section, at) if types is None else ByteStream(section, types, at)
    start = stream.at
    tags, values = stream.take_records(count, fields, "value")
    stride = (stream.at - start) // max(count, 1)
    stream.check_end()
    name = section.name
    if strings:
        quoted = re.fullmatch(rb'"(.*)"', strings[0])
        name = _decode(quoted[1] if quoted else strings[0])
    return Data(name, tags[:, 0], values, stream, start, stride)


def _read_lines(section: Section, at: int, what: str) -> tuple[list[bytes], int]:
    """Read a count and that many lines; return them, and where the next line begins."""
    count, at = section.read_count(at, f"the number of {what}s")
    found = []
    for i in range(count):
        text, at = section.read_line(at, f"{what} {i} of {count}")
        found.append(text)
    return found, at


def _decode(text: bytes) -> str:
    """Decode UTF-8, or else Latin-1, which older Windows programs write."""
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError:
        return text.decode("latin-1")
