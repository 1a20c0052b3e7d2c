"""The key `follow` of a hold: a motion from a table, a point cache, or one mesh file per frame."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from pydantic import Field, model_validator

from taut.arrays import Float, Int
from taut.errors import MeshError, SceneError
from taut.mesh import read
from taut.mesh.point_cache import read_point_cache
from taut.mesh.reading import to_metres
from taut.scene._files import SceneFolder, read_table, split_timeline
from taut.scene._limits import MAX_POINT_CACHE_BYTES, Positive, SceneTable, Text
from taut.scene._mesh import FileMesh, MeshTable, transform_points


class Follow(SceneTable):
    """A motion from files: a table, a point cache, or an animated mesh with one file per frame."""

    file: Text | None = Field(
        None,
        description="a table: t [s], then x, y, z [m]: one displacement, which starts with zero, "
        "or the position of each held point; or a point cache, .pc2, of the held points or of all",
    )
    frames: Annotated[list[Text], Field(min_length=1, max_length=10_000)] | None = Field(
        None,
        description="mesh files, one per frame; held points follow the points of the same indices",
    )
    rate: Positive = Field(
        24.0, description="frames per second [1/s], of mesh files or a point cache"
    )

    @model_validator(mode="after")
    def _check(self) -> Follow:
        if (self.file is None) == (self.frames is None):
            raise ValueError("exactly one of file, frames is required")
        return self


def read_path(
    follow: Follow, points: Int, positions: Float, table: MeshTable, folder: SceneFolder
) -> tuple[Float, Float]:
    """Return times [s], shape (T,), and positions of the held points [m], shape (T, k, 3)."""
    if follow.frames is not None:
        frames = [_read_frame(name, points, table, folder) for name in follow.frames]
        return np.arange(len(frames)) / follow.rate, np.stack(frames)
    assert follow.file is not None
    if follow.file.lower().endswith(".pc2"):
        return _read_cache(follow.file, follow.rate, points, len(positions), table, folder)
    times, values = split_timeline(read_table(folder, follow.file), follow.file)
    columns = values.shape[1]
    if columns == 3:
        if values[0].any():
            raise SceneError(
                [
                    f"file '{follow.file}': the first displacement must be 0 0 0, "
                    f"got {values[0].tolist()}"
                ]
            )
        return times, positions[points][None] + values[:, None, :]
    if columns != 3 * len(points):
        raise SceneError(
            [
                f"file '{follow.file}' must have 3 or {3 * len(points)} columns after t, "
                f"got {columns}"
            ]
        )
    return times, values.reshape(len(times), -1, 3)


def _read_cache(
    name: str, rate: float, points: Int, n: int, table: MeshTable, folder: SceneFolder
) -> tuple[Float, Float]:
    """Return times [s] and positions of the held points [m] from a point cache, as `_read_path`.

    n : number of points of the body
    """
    data = folder.read_bytes(name, MAX_POINT_CACHE_BYTES)
    try:
        cache = read_point_cache(folder.find(name), data)
    except MeshError as error:
        raise SceneError([f"file '{name}': {error.message}"]) from None
    samples = cache.positions
    if samples.shape[1] != len(points):
        if samples.shape[1] != n:
            raise SceneError(
                [
                    f"file '{name}' must have the {len(points)} held points, or all {n} of the "
                    f"body, got {samples.shape[1]}"
                ]
            )
        samples = samples[:, points]
    scale, up = _get_units(table)
    path = transform_points(table, to_metres(samples.astype(np.float64), scale, up))
    return cache.frames / rate, path


def _get_units(table: MeshTable) -> tuple[float, str]:
    """Return metres per unit and the axis that points up in the files of a body."""
    return (table.scale, table.up) if isinstance(table, FileMesh) else (1.0, "y")


def _read_frame(name: str, points: Int, table: MeshTable, folder: SceneFolder) -> Float:
    """Return the positions of points [m] in one file, read and transformed as the body's mesh."""
    path = folder.find(name)
    scale, up = _get_units(table)
    mesh = read(path, scale=scale, up=up)
    if mesh.n <= points.max(initial=0):
        raise SceneError([f"file '{name}' has {mesh.n} points; point {points.max()} follows it"])
    return transform_points(table, mesh.positions)[points]
