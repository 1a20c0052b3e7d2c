"""VTKHDF for ParaView: one moving unstructured grid, float64, with the velocities of its points.

Points and velocities of all frames follow each other; the cells are stored once, and again for each
frame in which others are torn. A time step reads its cells where its offsets point. The bodies
follow each other; the data `body` numbers them from 0. A body without cells has a vertex for each
point.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from io import FileIO
from pathlib import Path
from typing import Any

import numpy as np

from taut.arrays import Bytes, Float, Int
from taut.extras import import_extra
from taut.mesh.files.vtk.cells import VERTEX, flatten
from taut.mesh.mesh import Mesh
from taut.show.export._animation import Animation
from taut.show.export._bodies import point_velocities
from taut.show.export._tearing import TornCells, drop_cells, find_torn_cells, is_same
from taut.show.visual_model import VisualBody

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
    pieces = animation.pieces
    n, m = sum(piece.mesh.n for piece in pieces), len(animation)
    root.attrs["Version"] = (2, 0)
    root.attrs["Type"] = np.bytes_("UnstructuredGrid")
    root.attrs["bodies"] = [piece.name.encode("utf-8", "replace") for piece in pieces]
    root["PointData/body"] = np.repeat(
        np.arange(len(pieces), dtype=np.int32), [piece.mesh.n for piece in pieces]
    )
    shape = {"shape": (m * n, 3), "chunks": (min(n, _MAX_CHUNK), 3), "dtype": "<f8"}
    points, velocity = (
        root.create_dataset("Points", **shape),
        root.create_dataset("PointData/velocity", **shape),
    )
    cells, times = _Cells(pieces), np.empty(m)
    sink.check()
    for i, frame in enumerate(animation):
        cells.add_step(animation.model.torn_pairs(frame))
        times[i] = frame.t  # exactly that of the run
        points[i * n : (i + 1) * n] = np.concatenate([piece.positions(frame.q) for piece in pieces])
        velocity[i * n : (i + 1) * n] = np.concatenate(
            [point_velocities(piece, frame.q, frame.v) for piece in pieces]
        )
        sink.check()
    cells.write(root)
    root["NumberOfPoints"] = np.full(len(cells.parts), n)
    _write_steps(root, times, n, cells)


class _Cells:
    """The cells of all bodies, once for each set of torn ones.

    parts : types, starts, corners and bodies of the cells of each set
    steps : the part of each time step
    """

    def __init__(self, pieces: tuple[VisualBody, ...]) -> None:
        self._pieces = pieces
        self._torn: list[TornCells] | None = None
        self.parts: list[tuple[Bytes, Int, Int, Int]] = []
        self.steps: list[int] = []

    def add_step(self, pairs: Int) -> None:
        """Add a time step with torn pairs of particles, (k, 2)."""
        torn = [find_torn_cells(piece, piece.mesh.cells, pairs) for piece in self._pieces]
        if self._torn is None or not all(map(is_same, self._torn, torn)):
            self._torn = torn
            meshes = [
                drop_cells(piece.mesh, own) for piece, own in zip(self._pieces, torn, strict=True)
            ]
            alone = [not piece.mesh.cells for piece in self._pieces]
            self.parts.append(_concatenate_cells(meshes, alone))
        self.steps.append(len(self.parts) - 1)

    def starts(self, column: int) -> Int:
        """Return how many entries precede those of each part in a column of `parts`, (p,)."""
        return np.cumsum([0, *(len(part[column]) for part in self.parts)])[:-1]

    def write(self, root: Any) -> None:
        """Write the cells of all parts, one after the other."""
        types, starts, corners, bodies = zip(*self.parts, strict=True)
        root["NumberOfCells"] = np.array([len(part) for part in types])
        root["NumberOfConnectivityIds"] = np.array([len(part) for part in corners])
        root["Types"] = np.concatenate(types)
        root["Offsets"] = np.concatenate(starts)
        root["Connectivity"] = np.concatenate(corners)
        root["CellData/body"] = np.concatenate(bodies).astype(np.int32)


def _write_steps(root: Any, times: Float, n: int, cells: _Cells) -> None:
    """Write the offsets of the time steps: points move on, cells only where others are torn."""
    m = len(times)
    steps = root.create_group("Steps")
    steps.attrs["NSteps"] = m
    steps["Values"] = times
    steps["NumberOfParts"] = np.ones(m, np.int64)
    part = np.array(cells.steps)
    first_cell, first_corner = cells.starts(0)[part], cells.starts(2)[part]
    steps["PartOffsets"], steps["PointOffsets"] = part, np.arange(m) * n
    steps["CellOffsets"], steps["ConnectivityIdOffsets"] = (
        first_cell[:, None],
        first_corner[:, None],
    )
    steps["PointDataOffsets/velocity"] = np.arange(m) * n
    steps["PointDataOffsets/body"] = np.zeros(m, np.int64)
    steps["CellDataOffsets/body"] = first_cell


def list_cells(mesh: Mesh) -> tuple[Bytes, Int, Int]:
    """Return types, starts and corners of the cells; a vertex per point if there are none.

    >>> list_cells(Mesh([[0, 0], [1, 0]], {}))
    (array([1, 1], dtype=uint8), array([0, 1, 2]), array([0, 1]))
    """
    if mesh.cells:
        return flatten(mesh)
    return np.full(mesh.n, VERTEX, np.uint8), np.arange(mesh.n + 1), np.arange(mesh.n)


def _concatenate_cells(meshes: list[Mesh], alone: list[bool]) -> tuple[Bytes, Int, Int, Int]:
    """Return the cells of several meshes together, and the number of the mesh of each.

    alone : which meshes have a vertex for each point
    """
    nothing = np.empty(0, np.uint8), np.zeros(1, np.int64), np.empty(0, np.int64)
    parts = [
        list_cells(mesh) if mesh.cells or single else nothing
        for mesh, single in zip(meshes, alone, strict=True)
    ]
    points = np.cumsum([0, *(mesh.n for mesh in meshes)])
    sizes = np.concatenate([np.diff(starts) for _, starts, _ in parts])
    corners = np.concatenate(
        [ends + first for (_, _, ends), first in zip(parts, points, strict=False)]
    )
    types = np.concatenate([types for types, _, _ in parts])
    bodies = np.repeat(np.arange(len(meshes)), [len(types) for types, _, _ in parts])
    return types, np.concatenate([[0], np.cumsum(sizes)]), corners, bodies
