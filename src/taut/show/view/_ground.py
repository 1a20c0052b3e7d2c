"""The ground of the viewer: the planes of a scene, or a grid for orientation.

A scene with a ground has a grid at its height, on which shadows fall. Other planes are translucent
squares. Without a ground there is only a faint grid below the bodies, without shadows: it is hidden
while anything is below it, so that nothing seems to stand on it or to pass through it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from taut.arrays import Float
from taut.show.colours import GROUND
from taut.show.contact_model import is_ground, make_square
from taut.show.view._appearance import Extent, to_rgb
from taut.show.visual_model import VisualModel

_CELLS = 40  # of the grid, along each side
_PLANE_OPACITY = 0.5  # of planes that are no ground
_PLANE_SIZE = 2.0  # from the middle of a plane to its sides, in radii of the scene


class Ground:
    """The nodes of planes and grid.

    scene : of a ViserServer; model : what is drawn; extent : of its first positions
    is_real : whether the grid is where bodies rest, at a ground of the scene
    height : of the grid [m]
    """

    def __init__(self, scene: Any, model: VisualModel, extent: Extent) -> None:
        ground = model.ground
        self.is_real = ground is not None
        self.height = extent.floor if ground is None else ground
        self._grid = self._add_grid(scene, extent)
        others = [plane for plane in model.planes if not is_ground(plane)]
        for i, plane in enumerate(others):
            scene.add_mesh_simple(
                f"/plane {i}",
                make_square(plane, extent.centre, _PLANE_SIZE * extent.radius),
                np.array([[0, 1, 2], [0, 2, 3]]),
                color=to_rgb(GROUND),
                opacity=_PLANE_OPACITY,
                side="double",
                cast_shadow=False,
            )

    def _add_grid(self, scene: Any, extent: Extent) -> Any:
        cell = extent.cell
        looks: dict[str, Any] = {
            "cell_color": (232, 235, 239),
            "section_color": (222, 226, 232),
            "shadow_opacity": 0.0,
        }
        if self.is_real:
            looks = {
                "cell_color": (208, 213, 220),
                "section_color": (180, 187, 198),
                "shadow_opacity": 0.22,
                "plane_color": to_rgb(GROUND),
                "plane_opacity": 0.8,
            }
        return scene.add_grid(
            "/ground",
            width=_CELLS * cell,
            height=_CELLS * cell,
            plane="xz",
            cell_size=cell,
            section_size=5 * cell,
            fade_distance=1.5 * _CELLS * cell,
            position=(extent.centre[0], self.height, extent.centre[2]),
            **looks,
        )

    def show(self, q: Float) -> None:
        """Show or hide the grid for positions q [m], (n, 3)."""
        is_visible = self.is_real or float(q[:, 1].min()) >= self.height
        if is_visible != self._grid.visible:
            self._grid.visible = is_visible
