"""Groups that formats know by number: references of Medit, markers and regions of TetGen."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from taut.errors import MeshError
from taut.mesh.mesh import Mesh

Int = NDArray[np.int64]


def labelled(labels: Int) -> Iterator[tuple[int, Int]]:
    """Each label but 0, and where it stands.

    >>> [(k, where.tolist()) for k, where in labelled(np.array([2, 0, 1, 2]))]
    [(1, [2]), (2, [0, 3])]
    """
    if not len(labels):
        return
    order = np.argsort(labels, kind="stable")
    values, first = np.unique(labels[order], return_index=True)
    for value, where in zip(values.tolist(), np.split(order, first[1:]), strict=True):
        if value:
            yield value, where


def number(name: str, word: str) -> int | None:
    """The number after the word in the name of a group; None if it is not written as such a group is.

    >>> number("ref3", "ref"), number("ref-3", "ref"), number("ref03", "ref"), number("reference", "ref")
    (3, -3, None, None)
    """
    found = re.fullmatch(re.escape(word) + r"(-?[1-9][0-9]{0,14})", name)
    return int(found[1]) if found else None


def labels_of(mesh: Mesh, word: str, kind: str, count: int) -> Int:
    """The label of each point or cell of a kind, 0 for none; two for one are an error."""
    found = np.zeros(count, np.int64)
    for name, by_kind in mesh.groups.items():
        label = number(name, word)
        if label is not None and kind in by_kind:
            taken = by_kind[kind][found[by_kind[kind]] != 0]
            if len(taken):
                raise MeshError(f"it is in two groups '{word}…'; the format has one for each", element=f"{kind} {taken[0]}")
            found[by_kind[kind]] = label
    return found
