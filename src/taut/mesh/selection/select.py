"""Points of a mesh by index, by mask or in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from taut.errors import MeshError
from taut.mesh.selection.language import Name, parse, short
from taut.mesh.selection.sets import Points

if TYPE_CHECKING:
    from taut.mesh.mesh import Mesh

Int = NDArray[np.int64]


class EmptySelection(MeshError):
    """A selection in words that selects no point."""


def select(mesh: Mesh, what: Any) -> Int:
    """The indices of the points that `what` selects; `Mesh.select` says what it may be.

    >>> from taut.mesh import Mesh
    >>> sheet = Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]], {"triangle": [[0, 1, 2]]}, groups={"left sleeve": [0, 2]})
    >>> select(sheet, "y == max or 'left sleeve'").tolist()
    [0, 2, 3]
    >>> select(sheet, "x > 2")
    Traceback (most recent call last):
    taut.mesh.selection.select.EmptySelection: selection 'x > 2': it selects no point (x ranges from 0 to 1)
    """
    return _in_words(mesh, what) if isinstance(what, str) else _by_number(mesh.n, what)


def _in_words(mesh: Mesh, text: str) -> Int:
    tree = parse(text)
    with np.errstate(all="ignore"):
        points = Points(mesh, text)
        found = np.flatnonzero(points.mask(tree))
        if not len(found) and not (isinstance(tree, Name) and tree.text == "none" and not tree.quoted):
            hint = points.hint(tree)
            raise EmptySelection(f"selection {short(text)}: it selects no point{hint and f' ({hint})'}")
    return found


def _by_number(n: int, what: Any) -> Int:
    try:
        array = np.asarray(what)
    except ValueError:
        raise MeshError("a selection of points has rows of different lengths; it is a flat sequence of indices") from None
    if array.dtype == bool and array.ndim:
        if array.shape != (n,):
            raise MeshError(f"a mask of points has shape {array.shape}; there are {n} points")
        return np.flatnonzero(array)
    if array.ndim == 1 and array.size == 0:
        return np.empty(0, np.int64)
    if array.ndim > 1 or not np.issubdtype(array.dtype, np.integer):
        given = (
            f"an array of {array.dtype}" if array.ndim == 1 else f"an array of shape {array.shape}" if array.ndim else repr(what)
        )
        raise MeshError(f"a selection of points is an index, a flat sequence of indices, a mask or a string, not {given}")
    outside = array[(array < 0) | (array >= n)]
    if outside.size:
        raise MeshError(f"the selection names point {outside[0]}; there are {n} (0 to {n - 1})")
    return np.unique(array).astype(np.int64)
