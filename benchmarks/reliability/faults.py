"""Every write of a run fails in turn: a clear error, and nothing lost that was on the disk.

A library between Python and the system (faults.c, built with `cc`; Linux only) counts the calls by
which a run changes its folder: opening to write, writing, syncing, truncating, renaming, deleting.
A short run is recorded again and again, and each time another of the calls fails, in one of these
ways:

    EIO       an error of the device, once
    ENOSPC    a full disk: this call and all after it
    torn      half of what was to be written is, then the disk is full

After each: the run ended in a RunError or, where the call did not matter, as it should; it opens;
every frame said to be durable is there, and every frame there is that of an undisturbed run; and it
is resumed to the same last bits.
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

from benchmarks.reliability.child import child
from benchmarks.reliability.kill import frames_of, torn_sheet
from taut.errors import RunError, TautError
from taut.run.encoding import hash_state
from taut.run.open_run import open_run
from taut.run.record import record, resume
from taut.run.run_folder import FILE
from taut.step.bdf2 import BDF2

STEPS: dict[str, Any] = {
    "h": 0.04,
    "until": 0.32,
    "every": 2,
    "scene": "# torn sheet\n",
    "inputs": {"sheet.obj": b"v 0 0 0\n"},
}
Trials = Sequence[tuple[str, int]]  # (mode, call)
Found = dict[str, Any]
MODES = ("EIO", "ENOSPC", "torn")
LIBRARY = "TAUT_FAULTS"  # where the library is


def build(folder: Path) -> Path:
    """The library that fails."""
    source, library = files("benchmarks.reliability") / "faults.c", folder / "faults.so"
    with as_file(source) as path:
        subprocess.run(
            ["cc", "-shared", "-fPIC", "-O1", "-w", "-o", library, path, "-ldl"], check=True
        )
    return library


def in_a_process(work: Any) -> Found:
    """What work returns, done in a process of its own."""
    pid, heard = child(lambda said: os.write(said, json.dumps(work()).encode()))
    with os.fdopen(heard, "rb") as stream:
        found = stream.read()
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    return json.loads(found) if code == 0 else {"crashed": code}


def recorded(folder: Path, at: int, mode: str) -> Found:
    """Record with the call of that number failing.

    How it ended, what was durable, which call it was.
    """
    library = ctypes.CDLL(os.environ[LIBRARY])
    library.fault_hit.restype = ctypes.c_char_p
    durable, error, sha = [-1], "", ""
    number = errno.EIO if mode == "EIO" else errno.ENOSPC
    library.fault_arm(str(folder).encode(), at, number, mode != "EIO", mode == "torn")
    try:
        sha = hash_state(
            record(
                folder, torn_sheet(), BDF2(), tell=lambda p: durable.append(p.durable), **STEPS
            ).state
        )
    except RunError as caught:
        error = str(caught)
    calls, hit = library.fault_calls(), library.fault_hit().decode()
    library.fault_arm(b"", -1, 0, 0, 0)
    return {"durable": max(durable), "error": error, "sha": sha, "calls": calls, "hit": hit}


def resumed(folder: Path) -> Found:
    """Go on, or begin again where nothing was begun: SHA-256 of the last state."""
    if (folder / FILE).exists():
        with open_run(folder) as run:
            if run.finished:  # it was the news of it that failed
                return {"sha": hash_state(run.state())}
    else:
        return {
            "sha": hash_state(record(folder, torn_sheet(), BDF2(), overwrite=True, **STEPS).state)
        }
    return {"sha": hash_state(resume(folder, torn_sheet(), BDF2()).state)}


def verdict(folder: Path, told: dict[str, Any], whole: list[str], sha: str) -> str:
    """What is wrong after a fault, or nothing."""
    if "crashed" in told:
        return f"the process ended with {told['crashed']}"
    if told["error"] and (str(folder) not in told["error"] or "cannot" not in told["error"]):
        return f"an unclear error: {told['error']}"
    if not (folder / FILE).exists():
        if told["durable"] >= 0:
            return "a durable step, and no run"
    else:
        try:
            frames = frames_of(folder)
        except TautError as error:
            return f"does not open: {error}"
        if frames != whole[: len(frames)]:
            return "has other frames than an undisturbed run"
        if 2 * (len(frames) - 1) < told["durable"]:
            return (
                f"step {told['durable']} was said to be durable, and there are {len(frames)} frames"
            )
    if not told["error"]:
        return "" if told["sha"] == sha else "ends in other bits"
    again = in_a_process(lambda: resumed(folder))
    if again.get("sha") != sha:
        return f"resumed, it ends in other bits: {again}"
    return "" if frames_of(folder) == whole else "resumed, it has other frames"


def campaign(
    folder: Path,
    every: int,
    only: int | None = None,
    watch: Callable[[Trials], Iterable[tuple[str, int]]] = iter,
) -> Found:
    """All calls, or one in so many, in every way.

    Counts, and what went wrong. What goes through `watch` is (mode, call).
    """
    sys.modules["matplotlib.figure"] = None  # type: ignore[assignment]  # a picture takes longer than all the rest
    recorded(
        folder / "warm", -1, "EIO"
    )  # what is compiled and loaded here need not be in every process
    first = in_a_process(lambda: recorded(folder / "whole", -1, "EIO"))
    whole, sha, calls = frames_of(folder / "whole"), first["sha"], first["calls"]
    counts: Counter[str] = Counter()
    failures = []
    calls_tried = range(0, calls, every) if only is None else [only]
    for mode, at in watch([(mode, at) for mode in MODES for at in calls_tried]):
        where = folder / f"{mode}{at}"
        told = in_a_process(lambda w=where, a=at, m=mode: recorded(w, a, m))
        wrong = verdict(where, told, whole, sha)
        if wrong:
            failures.append(f"call {at} ({told.get('hit')}, {mode}): {wrong}")
        counts[
            f"{told.get('hit') or 'none'}: {'RunError' if told.get('error') else 'no harm'}"
        ] += 1
    return {
        "calls": calls,
        "faults": sum(counts.values()),
        "counts": dict(sorted(counts.items())),
        "failures": failures,
    }


def unable() -> str:
    """Why faults cannot be made here, or nothing."""
    if sys.platform != "linux":
        return "calls of the system can be made to fail on Linux alone"
    return "" if shutil.which("cc") else "there is no C compiler (cc)"


def under_the_library(command: list[str], **options: Any) -> subprocess.CompletedProcess[str]:
    """Run a command with the library before all others; options : of `subprocess.run`."""
    with tempfile.TemporaryDirectory() as folder:
        library = str(build(Path(folder)))
        alone = {
            "LD_PRELOAD": library,
            LIBRARY: library,
            "NUMBA_NUM_THREADS": "1",
        }  # threads do not survive a fork
        return subprocess.run(
            command, env={**os.environ, **alone}, check=False, text=True, **options
        )
