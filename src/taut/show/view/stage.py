"""The picture in the browser: surfaces, springs, particles, what is held and what is pulled, on a ground.

Each is one node of the viser scene. A snapshot is shown by giving the nodes new numbers: vertices of a surface are overwritten in
place, with smooth normals computed by the browser; lines are made anew there, so long lists of them are sent less often.
"""

from __future__ import annotations

import math
import threading
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taut.errors import RunError, SceneError
from taut.show.colours import HELD
from taut.show.subject import Piece, Subject
from taut.show.torn import spared
from taut.show.view.looks import FIELD, SKY, Eye, ball, colour, jewel, rgb, spacing
from taut.show.view.snapshot import Snapshot
from taut.show.view.strain import Scale, Springs, lines_of, springs_of

Float = NDArray[np.float64]
Int = NDArray[np.int64]
PULLED, PARTICLE = (30, 160, 70), (70, 80, 95)
SEGMENTS = 60_000  # lines that a browser is given in a second
BRIGHT = 2.6  # strength of the light from above and, dimmer, from below
MANY = 4_000  # springs of a surface beyond so many are shown when asked for
LAYERS = ("surface", "springs", "particles", "held points")


class Stage:
    """The nodes of a viser scene that show a subject.

    viser : a ViserServer; subject : what there is to see; first : how it begins
    """

    def __init__(self, viser: Any, subject: Subject, first: Snapshot) -> None:
        self.viser, self.scene, self.subject = viser, viser.scene, subject
        self.springs = _springs(subject)
        self.scale, self.shown = Scale(), first
        self.eye = Eye.on(first.q)
        self.faces = [piece for piece in subject.pieces if len(piece.triangles)]
        self.unit = spacing(first.q, self.springs.pairs)
        bare = not self.faces
        self.visible = {
            "surface": True, "springs": bare or len(self.springs) <= MANY, "particles": bare, "held points": True,
        }  # fmt: skip
        self._since_lines, self._floor, self._lock = 0, self.eye.floor, threading.RLock()
        with viser.atomic():
            self._ground()
            self.surfaces = [self._surface(i, piece, first.q) for i, piece in enumerate(self.faces)]
            self._spheres = self._particles(first.q)
            self._make_lines(first)
            self._make_held(first)
            self._make_pulls(first)

    def _ground(self) -> None:
        self.scene.set_up_direction("+y")
        self.scene.world_axes.visible = False
        self.scene.configure_environment_map(None)  # where a browser draws by software, it would take many seconds to prepare
        self.scene.configure_default_lights(enabled=True, cast_shadow=True)
        self.scene.add_light_hemisphere(SKY, sky_color=(255, 255, 255), ground_color=(150, 155, 165), intensity=BRIGHT)
        cell = self.eye.cell
        self._grid = self.scene.add_grid(
            "/ground", width=40 * cell, height=40 * cell, plane="xz", cell_size=cell, section_size=5 * cell,
            cell_color=(222, 226, 232), section_color=(190, 197, 207), shadow_opacity=0.18, fade_distance=60 * cell,
            position=(self.eye.centre[0], self._floor, self.eye.centre[2]),
        )  # fmt: skip
        self.viser.initial_camera.position = self.eye.preset("three-quarter")
        self.viser.initial_camera.look_at = tuple(self.eye.centre)
        self.viser.initial_camera.up = (0.0, 1.0, 0.0)
        self.viser.initial_camera.fov = math.radians(FIELD)
        self.viser.initial_camera.near = self.eye.radius / 200
        self.viser.initial_camera.far = self.eye.radius * 200

    def _surface(self, i: int, piece: Piece, q: Float) -> Any:
        return self.scene.add_mesh_simple(
            f"/surface {i}", piece.positions(q), piece.triangles, color=colour(i), side="double", flat_shading=False,
        )  # fmt: skip

    def _particles(self, q: Float) -> Any:
        vertices, faces = ball(0.12 * self.unit)
        return self.scene.add_batched_meshes_simple(
            "/particles", vertices, faces, _upright(len(q)), q, batched_colors=PARTICLE, lod="off", cast_shadow=False,
            visible=self.visible["particles"],
        )  # fmt: skip

    def _make_held(self, now: Snapshot) -> None:
        vertices, faces = jewel(max(0.28 * self.unit, 0.012 * self.eye.radius))
        at = now.q[now.held]
        self._held = self.scene.add_batched_meshes_simple(
            "/held", vertices, faces, _upright(len(at)), at, batched_colors=rgb(HELD), flat_shading=True, lod="off",
            cast_shadow=False, visible=self.visible["held points"],
        )  # fmt: skip

    def _make_lines(self, now: Snapshot) -> None:
        self._whole = self.springs.whole(now.active)
        points, colours = self._segments(now.q)
        self._lines = self.scene.add_line_segments(
            "/springs",
            points,
            colours,
            thickness=1.2 if self.faces else 3.0,
            thickness_units="screen",
            visible=self.visible["springs"],
        )

    def _segments(self, q: Float) -> tuple[Float, NDArray[np.uint8]]:
        """Ends (m, 2, 3) and their colours; one of no length where there are none, since the browser wants some."""
        pairs = self.springs.pairs[self._whole]
        if not len(pairs):
            return np.zeros((1, 2, 3)), np.zeros((1, 2, 3), np.uint8)
        colours = self.scale.colours(self.springs.strains(q)[self._whole])
        return q[pairs], np.repeat(colours[:, None], 2, axis=1)

    def reach(self, now: Snapshot) -> None:
        """Let the range of the colours take in the springs of a snapshot, before it is shown."""
        self.scale.reach(self.springs.strains(now.q)[self.springs.whole(now.active)])

    def _make_pulls(self, now: Snapshot) -> None:
        self._pulls = self.scene.add_line_segments(
            "/pulls", _pulls(now), PULLED, thickness=4.0, thickness_units="screen", visible=bool(now.pulled)
        )

    def toggle(self, layer: str, visible: bool) -> None:
        """Show or hide one of `LAYERS`."""
        with self._lock:
            self.visible[layer] = visible
            for surface in self.surfaces:
                surface.visible = self.visible["surface"]
            self._lines.visible = self.visible["springs"]
            self._spheres.visible = self.visible["particles"]
            self._held.visible = self.visible["held points"]
            self.show(self.shown, whole=True)

    def show(self, now: Snapshot, *, whole: bool = False, rate: float = 30.0) -> None:
        """Give the nodes that are visible the positions of a snapshot; `whole`, also those that are sent less often.

        rate : calls a second
        """
        with self._lock, self.viser.atomic():
            before, self.shown = self.shown, now
            for piece, surface in zip(self.faces, self.surfaces, strict=True):
                if self.visible["surface"]:
                    surface.vertices = piece.positions(now.q)
            if self.visible["particles"]:
                self._spheres.batched_positions = now.q
            if now.held is not before.held and not np.array_equal(now.held, before.held):
                self._make_held(now)
            elif len(now.held):
                self._held.batched_positions = now.q[now.held]
            self._tear(now)
            self._since_lines += 1
            if whole or self._since_lines * SEGMENTS >= len(self.springs) * rate:
                self._since_lines = 0
                if self.visible["springs"]:
                    self._lines.points, self._lines.colors = self._segments(now.q)
            if now.pulled or before.pulled:
                self._pulls.points, self._pulls.visible = _pulls(now), bool(now.pulled)
            lowest = float(now.q[:, 1].min())
            if lowest < self._floor:
                self._floor = lowest - 0.1 * self.eye.radius
                self._grid.position = (self.eye.centre[0], self._floor, self.eye.centre[2])

    def _tear(self, now: Snapshot) -> None:
        """Leave out springs that are torn, and the faces that they were edges of."""
        whole = self.springs.whole(now.active)
        if np.array_equal(whole, self._whole):
            return
        self._whole, self._since_lines = whole, len(self.springs)
        gone = self.springs.pairs[~whole]
        for piece, surface in zip(self.faces, self.surfaces, strict=True):
            if piece.embedding is None:
                edges = piece.triangles[:, [[0, 1], [1, 2], [2, 0]]]
                surface.faces = piece.triangles[spared(edges, gone - piece.start, piece.mesh.n)].astype(np.uint32)

    def piece_of(self, node: str) -> Piece | None:
        """The piece that a node of this name shows; None for nodes that are no surface."""
        shown = {surface.name: piece for piece, surface in zip(self.faces, self.surfaces, strict=True)}
        return shown.get(node)

    def pickable(self) -> list[Any]:
        """The nodes that can be clicked and pulled at."""
        return [*self.surfaces, self._spheres]


def _springs(subject: Subject) -> Springs:
    """The springs of a subject, or its lines where a run's laws are not known or not to be run."""
    try:
        return springs_of(subject.system)
    except (RunError, SceneError):
        return lines_of(subject)


def _pulls(now: Snapshot) -> Float:
    """Lines from pulled particles to where they are pulled, (m, 2, 3); one of no length where there are none."""
    return np.array([[now.q[i], to] for i, to in now.pulled]) if now.pulled else np.zeros((1, 2, 3))


def _upright(count: int) -> Float:
    return np.tile([1.0, 0.0, 0.0, 0.0], (count, 1))
