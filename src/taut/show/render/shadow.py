"""A soft shadow on the ground: triangles projected along the light, blurred.

With the ground at y = g and light that falls along l, a point x darkens x - l (x_y - g)/l_y. The blur grows with the mean height of
what casts it, as behind a light of some width.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from taut.extras import extra

Float = NDArray[np.float64]
Int = NDArray[np.int64]
Bytes = NDArray[np.uint8]
LIGHT = np.array([0.22, -1.0, -0.12])  # the way it falls
PIXELS = 512  # of the picture of the shadow, along each side
DARK = 0.28  # share of the light that is missing in a full shadow
SOFT, WIDE = 0.006, 0.03  # blur: a share of the width of the picture, and more of the height of what casts it


def fallen(x: Float, ground: float) -> Float:
    """Where points (n, 3) [m] cast their shadow on the ground y = ground [m]: x and z, (n, 2).

    >>> fallen(np.array([[0.0, 2.0, 0.0], [1.0, 0.0, 1.0]]), 0.0).tolist()
    [[0.44, -0.24], [1.0, 1.0]]
    """
    return x[:, [0, 2]] - LIGHT[[0, 2]] * ((x[:, 1] - ground) / LIGHT[1])[:, None]


def shadow(x: Float, triangles: Int, ground: float, box: tuple[Float, Float]) -> Bytes:
    """How dark the ground is, 0 to 255, (PIXELS, PIXELS): row 0 at the least z, column 0 at the least x.

    x : corners [m], (n, 3); triangles : (k, 3); box : least and greatest x and z of the picture [m], each (2,)
    """
    image, draw = extra("render", "PIL.Image", "pictures"), extra("render", "PIL.ImageDraw", "pictures")
    blur = extra("render", "PIL.ImageFilter", "pictures").GaussianBlur
    low, high = box
    at = (fallen(x, ground) - low) / (high - low) * PIXELS
    height = float((x[triangles, 1].mean() - ground) / (high - low).max()) if len(triangles) else 0.0
    made = image.new("L", (PIXELS, PIXELS))
    pen = draw.Draw(made)
    for corner in at[triangles].reshape(-1, 6).tolist():
        pen.polygon(corner, fill=255, outline=255)
    return np.rint(np.asarray(made.filter(blur((SOFT + WIDE * height) * PIXELS)), dtype=np.float64) * DARK).astype(np.uint8)
