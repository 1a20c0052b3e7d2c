"""From cells of mixed sizes, as files list them, to blocks of one kind each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taut.mesh.kinds import polygon

Int = NDArray[np.int64]


def by_size(flat: NDArray[Any], counts: Int) -> dict[int, tuple[Int, NDArray[Any]]]:
    """Rows of equal length together: {size: (which rows, their values (m, size))}; row i has counts[i] of the flat values."""
    starts = np.cumsum(counts) - counts
    found = {}
    for size in np.unique(counts).tolist():
        which = np.flatnonzero(counts == size)
        found[size] = (which, flat[starts[which][:, None] + np.arange(size)])
    return found


def face_kind(size: int) -> str:
    """The kind of a face with this many corners, where two corners make a line."""
    return "line" if size == 2 else polygon(size)


def segments(chain: Int) -> Int:
    """The lines along a chain of points, (k,) to (k - 1, 2)."""
    return np.column_stack([chain[:-1], chain[1:]])


def members(labels: Iterable[Sequence[str]], starts: Sequence[int], ordinals: dict[str, Int]) -> dict[str, dict[str, Int]]:
    """Groups of cells from labels that hold from one cell on: labels[i] for the cells starts[i] … starts[i + 1] - 1 of the file.

    ordinals : for each kind, the number in the file of each cell, increasing
    """
    found: dict[str, dict[str, list[Int]]] = {}
    bounds = [*starts, np.iinfo(np.int64).max]
    for names, low, high in zip(labels, bounds[:-1], bounds[1:], strict=True):
        for kind, ordinal in ordinals.items() if names else ():
            a, b = np.searchsorted(ordinal, (low, high))
            if b > a:
                for name in names:
                    found.setdefault(name, {}).setdefault(kind, []).append(np.arange(a, b))
    return {name: {kind: np.concatenate(parts) for kind, parts in by_kind.items()} for name, by_kind in found.items()}


def names_of(groups: dict[str, dict[str, Int]], kind: str, count: int) -> list[tuple[str, ...]]:
    """For each of `count` points or cells of a kind, the groups it is in."""
    found: list[tuple[str, ...]] = [()] * count
    for name, by_kind in groups.items():
        for i in by_kind.get(kind, np.empty(0, np.int64)).tolist():
            found[i] += (name,)
    return found


def one_word(name: str) -> str:
    """A name for formats whose names end at a space."""
    return "_".join(name.split()) or "_"
