"""The canvas: bodies, lights and the floor as VTK actors, drawn from a camera.

Three lights move with the camera: the key light from the upper left, a weaker fill light from the
right, and a rim light from behind. The shadow belongs to one further light that does not move
(`taut.show.render._floor.LIGHT`). A body that touches others at a thickness is drawn so thick.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from taut.arrays import Bytes, Float, Int, Mask
from taut.extras import import_extra
from taut.show.colours import (
    BACKS,
    BODIES,
    HELD,
    OBSTACLE,
    OBSTACLE_BACK,
    UNKNOWN,
    parse_colour,
)
from taut.show.render._cameras import Camera
from taut.show.render._floor import Floor
from taut.show.render._opengl import open_plotter
from taut.show.render._shapes import Shape, Spheres, Surface, Tubes
from taut.show.visual_model import VisualBody, VisualModel, has_no_torn_side

BACKGROUND = "#f4f5f7"
_LIGHTS = (
    ((-0.7, 0.9, 1.0), 0.86),  # key
    ((0.8, -0.2, 1.0), 0.50),  # fill
    ((0.4, 1.0, -0.8), 0.30),  # rim
)
"""Position in the coordinates of the camera, and intensity."""

# Lengths below are shares of the diagonal of the bounding box of all frames.
_MIN_TUBE_RADIUS, _MAX_TUBE_RADIUS = 0.003, 0.005
_WIDE_TUBE_RADIUS = 0.009  # of a body with at most `_MAX_WIDE_LINES` lines
_MAX_WIDE_LINES = 20
_JOINT_RATIO, _WIDE_JOINT_RATIO = 1.35, 2.2  # radius of the spheres at joints / that of the tubes

_NO_PAIRS: Int = np.empty((0, 2), np.int64)


@dataclass(eq=False)
class _Drawn:
    """A shape on the canvas, its pyvista.PolyData, and the colours of its vertices, (c, 3)."""

    shape: Shape
    data: Any
    plain: Bytes


@dataclass(eq=False)
class _Body:
    piece: VisualBody
    drawn: list[_Drawn] = field(default_factory=list)


class Canvas:
    """Draws one frame after another.

    size : width and height [pixels]
    points : outermost points of all frames [m], (k, 3); they set the size of tubes and spheres, the
        height of the ground and the extent of the shadow
    has_held_marks : whether held points are marked in red
    """

    def __init__(
        self,
        model: VisualModel,
        size: tuple[int, int],
        points: Float,
        *,
        has_held_marks: bool = False,
    ) -> None:
        self._pyvista = import_extra("render", "pyvista", "pictures")
        self._plotter = open_plotter(size)
        self._plotter.set_background(BACKGROUND)
        for position, intensity in _LIGHTS:
            light = self._pyvista.Light(
                position=position, light_type="camera light", intensity=intensity
            )
            self._plotter.add_light(light)
        self.model, self.size = model, size
        self.scale = float(np.linalg.norm(np.ptp(points, axis=0))) or 1.0
        self.floor = Floor(self._plotter, model, points, self.scale)
        self._max_joint_radius = 0.0  # [m]
        self._bodies = [self._add_body(piece, k) for k, piece in enumerate(model.pieces)]
        self._held_marks = self._add_held_marks() if has_held_marks else None

    def _add_body(self, piece: VisualBody, k: int) -> _Body:
        front, back = BODIES[k % len(BODIES)], BACKS[k % len(BACKS)]
        if piece.is_obstacle:
            front, back = OBSTACLE, OBSTACLE_BACK
        rest, body = piece.mesh.positions, _Body(piece)
        if len(piece.triangles):
            body.drawn.append(
                self._add(Surface(rest, piece.triangles, piece.thickness), front, back)
            )
        if len(piece.lines):
            tube, joint = self._line_radii(rest, piece.lines, piece.thickness)
            self._max_joint_radius = max(self._max_joint_radius, joint)
            body.drawn.append(self._add(Tubes(piece.lines, tube), front))
            body.drawn.append(self._add(Spheres(np.unique(piece.lines), joint), front))
        if not body.drawn:
            r = min(0.02, 0.25 / max(piece.mesh.n, 1) ** (1 / 3)) * self.scale
            if piece.thickness > 0.0:
                r = piece.thickness / 2
            body.drawn.append(self._add(Spheres(np.arange(piece.mesh.n), r), front))
        return body

    def _line_radii(self, rest: Float, lines: Int, thickness: float) -> tuple[float, float]:
        """Return the radius of tubes along lines and of spheres where they meet [m]."""
        if thickness > 0.0:
            return thickness / 2, thickness / 2
        if len(lines) <= _MAX_WIDE_LINES:
            r = _WIDE_TUBE_RADIUS * self.scale
            return r, _WIDE_JOINT_RATIO * r
        length = float(np.median(np.linalg.norm(rest[lines[:, 1]] - rest[lines[:, 0]], axis=1)))
        low, high = _MIN_TUBE_RADIUS * self.scale, _MAX_TUBE_RADIUS * self.scale
        r = float(np.clip(0.1 * length, low, high))
        return r, _JOINT_RATIO * r

    def _add_held_marks(self) -> _Drawn | None:
        """Add spheres at held particles: small enough not to overlap, larger than the joints."""
        if not len(self.model.held):
            return None
        edges = np.concatenate([piece.mesh.lengths for piece in self.model.pieces])
        r = 0.008 * self.scale
        if len(edges):
            r = min(r, 0.25 * float(np.median(edges)))
        r = max(r, 1.12 * self._max_joint_radius)
        return self._add(Spheres(self.model.held, r), HELD)

    def _add(self, shape: Shape, colour: str, back: str | None = None) -> _Drawn:
        """Add a shape; back : colour of its back side, if it has one."""
        count = len(shape.source)
        data = self._pyvista.PolyData(np.zeros((count, 3)), faces=_vtk_faces(shape.triangles))
        plain = np.tile(parse_colour(colour), (count, 1))
        if back is not None and isinstance(shape, Surface):
            plain[shape.back] = parse_colour(back)
        data.point_data["colour"] = plain
        data.point_data["Normals"] = np.zeros((count, 3))
        data.point_data.active_normals_name = "Normals"
        actor = self._plotter.add_mesh(
            data,
            scalars="colour",
            rgb=True,
            ambient=0.3,
            diffuse=0.85,
            specular=0.15,
            specular_power=25,
            culling="back",
            show_scalar_bar=False,
            copy_mesh=False,
            reset_camera=False,
        )
        actor.prop.interpolation = "phong"
        return _Drawn(shape, data, plain)

    def show(
        self,
        q: Float,
        *,
        torn: Int = _NO_PAIRS,
        colours: Sequence[Bytes] | None = None,
        lines: Sequence[Bytes] | None = None,
        held: Mask | None = None,
    ) -> None:
        """Move everything to the positions q [m], (n, 3).

        colours : of the points of each piece, (m, 3); None: one colour for each body
        lines : of the lines of each piece, (k, 3), if they have colours of their own
        torn : pairs of particles, (k, 2), with a torn element between them; their faces and lines
            are not drawn
        held : which particles of `VisualModel.held` are held now, (h,); None: all of them
        """
        vertices: list[Float] = []
        triangles: list[Int] = []
        for i, body in enumerate(self._bodies):
            x = body.piece.positions(q)
            point_colours = None if colours is None else colours[i]
            line_colours = None if lines is None else lines[i]
            for drawn in body.drawn:
                kept = drawn.shape.triangles
                if len(torn):
                    kept = _drop_torn(drawn.shape, torn - body.piece.start, body.piece)
                    drawn.data.faces = _vtk_faces(kept)
                placed = _place(drawn, x, _select_colours(drawn, point_colours, line_colours))
                triangles.append(kept + sum(map(len, vertices)))
                vertices.append(placed)
        if self._held_marks is not None:
            marks = self._held_marks.shape.triangles
            if held is not None:
                visible = np.repeat(held, len(marks) // len(held))
                self._held_marks.data.faces = _vtk_faces(marks[visible])
            _place(self._held_marks, q, self._held_marks.plain)
        self.floor.cast_shadow(np.concatenate(vertices), np.concatenate(triangles))

    def draw(self, camera: Camera) -> Bytes:
        """Draw the picture that a camera sees, (height, width, 3)."""
        vtk_camera = self._plotter.camera
        vtk_camera.position = camera.eye.tolist()
        vtk_camera.focal_point = camera.target.tolist()
        vtk_camera.up = (0.0, 1.0, 0.0)
        vtk_camera.view_angle = camera.angle
        self._plotter.renderer.ResetCameraClippingRange()
        self._plotter.render()
        return np.asarray(self._plotter.screenshot(return_img=True))[..., :3]

    def close(self) -> None:
        """Free the window and its memory."""
        self._plotter.close()


def _vtk_faces(triangles: Int) -> Int:
    """Return triangles (k, 3) in the flat form of VTK, each after its number of corners."""
    return np.column_stack([np.full(len(triangles), 3), triangles]).ravel()


def _select_colours(drawn: _Drawn, points: Bytes | None, lines: Bytes | None) -> Bytes:
    """Return the colours of the vertices of a shape, (c, 3).

    If lines have colours of their own, the spheres between them are grey.
    """
    if points is None:
        return drawn.plain
    if lines is not None and isinstance(drawn.shape, Tubes):
        return np.repeat(lines, len(drawn.shape.source) // len(lines), axis=0)
    if lines is not None and len(lines) and isinstance(drawn.shape, Spheres):
        return np.broadcast_to(parse_colour(UNKNOWN), drawn.plain.shape)
    return points[drawn.shape.source]


def _place(drawn: _Drawn, x: Float, colours: Bytes) -> Float:
    """Move and colour the vertices of a shape for points x [m], (n, 3); return them [m], (c, 3)."""
    vertices, normals = drawn.shape.place(x)
    drawn.data.points = vertices
    drawn.data.point_data["Normals"] = normals
    drawn.data.point_data["colour"] = colours
    return vertices


def _drop_torn(shape: Shape, torn: Int, piece: VisualBody) -> Int:
    """Return the triangles of a shape without those that have a torn pair as edge or centre line.

    Of a finer mesh those with a point in a torn cell are left out.

    torn : pairs of particles of the body, (k, 2)
    """
    if piece.embedding is None:
        return shape.triangles[has_no_torn_side(shape.sides, torn, piece.mesh.n)]
    is_torn = piece.find_torn_points(torn)[shape.source]
    return shape.triangles[~is_torn[shape.triangles].any(axis=1)]
