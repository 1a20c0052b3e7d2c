"""VTKHDF for ParaView: one unstructured grid that moves, float64, with the velocities of its points.

Points and velocities of all frames stand one after the other; the cells stand there once, and each time step begins to read them
at offset 0. Bodies follow each other, told apart by the data `body`, from 0. A body without cells has a vertex for each point.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from io import FileIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taut.extras import extra
from taut.mesh.files.vtk_cells import VERTEX, flatten
from taut.mesh.mesh import Mesh
from taut.show.export.clip import Clip
from taut.show.export.velocities import velocities

Int = NDArray[np.int64]
ROWS = 1 << 16  # points in a chunk of the file, at most


def ready() -> Any:
    """The package h5py."""
    return extra("vtkhdf", "h5py", "VTKHDF files")


class Sink(FileIO):
    """A file for HDF5, which may crash when it learns that a write failed: the error is kept, and what follows is let pass."""

    error: OSError | None = None

    def write(self, data: Any) -> int:
        """Write all of it, as long as that goes well."""
        view = memoryview(data).cast("B")
        done = 0
        with self._kept():
            while done < len(view) and self.error is None:
                done += super().write(view[done:]) or 0
        return len(view)

    def truncate(self, size: int | None = None) -> int:
        """Make the file as long."""
        with self._kept():
            super().truncate(size)
        return self.tell() if size is None else size

    @contextmanager
    def _kept(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            self.error = self.error or error

    def check(self) -> None:
        """Raise what went wrong."""
        if self.error is not None:
            raise self.error


def write(clip: Clip, folder: Path, name: str) -> None:
    """The file, one frame at a time."""
    h5py = ready()
    with Sink(folder / name, "x+") as sink:
        try:
            with h5py.File(sink, "w", libver=("earliest", "v110")) as file:
                _fill(file.create_group("VTKHDF"), clip, sink)
        finally:
            sink.check()


def _fill(root: Any, clip: Clip, sink: Sink) -> None:
    n, m = sum(piece.mesh.n for piece in clip.pieces), len(clip)
    types, starts, corners, cells = joined([piece.mesh for piece in clip.pieces])
    bodies = np.arange(len(clip.pieces), dtype=np.int32)
    root.attrs["Version"] = (2, 0)
    root.attrs["Type"] = np.bytes_("UnstructuredGrid")
    root.attrs["bodies"] = [piece.name.encode("utf-8", "replace") for piece in clip.pieces]
    for key, count in (("NumberOfPoints", n), ("NumberOfCells", len(types)), ("NumberOfConnectivityIds", len(corners))):
        root[key] = np.array([count])
    root["Types"], root["Offsets"], root["Connectivity"] = types, starts, corners
    root["CellData/body"] = np.repeat(bodies, cells)
    root["PointData/body"] = np.repeat(bodies, [piece.mesh.n for piece in clip.pieces])
    shape = {"shape": (m * n, 3), "chunks": (min(n, ROWS), 3), "dtype": "<f8"}
    points, velocity = root.create_dataset("Points", **shape), root.create_dataset("PointData/velocity", **shape)
    _steps(root, clip, n)
    sink.check()
    for i, frame in enumerate(clip):
        points[i * n : (i + 1) * n] = np.concatenate([piece.positions(frame.q) for piece in clip.pieces])
        velocity[i * n : (i + 1) * n] = np.concatenate([velocities(piece, frame.q, frame.v) for piece in clip.pieces])
        root["Steps/Values"][i] = frame.t
        sink.check()


def _steps(root: Any, clip: Clip, n: int) -> None:
    """Where each time step begins: points further on each time, cells always at the beginning."""
    m = len(clip)
    steps = root.create_group("Steps")
    steps.attrs["NSteps"] = m
    steps["Values"] = clip.times
    steps["NumberOfParts"] = np.ones(m, np.int64)
    moving, still = np.arange(m) * n, np.zeros(m, np.int64)
    steps["PartOffsets"], steps["PointOffsets"] = still, moving
    steps["CellOffsets"], steps["ConnectivityIdOffsets"] = still[:, None], still[:, None]
    steps["PointDataOffsets/velocity"], steps["PointDataOffsets/body"], steps["CellDataOffsets/body"] = moving, still, still


def flat(mesh: Mesh) -> tuple[NDArray[np.uint8], Int, Int]:
    """Types, starts and corners of the cells; vertices where there are none.

    >>> flat(Mesh([[0, 0], [1, 0]], {}))
    (array([1, 1], dtype=uint8), array([0, 1, 2]), array([0, 1]))
    """
    return flatten(mesh) if mesh.cells else (np.full(mesh.n, VERTEX, np.uint8), np.arange(mesh.n + 1), np.arange(mesh.n))


def joined(meshes: list[Mesh]) -> tuple[NDArray[np.uint8], Int, Int, list[int]]:
    """The same of several meshes, one after the other, and how many cells each has."""
    parts = [flat(mesh) for mesh in meshes]
    points = np.cumsum([0, *(mesh.n for mesh in meshes)])
    sizes = np.concatenate([np.diff(starts) for _, starts, _ in parts])
    corners = np.concatenate([ends + first for (_, _, ends), first in zip(parts, points, strict=False)])
    types = np.concatenate([types for types, _, _ in parts])
    return types, np.concatenate([[0], np.cumsum(sizes)]), corners, [len(types) for types, _, _ in parts]
