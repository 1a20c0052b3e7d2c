"""Materials of USD: a UsdPreviewSurface for each body, and for each material of its mesh.

The colour of a body is that of its picture, also as `displayColor`, which programs show that ignore
materials; a mesh with a colour at each point (`color`) has these as `displayColor`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from taut.extras import import_extra
from taut.show.colours import BODIES, parse_colour
from taut.show.export._bodies import choose_colour, to_linear
from taut.show.export._usd_prims import BodyPrim, Lines, Surface
from taut.show.visual_model import VisualBody

_FOLDER = "/World/materials"
_ROUGHNESS = 0.7  # of cloth, paper and rubber: a wide, faint highlight


class Materials:
    """The materials of a stage, each defined once."""

    def __init__(self, stage: Any) -> None:
        self._stage = stage
        self._shade = import_extra("usd", "pxr.UsdShade", "USD files")
        self._sdf = import_extra("usd", "pxr.Sdf", "USD files")
        self._by_name: dict[str, Any] = {}
        import_extra("usd", "pxr.UsdGeom", "USD files").Scope.Define(stage, _FOLDER)

    def paint(self, piece: VisualBody, number: int, body: Any, prims: Sequence[BodyPrim]) -> None:
        """Give the prims of a body its material and colour.

        number : of the body; body : the prim that contains the others, or the only one
        """
        colour = choose_colour(piece, number)
        self._bind(body, self._find(f"body {number}", body.GetName(), colour))
        for prim in prims:
            _set_display_colour(prim, colour)
            if isinstance(prim, Surface):
                for name, subset in prim.subsets.items():
                    painted = BODIES[(number + 1 + len(self._by_name)) % len(BODIES)]
                    rgb = to_linear(parse_colour(painted) / 255.0).tolist()
                    self._bind(subset.GetPrim(), self._find(f"material {name}", name, rgb))

    def _bind(self, prim: Any, material: Any) -> None:
        self._shade.MaterialBindingAPI.Apply(prim).Bind(material)

    def _find(self, key: str, name: str, colour: list[float]) -> Any:
        """Return a material; define it if it is new."""
        if key not in self._by_name:
            path = f"{_FOLDER}/material_{len(self._by_name)}"
            material = self._shade.Material.Define(self._stage, path)
            material.GetPrim().SetDisplayName(name)
            shader = self._shade.Shader.Define(self._stage, f"{path}/surface")
            shader.CreateIdAttr("UsdPreviewSurface")
            types = self._sdf.ValueTypeNames
            shader.CreateInput("diffuseColor", types.Color3f).Set(tuple(colour))
            shader.CreateInput("roughness", types.Float).Set(_ROUGHNESS)
            output = shader.CreateOutput("surface", types.Token)
            material.CreateSurfaceOutput().ConnectToSource(output)
            self._by_name[key] = material
        return self._by_name[key]


def _set_display_colour(prim: BodyPrim, colour: list[float]) -> None:
    tokens = prim.usd.geom.Tokens
    at_points = prim.piece.mesh.point_data.get("color")
    if at_points is None or at_points.ndim != 2 or isinstance(prim, Lines):
        prim.prim.CreateDisplayColorPrimvar(tokens.constant).Set([tuple(colour)])
        return
    colours = to_linear(np.clip(at_points[:, :3], 0.0, 1.0))
    prim.prim.CreateDisplayColorPrimvar(tokens.vertex).Set(prim.usd.vectors(colours))
