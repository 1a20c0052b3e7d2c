"""The tables `[[body.hold]]`: points that are fixed, moved, or free along a line or in a plane."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Annotated, Any

import numpy as np
from pydantic import Field, model_validator

from taut.arrays import Float, Int
from taut.constraints.constraint import Constraint
from taut.constraints.prescribed import fixed, handle, scripted
from taut.constraints.sliding import on_line, on_plane
from taut.errors import SceneError
from taut.mesh.mesh import Mesh
from taut.scene._elements import Selection, select_points
from taut.scene._files import SceneFolder
from taut.scene._follow import Follow, read_path
from taut.scene._limits import (
    MAX_ENTRIES,
    Number,
    Positive,
    SceneTable,
    Vector,
)
from taut.scene._mesh import MeshTable

_SAME_POSITION = 1e-6  # distance, relative to the size of the body, that is not a jump

_MoveRows = Annotated[
    list[Annotated[list[Number], Field(min_length=4, max_length=4)]],
    Field(min_length=1, max_length=MAX_ENTRIES),
]
_AngleRows = Annotated[
    list[Annotated[list[Number], Field(min_length=2, max_length=2)]], Field(min_length=1)
]


class Rotate(SceneTable):
    """A rotation of held points about an axis, as one rigid body."""

    axis: Vector = Field(description="direction of the axis [any unit]")
    rate: Number | None = Field(None, description="angular velocity [rad/s]")
    angles: _AngleRows | None = Field(
        None,
        description="instead of rate: [[t, angle], …] [s, rad], linear between the times; the "
        "first angle is 0",
    )
    centre: Vector | None = Field(
        None, description="a point on the axis [m]; default: the mean of the held points"
    )

    @model_validator(mode="after")
    def _check(self) -> Rotate:
        if (self.rate is None) == (self.angles is None):
            raise ValueError("exactly one of rate, angles is required")
        if not any(self.axis):
            raise ValueError("axis must not be zero")
        return self


class Hold(SceneTable):
    """Points that are held; without further keys they stay at their start positions."""

    where: Selection = Field(description="the points")
    until: Positive | None = Field(
        None, description="time at which they are released [s]; default: never"
    )
    move: _MoveRows | None = Field(
        None, description="[[t, x, y, z], …]: displacement [m] at times [s]; the first one is zero"
    )
    rotate: Rotate | None = Field(None, description="rotation about an axis")
    follow: Follow | None = Field(None, description="a motion from files")
    on_line: Vector | None = Field(None, description="free along a line with this direction")
    on_plane: Vector | None = Field(None, description="free in a plane with this normal")
    through: Vector | None = Field(
        None, description="a point [m] of that line or plane; default: each point's start position"
    )

    @model_validator(mode="after")
    def _check(self) -> Hold:
        motions = [self.follow, self.on_line, self.on_plane, self.move or self.rotate]
        if sum(bool(motion) for motion in motions) > 1:
            raise ValueError("only one of follow, on_line, on_plane, or move and rotate is allowed")
        if self.through and not (self.on_line or self.on_plane):
            raise ValueError("through requires on_line or on_plane")
        if self.move and any(b[0] <= a[0] for a, b in pairwise(self.move)):
            raise ValueError("the times of move must increase")
        for name in ("on_line", "on_plane"):
            vector = getattr(self, name)
            if vector and not any(vector):
                raise ValueError(f"{name} must not be zero")
        return self

    def select_points(self, mesh: Mesh) -> Int:
        """Return the indices of the held points of a body's mesh, shape (k,)."""
        return select_points(mesh, self.where)


def build_hold(
    hold: Hold,
    mesh: Mesh,
    start: int,
    positions: Float,
    table: MeshTable | None,
    folder: SceneFolder,
    middle: Float | None = None,
) -> Constraint:
    """Build the constraint of the held points of one body.

    start : index of the body's first particle in the system
    positions : of the body's points at the start [m], shape (n, 3)
    table : of the body's mesh, whose scale and axes animated meshes share; None: an obstacle
    middle : about which it turns by default [m], (3,); None: the mean of the held points
    """
    points = hold.select_points(mesh)
    particles = points + start
    if hold.on_line is not None:
        return _build_sliding(on_line, hold.on_line, hold, points, particles, positions)
    if hold.on_plane is not None:
        return _build_sliding(on_plane, hold.on_plane, hold, points, particles, positions)
    if hold.follow is not None and table is not None:
        times, path = read_path(hold.follow, points, positions, table, folder)
        jump = path[0] - positions[points]
        _reject_jump(points, jump, positions, "does not start at its first position")
        return scripted(particles, (times, path), until=hold.until)
    if hold.move is None and hold.rotate is None:
        return fixed(particles, until=hold.until)
    move = None
    if hold.move is not None:
        move = ([row[0] for row in hold.move], [row[1:] for row in hold.move])
    turn: Any = None
    centre: Any = middle
    if hold.rotate is not None:
        turn = _build_rotation(hold.rotate)
        if hold.rotate.centre is not None:
            centre = hold.rotate.centre
    return handle(particles, move=move, turn=turn, about=centre, until=hold.until)


def check_obstacle_hold(hold: Hold, mesh: Mesh) -> None:
    """Raise SceneError if a hold does not keep an exact shape: it moves as one rigid body."""
    if len(hold.select_points(mesh)) < mesh.n:
        raise SceneError(['an obstacle is held as a whole: where = "all"'])
    for name in ("until", "follow", "on_line", "on_plane"):
        if getattr(hold, name) is not None:
            raise SceneError([f"an obstacle moves by move and rotate only, got {name}"])


def _build_sliding(
    constrain: Callable[..., Constraint],
    direction: list[float],
    hold: Hold,
    points: Int,
    particles: Int,
    positions: Float,
) -> Constraint:
    """Build a constraint to lines or planes; the points must start on them."""
    constraint = constrain(particles, direction, hold.through, until=hold.until)
    if hold.through is not None:
        # The projector onto what is not free gives the distance from the line or plane.
        jump = (positions[points] - np.array(hold.through)) @ (np.eye(3) - constraint.free)
        hint = "does not start on the line or plane; omit `through`, or move the body there"
        _reject_jump(points, jump, positions, hint)
    return constraint


def _reject_jump(points: Int, jump: Float, positions: Float, reason: str) -> None:
    """Raise SceneError if a constraint moves points at once, by `jump` [m], shape (k, 3)."""
    distance = np.linalg.norm(jump, axis=-1)
    size = float(np.linalg.norm(np.ptp(positions, axis=0))) or 1.0
    worst = int(np.argmax(distance))
    if distance[worst] > _SAME_POSITION * size:
        raise SceneError(
            [f"point {points[worst]} {reason}: it would jump by {distance[worst]:.3g} m"]
        )


def _build_rotation(rotate: Rotate) -> Any:
    """Return rotation vectors [rad] as a function of time, or as times and vectors."""
    axis = np.array(rotate.axis) / np.linalg.norm(rotate.axis)
    if rotate.rate is not None:
        rate = rotate.rate
        return lambda t: axis * (rate * t)
    assert rotate.angles is not None
    times = [row[0] for row in rotate.angles]
    return times, [(axis * row[1]).tolist() for row in rotate.angles]
