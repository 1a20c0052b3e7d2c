"""Decode the arrays of a .vtu file: text, or bytes inline or appended, raw or base64, compressed.

Uncompressed bytes follow their number. Compressed ones follow the number of blocks, the size of a
block, that of the last one (0 if it is full) and the compressed size of each. In base64 the
compressed blocks are encoded apart from this header; uncompressed bytes may be or not.
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
from taut.mesh.files.numbers import InvalidWord, find_word_starts, parse_words
from taut.mesh.files.vtk.arrays import to_native
from taut.mesh.files.vtu._xml import Array, Document

# All arrays together may have this many bytes, or this many times those of the file.
_MAX_BYTES = 1 << 26
_MAX_GROWTH = 64
_LZMA_MEMORY = 1 << 27  # bytes that LZMA may use; its strongest preset uses half of it
# XML type → numpy's. Eight of "Bit" share a byte.
XML_TYPES = {
    "Int8": "i1",
    "UInt8": "u1",
    "Int16": "i2",
    "UInt16": "u2",
    "Int32": "i4",
    "UInt32": "u4",
    "Int64": "i8",
    "UInt64": "u8",
    "Float32": "f4",
    "Float64": "f8",
}
_COMPRESSORS = ("", "vtkZLibDataCompressor", "vtkLZMADataCompressor")


class Decoder:
    """Decodes the arrays of one document."""

    def __init__(self, document: Document, size: int) -> None:
        self.document = document
        attributes = document.attributes
        self.order = {"LittleEndian": "<", "BigEndian": ">"}.get(
            attributes.get("byte_order", "LittleEndian"), ""
        )
        header = {"UInt32": "u4", "UInt64": "u8"}.get(attributes.get("header_type", "UInt32"), "")
        if not (self.order and header):
            raise document.error(
                "byte_order must be LittleEndian or BigEndian, and header_type UInt32 or UInt64",
                document.line,
            )
        self.header = np.dtype(self.order + header)
        self.compressor = attributes.get("compressor", "")
        self.budget = max(_MAX_BYTES, _MAX_GROWTH * size)  # bytes that may still be decoded

    def decode(self, array: Array, rows: int | None, what: str) -> NDArray[Any]:
        """Return the numbers, shape (rows,) or (rows, components); with rows = None all, flat."""
        width = self._parse_components(array)
        type_ = array.attributes.get("type", "")
        code = "u1" if type_ == "Bit" else XML_TYPES.get(type_)
        if code is None:
            raise self._error(
                array, f"the type must be Bit, {', '.join(XML_TYPES)}, got {type_[:40]!r}"
            )
        dtype = np.dtype(code)
        form = array.attributes.get("format", "ascii")
        if rows == 0:
            values = np.empty(0, dtype)
        elif form == "ascii":
            values = self._decode_text(array, dtype, width, what)
        elif form in ("binary", "appended"):
            content = self._decode_bytes(
                array, form, None if rows is None else rows * width * dtype.itemsize
            )
            if len(content) % dtype.itemsize:
                raise self._error(
                    array, f"must be an integer number of {dtype.name}, got {len(content)} bytes"
                )
            values = to_native(np.frombuffer(content, self.order + code))
            if type_ == "Bit":
                bits = len(values) * 8 if rows is None else rows * width
                if bits + 7 >= len(values) * 8 >= bits:  # the last byte may be padded
                    values = np.unpackbits(values, count=bits)
        else:
            raise self._error(
                array, f"the format must be 'ascii', 'binary' or 'appended', got {form[:40]!r}"
            )
        self.budget -= values.nbytes
        if self.budget < 0:  # many arrays may share the same appended bytes
            raise self._error(
                array,
                f"arrays must be at most {_MAX_GROWTH} times as large as the file; leave some out",
            )
        if rows is None:
            return values
        if len(values) != rows * width:
            raise self._error(
                array,
                f"must have {rows * width} numbers, {width} for each {what}, got {len(values)}",
            )
        return values if width == 1 else values.reshape(rows, width)

    def _error(self, array: Array, message: str, element: str | None = None) -> MeshError:
        return self.document.error(f"the array '{array.name}': {message}", array.line, element)

    def _parse_components(self, array: Array) -> int:
        text = array.attributes.get("NumberOfComponents", "1")
        if not (text.isascii() and text.isdigit() and 0 < len(text) < 10 and int(text)):
            raise self._error(
                array, f"the number of components must be a positive integer, got {text[:40]!r}"
            )
        return int(text)

    def _decode_text(
        self, array: Array, dtype: np.dtype[Any], width: int, what: str
    ) -> NDArray[Any]:
        text = "".join(array.text).encode("utf-8", "backslashreplace")
        try:
            return parse_words(text, np.append(find_word_starts(text), len(text)), dtype)
        except InvalidWord as bad:
            raise self._error(array, str(bad), f"{what} {bad.index // width}") from None

    def _decode_bytes(self, array: Array, form: str, most: int | None) -> bytes:
        """Return the decoded and decompressed bytes of an array, at most `most`."""
        if self.compressor not in _COMPRESSORS:
            advice = "save it with ZLib or without compression (a setting of the writer)"
            raise self._error(
                array,
                f"the compressor must be ZLib or LZMA, got {self.compressor[:40]!r}; {advice}",
            )
        try:
            stream = self._open_stream(array, form)
            return (
                b"".join(self._decompress_blocks(stream, most))
                if self.compressor
                else stream.take_plain()
            )
        except _InvalidBytes as error:
            raise self._error(array, str(error)) from None

    def _open_stream(self, array: Array, form: str) -> _Stream:
        if form == "binary":
            inline = "".join(array.text).encode("utf-8", "backslashreplace")
            return _Stream(
                memoryview(inline.translate(None, b" \t\r\n")), 0, self.header, base64=True
            )
        offset = array.attributes.get("offset", "")
        if not (offset.isascii() and offset.isdigit() and len(offset) < 19):
            raise self._error(array, f"the offset must be an integer, got {offset[:40]!r}")
        if self.document.encoding not in ("raw", "base64"):
            raise self._error(
                array,
                "the encoding of appended data must be 'raw' or 'base64', "
                f"got {self.document.encoding[:40]!r}",
            )
        place = f" (byte {self.document.appended_at + int(offset)})"
        return _Stream(
            self.document.appended,
            int(offset),
            self.header,
            base64=self.document.encoding == "base64",
            place=place,
        )

    def _decompress_blocks(self, stream: _Stream, most: int | None) -> Iterator[bytes]:
        """Yield the decompressed blocks, of the sizes in the header and within the budget."""
        full, last, sizes, content = stream.take_compressed()
        total = full * (len(sizes) - 1) + (last or full) if sizes else 0
        if most is not None and total > most:
            raise _InvalidBytes(f"must have {most} bytes, got {total} in its header{stream.place}")
        at, left = 0, self.budget
        for i, size in enumerate(sizes):
            expected = last if last and i == len(sizes) - 1 else full
            if expected > left:
                raise _InvalidBytes(
                    f"must grow at most {_MAX_GROWTH} times when it is decompressed{stream.place}; "
                    "save it without compression"
                )
            block = self._decompress(content[at : at + size], expected + 1)
            if len(block) != expected:
                raise _InvalidBytes(
                    f"block {i} must decompress to the {expected} bytes of its header{stream.place}"
                )
            left -= expected
            at += size
            yield block

    def _decompress(self, block: bytes, limit: int) -> bytes:
        """Return at most `limit` bytes; nothing if the block is damaged."""
        try:
            if self.compressor == "vtkZLibDataCompressor":
                return zlib.decompressobj().decompress(block, limit)
            return lzma.LZMADecompressor(memlimit=_LZMA_MEMORY).decompress(block, limit)
        except (zlib.error, lzma.LZMAError, EOFError):
            return b""


class _InvalidBytes(Exception):
    """Bytes of an array that cannot be decoded; caught in this module."""


class _Stream:
    """Reads bytes, which may be in base64, from `at` on; `place` is for messages."""

    def __init__(
        self, content: memoryview, at: int, header: np.dtype[Any], *, base64: bool, place: str = ""
    ) -> None:
        self.content, self.at, self.header = content, at, header
        self.base64, self.place = base64, place

    def take_plain(self) -> bytes:
        """Return uncompressed bytes."""
        if not self.base64:
            return self._take(self._take_header(1)[0])
        begin = self.at
        size = self._take_header(1)[0]
        padding = b"=" * (-self.header.itemsize % 3)
        if bytes(self.content[begin : self.at]).endswith(padding):
            return self._take(size)  # the size is encoded apart from the bytes
        self.at = begin
        return self._take(self.header.itemsize + size)[self.header.itemsize :]

    def take_compressed(self) -> tuple[int, int, list[int], bytes]:
        """Return the sizes of a block, of the last (or 0), the compressed sizes, and the bytes."""
        begin = self.at
        count = self._take_header(1)[0]
        self.at = begin
        _, full, last, *sizes = self._take_header(3 + count) if count else [0, 0, 0]
        return full, last, sizes, self._take(sum(sizes))

    def _take_header(self, count: int) -> list[int]:
        return np.frombuffer(self._take(count * self.header.itemsize), self.header).tolist()

    def _take(self, size: int) -> bytes:
        """Return the next bytes; in base64, decode as many characters as encode them."""
        length = (size + 2) // 3 * 4 if self.base64 else size
        if length > len(self.content) - self.at:
            raise _InvalidBytes(f"must have {size} bytes, got the end of the data{self.place}")
        piece = bytes(self.content[self.at : self.at + length])
        self.at += length
        if not self.base64:
            return piece
        try:
            decoded = binascii.a2b_base64(piece, strict_mode=True) if piece else b""
        except binascii.Error as error:
            raise _InvalidBytes(f"must be valid base64: {error}{self.place}") from None
        if len(decoded) < size:
            raise _InvalidBytes(f"must have {size} bytes, got {len(decoded)} in base64{self.place}")
        return decoded[:size]
