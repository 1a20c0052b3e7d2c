"""The 3D picture as nodes of viser's scene graph: surfaces, springs, particles, held and dragged
points, contact forces, and the ground.

A snapshot is shown by giving the nodes new numbers. The browser overwrites the vertices of a
surface in place and computes smooth normals. It rebuilds line segments from scratch, so long lists
of them are sent less often.
"""

from __future__ import annotations

import math
import threading
from typing import Any

import numpy as np

from taut.arrays import Bytes, Float
from taut.errors import RunError, SceneError
from taut.show.colours import HELD
from taut.show.view._appearance import (
    FIELD_OF_VIEW,
    Extent,
    Springs,
    StrainColours,
    body_colour,
    collect_lines,
    collect_springs,
    find_obstacles,
    make_ball,
    make_octahedron,
    particle_spacing,
    to_rgb,
)
from taut.show.view._contact_arrows import ContactArrows
from taut.show.view._ground import Ground
from taut.show.view._inverted_cells import InvertedCells
from taut.show.view._snapshot import Snapshot
from taut.show.visual_model import VisualBody, VisualModel, has_no_torn_side

SKY_LIGHT = "/sky"
"""Name of the node of the ambient light."""
_DRAG_COLOUR, _PARTICLE_COLOUR = (30, 160, 70), (70, 80, 95)
_AMBIENT_INTENSITY = 2.6  # of the light from above and, dimmer, from below
_MAX_SEGMENTS_PER_SECOND = 60_000  # line segments that a browser is sent
_MAX_SPRINGS_SHOWN = 4_000  # on a surface; more of them are hidden until the user shows them


