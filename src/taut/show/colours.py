"""Numbers as colours: c(s) between the anchors of a table, s = (value - low)/(high - low).

All tables can be read by lightness alone. The sequential one becomes lighter with s. The diverging
one is lightest in the middle, where signed values are zero; its upper half is the warm one, for
quantities that are zero in most places.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from taut.arrays import Bytes, Float

BODIES = (
    "#5a92cb",
    "#d0803c",
    "#5b9a68",
    "#b5576e",
    "#8069a8",
    "#a08a4f",
)  # of the first, second… body
BACKS = (
    "#c9a77a",
    "#8aa3bd",
    "#b9a58c",
    "#9fb0a3",
    "#b8b391",
    "#a3a0bb",
)  # of the back sides of the same bodies
OBSTACLE, OBSTACLE_BACK = "#c4bdb2", "#a9a297"  # of bodies that are held altogether
GROUND = "#dfe1e5"
HELD = "#b3261e"
UNKNOWN = "#9a9a9a"  # of points without a value

_SEQUENTIAL = ("#392c76", "#2f4a8a", "#28788f", "#2fa084", "#79c263", "#d3dc4a", "#fdf3a0")
_DIVERGING = ("#1f4e9c", "#4f86c6", "#a3c4e0", "#dcdad5", "#efb49a", "#d8604d", "#9c1c2b")
TableName = Literal["sequential", "diverging", "warm"]
_TABLES: dict[TableName, tuple[str, ...]] = {
    "sequential": _SEQUENTIAL,
    "diverging": _DIVERGING,
    "warm": _DIVERGING[3:],
}


def parse_colour(colour: str) -> Bytes:
    """Return red, green and blue of a colour such as "#4a7fb5", (3,).

    >>> parse_colour("#ff8000").tolist()
    [255, 128, 0]
    """
    return np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)], dtype=np.uint8)


def colour_table(name: TableName, n: int = 256) -> Bytes:
    """Return n colours from the least value to the greatest, (n, 3).

    >>> colour_table("diverging", n=3).tolist()
    [[31, 78, 156], [220, 218, 213], [156, 28, 43]]
    """
    anchors = np.array([parse_colour(colour) for colour in _TABLES[name]], dtype=np.float64)
    at = np.linspace(0, len(anchors) - 1, n)
    mixed = [np.interp(at, np.arange(len(anchors)), channel) for channel in anchors.T]
    return np.rint(np.column_stack(mixed)).astype(np.uint8)


def map_to_colours(values: Float, low: float, high: float, table: TableName) -> Bytes:
    """Return the colours of values, (n, 3); nan is grey.

    Values beyond the range have the colours of its ends.

    >>> map_to_colours(np.array([-1.0, 0.0, 1.0, 5.0, np.nan]), -1.0, 1.0, "diverging").tolist()
    [[31, 78, 156], [220, 218, 213], [156, 28, 43], [156, 28, 43], [154, 154, 154]]
    """
    known = np.isfinite(values)
    width = high - low
    place = (np.where(known, values, low) - low) / width if width > 0 else np.full(len(values), 0.5)
    at = np.clip(place, 0, 1) * 256
    found = colour_table(table, n=257)[np.rint(at).astype(np.int64)]
    found[~known] = parse_colour(UNKNOWN)
    return found
