"""What holds a body: constraints, which may end."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from taut.constraints.constraint import Constraint
from taut.constraints.held import fixed, scripted
from taut.constraints.rigid import handle
from taut.constraints.sliding import on_line, on_plane
from taut.errors import SceneError
from taut.mesh import read
from taut.scene.folder import Folder
from taut.scene.holds_model import Follow, Hold, Rotate
from taut.scene.mesh_of import turned
from taut.scene.meshes_model import FileMesh, MeshBase
from taut.scene.table_files import table, timeline

Float = NDArray[np.float64]
Int = NDArray[np.int64]
NEAR = 1e-6  # of the body's size: what counts as the same place


def hold_of(hold: Hold, points: Int, start: int, pose: Float, mesh: MeshBase, folder: Folder) -> Constraint:
    """The constraint of points of one body, whose first particle is `start` in the whole; pose (n, 3) [m] is the body's."""
    particles = points + start
    for kind, given in ((on_line, hold.on_line), (on_plane, hold.on_plane)):
        if given is None:
            continue
        made = kind(particles, given, hold.through, until=hold.until)
        if hold.through is not None:
            off = (pose[points] - np.array(hold.through)) @ (np.eye(3) - made.free)
            _refuse_jump(points, off, pose, "starts beside it; leave `through` out, or place it there")
        return made
    if hold.follow is not None:
        times, positions = _followed(hold.follow, points, pose, mesh, folder)
        _refuse_jump(points, positions[0] - pose[points], pose, "does not start where it is to be at first")
        return scripted(particles, (times, positions), until=hold.until)
    if hold.move is None and hold.rotate is None:
        return fixed(particles, until=hold.until)
    return handle(
        particles,
        move=None if hold.move is None else ([row[0] for row in hold.move], [row[1:] for row in hold.move]),
        turn=None if hold.rotate is None else _turn(hold.rotate),
        about=None if hold.rotate is None else hold.rotate.centre,
        until=hold.until,
    )


def _refuse_jump(points: Int, off: Float, pose: Float, what: str) -> None:
    """Refuse points that would be moved at once: by `off`, (k, 3) [m]."""
    distance = np.linalg.norm(off, axis=-1)
    size = float(np.linalg.norm(np.ptp(pose, axis=0))) or 1.0
    worst = int(np.argmax(distance))
    if distance[worst] > NEAR * size:
        raise SceneError([f"point {points[worst]} {what}: it would jump by {distance[worst]:.3g} m"])


def _turn(rotate: Rotate) -> Any:
    axis = np.array(rotate.axis) / np.linalg.norm(rotate.axis)
    if rotate.rate is not None:
        rate = rotate.rate
        return lambda t: axis * (rate * t)
    assert rotate.angles is not None
    return [row[0] for row in rotate.angles], [(axis * row[1]).tolist() for row in rotate.angles]


def _followed(follow: Follow, points: Int, pose: Float, mesh: MeshBase, folder: Folder) -> tuple[Float, Float]:
    """Times (T,) [s] and positions (T, k, 3) [m] of the held points."""
    if follow.file is not None:
        times, values = timeline(table(folder, follow.file), follow.file)
        if values.shape[1] == 3:
            if values[0].any():
                raise SceneError([f"the file '{follow.file}' has displacements, which begin with 0 0 0, not {values[0].tolist()}"])
            return times, pose[points][None] + values[:, None, :]
        if values.shape[1] != 3 * len(points):
            raise SceneError([f"the file '{follow.file}' has {values.shape[1]} columns beside t; wanted: 3, or {3 * len(points)}"])
        return times, values.reshape(len(times), -1, 3)
    assert follow.frames is not None
    frames = [_frame(name, points, mesh, folder) for name in follow.frames]
    return np.arange(len(frames)) / follow.rate, np.stack(frames)


def _frame(name: str, points: Int, asked: MeshBase, folder: Folder) -> Float:
    """Where the points are in one file, which is read as that of the body is."""
    path = folder.find(name)
    mesh = read(path, scale=asked.scale, up=asked.up) if isinstance(asked, FileMesh) else read(path)
    if mesh.n <= points.max(initial=0):
        raise SceneError([f"the file '{name}' has {mesh.n} points, but point {points.max()} shall follow it"])
    return turned(asked, mesh.positions)[points]
