"""Corners of the faces of a PLY file: texture coordinates at them, and triangle strips."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from taut.mesh.files.blocks import by_size, face_kind
from taut.mesh.parts import UV, Cells

TEXTURE = (("s", "t"), ("u", "v"), ("texture_u", "texture_v"))
Int = NDArray[np.int64]


def vertex_uv(point_data: dict[str, NDArray[Any]], cells: Cells) -> UV | None:
    """Texture coordinates given at the vertices, which are then no maps any more."""
    for pair in TEXTURE:
        if all(name in point_data and point_data[name].ndim == 1 for name in pair):
            coordinates = np.column_stack([point_data[name] for name in pair]).astype(np.float64)
            if np.isfinite(coordinates).all():
                for name in pair:
                    del point_data[name]
                return UV(coordinates, {kind: c for kind, c in cells.items() if kind != "line"})
    return None


def face_uv(numbers: NDArray[Any], lengths: Int, flat: NDArray[Any], counts: Int) -> tuple[UV | None, int]:
    """Texture coordinates given at the faces, two numbers per corner or none at all, and how many faces have other numbers of them.

    numbers, lengths : the lists of texture coordinates
    flat, counts : the lists of corners
    """
    whole = (lengths == 2 * counts) & (counts > 2)
    odd = int(((lengths > 0) & ~whole).sum())
    if not whole.any():
        return None, odd
    coordinates = numbers[np.repeat(whole, lengths)].reshape(-1, 2).astype(np.float64)
    given = np.where(whole, counts, 0)
    start = np.cumsum(given) - given
    missing = ~np.isfinite(coordinates).all(axis=1)
    corners: Cells = {}
    for size, (which, _) in by_size(flat, counts).items():
        if size > 2:
            found = np.where(whole[which, None], start[which, None] + np.arange(size), -1)
            corners[face_kind(size)] = np.where((found >= 0) & missing[found], -1, found)
    return UV(np.where(missing[:, None], 0.0, coordinates), corners), odd


def strip_triangles(flat: NDArray[Any], counts: Int) -> tuple[NDArray[Any], Int]:
    """The triangles of strips, and the row of each: strips end with their row or at -1, and every second triangle is turned.

    >>> strip_triangles(np.array([0, 1, 2, 3, -1, 4, 5, 6]), np.array([8]))[0].tolist()
    [[0, 1, 2], [2, 1, 3], [4, 5, 6]]
    """
    begins = np.zeros(len(flat) + 1, bool)  # where a strip begins; each -1 is one of its own
    begins[np.cumsum(counts) - counts] = True
    ends = np.flatnonzero(flat == -1)
    begins[ends] = begins[ends + 1] = True
    place = np.arange(len(flat))
    first = np.maximum.accumulate(np.where(begins[:-1], place, 0))
    at = np.flatnonzero(first[:-2] == first[2:]) if len(flat) > 2 else np.empty(0, np.int64)
    turned = (at - first[at]) % 2
    triangles = np.column_stack([flat[at + turned], flat[at + 1 - turned], flat[at + 2]])
    return triangles, np.repeat(np.arange(len(counts)), counts)[at]
