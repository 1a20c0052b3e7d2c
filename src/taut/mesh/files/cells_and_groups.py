"""Cells, groups and data: a Mesh has them by kind of cell, most files in one list over all cells.

Three ways in which files say which cells belong to a group:

- a name that holds from one cell on (OBJ, STL): `collect_members`, `list_group_names`;
- an integer label per cell (Medit, TetGen): `iterate_labels`, `parse_label`, `label_members`;
- an array over all cells of 0 and 1, called "group:NAME" (PLY, VTK): `is_group`, `mark_members`.
  Cell data of one kind of cell alone, or with another type or shape for each kind, become an array
  for each kind, called "only:KIND:NAME", which is NaN (or 0) for cells of other kinds.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taut.arrays import Bytes, Float, Int
from taut.errors import MeshError
from taut.mesh.files.numbers import quote_word
from taut.mesh.kinds import face_name
from taut.mesh.mesh import Mesh
from taut.mesh.topology import ranges

GROUP_PREFIX = "group:"
ONE_KIND = re.compile(r"only:([a-z]+\d*):(.+)", re.DOTALL)
# Limits for groups in a file: a few names times many cells can need far more memory than the file.
# Files larger than these may have one member per byte, and one set per 12 bytes.
_MAX_MEMBERS = 2**20
_MAX_SETS = 2**16  # a set holds the members of one group and kind of cell
_BYTES_PER_SET = 12
_log = logging.getLogger("taut")


def group_by_length(flat: NDArray[Any], counts: Int) -> dict[int, tuple[Int, NDArray[Any]]]:
    """Sort rows by their length: {length: (row numbers, values of shape (m, length))}.

    flat, counts : the values of all rows, and how many each row has
    """
    starts = np.cumsum(counts) - counts
    rows_by_length = {}
    for length in np.unique(counts).tolist():
        rows = np.flatnonzero(counts == length)
        rows_by_length[length] = (rows, flat[starts[rows][:, None] + np.arange(length)])
    return rows_by_length


def name_face_kind(size: int) -> str:
    """Return the kind of a face with this many corners; two corners are a line."""
    if size == 2:
        return "line"
    return face_name(size)


def split_chains(chains: Int) -> Int:
    """Return the lines along chains of k points, (k,) or (m, k), shape (m·(k - 1), 2)."""
    return np.stack([chains[..., :-1], chains[..., 1:]], axis=-1).reshape(-1, 2)


def collect_members(
    labels: Sequence[Sequence[str]],
    starts: Sequence[int],
    ordinals: dict[str, Int],
    file_size: int = 0,
) -> dict[str, dict[str, Int]]:
    """Return groups from labels that hold from one cell on.

    labels, starts : cells starts[i] … starts[i + 1] - 1 of the file are in the groups labels[i]
    ordinals : for each kind, the number in the file of each cell, increasing, from starts[0] on
    file_size : [bytes]; limits the number of members
    """
    label_starts = np.array(starts, np.int64)
    label_numbers = {
        kind: np.searchsorted(label_starts, ordinal, side="right") - 1
        for kind, ordinal in ordinals.items()
        if len(ordinal)
    }
    names_per_label = np.fromiter(map(len, labels), np.int64, len(labels))
    total = sum(int(names_per_label[numbers].sum()) for numbers in label_numbers.values())
    if total > max(file_size, _MAX_MEMBERS):
        cells_per_label = sum(
            np.bincount(numbers, minlength=len(labels)) for numbers in label_numbers.values()
        )
        largest = labels[int(np.argmax(cells_per_label * names_per_label))]
        limit = max(file_size, _MAX_MEMBERS)
        raise _too_many_error(largest[0], f"groups must have at most {limit} members", total)
    group_numbers: dict[str, int] = {}
    flat_numbers = np.array(
        [
            group_numbers.setdefault(name, len(group_numbers))
            for label_names in labels
            for name in label_names
        ],
        np.int64,
    )
    first_name = np.cumsum(names_per_label) - names_per_label
    names = list(group_numbers)
    groups: dict[str, dict[str, Int]] = {name: {} for name in names}
    limit = max(file_size // _BYTES_PER_SET, _MAX_SETS)
    sets = 0
    for kind, numbers in label_numbers.items():
        repeats = names_per_label[numbers]
        cells = np.repeat(np.arange(len(numbers)), repeats)
        group = flat_numbers[ranges(first_name[numbers], repeats)]
        order = np.argsort(group, kind="stable")
        cells, group = cells[order], group[order]
        begins = np.flatnonzero(np.diff(group, prepend=-1))
        sets += len(begins)
        if sets > limit:
            raise _too_many_error(
                names[group[0]], f"groups by kind of cell must be at most {limit}", sets
            )
        ends = np.append(begins, len(cells))[1:].tolist()
        for number, begin, end in zip(group[begins].tolist(), begins.tolist(), ends, strict=True):
            groups[names[number]][kind] = cells[begin:end]
    return {name: by_kind for name, by_kind in groups.items() if by_kind}


def _too_many_error(name: str, message: str, got: int) -> MeshError:
    element = f"group {quote_word(name.encode())}"
    return MeshError(f"{message} in a file of this size, got {got}", element=element)


def list_group_names(
    groups: dict[str, dict[str, Int]], kind: str, count: int
) -> list[tuple[str, ...]]:
    """Return the groups of each of `count` points or cells of a kind."""
    names: list[tuple[str, ...]] = [()] * count
    for name, by_kind in groups.items():
        for i in by_kind.get(kind, np.empty(0, np.int64)).tolist():
            names[i] += (name,)
    return names


def iterate_labels(labels: Int) -> Iterator[tuple[int, Int]]:
    """Yield each label except 0, and the numbers of the cells that have it.

    >>> [(label, cells.tolist()) for label, cells in iterate_labels(np.array([2, 0, 1, 2]))]
    [(1, [2]), (2, [0, 3])]
    """
    if not len(labels):
        return
    order = np.argsort(labels, kind="stable")
    values, first = np.unique(labels[order], return_index=True)
    for value, cells in zip(values.tolist(), np.split(order, first[1:]), strict=True):
        if value:
            yield value, cells


def parse_label(name: str, word: str) -> int | None:
    """Return the label in a group's name "wordN", or None if the name has another form.

    >>> parse_label("ref3", "ref"), parse_label("ref-3", "ref"), parse_label("ref03", "ref")
    (3, -3, None)
    """
    match = re.fullmatch(re.escape(word) + r"(-?[1-9][0-9]{0,14})", name)
    return int(match[1]) if match else None


def label_members(mesh: Mesh, word: str, kind: str, count: int) -> Int:
    """Return the label of each point or cell of a kind, from groups "wordN"; 0 for none."""
    labels = np.zeros(count, np.int64)
    for name, by_kind in mesh.groups.items():
        label = parse_label(name, word)
        if label is None or kind not in by_kind:
            continue
        members = by_kind[kind]
        labelled = members[labels[members] != 0]
        if len(labelled):
            raise MeshError(
                f"must be in at most one group '{word}…', got two", element=f"{kind} {labelled[0]}"
            )
        labels[members] = label
    return labels


def name_for_kind(kind: str, name: str) -> str:
    """Return the name of data that one kind of cell has.

    >>> ONE_KIND.fullmatch(name_for_kind("tet", "stress")).groups()
    ('tet', 'stress')
    """
    return f"only:{kind}:{name}"


def is_group(name: str, values: NDArray[Any]) -> bool:
    """Whether an array of this name marks the members of a group."""
    if not name.startswith(GROUP_PREFIX) or values.ndim != 1 or values.dtype.kind not in "biu":
        return False
    return bool(((values == 0) | (values == 1)).all())


def mark_members(members: Int, count: int) -> Bytes:
    """Return 1 for members and 0 for others, shape (count,)."""
    marks = np.zeros(count, np.uint8)
    marks[members] = 1
    return marks


def is_uniform(by_kind: Mapping[str, NDArray[Any]], sizes: Mapping[str, int]) -> bool:
    """Whether all kinds have the data, with the same type and shape.

    sizes : the number of cells of each kind
    """
    types = {(values.dtype, values.shape[1:]) for values in by_kind.values()}
    return set(by_kind) == set(sizes) and len(types) == 1


def pad_to_all_cells(values: NDArray[Any], kind: str, sizes: Mapping[str, int]) -> NDArray[Any]:
    """Return data of one kind as an array over all cells, kind after kind; NaN or 0 elsewhere.

    >>> pad_to_all_cells(np.array([5, 6]), "quad", {"triangle": 1, "quad": 2}).tolist()
    [0, 5, 6]
    """
    fill = np.nan if values.dtype.kind == "f" else 0
    padded = np.full((sum(sizes.values()), *values.shape[1:]), fill, values.dtype)
    kinds = list(sizes)
    start = sum(sizes[before] for before in kinds[: kinds.index(kind)])
    padded[start : start + sizes[kind]] = values
    return padded


def get_vertex_colours(mesh: Mesh, format_name: str) -> Float | None:
    """Return the map "color" of a mesh as red, green, blue, shape (n, 3); log what is left out."""
    color = mesh.point_data.get("color")
    if color is None:
        return None
    message = '%s: left out the map "color": '
    if color.ndim != 2 or color.shape[1] not in (3, 4):
        _log.info(message + "its shape must be (n, 3), got %s", format_name, color.shape)
        return None
    if not np.isfinite(color[:, :3]).all():
        _log.info(message + "it must be finite", format_name)
        return None
    if color.shape[1] == 4:
        _log.info('%s: left out the alpha of the map "color"', format_name)
    return color[:, :3].astype(np.float64)
