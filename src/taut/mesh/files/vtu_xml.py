"""The XML around the arrays of a .vtu file: which arrays there are, with their attributes, text and lines.

Document types are refused, and with them entities; nothing outside the file is looked at. Raw appended data are no XML and are cut
out before it is parsed.
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
        """Empty if it has none."""
        return self.attributes.get("Name", "")


@dataclass
class Piece:
    """One <Piece>: its attributes, its line, and its arrays by section."""

    attributes: dict[str, str]
    line: int
    arrays: dict[str, list[Array]] = field(default_factory=lambda: {name: [] for name in SECTIONS})


@dataclass
class Document:
    """The file: attributes of <VTKFile>, pieces, names of arrays of no piece, and the appended data."""

    path: Path
    attributes: dict[str, str] = field(default_factory=dict)
    line: int = 1  # of <VTKFile>
    pieces: list[Piece] = field(default_factory=list)
    fields: list[str] = field(default_factory=list)
    appended: memoryview = field(default_factory=lambda: memoryview(b""))
    appended_at: int = 0  # the byte of the file at which they begin
    encoding: str = "base64"

    def error(self, message: str, line: int | None = None, element: str | None = None) -> MeshError:
        """An error on a line."""
        return MeshError(message, path=self.path, line=line, element=element)


def parse(path: Path, data: bytes) -> Document:
    """What the XML says.

    >>> text = b'<VTKFile type="UnstructuredGrid"><UnstructuredGrid><Piece NumberOfPoints="0"/></UnstructuredGrid></VTKFile>'
    >>> parse(Path("a.vtu"), text).pieces[0].attributes
    {'NumberOfPoints': '0'}
    """
    document = Document(path)
    xml = data
    cut = _APPENDED.search(data)
    if cut:
        end = data.rfind(b"</AppendedData", cut.end())
        if end < 0:
            raise MeshError(f"the file ends inside the appended data (byte {len(data)})", path=path)
        document.appended, document.appended_at = memoryview(data)[cut.end() : end], cut.end()
        xml = data[: cut.end()] + data[end:]
    _Handler(document).run(xml)
    return document


class _Handler:
    """Takes what expat reports into a document."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.stack: list[str] = []
        self.array: Array | None = None
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._text
        self.parser.StartDoctypeDeclHandler = self._doctype

    def run(self, xml: bytes) -> None:
        try:
            self.parser.Parse(xml, True)
        except expat.ExpatError as error:
            raise self.document.error(f"it is not well-formed XML: {expat.ErrorString(error.code)}", error.lineno) from None
        except (LookupError, ValueError) as error:  # an encoding that Python does not have
            raise self.document.error(f"its XML cannot be decoded: {error}", self.parser.CurrentLineNumber) from None

    def _doctype(self, *_: object) -> None:
        raise self.document.error("it has a document type, which VTK files never have and which is not read", self._line)

    @property
    def _line(self) -> int:
        return self.parser.CurrentLineNumber

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        document, parent = self.document, self.stack[-1] if self.stack else ""
        self.stack.append(tag)
        if len(self.stack) == 1:
            self._root(tag, attributes)
        elif tag == "Piece" and parent == "UnstructuredGrid":
            document.pieces.append(Piece(attributes, self._line))
        elif tag in ("DataArray", "Array") and parent in SECTIONS and document.pieces:
            self.array = Array(attributes, self._line)
            document.pieces[-1].arrays[parent].append(self.array)
        elif tag in ("DataArray", "Array") and parent == "FieldData":
            document.fields.append(attributes.get("Name", ""))
        elif tag == "AppendedData":
            document.encoding = attributes.get("encoding", "base64")

    def _root(self, tag: str, attributes: dict[str, str]) -> None:
        if tag != "VTKFile":
            raise self.document.error(f"it begins with <{tag[:40]}>, not with <VTKFile>", self._line)
        kind = attributes.setdefault("type", "")
        if kind != "UnstructuredGrid":
            advice = "make it an unstructured grid first, as ParaView's Append Datasets does"
            raise self.document.error(f"its type is {kind[:40]!r}, not 'UnstructuredGrid'; {advice}", self._line)
        self.document.attributes, self.document.line = attributes, self._line

    def _end(self, _: str) -> None:
        self.stack.pop()
        if self.array is not None and self.stack[-1] in SECTIONS:
            self.array = None

    def _text(self, text: str) -> None:
        # the text of an element inside an array, such as <InformationKey>, is not the array's
        if self.array is not None and self.stack[-1] in ("DataArray", "Array"):
            self.array.text.append(text)
