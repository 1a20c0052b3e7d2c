"""The stage: bodies, ground and light, drawn from a camera.

Three lights go with the camera: the key from the upper left, a weaker fill from the right, a rim light from behind. The shadow on
the ground is of one light that stays where it is (`taut.show.render.shadow`). Nothing else is to be seen of the ground.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taut.extras import extra
from taut.show.colours import BACKS, BODIES, HELD, UNKNOWN, bytes_of
from taut.show.render.cameras import Camera
from taut.show.render.gl import canvas
from taut.show.render.shadow import fallen, shadow
from taut.show.render.shapes import Balls, Shape, Skin, Tubes
from taut.show.subject import Piece, Subject
from taut.show.torn import spared

Float = NDArray[np.float64]
Int = NDArray[np.int64]
Bytes = NDArray[np.uint8]
BACKGROUND = "#f4f5f7"
LIGHTS = (((-0.7, 0.9, 1.0), 0.68), ((0.8, -0.4, 1.0), 0.44), ((0.4, 1.0, -0.8), 0.22))  # where, seen from the camera; how bright
BELOW = 0.012  # of the size of all: how far below the lowest point the ground is
THIN, THICK = 0.003, 0.005  # radius of a tube: a tenth of the median length of lines, between these shares of the size of all
STOUT = 0.009  # the same of a few lines
JOINT, KNOB = 1.35, 2.2  # radius of the balls where lines meet, by that of the tubes: of many lines, and of a few
FEW = 20  # lines
NOTHING: Int = np.empty((0, 2), np.int64)


@dataclass(eq=False)
class _Drawn:
    """A shape of a piece on the canvas."""

    shape: Shape
    data: Any
    plain: Bytes  # colours of its corners, (c, 3)


@dataclass(eq=False)
class _Body:
    piece: Piece
    drawn: list[_Drawn] = field(default_factory=list)


class Stage:
    """What is drawn, frame after frame.

    size : width and height [pixels]; points : outermost points of all frames [m], (k, 3), between which everything stays
    """

    def __init__(self, subject: Subject, size: tuple[int, int], points: Float) -> None:
        self._pyvista = extra("render", "pyvista", "pictures")
        self._canvas = canvas(size)
        self._canvas.set_background(BACKGROUND)
        for place, bright in LIGHTS:
            self._canvas.add_light(self._pyvista.Light(position=place, light_type="camera light", intensity=bright))
        self.subject, self.size = subject, size
        self.scale = float(np.linalg.norm(np.ptp(points, axis=0))) or 1.0
        self.ground = float(points[:, 1].min()) - BELOW * self.scale
        flat = fallen(points, self.ground)
        centre, half = (flat.min(axis=0) + flat.max(axis=0)) / 2, float(np.ptp(flat, axis=0).max()) / 2 + 0.12 * self.scale
        self._box = centre - half, centre + half
        self._largest = 0.0  # radius of the balls where lines meet [m]
        self._bodies = [self._body(piece, k) for k, piece in enumerate(subject.pieces)]
        self._held = self._marks()
        self._floor: Any = None

    def _body(self, piece: Piece, k: int) -> _Body:
        front, back = BODIES[k % len(BODIES)], BACKS[k % len(BACKS)]
        rest, body = piece.mesh.positions, _Body(piece)
        if len(piece.triangles):
            body.drawn.append(self._add(Skin(rest, piece.triangles), front, back))
        if len(piece.lines):
            length = float(np.median(np.linalg.norm(rest[piece.lines[:, 1]] - rest[piece.lines[:, 0]], axis=1)))
            few = len(piece.lines) <= FEW
            r = STOUT * self.scale if few else float(np.clip(0.1 * length, THIN * self.scale, THICK * self.scale))
            ball = (KNOB if few else JOINT) * r
            self._largest = max(self._largest, ball)
            body.drawn += [self._add(Tubes(piece.lines, r), front), self._add(Balls(np.unique(piece.lines), ball), front)]
        if not body.drawn:
            r = min(0.02, 0.25 / max(piece.mesh.n, 1) ** (1 / 3)) * self.scale
            body.drawn.append(self._add(Balls(np.arange(piece.mesh.n), r), front))
        return body

    def _marks(self) -> _Drawn | None:
        """Balls at the particles that are held, small enough to be told apart, and larger than those where lines meet."""
        if not len(self.subject.held):
            return None
        edges = np.concatenate([piece.mesh.lengths for piece in self.subject.pieces])
        apart = 0.25 * float(np.median(edges)) if len(edges) else np.inf
        return self._add(Balls(self.subject.held, max(min(0.008 * self.scale, apart), 1.12 * self._largest)), HELD)

    def _add(self, shape: Shape, colour: str, back: str | None = None) -> _Drawn:
        data = self._pyvista.PolyData(np.zeros((len(shape.source), 3)), faces=_faces(shape.triangles))
        plain = np.tile(bytes_of(colour), (len(shape.source), 1))
        if back is not None:  # the second half of a skin is its other side
            plain[len(plain) // 2 :] = bytes_of(back)
        data.point_data["colour"] = plain
        data.point_data["Normals"] = np.zeros((len(shape.source), 3))
        data.point_data.active_normals_name = "Normals"
        actor = self._canvas.add_mesh(
            data, scalars="colour", rgb=True, ambient=0.38, diffuse=0.85, specular=0.15, specular_power=25, culling="back",
            show_scalar_bar=False, copy_mesh=False, reset_camera=False,
        )  # fmt: skip
        actor.prop.interpolation = "phong"
        return _Drawn(shape, data, plain)

    def show(
        self,
        q: Float,
        *,
        torn: Int = NOTHING,
        colours: Sequence[Bytes] | None = None,
        lines: Sequence[Bytes] | None = None,
        held: NDArray[np.bool_] | None = None,
    ) -> None:
        """Put everything where it is at q [m], (n, 3).

        colours : of the points of each piece, (m, 3), or None: each body has its own; lines : of its lines, (k, 3), if not as these
        torn : pairs of particles, (k, 2), between which something is torn: faces and lines there are left out
        held : which of the particles that can be held are, (h,); all, if it is None
        """
        corners: list[Float] = []
        triangles: list[Int] = []
        for i, body in enumerate(self._bodies):
            x = body.piece.positions(q)
            for drawn in body.drawn:
                kept = drawn.shape.triangles
                if len(torn) and body.piece.embedding is None:
                    kept = _untorn(drawn, torn - body.piece.start, body.piece.mesh.n)
                    drawn.data.faces = _faces(kept)
                at = _placed(drawn, x, _colour(drawn, None if colours is None else colours[i], None if lines is None else lines[i]))
                triangles.append(kept + sum(map(len, corners)))
                corners.append(at)
        if self._held is not None:
            marks = self._held.shape.triangles
            if held is not None:
                self._held.data.faces = _faces(marks[np.repeat(held, len(marks) // len(held))])
            _placed(self._held, q, self._held.plain)
        self._cast(np.concatenate(corners), np.concatenate(triangles))

    def _cast(self, x: Float, triangles: Int) -> None:
        """The shadow of triangles (k, 3) with corners x [m], (n, 3), on the ground."""
        dark = shadow(x, triangles, self.ground, self._box)
        picture = np.zeros((*dark.shape, 4), dtype=np.uint8)
        picture[..., 3] = dark
        texture = self._pyvista.Texture(np.ascontiguousarray(picture[::-1]))
        if self._floor is None:
            (x0, z0), (x1, z1) = (side.tolist() for side in self._box)
            y = self.ground
            data = self._pyvista.PolyData([[x0, y, z0], [x1, y, z0], [x1, y, z1], [x0, y, z1]], faces=[4, 0, 3, 2, 1])
            data.active_texture_coordinates = np.array([[0.0, 0], [1, 0], [1, 1], [0, 1]])
            self._floor = self._canvas.add_mesh(data, texture=texture, lighting=False, reset_camera=False)
            self._floor.ForceTranslucentOn()
        else:
            self._floor.SetTexture(texture)

    def image(self, camera: Camera) -> Bytes:
        """The picture, (height, width, 3)."""
        lens = self._canvas.camera
        lens.position, lens.focal_point, lens.up = camera.eye.tolist(), camera.target.tolist(), (0.0, 1.0, 0.0)
        lens.view_angle = camera.angle
        self._canvas.renderer.ResetCameraClippingRange()
        self._canvas.render()
        return np.asarray(self._canvas.screenshot(return_img=True))[..., :3]

    def close(self) -> None:
        """Let go of the canvas."""
        self._canvas.close()


def _faces(triangles: Int) -> Int:
    """Triangles (k, 3) as VTK wants them, each after its number of corners."""
    return np.column_stack([np.full(len(triangles), 3), triangles]).ravel()


def _colour(drawn: _Drawn, points: Bytes | None, lines: Bytes | None) -> Bytes:
    """The colours of the corners of a shape, (c, 3); where lines have their own, the balls between them are grey."""
    if points is None:
        return drawn.plain
    if lines is not None and isinstance(drawn.shape, Tubes):
        return np.repeat(lines, len(drawn.shape.source) // len(lines), axis=0)
    if lines is not None and len(lines) and isinstance(drawn.shape, Balls):
        return np.broadcast_to(bytes_of(UNKNOWN), drawn.plain.shape)
    return points[drawn.shape.source]


def _placed(drawn: _Drawn, x: Float, colour: Bytes) -> Float:
    """Move a shape to where its points x (n, 3) [m] are, with a colour for each of its corners; its corners [m], (c, 3)."""
    at, normals = drawn.shape.place(x)
    drawn.data.points = at
    drawn.data.point_data["Normals"] = normals
    drawn.data.point_data["colour"] = colour
    return at


def _untorn(drawn: _Drawn, torn: Int, n: int) -> Int:
    """The triangles of a shape that have no torn pair, by the points of the piece, as an edge or along their line."""
    shape = drawn.shape
    if isinstance(shape, Skin):
        sides = np.tile(np.stack([shape.corners[:, [i, (i + 1) % 3]] for i in range(3)], axis=1), (2, 1, 1))
    elif isinstance(shape, Tubes):
        sides = np.repeat(shape.lines, len(shape.triangles) // len(shape.lines), axis=0)[:, None]
    else:
        return shape.triangles
    return shape.triangles[spared(sides, torn, n)]
