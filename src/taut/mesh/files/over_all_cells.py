"""Groups and cell data as arrays over all cells, for formats that know neither groups nor data of one kind of cell (PLY, VTK).

A group is an array of 0 and 1 called "group:NAME". Cell data that only some kinds have, or that differ in type or shape between
kinds, become one array for each kind, called "only:KIND:NAME", not a number (or 0) elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

GROUP = "group:"
ONLY = re.compile(r"only:([a-z]+\d*):(.+)", re.DOTALL)


def only(kind: str, name: str) -> str:
    """What data of one kind of cell are called.

    >>> ONLY.fullmatch(only("tet", "stress")).groups()
    ('tet', 'stress')
    """
    return f"only:{kind}:{name}"


def is_group(name: str, values: NDArray[Any]) -> bool:
    """Whether an array of this name marks the members of a group."""
    if not name.startswith(GROUP) or values.ndim != 1 or values.dtype.kind not in "biu":
        return False
    return bool(((values == 0) | (values == 1)).all())


def marks(members: NDArray[np.int64], count: int) -> NDArray[np.uint8]:
    """1 for members, 0 for others, shape (count,)."""
    found = np.zeros(count, np.uint8)
    found[members] = 1
    return found


def alike(by_kind: Mapping[str, NDArray[Any]], sizes: Mapping[str, int]) -> bool:
    """Whether all kinds, of these numbers of cells, have the data, in the same type and shape."""
    return set(by_kind) == set(sizes) and len({(v.dtype, v.shape[1:]) for v in by_kind.values()}) == 1


def padded(values: NDArray[Any], kind: str, sizes: Mapping[str, int]) -> NDArray[Any]:
    """The data of one kind among those of all cells, one kind after the other: not a number (or 0) for the others.

    >>> padded(np.array([5, 6]), "quad", {"triangle": 1, "quad": 2}).tolist()
    [0, 5, 6]
    """
    begin = dict(zip(sizes, np.cumsum([0, *sizes.values()])[:-1].tolist(), strict=True))[kind]
    whole = np.full((sum(sizes.values()), *values.shape[1:]), np.nan if values.dtype.kind == "f" else 0, values.dtype)
    whole[begin : begin + sizes[kind]] = values
    return whole
