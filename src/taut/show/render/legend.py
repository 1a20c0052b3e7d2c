"""What is written on a picture: the colour bar with its quantity, unit and range, and the time."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taut.errors import plain
from taut.extras import extra
from taut.show.colours import table

Bytes = NDArray[np.uint8]
INK = (70, 74, 82)
LONGEST = 40  # characters of a title


def legend(picture: Bytes, title: str, unit: str, low: float, high: float, *, signed: bool) -> Bytes:
    """A picture (height, width, 3) with a colour bar at its right side; it is as tall as half of the picture."""
    image, draw = extra("render", "PIL.Image", "pictures"), extra("render", "PIL.ImageDraw", "pictures")
    canvas = image.fromarray(picture)
    pen = draw.Draw(canvas)
    height, width = picture.shape[:2]
    letter = max(height // 36, 9)
    font = _font(letter)
    long, thick = height // 2, max(height // 40, 6)
    words = [number(value) for value in (high, (low + high) / 2, low)]
    room = int(max(pen.textlength(word, font=font) for word in words))
    left, top = width - room - thick - 2 * letter, (height - long) // 2
    canvas.paste(image.fromarray(table(signed=signed, n=long)[::-1, None].repeat(thick, axis=1)), (left, top))
    pen.rectangle((left, top, left + thick, top + long), outline=INK)
    for word, y in zip(words, (top, top + long / 2, top + long), strict=True):
        pen.text((left + thick + letter // 2, y), word, font=font, fill=INK, anchor="lm")
    name = plain(title)
    name = name if len(name) <= LONGEST else name[: LONGEST - 1] + "…"
    pen.text((width - letter, top - letter), f"{name} [{unit}]" if unit else name, font=font, fill=INK, anchor="rb")
    return np.asarray(canvas)


def stamped(picture: Bytes, t: float) -> Bytes:
    """A picture with its time t [s] in the lower left corner."""
    canvas = extra("render", "PIL.Image", "pictures").fromarray(picture)
    height = picture.shape[0]
    letter = max(height // 36, 9)
    pen = extra("render", "PIL.ImageDraw", "pictures").Draw(canvas)
    pen.text((letter, height - letter), f"t = {t:.2f} s", font=_font(letter), fill=INK, anchor="ls")
    return np.asarray(canvas)


def number(value: float) -> str:
    """A number in three digits.

    >>> number(-0.012345), number(123456.0), number(0.0)
    ('−0.0123', '1.23e+05', '0')
    """
    return f"{value + 0.0:.3g}".replace("-", "−", 1) if value < 0 else f"{value:.3g}"


def _font(size: int) -> Any:
    """DejaVu Sans, which comes with matplotlib and has Greek and powers; matplotlib comes with pyvista."""
    fonts = extra("render", "PIL.ImageFont", "pictures")
    found = find_spec("matplotlib")
    for folder in (found.submodule_search_locations or []) if found is not None else []:
        file = Path(folder) / "mpl-data/fonts/ttf/DejaVuSans.ttf"
        if file.exists():
            return fonts.truetype(str(file), size)
    return fonts.load_default(size)
