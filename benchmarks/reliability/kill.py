"""Kill runs at random moments: no durable frame may be lost, and resumed runs must not differ.

The run is a small sheet that tears, stepped by BDF2 (so that a checkpoint needs history and masks),
with a frame for each step, in processes with one or two threads. Each is killed by SIGKILL after a
random time, while it starts, steps, writes or finishes. The run must then open, with every frame
that was reported as durable, and its frames must equal those of a run that was not killed. It is
resumed in another process, which may be killed as well, until it is finished; the SHA-256 of the
last state must be that of the undisturbed run.
"""

from __future__ import annotations

import json
import os
import random
import signal
import time
from collections import Counter
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.reliability.child import fork_child
from taut import laws, mesh
from taut.bench.timing import available_thread_counts, threads
from taut.constraints.prescribed import scripted
from taut.errors import TautError
from taut.run.open_run import open_run
from taut.run.record import record, resume
from taut.run.run_folder import FILE
from taut.step.bdf2 import BDF2
from taut.system.system import System
from taut.threads import prepare_threads

H, UNTIL = 0.01, 0.4


def build_torn_sheet() -> System:
    """Build a sheet that is pulled apart until springs break."""
    sheet = mesh.sheet(8, 8)
    top = sheet.select("y > 0.99*max")
    path = sheet.points[top]
    energies: list[Any] = [laws.spring(sheet.edges, k=60.0, breaking_strain=0.08), laws.gravity()]
    damping: list[Any] = [laws.drag(alpha=1.0)]
    pulled = scripted(top, lambda t: path + np.array([0.1 * t, 0.4 * t, 0.0]))
    held = sheet.select("y < 0.01*max")
    return System(
        sheet.points,
        mass=2e-3,
        fixed=held,
        energies=energies,
        damping=damping,
        constraints=[pulled],
    )


def record_or_resume(folder: Path, report_durable: Callable[[int], object], count: int = 1) -> None:
    """Record the sheet, or resume its run if there is one.

    report_durable : called with the last durable step after each step; count : number of threads
    """
    prepare_threads()
    system, integrator = build_torn_sheet(), BDF2()
    with threads(min(count, max(available_thread_counts()))):
        if (folder / FILE).exists():
            resume(folder, system, integrator, tell=lambda p: report_durable(p.durable))
        else:
            record(
                folder,
                system,
                integrator,
                h=H,
                until=UNTIL,
                scene="# torn sheet\n",
                tell=lambda p: report_durable(p.durable),
                overwrite=True,
            )


def run_and_kill(
    work: Callable[[Callable[[int], object]], None], seconds: float | None = None
) -> tuple[int, int | None]:
    """Do work in a child process, and kill it after some seconds (None: never).

    Returns the last step that it reported as durable (-1: none), and its exit code, or None if it
    was killed.
    """
    pid, reading = fork_child(
        lambda writing: work(lambda step: os.write(writing, step.to_bytes(4, "little")))
    )
    if seconds is not None:
        time.sleep(seconds)
        os.kill(pid, signal.SIGKILL)  # without effect on a child that has already exited
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    with os.fdopen(reading, "rb") as stream:
        told = stream.read()
    last = int.from_bytes(told[-4:], "little") if told else -1
    return last, None if code == -signal.SIGKILL else code


def hash_frames(folder: Path) -> list[str]:
    """Return the SHA-256 of every frame of a run, each read and verified."""
    with open_run(folder) as run:
        return [
            sha256(f.q.tobytes() + f.v.tobytes() + repr((f.step, f.t)).encode()).hexdigest()
            for f in run.frames
        ]


def campaign(
    kills: int, seed: int, folder: Path, tell: Callable[[int], object] = lambda done: None
) -> dict[str, Any]:
    """Kill runs in a folder; return counts and failures.

    tell : called with the number of kills so far
    """
    rng = random.Random(seed)
    counts: Counter[str] = Counter()
    failures: list[str] = []
    # Children inherit what is compiled and loaded here. Only the threads of tbb survive a fork.
    if prepare_threads() == "tbb":
        record_or_resume(folder / "warm", lambda step: None, 2)
    run_and_kill(lambda report: record_or_resume(folder / "whole", report))
    whole = hash_frames(folder / "whole")
    wanted = json.loads((folder / "whole" / "summary.json").read_text())["sha256"]
    begun = time.monotonic()
    run_and_kill(lambda report: record_or_resume(folder / "again", report))
    span = time.monotonic() - begun
    number = 0
    while counts["kills"] < kills:
        where, number = folder / f"run{number}", number + 1
        durable = -1
        while True:
            count = rng.choice((1, 2))
            seconds = rng.uniform(0.0, 1.1 * span) if counts["kills"] < kills else None
            reported, code = run_and_kill(
                lambda report, t=count, w=where: record_or_resume(w, report, t),  # type: ignore[misc]
                seconds,
            )
            durable = max(durable, reported)
            if code is None:
                counts["kills"] += 1
                tell(counts["kills"])
            elif code:
                failures.append(f"{where.name}: the process ended with code {code}")
                break
            if not (where / FILE).exists():
                counts["before the first frame"] += 1
                if durable >= 0:
                    failures.append(
                        f"{where.name}: step {durable} was reported as durable, but there is no run"
                    )
                continue
            defect = _find_defect(where, durable, whole, counts if code is None else Counter())
            if defect:
                failures.append(f"{where.name}: {defect}")
                break
            with open_run(where) as run:
                finished = run.finished
            if finished:  # even if it was killed afterwards
                counts["ended"] += 1
                found = json.loads((where / "summary.json").read_text())["sha256"]
                if found != wanted:
                    failures.append(f"{where.name}: its last state is not bit-identical")
                break
    return {
        "kills": counts["kills"],
        "counts": dict(counts),
        "seconds a run": round(span, 3),
        "failures": failures,
    }


def _find_defect(where: Path, durable: int, whole: list[str], counts: Counter[str]) -> str:
    """Return what is wrong with a run after a kill; empty if nothing is."""
    try:
        frames = hash_frames(where)
        with open_run(where) as run:
            step, status = run.step, run.status
            state = run.state()
    except TautError as error:
        return f"does not open: {error}"
    counts[f"opened, {status}"] += 1
    if step < durable:
        return f"step {durable} was reported as durable, but {step} is the last one"
    if frames != whole[: len(frames)] or len(frames) != step + 1:
        return "its frames differ from those of an undisturbed run"
    return "" if state.t <= step * H + 1e-9 else "it has a checkpoint beyond its last step"
