"""Spoilt mesh files: every one must give a Mesh or one MeshError, soon and in little memory.

    python -m benchmarks.hostile [--files 20000] [--seed 0]

Small valid files of every format are truncated, cut, doubled, shuffled and overwritten, and read. Prints how many were read and how
many refused, the slowest, and the growth of memory. Ends with 1, and leaves the file behind, if anything but a MeshError came up,
if one took longer than 2 s, or if memory grew beyond bounds.
"""

from __future__ import annotations

import argparse
import logging
import re
import resource
import signal
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np

import taut
from benchmarks.hand_written import BY_HAND
from taut.mesh import UV, Mesh
from taut.mesh.reading import FORMATS

SECONDS = 2.0
MEMORY = 200e6  # growth [bytes] of the whole process over all files
HANG = 30  # seconds after which a file counts as never ending
Rng = np.random.Generator


def samples() -> dict[str, dict[str, bytes]]:
    """Valid files: {name: {file: content}}; the first file of each is the one to read."""
    rng = np.random.default_rng(5)
    surface = Mesh(
        rng.normal(size=(8, 3)),
        {"triangle": [[0, 1, 2], [2, 1, 3], [3, 1, 4]]},
        groups={"some": {"triangle": [0, 2]}, "held": [0, 4]},
        point_data={"weight": rng.random(8)},
        cell_data={"thickness": {"triangle": rng.random(3)}},
        uv=UV(rng.random((5, 2)), {"triangle": [[0, 1, 2], [2, 1, 3], [3, 1, 4]]}),
    )
    mixed = surface.with_(cells=surface.cells | {"quad": [[4, 5, 6, 7]], "polygon5": [[0, 1, 5, 6, 7]], "line": [[0, 7]]})
    solid = Mesh(
        rng.normal(size=(8, 3)),
        {"tet": [[0, 1, 2, 3], [3, 2, 1, 4]], "triangle": [[0, 1, 2]], "line": [[5, 6]]},
        groups={"ref2": {"tet": [1]}, "marker3": [2]},
    )
    found: dict[str, dict[str, bytes]] = {name: {name: content} for name, content in BY_HAND.items()}
    with tempfile.TemporaryDirectory() as folder:
        for extension in FORMATS:
            for word, mesh in (("surface", surface), ("mixed", mixed), ("solid", solid)):
                path = Path(folder) / word / f"{word}{extension}"
                path.parent.mkdir(exist_ok=True)
                try:
                    taut.mesh.write(mesh, path)
                except taut.MeshError:  # a format that cannot hold these cells has other samples
                    continue
                files = [path, *(p for p in sorted(path.parent.iterdir()) if p != path)]
                found[path.name] = {p.name: p.read_bytes() for p in files}
                for p in files:
                    p.unlink()
    missing = set(FORMATS) - {Path(name).suffix for name in found}
    if missing:
        raise AssertionError(f"no sample could be written of {sorted(missing)}")
    return found


NUMBERS = [
    b"nan",
    b"inf",
    b"-1",
    b"0",
    b"1e999",
    b"99999999999999999999",
    b"2147483648",
    b"4294967295",
    b"0x10",
    b"x",
    b"",
    b"1" * 5000,
]
_NUMBER = re.compile(rb"[-+]?\d[\d.eE+-]*")


def _span(rng: Rng, data: bytes) -> tuple[int, int]:
    a, b = sorted(rng.integers(0, len(data) + 1, 2).tolist())
    return a, b


def _truncate(data: bytes, rng: Rng) -> bytes:
    return data[: int(rng.integers(0, len(data) + 1))]


def _flip(data: bytes, rng: Rng) -> bytes:
    array = np.frombuffer(data, np.uint8).copy()
    where = rng.integers(0, len(array), int(rng.integers(1, 6)))
    array[where] = rng.integers(0, 256, len(where))
    return array.tobytes()


def _cut(data: bytes, rng: Rng) -> bytes:
    a, b = _span(rng, data)
    return data[:a] + data[b:]


def _double(data: bytes, rng: Rng) -> bytes:
    a, b = _span(rng, data)
    return data[:b] + data[a:]


def _lines(data: bytes, rng: Rng) -> bytes:
    """Drop, double or swap lines."""
    lines = data.split(b"\n")
    i, j = rng.integers(0, len(lines), 2).tolist()
    what = rng.integers(0, 3)
    if what == 0:
        del lines[i]
    elif what == 1:
        lines.insert(j, lines[i])
    else:
        lines[i], lines[j] = lines[j], lines[i]
    return b"\n".join(lines)


