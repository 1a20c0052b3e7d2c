"""Corrupted mesh files: each must give a Mesh or a MeshError, in little time and memory.

Small valid files of every format are truncated, cut, doubled, shuffled and overwritten, and read.
"""

from __future__ import annotations

import logging
import tempfile
import time
import warnings
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from benchmarks.reliability.hand_written import BY_HAND
from benchmarks.reliability.spoil import spoil
from benchmarks.reliability.watch import limit_time
from taut.bench.processes import peak_memory
from taut.errors import MeshError
from taut.mesh import UV, Mesh, read, write
from taut.mesh.files import FORMATS

MAX_SECONDS = 2.0  # to read a file
MAX_MEMORY_GROWTH = 200e6  # [bytes], of the process over all files
MAX_ADDRESS_SPACE = 8 << 30  # [bytes]
Rng = np.random.Generator


@dataclass
class Attacks:
    """The results of a campaign.

    files, read : number of files, and of those that gave a Mesh
    good : messages about files that are rejected although they are valid
    kept : messages about files that failed, with their copies
    slowest : time of the slowest file [s], and its name
    grown : growth of the peak memory [bytes]
    """

    files: int = 0
    read: int = 0
    good: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    slowest: tuple[float, str] = (0.0, "")
    grown: float = 0.0

    @property
    def refused(self) -> int:
        """Number of files that gave a MeshError."""
        return self.files - self.read - len(self.kept)

    @property
    def failures(self) -> list[str]:
        """A message for each failure."""
        slow = (
            [f"{self.slowest[1]} took {self.slowest[0]:.2f} s"]
            if self.slowest[0] > MAX_SECONDS
            else []
        )
        large = (
            [f"memory grew by {self.grown / 1e6:.0f} MB"] if self.grown > MAX_MEMORY_GROWTH else []
        )
        return self.good + self.kept + slow + large


def samples() -> dict[str, dict[str, bytes]]:
    """Return valid files, {name: {file: content}}; the first file of each is the one to read."""
    rng = np.random.default_rng(5)
    surface = Mesh(
        rng.normal(size=(8, 3)),
        {"triangle": [[0, 1, 2], [2, 1, 3], [3, 1, 4]]},
        groups={"some": {"triangle": [0, 2]}, "held": [0, 4]},
        point_data={"weight": rng.random(8)},
        cell_data={"thickness": {"triangle": rng.random(3)}},
        uv=UV(rng.random((5, 2)), {"triangle": [[0, 1, 2], [2, 1, 3], [3, 1, 4]]}),
    )
    mixed = surface.with_(
        cells=surface.cells
        | {"quad": [[4, 5, 6, 7]], "polygon5": [[0, 1, 5, 6, 7]], "line": [[0, 7]]}
    )
    solid = Mesh(
        rng.normal(size=(8, 3)),
        {"tet": [[0, 1, 2, 3], [3, 2, 1, 4]], "triangle": [[0, 1, 2]], "line": [[5, 6]]},
        groups={"ref2": {"tet": [1]}, "marker3": [2]},
    )
    found: dict[str, dict[str, bytes]] = {
        name: {name: content} for name, content in BY_HAND.items()
    }
    with tempfile.TemporaryDirectory() as folder:
        for extension in FORMATS:
            for word, mesh in (("surface", surface), ("mixed", mixed), ("solid", solid)):
                path = Path(folder) / word / f"{word}{extension}"
                path.parent.mkdir(exist_ok=True)
                try:
                    write(mesh, path)
                except MeshError:  # a format that cannot hold these cells has other samples
                    continue
                files = [path, *(p for p in sorted(path.parent.iterdir()) if p != path)]
                found[path.name] = {p.name: p.read_bytes() for p in files}
                for p in files:
                    p.unlink()
    missing = set(FORMATS) - {Path(name).suffix for name in found}
    if missing:
        raise AssertionError(f"every format must have a sample, got none of {sorted(missing)}")
    return found


def check_sample(folder: Path, files: dict[str, bytes]) -> str:
    """Return the error of a sample that is rejected although it is valid; empty if it is read.

    Its corrupted versions would then be rejected for the wrong reason.
    """
    for name, content in files.items():
        (folder / name).write_bytes(content)
    try:
        read(folder / next(iter(files)))
    except MeshError as error:
        return f"a valid file is rejected: {error}"
    return ""


def attack(folder: Path, files: dict[str, bytes], rng: Rng) -> tuple[Path, bool]:
    """Write a sample with one of its files corrupted, and read it.

    Returns the path, and whether a mesh was read. Errors other than a MeshError are not caught.
    """
    spoilt = list(files)[int(rng.integers(0, len(files)))]
    for name, content in files.items():
        (folder / name).write_bytes(spoil(content, rng) if name == spoilt else content)
    path = folder / next(iter(files))
    try:
        read(path)
    except MeshError as error:
        if "memory" in str(error):
            raise MemoryError(str(error)) from error
        if str(folder) not in str(error):
            raise AssertionError(f"the error must name the file, got: {error}") from error
        return path, False
    return path, True


def campaign(numbers: Iterable[int], seed: int = 0) -> Attacks:
    """Corrupt and read one file for each of the numbers, which may show progress.

    Changes the warnings, the address space and the alarm signal of this process.
    """
    warnings.simplefilter("error")
    logging.getLogger("taut").setLevel(logging.ERROR)  # no warnings about skipped parts of files
    pool, rng, found = samples(), np.random.default_rng(seed), Attacks()
    _limit_memory()
    with tempfile.TemporaryDirectory() as folder:
        for files in pool.values():  # imports every reader before memory is measured
            found.good += filter(None, [check_sample(Path(folder), files)])
            attack(Path(folder), files, np.random.default_rng(0))
        before, names = peak_memory(), list(pool)
        for number in numbers:
            name = names[number % len(names)]
            found.files += 1
            begun = time.perf_counter()
            try:
                with limit_time():
                    found.read += attack(Path(folder), pool[name], rng)[1]
            except Exception as error:  # any other error is a failure
                kept = Path(tempfile.mkdtemp(prefix="hostile-"))
                for file in pool[name]:
                    (kept / file).write_bytes((Path(folder) / file).read_bytes())
                found.kept.append(f"{kept}: {type(error).__name__}: {error}")
            found.slowest = max(found.slowest, (time.perf_counter() - begun, name))
    found.grown = 1e9 * (peak_memory() - before)
    return found


def _limit_memory() -> None:
    """Limit the address space, so that too large an allocation raises MemoryError."""
    try:
        import resource
    except ImportError:  # Windows
        return
    resource.setrlimit(resource.RLIMIT_AS, (MAX_ADDRESS_SPACE, MAX_ADDRESS_SPACE))
