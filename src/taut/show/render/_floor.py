"""The floor of a picture: planes that nothing passes, and the shadow of all bodies.

A scene with a ground has its floor there, as a surface that fades out around the bodies. Without
one only the shadow is drawn, on an invisible floor below all that happens in the run. Other planes
are drawn as translucent sheets.

The shadow on the ground y = g, in light that falls along l, darkens x - l (x_y - g)/l_y for each
point x. It is blurred, the more the higher the mean height of the triangles, as in the light of a
lamp of some width.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from taut.arrays import Bytes, Float, Int
from taut.extras import import_extra
from taut.show.colours import GROUND, parse_colour
from taut.show.contact_model import is_ground, make_square
from taut.show.visual_model import VisualModel

LIGHT = np.array([0.22, -1.0, -0.12])
"""The direction in which light falls on the ground."""
# Lengths below are shares of the diagonal of the bounding box of all frames.
_FLOOR_GAP = 0.012  # between the lowest point and a floor that is no ground
_SHADOW_MARGIN = 0.12  # around the shadow: room for its blur
_PLANE_SIZE = 1.1  # from the middle of a plane to its sides
_SHADOW_LIFT = 5e-4  # of the shadow above the ground, which would hide it otherwise
_PLANE_OPACITY = 0.45  # of planes that are no ground
_TEXTURE_PIXELS = 256  # along each side of the picture of a plane
_SHADOW_PIXELS = 512  # along each side of the picture of the shadow
_SHADOW_OPACITY = 0.28  # share of the light that is missing in a full shadow
_MIN_BLUR = 0.006  # as a share of the width of the picture of the shadow
_BLUR_PER_HEIGHT = 0.03  # further blur, as a share of the height above the ground
_FADE_START = 0.3  # of a plane, as a share of the way from its middle to its sides


class Floor:
    """The floor below the bodies, and other planes.

    plotter : a pyvista.Plotter; model : what is drawn
    points : outermost points of all frames [m], (k, 3); scale : their diagonal [m]
    height : of the floor [m]
    """

    def __init__(self, plotter: Any, model: VisualModel, points: Float, scale: float) -> None:
        self._pyvista = import_extra("render", "pyvista", "pictures")
        self._plotter, self._shadow = plotter, None
        ground = model.ground
        self.height = float(points[:, 1].min()) - _FLOOR_GAP * scale if ground is None else ground
        self._shadow_height = self.height + _SHADOW_LIFT * scale
        projected = project_shadow(points, self.height)
        centre = (projected.min(axis=0) + projected.max(axis=0)) / 2
        half = float(np.ptp(projected, axis=0).max()) / 2 + _SHADOW_MARGIN * scale
        self._shadow_box = centre - half, centre + half
        middle = (points.min(axis=0) + points.max(axis=0)) / 2
        for plane in model.planes:
            opacity = 1.0 if is_ground(plane) else _PLANE_OPACITY
            self._add_square(make_square(plane, middle, _PLANE_SIZE * scale), _fade_plane(opacity))

    def _add_square(self, corners: Float, pixels: Bytes) -> Any:
        """Add a square with corners [m], (4, 3), and a picture (p, p, 4), row 0 at the first."""
        data = self._pyvista.PolyData(corners, faces=[4, 0, 1, 2, 3])
        data.active_texture_coordinates = np.array([[0.0, 0], [1, 0], [1, 1], [0, 1]])
        actor = self._plotter.add_mesh(
            data, texture=self._make_texture(pixels), lighting=False, reset_camera=False
        )
        actor.ForceTranslucentOn()
        return actor

    def _make_texture(self, pixels: Bytes) -> Any:
        return self._pyvista.Texture(np.ascontiguousarray(pixels[::-1]))

    def cast_shadow(self, x: Float, triangles: Int) -> None:
        """Draw the shadow of triangles (k, 3) with vertices x [m], (n, 3)."""
        darkness = draw_shadow(x, triangles, self.height, self._shadow_box)
        pixels = np.zeros((*darkness.shape, 4), dtype=np.uint8)  # black, with alpha
        pixels[..., 3] = darkness
        if self._shadow is not None:
            self._shadow.SetTexture(self._make_texture(pixels))
            return
        (x0, z0), (x1, z1) = (side.tolist() for side in self._shadow_box)
        y = self._shadow_height
        corners = [[x0, y, z0], [x1, y, z0], [x1, y, z1], [x0, y, z1]]
        self._shadow = self._add_square(np.array(corners), pixels)


def _fade_plane(opacity: float) -> Bytes:
    """Return the picture of a plane, (p, p, 4): one colour that fades out towards the sides."""
    at = np.linspace(-1.0, 1.0, _TEXTURE_PIXELS)
    r = np.hypot(at[:, None], at[None, :])
    s = np.clip((1.0 - r) / (1.0 - _FADE_START), 0.0, 1.0)
    pixels = np.empty((_TEXTURE_PIXELS, _TEXTURE_PIXELS, 4), dtype=np.uint8)
    pixels[..., :3] = parse_colour(GROUND)
    pixels[..., 3] = np.rint(255 * opacity * s * s * (3.0 - 2.0 * s))
    return pixels


def project_shadow(x: Float, ground: float) -> Float:
    """Project points x [m], (n, 3), along the light onto the ground y = ground [m]: (n, 2) of x, z.

    >>> project_shadow(np.array([[0.0, 2.0, 0.0], [1.0, 0.0, 1.0]]), 0.0).tolist()
    [[0.44, -0.24], [1.0, 1.0]]
    """
    return x[:, [0, 2]] - LIGHT[[0, 2]] * ((x[:, 1] - ground) / LIGHT[1])[:, None]


def draw_shadow(x: Float, triangles: Int, ground: float, box: tuple[Float, Float]) -> Bytes:
    """Return how dark the ground is, 0 to 255, (512, 512): row 0 at least z, column 0 at least x.

    x : vertices [m], (n, 3); triangles : (k, 3); ground : its height [m]
    box : least and greatest x and z of the picture of the shadow [m], each (2,)
    """
    blur = import_extra("render", "PIL.ImageFilter", "pictures").GaussianBlur
    low, high = box
    pixels = (project_shadow(x, ground) - low) / (high - low) * _SHADOW_PIXELS
    height = 0.0
    if len(triangles):
        height = float((x[triangles, 1].mean() - ground) / (high - low).max())
    image = import_extra("render", "PIL.Image", "pictures").new(
        "L", (_SHADOW_PIXELS, _SHADOW_PIXELS)
    )
    pen = import_extra("render", "PIL.ImageDraw", "pictures").Draw(image)
    for corners in pixels[triangles].reshape(-1, 6).tolist():
        pen.polygon(corners, fill=255, outline=255)
    blurred = image.filter(blur((_MIN_BLUR + _BLUR_PER_HEIGHT * height) * _SHADOW_PIXELS))
    darkness = np.asarray(blurred, dtype=np.float64) * _SHADOW_OPACITY
    return np.rint(darkness).astype(np.uint8)
