"""Data files of studies: CSV, NPZ, run folders and mesh files.

| kind | columns of a CSV file, whose first line has their names | arrays of an NPZ file |
|---|---|---|
| motion | t, particle, x, y, z | times (k,), particles (p,), positions (k, p, 3) |
| shape | particle, x, y, z | particles (p,), positions (p, 3) |
| deflection | particle, ux, uy, uz: from the start of the scene | particles, displacements (p, 3) |
| forces | element, force | elements (m,), forces (m,) |
| frequencies | omega [rad/s] | omega (k,) |

Rows may be missing. A run folder and a sequence of mesh files are motions of all particles, and
a mesh file is a shape of all particles.
"""

from __future__ import annotations

import csv
import zlib
from hashlib import sha256
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from taut.arrays import Float, Int
from taut.mesh.reading import read
from taut.regular_file import read_regular_file
from taut.run.open_run import open_run

_TABLES = (".csv", ".npz")


def digest_data(path: Path) -> bytes:
    """Return a digest of a file, or of the frames of a run folder."""
    if path.is_dir():
        with open_run(path) as run:
            return sha256(b"".join(np.array(f.q).tobytes() for f in run.frames)).digest()
    return sha256(read_regular_file(path, "data")).digest()


def check_numbers(particles: Int, n: int) -> None:
    """Raise ValueError unless all particles exist."""
    if len(particles) and not 0 <= particles.min() <= particles.max() < n:
        raise ValueError(f"particles must be from 0 to {n - 1}")


def read_columns(path: Path, wanted: list[str]) -> dict[str, Float]:
    """Return columns of a CSV file with a line of names, or arrays of an NPZ file."""
    if path.suffix == ".npz":
        return _read_arrays(path, wanted)
    text = read_regular_file(path, "data").decode("utf-8-sig")
    try:
        header, *rows = csv.reader(text.splitlines())
    except csv.Error as error:
        raise ValueError(f"it is not CSV: {error}") from error
    header = [cell.strip() for cell in header]
    missing = [name for name in wanted if name not in header]
    if missing:
        raise ValueError(f"it must have a column {missing[0]}")
    table: list[list[float]] = []
    for line, row in enumerate(rows, start=2):
        if not row:
            continue
        if len(row) != len(header):
            raise ValueError(f"line {line} must have {len(header)} columns, got {len(row)}")
        cells = dict(zip(header, row, strict=True))
        table.append([_to_number(cells[name], name, line) for name in wanted])
    columns = np.array(table, dtype=np.float64).reshape(-1, len(wanted))
    return {name: columns[:, k] for k, name in enumerate(wanted)}


def _read_arrays(path: Path, wanted: list[str]) -> dict[str, Float]:
    try:
        with path.open("rb") as file:  # of a damaged one, np.load does not close its own
            arrays = np.load(file, allow_pickle=False)
            if isinstance(arrays, np.ndarray):
                raise ValueError("it must hold named arrays, as of np.savez; it is one array")
            missing = [name for name in wanted if name not in arrays.files]
            if missing:
                raise ValueError(f"it must have an array {missing[0]}")
            return {name: np.array(arrays[name], dtype=np.float64) for name in wanted}
    except (BadZipFile, EOFError, zlib.error) as error:
        raise ValueError(f"it is damaged: {error}") from error


def _to_number(cell: str, column: str, line: int) -> float:
    """Return a cell as a number; an empty one is nan, not observed."""
    if not cell.strip():
        return float("nan")
    try:
        return float(cell)
    except ValueError as error:
        raise ValueError(f"line {line}: {column} must be a number, got {cell!r}") from error


def read_shape(
    path: Path, names: tuple[str, str, str, str] = ("positions", "x", "y", "z")
) -> tuple[Int, Float]:
    """Return particles (p,) and vectors (p, 3); names : of the array and of the columns."""
    if path.suffix == ".npz":
        found = read_columns(path, ["particles", names[0]])
        return _to_indices(found["particles"]), found[names[0]]
    if path.suffix not in _TABLES:
        positions = np.array(read(path).points)
        return np.arange(len(positions)), positions
    found = read_columns(path, ["particle", *names[1:]])
    vectors = np.stack([found[name] for name in names[1:]], axis=1)
    return _to_indices(found["particle"]), vectors


def read_forces(path: Path) -> tuple[Int, Float]:
    """Return elements and forces [N], (m,)."""
    element, force = ("elements", "forces") if path.suffix == ".npz" else ("element", "force")
    found = read_columns(path, [element, force])
    return _to_indices(found[element]), found[force]


def read_motion(files: list[Path], rate: float | None) -> tuple[Float, Int | None, Float]:
    """Return times [s], (k,), observed particles (p,) or None for all, and positions (k, p, 3).

    rate : of a sequence of mesh files [1/s]
    """
    path = files[0]
    is_table = path.is_dir() or path.suffix in _TABLES
    if len(files) > 1 or not is_table:
        if rate is None or is_table:
            raise ValueError("a sequence must be of mesh files, with their rate [1/s]")
        shapes = [np.array(read(file).points) for file in files]
        for file, shape in zip(files, shapes, strict=True):
            if len(shape) != len(shapes[0]):
                raise ValueError(f"{file.name} must have {len(shapes[0])} points as the first file")
        return np.arange(len(files)) / rate, None, np.array(shapes)
    if path.is_dir():
        with open_run(path) as run:
            frames = list(run.frames)
        return np.array([f.t for f in frames]), None, np.array([f.q for f in frames])
    if path.suffix == ".npz":
        found = read_columns(path, ["times", "particles", "positions"])
        return found["times"], _to_indices(found["particles"]), found["positions"]
    found = read_columns(path, ["t", "particle", "x", "y", "z"])
    if not np.isfinite(found["t"]).all():
        raise ValueError("t must be a finite number in every row")
    times, row = np.unique(found["t"], return_inverse=True)
    particles, column = np.unique(_to_indices(found["particle"]), return_inverse=True)
    if len(np.unique(row * len(particles) + column)) < len(row):
        raise ValueError("a particle has two rows at the same time")
    positions = np.full((len(times), len(particles), 3), np.nan)
    positions[row, column] = np.stack([found["x"], found["y"], found["z"]], axis=1)
    return times, particles, positions


def _to_indices(numbers: Float) -> Int:
    indices = np.round(numbers)
    if not np.array_equal(indices, numbers):
        raise ValueError("particles and elements must be whole numbers")
    return indices.astype(np.int64)
