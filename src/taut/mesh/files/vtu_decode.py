"""The numbers of one array of a .vtu file: as text, or as bytes, inline or appended, raw or in base64, compressed or not.

Uncompressed bytes stand behind their number. Compressed ones stand behind the number of blocks, the size of a block, that of the
last one (0 if it is full) and the compressed size of each. In base64 the compressed blocks are encoded apart from this header;
uncompressed bytes may be or not.
"""

from __future__ import annotations

import binascii
import lzma
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taut.errors import MeshError
from taut.mesh.files.vtk_types import XML_TYPES, native
from taut.mesh.files.vtu_xml import Array, Document
from taut.mesh.files.words import BadWord, word_starts
from taut.mesh.files.words import parse as parse_words

GROWTH, ALWAYS = 64, 1 << 26  # all arrays together may have this many times the bytes of the file, or this many bytes
LZMA_MEMORY = 1 << 27  # bytes that LZMA may ask for; its strongest preset asks for half of it
_COMPRESSORS = ("", "vtkZLibDataCompressor", "vtkLZMADataCompressor")


class Decoder:
    """Decodes the arrays of one document."""

    def __init__(self, document: Document, size: int) -> None:
        self.document = document
        attributes = document.attributes
        self.order = {"LittleEndian": "<", "BigEndian": ">"}.get(attributes.get("byte_order", "LittleEndian"), "")
        header = {"UInt32": "u4", "UInt64": "u8"}.get(attributes.get("header_type", "UInt32"), "")
        if not (self.order and header):
            raise document.error(
                "its byte_order is not LittleEndian or BigEndian, or its header_type not UInt32 or UInt64", document.line
            )
        self.header = np.dtype(self.order + header)
        self.compressor = attributes.get("compressor", "")
        self.budget = max(ALWAYS, GROWTH * size)  # bytes that may still be decoded

    def numbers(self, array: Array, rows: int | None, what: str) -> NDArray[Any]:
        """Its numbers, shape (rows,) or (rows, components); without `rows`, as many as there are, flat."""
        width = self._components(array)
        type_ = array.attributes.get("type", "")
        code = "u1" if type_ == "Bit" else XML_TYPES.get(type_)
        if code is None:
            raise self._error(array, f"its type is {type_[:40]!r}, not one of Bit, {', '.join(XML_TYPES)}")
        dtype = np.dtype(code)
        form = array.attributes.get("format", "ascii")
        if rows == 0:
            values = np.empty(0, dtype)
        elif form == "ascii":
            values = self._text(array, dtype, width, what)
        elif form in ("binary", "appended"):
            content = self._bytes(array, form, None if rows is None else rows * width * dtype.itemsize)
            if len(content) % dtype.itemsize:
                raise self._error(array, f"its {len(content)} bytes are not a whole number of {dtype.name}")
            values = native(np.frombuffer(content, self.order + code))
            if type_ == "Bit":  # eight in a byte, the last one filled up
                wanted = len(values) * 8 if rows is None else rows * width
                values = np.unpackbits(values, count=wanted) if wanted + 7 >= len(values) * 8 >= wanted else values
        else:
            raise self._error(array, f"its format is {form[:40]!r}, not 'ascii', 'binary' or 'appended'")
        self.budget -= values.nbytes
        if self.budget < 0:  # any number of arrays may name the same bytes
            raise self._error(array, f"with it the arrays are more than {GROWTH} times as large as the file; leave some out")
        if rows is None:
            return values
        if len(values) != rows * width:
            raise self._error(array, f"it has {len(values)} numbers; {rows} {what}s with {width} take {rows * width}")
        return values if width == 1 else values.reshape(rows, width)

    def _error(self, array: Array, message: str, element: str | None = None) -> MeshError:
        return self.document.error(f"the array '{array.name}': {message}", array.line, element)

    def _components(self, array: Array) -> int:
        text = array.attributes.get("NumberOfComponents", "1")
        if not (text.isascii() and text.isdigit() and 0 < len(text) < 10 and int(text)):
            raise self._error(array, f"{text[:40]!r} is no number of components")
        return int(text)

    def _text(self, array: Array, dtype: np.dtype[Any], width: int, what: str) -> NDArray[Any]:
        text = "".join(array.text).encode("utf-8", "backslashreplace")
        try:
            return parse_words(text, np.append(word_starts(text), len(text)), dtype)
        except BadWord as bad:
            raise self._error(array, str(bad), f"{what} {bad.index // width}") from None

    def _bytes(self, array: Array, form: str, most: int | None) -> bytes:
        """What the array holds, decoded and decompressed: at most so many bytes, if that is known."""
        if self.compressor not in _COMPRESSORS:
            advice = "save it with ZLib or without compression (a setting of the writer)"
            raise self._error(array, f"it is compressed by {self.compressor[:40]!r}, which cannot be read; {advice}")
        try:
            stream = self._stream(array, form)
            return b"".join(self._blocks(stream, most)) if self.compressor else stream.plain()
        except _Broken as broken:
            raise self._error(array, str(broken)) from None

    def _stream(self, array: Array, form: str) -> _Stream:
        if form == "binary":
            inline = "".join(array.text).encode("utf-8", "backslashreplace")
            return _Stream(memoryview(inline.translate(None, b" \t\r\n")), 0, self.header, base64=True)
        offset = array.attributes.get("offset", "")
        if not (offset.isascii() and offset.isdigit() and len(offset) < 19):
            raise self._error(array, f"{offset[:40]!r} is no offset into the appended data")
        if self.document.encoding not in ("raw", "base64"):
            raise self._error(array, f"the appended data are encoded as {self.document.encoding[:40]!r}, not 'raw' or 'base64'")
        place = f" (byte {self.document.appended_at + int(offset)})"
        return _Stream(self.document.appended, int(offset), self.header, base64=self.document.encoding == "base64", place=place)

    def _blocks(self, stream: _Stream, most: int | None) -> Iterator[bytes]:
        """The decompressed blocks, none larger than the header says and all together within the budget."""
        full, last, sizes, content = stream.compressed()
        total = full * (len(sizes) - 1) + (last or full) if sizes else 0
        if most is not None and total > most:
            raise _Broken(f"its header names {total} bytes; it should have {most}{stream.place}")
        at, left = 0, self.budget
        for i, size in enumerate(sizes):
            expected = last if last and i == len(sizes) - 1 else full
            if expected > left:
                raise _Broken(
                    f"it grows more than {GROWTH}-fold when it is decompressed; save it without compression{stream.place}"
                )
            block = self._decompress(content[at : at + size], expected + 1)
            if len(block) != expected:
                raise _Broken(f"block {i} does not decompress to the {expected} bytes that its header names{stream.place}")
            left -= expected
            at += size
            yield block

    def _decompress(self, block: bytes, limit: int) -> bytes:
        """At most `limit` bytes; nothing if the block is damaged."""
        try:
            if self.compressor == "vtkZLibDataCompressor":
                return zlib.decompressobj().decompress(block, limit)
            return lzma.LZMADecompressor(memlimit=LZMA_MEMORY).decompress(block, limit)
        except (zlib.error, lzma.LZMAError, EOFError):
            return b""


