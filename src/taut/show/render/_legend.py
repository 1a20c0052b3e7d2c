"""Text on a picture: the colour bar with quantity, unit and range, and the time stamp."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from taut.arrays import Bytes
from taut.errors import escape_unprintable
from taut.extras import import_extra
from taut.show.colours import TableName, colour_table

_INK = (70, 74, 82)
_MAX_TITLE_LENGTH = 40  # characters


def add_colour_bar(
    picture: Bytes, title: str, unit: str, low: float, high: float, table: TableName
) -> Bytes:
    """Return a picture with a colour bar on its right side, half as tall as the picture.

    picture : (height, width, 3); title, unit : of the quantity; low, high : ends of the colours
    table : of the colours
    """
    pillow = import_extra("render", "PIL.Image", "pictures")
    image = pillow.fromarray(picture)
    pen = import_extra("render", "PIL.ImageDraw", "pictures").Draw(image)
    height, width = picture.shape[:2]
    font_size = _font_size(height)
    font = _load_font(font_size)
    length, thickness = height // 2, max(height // 40, 6)
    labels = [format_number(value) for value in (high, (low + high) / 2, low)]
    label_width = int(max(pen.textlength(label, font=font) for label in labels))
    left, top = width - label_width - thickness - 2 * font_size, (height - length) // 2
    colours = colour_table(table, n=length)[::-1, None].repeat(thickness, axis=1)
    image.paste(pillow.fromarray(colours), (left, top))
    pen.rectangle((left, top, left + thickness, top + length), outline=_INK)
    for label, y in zip(labels, (top, top + length / 2, top + length), strict=True):
        place = (left + thickness + font_size // 2, y)
        pen.text(place, label, font=font, fill=_INK, anchor="lm")
    heading = escape_unprintable(title)
    if len(heading) > _MAX_TITLE_LENGTH:
        heading = heading[: _MAX_TITLE_LENGTH - 1] + "…"
    if unit:
        heading = f"{heading} [{unit}]"
    pen.text((width - font_size, top - font_size), heading, font=font, fill=_INK, anchor="rb")
    return np.asarray(image)


def add_time_stamp(picture: Bytes, t: float) -> Bytes:
    """Return a picture with the time t [s] in its lower left corner."""
    image = import_extra("render", "PIL.Image", "pictures").fromarray(picture)
    height = picture.shape[0]
    font_size = _font_size(height)
    pen = import_extra("render", "PIL.ImageDraw", "pictures").Draw(image)
    place, font = (font_size, height - font_size), _load_font(font_size)
    pen.text(place, f"t = {t:.2f} s", font=font, fill=_INK, anchor="ls")
    return np.asarray(image)


def format_number(value: float) -> str:
    """Format a number with three digits and a typographic minus sign.

    >>> format_number(-0.012345), format_number(123456.0), format_number(0.0)
    ('−0.0123', '1.23e+05', '0')
    """
    text = f"{value:.3g}"
    if value < 0:
        # Only the sign of the number, not that of its exponent.
        return text.replace("-", "−", 1)
    return text


def _font_size(height: int) -> int:
    """Return the size of letters in a picture of this height [pixels]."""
    return max(height // 36, 9)


def _load_font(size: int) -> Any:
    """Load DejaVu Sans, which has Greek letters and powers.

    It comes with matplotlib, and matplotlib with pyvista; otherwise Pillow's own font is used.
    """
    fonts = import_extra("render", "PIL.ImageFont", "pictures")
    spec = find_spec("matplotlib")
    folders: list[str] = []
    if spec is not None and spec.submodule_search_locations:
        folders = list(spec.submodule_search_locations)
    for folder in folders:
        file = Path(folder) / "mpl-data/fonts/ttf/DejaVuSans.ttf"
        if file.exists():
            return fonts.truetype(str(file), size)
    return fonts.load_default(size)