class SceneGraph:
    """The nodes of a viser scene that show a model.

    viser : a ViserServer; model : what is drawn; first : the first snapshot
    snapshot : the snapshot that is shown; visible : layer → whether it is shown
    """

    def __init__(self, viser: Any, model: VisualModel, first: Snapshot) -> None:
        self.viser, self.scene, self.model = viser, viser.scene, model
        self.springs = _find_springs(model)
        self.strain_colours, self.snapshot = StrainColours(), first
        self.extent = Extent.of_points(first.q)
        self.pieces = [piece for piece in model.pieces if len(piece.triangles)]
        self.spacing = particle_spacing(first.q, self.springs.pairs)
        has_surface = bool(self.pieces)
        self.visible = {
            "surface": True,
            "springs": not has_surface or len(self.springs) <= _MAX_SPRINGS_SHOWN,
            "particles": not has_surface,
            "held points": True,
        }
        self._is_obstacle = find_obstacles(model)
        self._snapshots_since_lines = 0
        self._lock = threading.RLock()
        with viser.atomic():
            self._add_lights()
            self.ground = Ground(self.scene, model, self.extent)
            self.arrows = None
            if _has_contact(model):
                self.arrows = ContactArrows(self.scene, model, self.extent)
                self.visible["contact forces"] = False
            self.inverted = InvertedCells(self.scene, model)
            self.inverted.show(first.q)
            self._set_camera()
            self.surfaces = [
                self._add_surface(i, piece, first.q) for i, piece in enumerate(self.pieces)
            ]
            self._particles = self._add_particles(first.q)
            self._add_lines(first)
            self._add_held(first)
            self._add_drags(first)

    def _add_lights(self) -> None:
        self.scene.set_up_direction("+y")
        self.scene.world_axes.visible = False
        # No environment map: a browser that renders in software would take many seconds for it.
        self.scene.configure_environment_map(None)
        self.scene.configure_default_lights(enabled=True, cast_shadow=True)
        self.scene.add_light_hemisphere(
            SKY_LIGHT,
            sky_color=(255, 255, 255),
            ground_color=(150, 155, 165),
            intensity=_AMBIENT_INTENSITY,
        )

    def _set_camera(self) -> None:
        camera = self.viser.initial_camera
        camera.position = self.extent.camera_position("three-quarter")
        camera.look_at = tuple(self.extent.centre)
        camera.up = (0.0, 1.0, 0.0)
        camera.fov = math.radians(FIELD_OF_VIEW)
        camera.near = self.extent.radius / 200
        camera.far = self.extent.radius * 200

    def _add_surface(self, i: int, piece: VisualBody, q: Float) -> Any:
        return self.scene.add_mesh_simple(
            f"/surface {i}",
            piece.positions(q),
            piece.triangles,
            color=body_colour(i, piece),
            side="double",
            flat_shading=False,
        )

    def _add_particles(self, q: Float) -> Any:
        vertices, faces = make_ball(max(0.12 * self.spacing, self._line_width / 2))
        return self.scene.add_batched_meshes_simple(
            "/particles",
            vertices,
            faces,
            _identity_rotations(len(q)),
            q,
            batched_colors=_PARTICLE_COLOUR,
            lod="off",
            cast_shadow=False,
            visible=self.visible["particles"],
        )

    def _add_held(self, now: Snapshot) -> None:
        vertices, faces = make_octahedron(max(0.28 * self.spacing, 0.012 * self.extent.radius))
        positions = self._held_positions(now)
        self._held = self.scene.add_batched_meshes_simple(
            "/held",
            vertices,
            faces,
            _identity_rotations(len(positions)),
            positions,
            batched_colors=to_rgb(HELD),
            flat_shading=True,
            lod="off",
            cast_shadow=False,
            visible=self.visible["held points"],
        )

    def _held_positions(self, now: Snapshot) -> Float:
        """Return where marks are [m], (k, 3): not on obstacles, which they would hide."""
        return now.q[now.held[~self._is_obstacle[now.held]]]

    @property
    def _line_width(self) -> float:
        """Thickness of the lines if bodies are nothing but lines that touch at it [m], or 0."""
        return 0.0 if self.pieces else max(piece.thickness for piece in self.model.pieces)

    def _add_lines(self, now: Snapshot) -> None:
        self._intact = self.springs.find_intact(now.active)
        points, colours = self._make_segments(now.q)
        width = self._line_width
        if width == 0.0:
            width = 1.2 if self.pieces else 3.0
        self._lines = self.scene.add_line_segments(
            "/springs",
            points,
            colours,
            thickness=width,
            thickness_units="world" if self._line_width else "screen",
            visible=self.visible["springs"],
        )

    def _make_segments(self, q: Float) -> tuple[Float, Bytes]:
        """Return the ends of the springs [m] and their colours, both (m, 2, 3).

        Without springs, one segment of no length: the browser does not accept an empty list.
        """
        pairs = self.springs.pairs[self._intact]
        if not len(pairs):
            return np.zeros((1, 2, 3)), np.zeros((1, 2, 3), np.uint8)
        colours = self.strain_colours.map(self.springs.strains(q)[self._intact])
        return q[pairs], np.repeat(colours[:, None], 2, axis=1)

    def include_strains(self, now: Snapshot) -> None:
        """Extend the range of the colours to the strains of a snapshot, without showing it."""
        intact = self.springs.find_intact(now.active)
        self.strain_colours.include(self.springs.strains(now.q)[intact])

    def _add_drags(self, now: Snapshot) -> None:
        self._drags = self.scene.add_line_segments(
            "/drags",
            _drag_segments(now),
            _DRAG_COLOUR,
            thickness=4.0,
            thickness_units="screen",
            visible=bool(now.drags),
        )

    def set_visible(self, layer: str, visible: bool) -> None:
        """Show or hide one of the layers in `visible`."""
        with self._lock:
            self.visible[layer] = visible
            for surface in self.surfaces:
                surface.visible = self.visible["surface"]
            self._lines.visible = self.visible["springs"]
            self._particles.visible = self.visible["particles"]
            self._held.visible = self.visible["held points"]
            self.show(self.snapshot, complete=True)

    def show(self, now: Snapshot, *, complete: bool = False, rate: float = 30.0) -> None:
        """Move the visible nodes to the positions of a snapshot.

        All of them or, between two updates of long lists of springs, none: surface and springs are
        always of the same moment.

        complete : update them however many springs there are; rate : calls per second
        """
        with self._lock, self.viser.atomic():
            self._snapshots_since_lines += 1
            sent = self._snapshots_since_lines * _MAX_SEGMENTS_PER_SECOND
            is_due = complete or sent >= len(self.springs) * rate
            if self.visible["springs"] and not is_due and not self._tears(now):
                return
            self._snapshots_since_lines = 0
            before, self.snapshot = self.snapshot, now
            if self.visible["surface"]:
                for piece, surface in zip(self.pieces, self.surfaces, strict=True):
                    surface.vertices = piece.positions(now.q)
            if self.visible["particles"]:
                self._particles.batched_positions = now.q
            if now.held is not before.held and not np.array_equal(now.held, before.held):
                self._add_held(now)
            elif len(now.held):
                self._held.batched_positions = self._held_positions(now)
            self._remove_torn(now)
            if self.visible["springs"]:
                self._lines.points, self._lines.colors = self._make_segments(now.q)
            if now.drags or before.drags:
                self._drags.points, self._drags.visible = _drag_segments(now), bool(now.drags)
            if self.arrows is not None:
                self.arrows.show(now.q, visible=self.visible["contact forces"])
            self.inverted.show(now.q)
            self.ground.show(now.q)

    def _tears(self, now: Snapshot) -> bool:
        """Whether other springs are torn in a snapshot than are shown."""
        return not np.array_equal(self.springs.find_intact(now.active), self._intact)

    def _remove_torn(self, now: Snapshot) -> None:
        """Remove torn springs, and the faces of which they were edges."""
        if not self._tears(now):
            return
        self._intact = intact = self.springs.find_intact(now.active)
        torn = self.springs.pairs[~intact]
        for piece, surface in zip(self.pieces, self.surfaces, strict=True):
            if piece.embedding is None:
                edges = piece.triangles[:, [[0, 1], [1, 2], [2, 0]]]
                kept = has_no_torn_side(edges, torn - piece.start, piece.mesh.n)
                surface.faces = piece.triangles[kept].astype(np.uint32)

    def find_piece(self, node: str) -> VisualBody | None:
        """Return the piece of a surface node by its name; None for other nodes."""
        for piece, surface in zip(self.pieces, self.surfaces, strict=True):
            if surface.name == node:
                return piece
        return None

    def pickable_nodes(self) -> list[Any]:
        """Return the nodes that can be clicked and dragged."""
        return [*self.surfaces, self._particles]


def _find_springs(model: VisualModel) -> Springs:
    """Return the springs of a model, or the lines of its meshes if its laws are not known."""
    try:
        return collect_springs(model.system)
    except (RunError, SceneError):
        return collect_lines(model)


def _has_contact(model: VisualModel) -> bool:
    """Whether bodies touch, as far as the laws of a model are known."""
    try:
        return model.system.contact is not None
    except (RunError, SceneError):
        return False


def _drag_segments(now: Snapshot) -> Float:
    """Return lines from dragged particles to their targets, (m, 2, 3), at least one."""
    if not now.drags:
        return np.zeros((1, 2, 3))
    return np.array([[now.q[i], target] for i, target in now.drags])


def _identity_rotations(count: int) -> Float:
    """Return unit quaternions w, x, y, z, (count, 4)."""
    return np.tile([1.0, 0.0, 0.0, 0.0], (count, 1))
