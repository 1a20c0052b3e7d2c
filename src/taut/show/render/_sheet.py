"""A contact sheet: pictures of several frames in the rows of one picture."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from taut.arrays import Bytes

_GAP = 2  # pixels between two pictures
_PAPER = 255  # white


def tile_size(size: tuple[int, int], sheet: tuple[int, int]) -> tuple[int, int]:
    """Return width and height of each picture [pixels].

    size : of the sheet [pixels]; sheet : its columns and rows

    >>> tile_size((1280, 720), (4, 3))
    (318, 238)
    """
    (width, height), (columns, rows) = size, sheet
    return (width - _GAP * (columns - 1)) // columns, (height - _GAP * (rows - 1)) // rows


def join_tiles(pictures: Iterable[Bytes], size: tuple[int, int], sheet: tuple[int, int]) -> Bytes:
    """Return the sheet, (height, width, 3): pictures row by row; what is left over is white.

    >>> tiles = [np.full((49, 99, 3), shade, np.uint8) for shade in (10, 20, 30)]
    >>> join_tiles(tiles, (200, 100), (2, 2))[[0, 0, 99, 99], [0, 199, 0, 199], 0].tolist()
    [10, 20, 30, 255]
    """
    width, height = tile_size(size, sheet)
    joined = np.full((size[1], size[0], 3), _PAPER, dtype=np.uint8)
    for k, picture in enumerate(pictures):
        row, column = divmod(k, sheet[0])
        top, left = row * (height + _GAP), column * (width + _GAP)
        joined[top : top + height, left : left + width] = picture
    return joined
