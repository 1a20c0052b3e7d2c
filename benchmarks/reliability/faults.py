"""Let each write of a run fail: the error must be clear, and nothing on the disk may be lost.

A preloaded library (faults.c, built with `cc`; Linux only) counts the system calls by which a run
changes its folder: open for writing, write, sync, truncate, rename, delete. A short run is recorded
many times, and each time another call fails, in one of these ways:

    EIO       an error of the device, once
    ENOSPC    a full disk: this call and all later ones fail
    torn      half of the bytes are written, then the disk is full

Afterwards the run must have ended in a RunError, or normally if the call did not matter. It must
open, with every frame that was reported as durable, and all its frames must equal those of an
undisturbed run. Resumed, it must end bit-identical to that run.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

from benchmarks.reliability.child import fork_child
from benchmarks.reliability.kill import build_torn_sheet, hash_frames
from taut.errors import RunError, TautError
from taut.run.encoding import hash_state
from taut.run.open_run import open_run
from taut.run.record import record, resume
from taut.run.run_folder import FILE
from taut.step.bdf2 import BDF2

RUN_OPTIONS: dict[str, Any] = {
    "h": 0.04,
    "until": 0.32,
    "every": 2,
    "scene": "# torn sheet\n",
    "inputs": {"sheet.obj": b"v 0 0 0\n"},
}
Trials = Sequence[tuple[str, int]]  # (mode, call)
Found = dict[str, Any]
MODES = ("EIO", "ENOSPC", "torn")
LIBRARY_VARIABLE = "TAUT_FAULTS"  # environment variable with the path of the library


def build_library(folder: Path) -> Path:
    """Compile the library that lets calls fail; return its path."""
    source, library = files("benchmarks.reliability") / "faults.c", folder / "faults.so"
    with as_file(source) as path:
        subprocess.run(
            ["cc", "-shared", "-fPIC", "-O1", "-w", "-o", library, path, "-ldl"], check=True
        )
    return library


def run_in_child(work: Any) -> Found:
    """Do work in a child process; return its result, or {"crashed": exit code}."""
    pid, reading = fork_child(lambda writing: os.write(writing, json.dumps(work()).encode()))
    with os.fdopen(reading, "rb") as stream:
        found = stream.read()
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    return json.loads(found) if code == 0 else {"crashed": code}


def record_with_fault(folder: Path, at: int, mode: str) -> Found:
    """Record a run in which call number `at` fails (-1: none).

    Returns the last durable step, the error or the hash of the last state, the number of calls, and
    the name of the call that failed.
    """
    library = ctypes.CDLL(os.environ[LIBRARY_VARIABLE])
    library.fault_hit.restype = ctypes.c_char_p
    durable, error, sha = [-1], "", ""
    number = errno.EIO if mode == "EIO" else errno.ENOSPC
    library.fault_arm(str(folder).encode(), at, number, mode != "EIO", mode == "torn")
    try:
        sha = hash_state(
            record(
                folder,
                build_torn_sheet(),
                BDF2(),
                tell=lambda p: durable.append(p.durable),
                **RUN_OPTIONS,
            ).state
        )
    except RunError as caught:
        error = str(caught)
    calls, hit = library.fault_calls(), library.fault_hit().decode()
    library.fault_arm(b"", -1, 0, 0, 0)
    return {"durable": max(durable), "error": error, "sha": sha, "calls": calls, "hit": hit}


def finish_run(folder: Path) -> Found:
    """Resume a run, or start it again if there is none; return the SHA-256 of the last state."""
    if (folder / FILE).exists():
        with open_run(folder) as run:
            if run.finished:  # the fault came after the last step was written
                return {"sha": hash_state(run.state())}
    else:
        return {
            "sha": hash_state(
                record(folder, build_torn_sheet(), BDF2(), overwrite=True, **RUN_OPTIONS).state
            )
        }
    return {"sha": hash_state(resume(folder, build_torn_sheet(), BDF2()).state)}


def find_defect(folder: Path, told: dict[str, Any], whole: list[str], sha: str) -> str:
    """Return what is wrong with a run after a fault; empty if nothing is.

    told : the result of `record_with_fault`
    whole, sha : hashes of the frames and of the last state of an undisturbed run
    """
    if "crashed" in told:
        return f"the process ended with code {told['crashed']}"
    if told["error"] and (str(folder) not in told["error"] or "cannot" not in told["error"]):
        return f"an unclear error: {told['error']}"
    if not (folder / FILE).exists():
        if told["durable"] >= 0:
            return "a step was reported as durable, but there is no run"
    else:
        try:
            frames = hash_frames(folder)
        except TautError as error:
            return f"does not open: {error}"
        if frames != whole[: len(frames)]:
            return "its frames differ from those of an undisturbed run"
        if 2 * (len(frames) - 1) < told["durable"]:
            return (
                f"step {told['durable']} was reported as durable, but there are only "
                f"{len(frames)} frames"
            )
    if not told["error"]:
        return "" if told["sha"] == sha else "its last state is not bit-identical"
    again = run_in_child(lambda: finish_run(folder))
    if again.get("sha") != sha:
        return f"resumed, its last state is not bit-identical: {again}"
    return "" if hash_frames(folder) == whole else "resumed, its frames differ"


def campaign(
    folder: Path,
    every: int,
    only: int | None = None,
    watch: Callable[[Trials], Iterable[tuple[str, int]]] = iter,
) -> Found:
    """Try one call in `every`, or call number `only`, in every mode; return counts and failures.

    watch : receives the trials (mode, call) and yields them one by one, to show progress
    """
    # Without matplotlib no picture is drawn, which would take longer than all the rest.
    sys.modules["matplotlib.figure"] = None  # type: ignore[assignment]
    # Children inherit what is compiled and loaded in this run.
    record_with_fault(folder / "warm", -1, "EIO")
    first = run_in_child(lambda: record_with_fault(folder / "whole", -1, "EIO"))
    whole, sha, calls = hash_frames(folder / "whole"), first["sha"], first["calls"]
    counts: Counter[str] = Counter()
    failures = []
    calls_tried = range(0, calls, every) if only is None else [only]
    for mode, at in watch([(mode, at) for mode in MODES for at in calls_tried]):
        where = folder / f"{mode}{at}"
        told = run_in_child(lambda w=where, a=at, m=mode: record_with_fault(w, a, m))
        defect = find_defect(where, told, whole, sha)
        if defect:
            failures.append(f"call {at} ({told.get('hit')}, {mode}): {defect}")
        outcome = "RunError" if told.get("error") else "no harm"
        counts[f"{told.get('hit') or 'none'}: {outcome}"] += 1
    return {
        "calls": calls,
        "faults": sum(counts.values()),
        "counts": dict(sorted(counts.items())),
        "failures": failures,
    }


def find_obstacle() -> str:
    """Return why this campaign cannot run here; empty if it can."""
    if sys.platform != "linux":
        return "system calls can be made to fail on Linux only"
    return "" if shutil.which("cc") else "there is no C compiler (cc)"


def run_with_library(command: list[str], **options: Any) -> subprocess.CompletedProcess[str]:
    """Run a command with the library preloaded; options : of `subprocess.run`."""
    with tempfile.TemporaryDirectory() as folder:
        library = str(build_library(Path(folder)))
        # One thread, because threads do not survive a fork.
        variables = {
            "LD_PRELOAD": library,
            LIBRARY_VARIABLE: library,
            "NUMBA_NUM_THREADS": "1",
        }
        return subprocess.run(
            command, env={**os.environ, **variables}, check=False, text=True, **options
        )
