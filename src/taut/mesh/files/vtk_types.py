"""Types of numbers in VTK files."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

# XML type → numpy's; "Bit" is kept apart, since eight share a byte
XML_TYPES = {
    "Int8": "i1", "UInt8": "u1", "Int16": "i2", "UInt16": "u2", "Int32": "i4", "UInt32": "u4", "Int64": "i8", "UInt64": "u8",
    "Float32": "f4", "Float64": "f8",
}  # fmt: skip
# legacy type → numpy's in binary files, where a vtkIdType takes four bytes; "bit" is kept apart
LEGACY_TYPES = {
    "char": "i1", "signed_char": "i1", "unsigned_char": "u1", "short": "i2", "unsigned_short": "u2", "int": "i4",
    "unsigned_int": "u4", "long": "i8", "unsigned_long": "u8", "vtktypeint64": "i8", "vtktypeuint64": "u8", "vtkidtype": "i4",
    "float": "f4", "double": "f8",
}  # fmt: skip


def native(values: NDArray[Any]) -> NDArray[Any]:
    """In this machine's byte order."""
    return values.astype(values.dtype.newbyteorder("="), copy=False)


def stored(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The type in which VTK holds numbers of this one.

    >>> stored(np.dtype(bool)), stored(np.dtype("f2")), stored(np.dtype("f8"))
    (dtype('uint8'), dtype('float32'), dtype('float64'))
    """
    if dtype.kind == "b":
        return np.dtype("u1")
    return np.dtype(f"{dtype.kind}{min(max(dtype.itemsize, 4 if dtype.kind == 'f' else 1), 8)}")
