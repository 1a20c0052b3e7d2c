"""The materials of objects: fabrics by name with their warp, or moduli of the user's own."""

import numpy as np

from .units import shorten, to_y_up

# Directions of the warp, in the world, of which the first that lies well enough in all faces is
# taken: down, along y, along x, and one that no face of a modelled garment is square to.
_WARPS = np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.36, 0.48, 0.8]])
_SMALLEST_PART = 0.2  # of a warp in the plane of a face: the sine of 12°
_SMALLEST_AREA = 1e-4  # of a face in the UV map, relative to the square of its extent
_MAX_FITTED_POINTS = 20_000  # more take Van Gelder's formula: a fit takes minutes


def make_fabric(one):
    """Return the table of a fabric by its name."""
    settings = one.item.taut
    fabric = {"name": settings.fabric}
    if any(settings.warp) or not has_texture(one):
        fabric["warp"] = to_y_up(choose_warp(one))
    if settings.strain_limit:
        fabric["strain_limit"] = shorten(settings.strain_limit)
    return fabric


def make_material(one):
    """Return the table of moduli of an object."""
    settings = one.item.taut
    keys = ("young", "density")
    if settings.kind != "ROPE":
        keys += ("thickness", "poisson")
    material = {key: shorten(getattr(settings, key)) for key in keys}
    if settings.kind == "ROPE":
        material["area"] = float(np.pi / 4 * shorten(settings.diameter) ** 2)
    material["damping"] = shorten(settings.damping)
    if settings.breaking_strain:
        material["breaking_strain"] = shorten(settings.breaking_strain)
    if len(one.used) > _MAX_FITTED_POINTS:
        material["fit"] = False
    return material


def has_texture(one):
    """Return whether every face has an area in the UV map, and so a direction of v."""
    texture = one.topology.texture
    if texture is None:
        return False
    for uv in texture:
        x, y = (uv - uv.mean(axis=0)).astype(np.float64).T
        area = abs(x @ np.roll(y, -1) - y @ np.roll(x, -1))
        if area <= _SMALLEST_AREA * (x @ x + y @ y):
            return False
    return True


def choose_warp(one):
    """Return the direction of the warp: that of the user, or one that no face is square to."""
    if any(one.item.taut.warp):
        return one.item.taut.warp
    corners = np.array([face[:3] for face in one.topology.faces], dtype=np.int64)
    x = one.start.astype(np.float64)[np.searchsorted(one.used, corners)]
    normals = np.cross(x[:, 1] - x[:, 0], x[:, 2] - x[:, 0])
    lengths = np.linalg.norm(normals, axis=1, keepdims=True)
    normals = normals / np.where(lengths > 0.0, lengths, 1.0)
    least = [np.sqrt(1.0 - np.max((normals @ axis) ** 2).clip(0.0, 1.0)) for axis in _WARPS]
    good = [axis for axis, part in zip(_WARPS, least, strict=True) if part > _SMALLEST_PART]
    return good[0] if good else _WARPS[int(np.argmax(least))]
