"""Write and read a long run: measure throughput, and check that memory does not grow.

    python -m benchmarks.frames FOLDER [--frames 10000] [--particles 10000] [--keep]

Frames of random positions and velocities are written by the same `RunWriter` as those of a run, in
one transaction each, with report, ledger entry and checkpoint (10,000 frames of 10,000 particles
take 4.9 GB). Then all frames are read, verified, and compared with what was written. Prints MB/s of
frames, and the peak memory of the process after 10% of the frames and at the end. Exits with 1 if
the peak has grown by more than ten frames.
"""

from __future__ import annotations

import argparse
import resource
import shutil
import sys
import time
from pathlib import Path

import numpy as np

import taut
from taut.run.ledger_entry import LedgerEntry
from taut.run.metadata import Metadata, library_versions
from taut.run.open_run import open_run
from taut.run.writer import RunWriter
from taut.step.report import Report

MAX_GROWTH = 10  # of the peak memory, in frames


def make_state(step: int, n: int) -> taut.State:
    """Make the synthetic state of a step; it is the same at each call."""
    rng = np.random.default_rng(step)
    return taut.State.after_step(
        0.01 * step,
        rng.random((n, 3)),
        rng.random((n, 3)),
        taut.State(0.0, [[0, 0, 0]], [[0, 0, 0]]),
    )


def peak_memory() -> float:
    """Return the peak memory of this process so far [MB]."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / 1e6 if sys.platform == "darwin" else most / 1e3


def write_frames(folder: Path, frames: int, n: int) -> tuple[float, float, float]:
    """Write frames; return the time [s], and peak memory after a tenth and at the end [MB]."""
    header = Metadata(
        library_versions(), "", "", {}, n, 0.0, 0.01 * frames, 0.01, 0.01, frames, 1, 1, "none", {}
    )
    store = RunWriter.create(folder, header, make_state(0, n))
    early, seconds = 0.0, 0.0
    for step in range(1, frames + 1):
        state, t = make_state(step, n), 0.01 * step
        rows = [
            (
                step,
                Report("none", t, 0.01, "explicit"),
                LedgerEntry(t, 0.01, 1.0, 0.5, {"spring": 0.5}),
            )
        ]
        begun = time.perf_counter()
        store.save(step, state, rows, checkpoint=True, status="running")
        seconds += time.perf_counter() - begun
        early = peak_memory() if step == max(1, frames // 10) else early
    begun = time.perf_counter()
    store.finish()
    store.close()
    return seconds + time.perf_counter() - begun, early, peak_memory()


def read_frames(folder: Path, frames: int, n: int) -> tuple[float, float, float]:
    """Read frames and compare them; return the same numbers as `write_frames`."""
    early, seconds = 0.0, 0.0
    with open_run(folder) as run:
        if len(run.frames) != frames + 1:
            raise SystemExit(f"the run must have {frames + 1} frames, got {len(run.frames)}")
        begun = time.perf_counter()
        for index, frame in enumerate(run.frames):
            seconds += time.perf_counter() - begun
            state = make_state(index, n)
            if frame.q.tobytes() != state.q.tobytes() or frame.v.tobytes() != state.v.tobytes():
                raise SystemExit(f"frame {index} differs from what was written")
            early = peak_memory() if index == max(1, frames // 10) else early
            begun = time.perf_counter()
    return seconds, early, peak_memory()


def main() -> int:
    """Write and read a run, and print the results."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--frames", type=int, default=10_000)
    parser.add_argument("--particles", type=int, default=10_000)
    parser.add_argument("--keep", action="store_true", help="do not delete the run")
    options = parser.parse_args()
    frames, n = options.frames, options.particles
    size = 48e-6 * n * (frames + 1)  # MB
    options.folder.mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(options.folder).free / 1e6
    if free < 1.3 * size:
        print(f"{options.folder} must have {1.3 * size:.0f} MB free, got {free:.0f} MB")
        return 2
    if any(options.folder.iterdir()):
        print(f"{options.folder} must be empty")
        return 2
    print(f"{frames} frames of {n} particles, {size:.0f} MB")
    grown = 0.0
    for verb, work in (("written", write_frames), ("read", read_frames)):
        seconds, early, late = work(options.folder, frames, n)
        grown = max(grown, late - early)
        print(
            f"{verb} in {seconds:.1f} s, {size / seconds:.0f} MB/s; peak memory {early:.1f} MB at "
            f"10%, {late:.1f} MB at the end"
        )
    if not options.keep:
        (options.folder / "run.sqlite").unlink()
    return int(grown > MAX_GROWTH * 48e-6 * n)


if __name__ == "__main__":
    sys.exit(main())