def _number(data: bytes, rng: Rng) -> bytes:
    """Another number in the place of one."""
    found = list(_NUMBER.finditer(data))
    if not found:
        return data
    at = found[int(rng.integers(0, len(found)))]
    return data[: at.start()] + NUMBERS[int(rng.integers(0, len(NUMBERS)))] + data[at.end() :]


def _word(data: bytes, rng: Rng) -> bytes:
    """Four or eight bytes overwritten with an extreme value, as a count or an index in a binary file may be."""
    extreme = [
        b"\xff" * 4,
        b"\xff\xff\xff\x7f",
        b"\x00" * 4,
        b"\x00\x00\x00\x80",
        b"\x00\x00\xc0\x7f",
        b"\xff" * 8,
        b"\x00" * 7 + b"\x10",
    ]
    new = extreme[int(rng.integers(0, len(extreme)))]
    at = int(rng.integers(0, max(len(data) - len(new), 0) + 1))
    return data[:at] + new + data[at + len(new) :]


def _garbage(data: bytes, rng: Rng) -> bytes:
    a, _ = _span(rng, data)
    return data[:a] + rng.bytes(int(rng.integers(1, 200))) + data[a:]


MUTATIONS: list[Callable[[bytes, Rng], bytes]] = [_truncate, _flip, _cut, _double, _lines, _number, _number, _word, _garbage]


def spoil(data: bytes, rng: Rng) -> bytes:
    """One to three mutations."""
    for _ in range(int(rng.integers(1, 4))):
        if data:
            data = MUTATIONS[int(rng.integers(0, len(MUTATIONS)))](data, rng)
    return data


def attack(folder: Path, files: dict[str, bytes], rng: Rng) -> tuple[Path, bool]:
    """Write a sample with one file spoilt and read it; whether a mesh came out. Anything but a MeshError goes through."""
    spoilt = list(files)[int(rng.integers(0, len(files)))]
    for name, content in files.items():
        (folder / name).write_bytes(spoil(content, rng) if name == spoilt else content)
    path = folder / next(iter(files))
    try:
        taut.mesh.read(path)
    except taut.MeshError as error:
        if "memory" in str(error):
            raise MemoryError(str(error)) from error
        if str(folder) not in str(error):
            raise AssertionError(f"the error does not name the file: {error}") from error
        return path, False
    return path, True


def main() -> int:
    """The campaign."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--files", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    warnings.simplefilter("error")
    logging.getLogger("taut").setLevel(logging.ERROR)  # what was left out of thousands of files is of no interest
    pool, rng = samples(), np.random.default_rng(options.seed)
    resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
    signal.signal(signal.SIGALRM, lambda *_: (_ for _ in ()).throw(TimeoutError(f"no end after {HANG} s")))
    read, slowest, slowest_name, bad = 0, 0.0, "", 0
    with tempfile.TemporaryDirectory() as folder:
        for files in pool.values():  # everything imported before memory is measured
            attack(Path(folder), files, np.random.default_rng(0))
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        names = list(pool)
        for i in range(options.files):
            name = names[i % len(names)]
            signal.alarm(HANG)
            begin = time.perf_counter()
            try:
                _, fine = attack(Path(folder), pool[name], rng)
                read += fine
            except BaseException as error:
                if isinstance(error, KeyboardInterrupt):
                    raise
                bad += 1
                kept = Path(tempfile.mkdtemp(prefix="hostile-"))
                for file in pool[name]:
                    (kept / file).write_bytes((Path(folder) / file).read_bytes())
                print(f"{kept}: {type(error).__name__}: {error}", file=sys.stderr)
            seconds = time.perf_counter() - begin
            signal.alarm(0)
            if seconds > slowest:
                slowest, slowest_name = seconds, name
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
    refused = options.files - read - bad
    print(f"{options.files} spoilt files of {len(names)} samples: {read} read, {refused} refused, {bad} other errors")
    print(f"slowest {slowest:.3f} s ({slowest_name}); memory grew by {grown / 1e6:.0f} MB")
    return int(bad > 0 or slowest > SECONDS or grown > MEMORY)


if __name__ == "__main__":
    sys.exit(main())
