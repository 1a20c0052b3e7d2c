"""Cut the power at every moment of a run: it must open, with every durable frame, and resume.

A preloaded library (recorder.c, built with `cc`; Linux only) writes down every call by which a
short run changes its folder. After each call the power may fail: `benchmarks.reliability.disk` says
what may then be on the disk. Every such state is laid out in a folder of its own. If a step was
reported as durable the run must open, with the frames of an undisturbed run, and lose at most the
frame that was being written. Resumed, it must end bit-identical to that run.
"""

from __future__ import annotations

import ctypes
import json
import os
import random
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from hashlib import sha256
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any, get_args

from benchmarks.reliability.child import python_command
from benchmarks.reliability.disk import Disk, Loss, read_calls
from benchmarks.reliability.faults import RUN_OPTIONS, finish_run
from benchmarks.reliability.kill import build_torn_sheet, hash_frames
from taut.errors import TautError
from taut.run.encoding import hash_state
from taut.run.record import record
from taut.run.run_folder import FILE
from taut.step.bdf2 import BDF2

_LIBRARY_VARIABLE = "TAUT_RECORDER"  # environment variable with the path of the library
_RANDOM_LOSSES = 8  # tries of "some" at each moment, besides the four others
_SHORT = 12  # characters of a digest that name a state

Moment = tuple[int, str, int]  # number of calls before the cut, loss, seed


def record_calls(folder: Path, record_file: Path) -> dict[str, Any]:
    """Record a run in a process whose calls are written down; return its last state's hash."""
    library = record_file.with_suffix(".so")
    with as_file(files("benchmarks.reliability") / "recorder.c") as source:
        subprocess.run(
            ["cc", "-shared", "-fPIC", "-O1", "-w", "-o", library, source, "-ldl", "-lpthread"],
            check=True,
        )
    code = (
        "from pathlib import Path; from benchmarks.reliability.power import run_recorded; "
        f"run_recorded(Path({str(folder)!r}), {str(record_file)!r})"
    )
    variables = {"LD_PRELOAD": str(library), _LIBRARY_VARIABLE: str(library)}
    done = subprocess.run(
        python_command(code),
        env={**os.environ, **variables, "NUMBA_NUM_THREADS": "1"},
        check=True,
        capture_output=True,
        text=True,
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _draw_no_pictures() -> None:
    """Leave out matplotlib in this process: its pictures would take longer than all the rest."""
    sys.modules["matplotlib.figure"] = None  # type: ignore[assignment]


def print_finished(folder: Path) -> None:
    """Resume a run, and print the hash of its last state."""
    _draw_no_pictures()
    print(json.dumps(finish_run(folder)))


def finish_elsewhere(folder: Path) -> str:
    """Resume a run in a new process, since one with threads cannot be forked; return its hash.

    If that fails, return its last words instead.
    """
    code = (
        "from pathlib import Path; from benchmarks.reliability.power import print_finished; "
        f"print_finished(Path({str(folder)!r}))"
    )
    done = subprocess.run(python_command(code), capture_output=True, text=True, check=False)
    return str(json.loads(done.stdout)["sha"]) if done.returncode == 0 else done.stderr[-500:]


def run_recorded(folder: Path, record_file: str) -> None:
    """Record the run, with a mark whenever a step was reported as durable; print its hash."""
    _draw_no_pictures()
    library = ctypes.CDLL(os.environ[_LIBRARY_VARIABLE])
    library.recorder_mark.argtypes = [ctypes.c_long]
    marked = [-1]

    def mark(progress: Any) -> None:
        if progress.durable > marked[0]:
            marked[0] = progress.durable
            library.recorder_mark(progress.durable)

    library.recorder_start(str(folder).encode(), record_file.encode())
    result = record(folder, build_torn_sheet(), BDF2(), tell=mark, **RUN_OPTIONS)
    library.recorder_stop()
    print(json.dumps({"sha": hash_state(result.state)}))


def list_moments(calls: int) -> list[Moment]:
    """Return all moments and losses to try."""
    once = [loss for loss in get_args(Loss) if loss != "some"]
    losses = [*((loss, 0) for loss in once), *(("some", seed) for seed in range(_RANDOM_LOSSES))]
    return [(at, loss, seed) for at in range(calls + 1) for loss, seed in losses]


def find_defect(
    folder: Path, durable: int, whole: Sequence[str], sha: str, *, resumes: bool
) -> tuple[str, str]:
    """Return what became of a run after a cut, and what is wrong with that, or "".

    durable : the last step that was reported as durable, -1 if none was
    whole, sha : hashes of the frames and of the last state of an undisturbed run
    """
    if not (folder / FILE).exists():
        if durable >= 0:
            return "lost", f"step {durable} was reported as durable, but there is no run"
        return "before the first frame", ""
    try:
        frames = hash_frames(folder)
    except TautError as error:
        return "lost", f"does not open: {error}"
    if frames != list(whole[: len(frames)]):
        return "lost", "its frames differ from those of an undisturbed run"
    if 2 * (len(frames) - 1) < durable:  # a frame every two steps
        return "lost", f"step {durable} was reported as durable, but there are {len(frames)} frames"
    if not resumes:
        return "opened", ""
    again = finish_elsewhere(folder)
    if again != sha:
        return "lost", f"resumed, its last state is not bit-identical: {again}"
    if hash_frames(folder) != list(whole):
        return "lost", "resumed, its frames differ"
    return "opened and resumed", ""


def campaign(
    folder: Path,
    every: int = 1,
    resume_every: int = 20,
    watch: Callable[[Sequence[Moment]], Iterable[Moment]] = iter,
) -> dict[str, Any]:
    """Cut the power at one moment in `every`; return counts and failures.

    resume_every : one different state in this many is resumed to the end; others are only opened
    """
    found = record_calls(folder / "whole", folder / "calls")
    whole, calls = hash_frames(folder / "whole"), read_calls(folder / "calls")
    counts: Counter[str] = Counter()
    failures: list[str] = []
    disk, applied, known = Disk(), 0, set[str]()
    for at, loss, seed in watch(list_moments(len(calls))[::every]):
        for call in calls[applied:at]:
            disk.apply(call)
        applied = at
        left = disk.leave(loss, random.Random(f"{at} {loss} {seed}"))  # type: ignore[arg-type]
        digest = _digest(left, disk.marked)
        if digest in known:
            counts["the same as another"] += 1
            continue
        known.add(digest)
        where = folder / digest[:_SHORT]
        _lay_out(left, folder / "whole", where)
        outcome, defect = find_defect(
            where, disk.marked, whole, found["sha"], resumes=len(known) % resume_every == 0
        )
        counts[outcome] += 1
        if defect:
            failures.append(f"call {at}, {loss} lost (seed {seed}): {defect}")
        else:
            shutil.rmtree(where)
    return {
        "calls": len(calls),
        "cuts": sum(counts.values()),
        "states": len(known),
        "counts": dict(sorted(counts.items())),
        "failures": failures,
    }


def _digest(left: dict[str, bytes], marked: int) -> str:
    digest = sha256(str(marked).encode())
    for name in sorted(left):
        digest.update(name.encode() + b"\0" + sha256(left[name]).digest())
    return digest.hexdigest()


def _lay_out(left: dict[str, bytes], whole: Path, where: Path) -> None:
    """Write the files of a state into a folder of its own."""
    where.mkdir()
    for name, content in left.items():
        path = where / Path(name).relative_to(whole)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
