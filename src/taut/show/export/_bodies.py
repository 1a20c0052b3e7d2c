"""Faces, colours, velocities and 32-bit positions of a body.

A point embedded in a mesh, x = Σ wᵢ qᵢ + d n with the unit normal n = a / |a| of a triangle, has
the velocity

    ẋ = Σ wᵢ vᵢ + d (ȧ - n (n·ȧ)) / |a|,    a = (q₁ - q₀) × (q₂ - q₀),
    ȧ = (v₁ - v₀) × (q₂ - q₀) + (q₁ - q₀) × (v₂ - v₀).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from taut.arrays import Float, Int, Mask, Single
from taut.errors import RunError
from taut.mesh.kinds import get_kind
from taut.mesh.mesh import Mesh
from taut.mesh.parts import UV, Cells
from taut.show.colours import BODIES, OBSTACLE, parse_colour
from taut.show.export._tearing import TornCells
from taut.show.visual_model import VisualBody

MATERIAL = "material:"  # begins the names of groups of faces that have a material
_NO_INTS = np.empty(0, np.int64)


@dataclass(frozen=True, eq=False)
class Polygons:
    """Faces of any size, one after the other.

    counts : corners of each face, (f,)
    corners : points, (c,)
    texture : rows of `coordinates`, (c,), -1 for a corner without any; None if no corner has any
    coordinates : texture coordinates, (k, 2), or None
    materials : name → its faces
    """

    counts: Int
    corners: Int
    texture: Int | None
    coordinates: Float | None
    materials: dict[str, Int]

    def find_whole(self, torn: TornCells) -> Mask:
        """Return which faces are not torn, (f,)."""
        whole = np.ones(len(self.counts), dtype=bool)
        for kind, is_torn in torn.items():
            size = get_kind(kind).size
            if size > 2:  # faces of a kind follow each other
                whole[np.flatnonzero(self.counts == size)[is_torn]] = False
        return whole


def surface_mesh(piece: VisualBody) -> Mesh:
    """Return the lines and faces of a body on all its points; solids become their boundary.

    Texture coordinates and materials are kept.

    >>> import taut
    >>> surface_mesh(VisualBody("box", taut.mesh.block(1, 1, 1), 0, 8))
    Mesh(8 points, 6 quad)
    """
    mesh = piece.mesh
    cells = dict(piece.faces)
    if len(piece.lines):
        cells = {"line": piece.lines, **cells}
    groups = {}
    for name, by_kind in mesh.groups.items():
        if name.startswith(MATERIAL):
            groups[name] = {kind: rows for kind, rows in by_kind.items() if kind in cells}
    return Mesh(mesh.positions, cells, groups=groups, uv=_extend_texture(mesh.uv, cells))


def list_polygons(piece: VisualBody) -> Polygons:
    """Return the faces of a body, corner by corner; those of its mesh come first, in its order.

    >>> import taut
    >>> list_polygons(VisualBody("cloth", taut.mesh.sheet(1, 1), 0, 4)).counts.tolist()
    [4]
    """
    mesh = surface_mesh(piece)
    blocks = list(mesh.blocks(2))
    sizes = [np.full(len(cells), cells.shape[1]) for _, cells in blocks]
    counts = np.concatenate([_NO_INTS, *sizes])
    corners = np.concatenate([_NO_INTS, *(cells.ravel() for _, cells in blocks)])
    starts = dict(zip((k.name for k, _ in blocks), np.cumsum([0, *map(len, sizes)]), strict=False))
    materials = {}
    for name, by_kind in mesh.groups.items():
        rows = [starts[kind] + rows for kind, rows in by_kind.items() if kind in starts]
        if name.startswith(MATERIAL) and rows:
            materials[name.removeprefix(MATERIAL)] = np.sort(np.concatenate(rows))
    if mesh.uv is None:
        return Polygons(counts, corners, None, None, materials)
    texture = np.concatenate([_NO_INTS, *(mesh.uv.corners[k.name].ravel() for k, _ in blocks)])
    return Polygons(counts, corners, texture, mesh.uv.coordinates, materials)


def _extend_texture(uv: UV | None, cells: Cells) -> UV | None:
    """Return texture coordinates for all faces; the boundary of a solid has none (-1)."""
    if uv is None:
        return None
    corners = {}
    for kind, block in cells.items():
        if kind != "line":
            corners[kind] = np.full(block.shape, -1)
            known = uv.corners.get(kind, corners[kind][:0])
            corners[kind][: len(known)] = known
    return UV(uv.coordinates, corners)


def point_velocities(piece: VisualBody, q: Float, v: Float) -> Float:
    """Return velocities of the points of a body [m/s], (m, 3).

    q, v : positions [m] and velocities [m/s] of all particles, (n, 3)

    >>> import taut
    >>> sheet = VisualBody("sheet", taut.mesh.sheet(1, 1), 0, 4)
    >>> point_velocities(sheet, np.zeros((4, 3)), np.ones((4, 3)))[0].tolist()
    [1.0, 1.0, 1.0]
    """
    own_q, own_v = q[piece.start : piece.stop], v[piece.start : piece.stop]
    embedding = piece.embedding
    if embedding is None:
        return own_v
    corner_v = own_v[embedding.indices]
    velocities = np.einsum("mk,mki->mi", embedding.weights, corner_v)
    if embedding.indices.shape[1] != 3:
        return velocities
    corner_q = own_q[embedding.indices]
    p, r = corner_q[:, 1] - corner_q[:, 0], corner_q[:, 2] - corner_q[:, 0]
    dp, dr = corner_v[:, 1] - corner_v[:, 0], corner_v[:, 2] - corner_v[:, 0]
    area, area_rate = np.cross(p, r), np.cross(dp, r) + np.cross(p, dr)
    size = np.linalg.norm(area, axis=1, keepdims=True)
    size = np.where(size > 0, size, np.inf)  # a triangle without area has no normal to turn
    normal = area / size
    along_normal = normal * np.sum(normal * area_rate, axis=1, keepdims=True)
    return velocities + embedding.offsets[:, None] * ((area_rate - along_normal) / size)


def choose_colour(piece: VisualBody, number: int) -> list[float]:
    """Return the colour in which a body is drawn: linear red, green and blue, 0 to 1."""
    colour = OBSTACLE if piece.is_obstacle else BODIES[number % len(BODIES)]
    return to_linear(parse_colour(colour) / 255.0).tolist()


def to_linear(colours: Float) -> Float:
    """Decode sRGB colours, 0 to 1, to intensities, in which USD and glTF have their colours.

    >>> to_linear(np.array([0.0, 0.5, 1.0])).round(4).tolist()
    [0.0, 0.214, 1.0]
    """
    return np.where(colours <= 0.04045, colours / 12.92, ((colours + 0.055) / 1.055) ** 2.4)


def to_float32(x: Float, owner: str) -> Single:
    """Round positions to 32-bit floats, little-endian, which keep 7 digits.

    RunError if one is too large for them; `owner` names the body in the message.

    >>> to_float32(np.array([[0.1, 1.0, 1e-3]]), "the ball").dtype.str
    '<f4'
    >>> to_float32(np.array([[0.0, 1e39, 0.0]]), "the ball")
    Traceback (most recent call last):
    taut.errors.RunError: the ball: point 0 at [0.0, 1e+39, 0.0] m is too far away for...
    """
    with np.errstate(over="ignore"):
        rounded = x.astype("<f4")
    far = np.flatnonzero(~np.isfinite(rounded).all(axis=1))
    if len(far):
        position = x[far[0]].tolist()
        raise RunError(
            f"{owner}: point {far[0]} at {position} m is too far away for 32-bit floats; "
            "VTKHDF and PLY have 64 bits"
        )
    return rounded
