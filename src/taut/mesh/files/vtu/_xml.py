"""Parse the XML of a .vtu file: its arrays, with their attributes, text and line.

Document types are rejected, and with them entities, so that nothing outside the file is read. Raw
appended data are not XML and are cut out first.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from xml.parsers import expat

from taut.errors import MeshError

SECTIONS = ("Points", "Cells", "PointData", "CellData")
_APPENDED = re.compile(rb"<AppendedData\b[^<>]*[^<>/]>\s*_")


@dataclass
class Array:
    """One <DataArray> (or <Array>): its attributes, its text and the line on which it begins."""

    attributes: dict[str, str]
    line: int
    text: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The array's name, or an empty string."""
        return self.attributes.get("Name", "")


@dataclass
class Piece:
    """One <Piece>: its attributes, its line, and its arrays by section."""

    attributes: dict[str, str]
    line: int
    arrays: dict[str, list[Array]] = field(default_factory=lambda: {name: [] for name in SECTIONS})


@dataclass
class Document:
    """The file: attributes of <VTKFile>, pieces, names of field arrays, and the appended data."""

    path: Path
    attributes: dict[str, str] = field(default_factory=dict)
    line: int = 1  # of the element <VTKFile>
    pieces: list[Piece] = field(default_factory=list)
    fields: list[str] = field(default_factory=list)
    appended: memoryview = field(default_factory=lambda: memoryview(b""))
    appended_at: int = 0  # first byte of the appended data in the file
    encoding: str = "base64"

    def error(self, message: str, line: int | None = None, element: str | None = None) -> MeshError:
        """Return an error on a line."""
        return MeshError(message, path=self.path, line=line, element=element)


def parse_document(path: Path, data: bytes) -> Document:
    """Return the content of the XML.

    >>> grid = b'<UnstructuredGrid><Piece NumberOfPoints="0"/></UnstructuredGrid>'
    >>> text = b'<VTKFile type="UnstructuredGrid">' + grid + b"</VTKFile>"
    >>> parse_document(Path("a.vtu"), text).pieces[0].attributes
    {'NumberOfPoints': '0'}
    """
    document = Document(path)
    xml = data
    cut = _APPENDED.search(data)
    if cut:
        end = data.rfind(b"</AppendedData", cut.end())
        if end < 0:
            raise MeshError(f"the file ends in the appended data (byte {len(data)})", path=path)
        document.appended, document.appended_at = memoryview(data)[cut.end() : end], cut.end()
        xml = data[: cut.end()] + data[end:]
    _Handler(document).parse(xml)
    return document


class _Handler:
    """Receives the events of expat and fills a document."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.stack: list[str] = []
        self.array: Array | None = None
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self._start_element
        self.parser.EndElementHandler = self._end_element
        self.parser.CharacterDataHandler = self._add_text
        self.parser.StartDoctypeDeclHandler = self._reject_doctype

    def parse(self, xml: bytes) -> None:
        try:
            self.parser.Parse(xml, True)
        except expat.ExpatError as error:
            raise self.document.error(
                f"the file must be well-formed XML, got: {expat.ErrorString(error.code)}",
                error.lineno,
            ) from None
        except (LookupError, ValueError) as error:  # an encoding that Python does not have
            raise self.document.error(
                f"the XML must be in a known encoding, got: {error}", self.parser.CurrentLineNumber
            ) from None

    def _reject_doctype(self, *_: object) -> None:
        raise self.document.error("VTK files must not have a document type", self._line)

    @property
    def _line(self) -> int:
        return self.parser.CurrentLineNumber

    def _start_element(self, tag: str, attributes: dict[str, str]) -> None:
        document = self.document
        parent = self.stack[-1] if self.stack else ""
        self.stack.append(tag)
        if len(self.stack) == 1:
            self._check_root(tag, attributes)
        elif tag == "Piece" and parent == "UnstructuredGrid":
            document.pieces.append(Piece(attributes, self._line))
        elif tag in ("DataArray", "Array") and parent in SECTIONS and document.pieces:
            self.array = Array(attributes, self._line)
            document.pieces[-1].arrays[parent].append(self.array)
        elif tag in ("DataArray", "Array") and parent == "FieldData":
            document.fields.append(attributes.get("Name", ""))
        elif tag == "AppendedData":
            document.encoding = attributes.get("encoding", "base64")

    def _check_root(self, tag: str, attributes: dict[str, str]) -> None:
        if tag != "VTKFile":
            raise self.document.error(
                f"the file must start with <VTKFile>, got <{tag[:40]}>", self._line
            )
        kind = attributes.setdefault("type", "")
        if kind != "UnstructuredGrid":
            advice = "make it an unstructured grid first, as ParaView's Append Datasets does"
            raise self.document.error(
                f"the type must be 'UnstructuredGrid', got {kind[:40]!r}; {advice}", self._line
            )
        self.document.attributes, self.document.line = attributes, self._line

    def _end_element(self, _: str) -> None:
        self.stack.pop()
        if self.array is not None and self.stack[-1] in SECTIONS:
            self.array = None

    def _add_text(self, text: str) -> None:
        # The text of an element inside an array, such as <InformationKey>, is not the array's.
        if self.array is not None and self.stack[-1] in ("DataArray", "Array"):
            self.array.text.append(text)