class _Broken(Exception):
    """What is wrong with the bytes of an array. It never leaves this module."""


class _Stream:
    """Bytes, perhaps in base64, from `at` on."""

    def __init__(self, content: memoryview, at: int, header: np.dtype[Any], *, base64: bool, place: str = "") -> None:
        self.content, self.at, self.header, self.base64, self.place = content, at, header, base64, place

    def plain(self) -> bytes:
        """The uncompressed bytes."""
        if not self.base64:
            return self._take(self._header(1)[0])
        begin = self.at
        size = self._header(1)[0]
        if bytes(self.content[begin : self.at]).endswith(b"=" * (-self.header.itemsize % 3)):  # the number is encoded apart
            return self._take(size)
        self.at = begin
        return self._take(self.header.itemsize + size)[self.header.itemsize :]

    def compressed(self) -> tuple[int, int, list[int], bytes]:
        """The size of a block, that of the last one or 0, the compressed sizes, and the compressed blocks."""
        begin = self.at
        count = self._header(1)[0]
        self.at = begin
        _, full, last, *sizes = self._header(3 + count) if count else [0, 0, 0]
        return full, last, sizes, self._take(sum(sizes))

    def _header(self, count: int) -> list[int]:
        return np.frombuffer(self._take(count * self.header.itemsize), self.header).tolist()

    def _take(self, size: int) -> bytes:
        """The next bytes; in base64, of the characters that encode as many."""
        length = (size + 2) // 3 * 4 if self.base64 else size
        if length > len(self.content) - self.at:
            raise _Broken(f"it should have {size} bytes, but the data end before{self.place}")
        piece = bytes(self.content[self.at : self.at + length])
        self.at += length
        if not self.base64:
            return piece
        try:
            decoded = binascii.a2b_base64(piece, strict_mode=True) if piece else b""
        except binascii.Error as error:
            raise _Broken(f"its base64 is damaged: {error}{self.place}") from None
        if len(decoded) < size:
            raise _Broken(f"its base64 ends after {len(decoded)} of {size} bytes{self.place}")
        return decoded[:size]
