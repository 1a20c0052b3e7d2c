"""Colours of vertices, for formats that hold red, green and blue."""

from __future__ import annotations

import logging

import numpy as np
from numpy.typing import NDArray

from taut.mesh.mesh import Mesh

_log = logging.getLogger("taut")


def rgb(mesh: Mesh, name: str) -> NDArray[np.float64] | None:
    """The map "color" of a mesh, shape (n, 3), to write in the format of this name; what is left out is named on the log."""
    color = mesh.point_data.get("color")
    if color is None:
        return None
    if color.ndim != 2 or color.shape[1] not in (3, 4):
        _log.info('%s: left out the map "color": it has shape %s, not (n, 3)', name, color.shape)
        return None
    if not np.isfinite(color[:, :3]).all():
        _log.info('%s: left out the map "color": it is not finite', name)
        return None
    if color.shape[1] == 4:
        _log.info('%s: left out the alpha of the map "color"', name)
    return color[:, :3].astype(np.float64)
