"""VTKHDF for ParaView: one moving unstructured grid, float64, with the velocities of its points.

Points and velocities of all frames follow each other; the cells are stored once, and each time step
reads them at offset 0. The bodies follow each other; the data `body` numbers them from 0. A body
without cells has a vertex for each point.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from io import FileIO
from pathlib import Path
from typing import Any

import numpy as np

from taut.arrays import Bytes, Int
from taut.extras import import_extra
from taut.mesh.files.vtk.cells import VERTEX, flatten
from taut.mesh.mesh import Mesh
from taut.show.export._animation import Animation
from taut.show.export._bodies import point_velocities

_MAX_CHUNK = 1 << 16  # points in a chunk of the file


def require() -> Any:
    """Import h5py; MissingExtra if it is not installed."""
    return import_extra("vtkhdf", "h5py", "VTKHDF files")


class _Sink(FileIO):
    """A file for HDF5 that keeps the first error of a write and ignores later writes.

    HDF5 may crash when it learns that a write failed, so `check` raises the error afterwards.
    """

    error: OSError | None = None

    def write(self, data: Any) -> int:
        """Write all bytes, unless a write has failed."""
        view = memoryview(data).cast("B")
        done = 0
        with self._keep_error():
            while done < len(view) and self.error is None:
                done += super().write(view[done:]) or 0
        return len(view)

    def truncate(self, size: int | None = None) -> int:
        """Set the size of the file."""
        with self._keep_error():
            super().truncate(size)
        return self.tell() if size is None else size

    @contextmanager
    def _keep_error(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            self.error = self.error or error

    def check(self) -> None:
        """Raise the error of a failed write."""
        if self.error is not None:
            raise self.error


def write(animation: Animation, folder: Path, name: str) -> None:
    """Write the file, one frame at a time."""
    h5py = require()
    with _Sink(folder / name, "x+") as sink:
        try:
            with h5py.File(sink, "w", libver=("earliest", "v110")) as file:
                _fill(file.create_group("VTKHDF"), animation, sink)
        finally:
            sink.check()


def _fill(root: Any, animation: Animation, sink: _Sink) -> None:
    n, m = sum(piece.mesh.n for piece in animation.pieces), len(animation)
    types, starts, corners, cells = _concatenate_cells([piece.mesh for piece in animation.pieces])
    bodies = np.arange(len(animation.pieces), dtype=np.int32)
    root.attrs["Version"] = (2, 0)
    root.attrs["Type"] = np.bytes_("UnstructuredGrid")
    root.attrs["bodies"] = [piece.name.encode("utf-8", "replace") for piece in animation.pieces]
    for key, count in (
        ("NumberOfPoints", n),
        ("NumberOfCells", len(types)),
        ("NumberOfConnectivityIds", len(corners)),
    ):
        root[key] = np.array([count])
    root["Types"], root["Offsets"], root["Connectivity"] = types, starts, corners
    root["CellData/body"] = np.repeat(bodies, cells)
    root["PointData/body"] = np.repeat(bodies, [piece.mesh.n for piece in animation.pieces])
    shape = {"shape": (m * n, 3), "chunks": (min(n, _MAX_CHUNK), 3), "dtype": "<f8"}
    points, velocity = (
        root.create_dataset("Points", **shape),
        root.create_dataset("PointData/velocity", **shape),
    )
    _write_steps(root, animation, n)
    sink.check()
    for i, frame in enumerate(animation):
        points[i * n : (i + 1) * n] = np.concatenate(
            [piece.positions(frame.q) for piece in animation.pieces]
        )
        velocity[i * n : (i + 1) * n] = np.concatenate(
            [point_velocities(piece, frame.q, frame.v) for piece in animation.pieces]
        )
        root["Steps/Values"][i] = frame.t
        sink.check()


def _write_steps(root: Any, animation: Animation, n: int) -> None:
    """Write the offsets of the time steps: points move on, cells stay at the beginning."""
    m = len(animation)
    steps = root.create_group("Steps")
    steps.attrs["NSteps"] = m
    steps["Values"] = animation.times
    steps["NumberOfParts"] = np.ones(m, np.int64)
    moving, fixed = np.arange(m) * n, np.zeros(m, np.int64)
    steps["PartOffsets"], steps["PointOffsets"] = fixed, moving
    steps["CellOffsets"], steps["ConnectivityIdOffsets"] = fixed[:, None], fixed[:, None]
    steps["PointDataOffsets/velocity"] = moving
    steps["PointDataOffsets/body"] = fixed
    steps["CellDataOffsets/body"] = fixed


def list_cells(mesh: Mesh) -> tuple[Bytes, Int, Int]:
    """Return types, starts and corners of the cells; a vertex per point if there are none.

    >>> list_cells(Mesh([[0, 0], [1, 0]], {}))
    (array([1, 1], dtype=uint8), array([0, 1, 2]), array([0, 1]))
    """
    if mesh.cells:
        return flatten(mesh)
    return np.full(mesh.n, VERTEX, np.uint8), np.arange(mesh.n + 1), np.arange(mesh.n)


def _concatenate_cells(meshes: list[Mesh]) -> tuple[Bytes, Int, Int, list[int]]:
    """Return the cells of several meshes together, and the number of cells of each."""
    parts = [list_cells(mesh) for mesh in meshes]
    points = np.cumsum([0, *(mesh.n for mesh in meshes)])
    sizes = np.concatenate([np.diff(starts) for _, starts, _ in parts])
    corners = np.concatenate(
        [ends + first for (_, _, ends), first in zip(parts, points, strict=False)]
    )
    types = np.concatenate([types for types, _, _ in parts])
    return (
        types,
        np.concatenate([[0], np.cumsum(sizes)]),
        corners,
        [len(types) for types, _, _ in parts],
    )
