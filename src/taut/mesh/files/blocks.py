"""From cells of mixed sizes, as files list them, to blocks of one kind each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taut.errors import MeshError
from taut.mesh.files.text import shown
from taut.mesh.kinds import polygon
from taut.mesh.ranges import ranges

Int = NDArray[np.int64]

# how many members groups may have, and how many sets by group and kind of cell; larger files may have more
ENTRIES = 2**20
GROUPS = 2**16
BYTES_PER_GROUP = 12


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


def segments(chains: Int) -> Int:
    """The lines along chains of points, (k,) or (m, k) to (m·(k - 1), 2), one chain after the other."""
    return np.stack([chains[..., :-1], chains[..., 1:]], axis=-1).reshape(-1, 2)


def members(
    labels: Sequence[Sequence[str]], starts: Sequence[int], ordinals: dict[str, Int], size: int = 0
) -> dict[str, dict[str, Int]]:
    """Groups of cells from labels that hold from one cell on: labels[i] for the cells starts[i] … starts[i + 1] - 1 of the file.

    ordinals : for each kind, the number in the file of each cell, increasing and not below starts[0]
    size : of the file [bytes]; names times cells may be far more than the file holds, and are an error then
    """
    begin = np.array(starts, np.int64)
    label = {kind: np.searchsorted(begin, ordinal, side="right") - 1 for kind, ordinal in ordinals.items() if len(ordinal)}
    length = np.fromiter(map(len, labels), np.int64, len(labels))
    entries = sum(int(length[held].sum()) for held in label.values())
    if entries > max(size, ENTRIES):
        worst = labels[int(np.argmax(sum(np.bincount(held, minlength=len(labels)) for held in label.values()) * length))]
        raise _crowd(worst[0], f"the groups have {entries} members in all", size)
    numbers: dict[str, int] = {}
    flat = np.array([numbers.setdefault(name, len(numbers)) for names in labels for name in names], np.int64)
    first = np.cumsum(length) - length
    names = list(numbers)
    found: dict[str, dict[str, Int]] = {name: {} for name in names}
    left = max(size // BYTES_PER_GROUP, GROUPS)
    for kind, held in label.items():
        times = length[held]
        cell = np.repeat(np.arange(len(held)), times)
        number = flat[ranges(first[held], times)]
        order = np.argsort(number, kind="stable")
        cell, number = cell[order], number[order]
        begins = np.flatnonzero(np.diff(number, prepend=-1))
        left -= len(begins)
        if left < 0:
            raise _crowd(names[number[0]], "the groups by kind of cell are too many", size)
        ends = np.append(begins, len(cell))[1:].tolist()
        for name, low, high in zip(number[begins].tolist(), begins.tolist(), ends, strict=True):
            found[names[name]][kind] = cell[low:high]
    return {name: by_kind for name, by_kind in found.items() if by_kind}


def _crowd(name: str, message: str, size: int) -> MeshError:
    return MeshError(f"{message}, beyond what a file of {size} bytes may have", element=f"group {shown(name.encode())}")


def names_of(groups: dict[str, dict[str, Int]], kind: str, count: int) -> list[tuple[str, ...]]:
    """For each of `count` points or cells of a kind, the groups it is in."""
    found: list[tuple[str, ...]] = [()] * count
    for name, by_kind in groups.items():
        for i in by_kind.get(kind, np.empty(0, np.int64)).tolist():
            found[i] += (name,)
    return found
