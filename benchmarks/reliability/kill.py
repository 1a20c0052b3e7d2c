"""Runs killed at random moments.

Each must open, hold every frame that was said to be on the disk, and end in the same bits.

A small sheet that tears, stepped by BDF2 (so that a checkpoint needs history and masks), a frame
each step, in processes with one or two threads. Each is ended by SIGKILL after a random time, while
it begins, steps, writes or finishes. Then the run is opened: every frame said to be durable must be
there, and every frame there must be that of a run that nobody killed. Then it is resumed in another
process, which may be killed as well, until it ends; the SHA-256 of the last state must be that of
the undisturbed run.
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

from benchmarks.reliability.child import child
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


def torn_sheet() -> System:
    """A sheet pulled apart until springs break."""
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


def run_into(folder: Path, say: Callable[[int], object], count: int = 1) -> None:
    """Record the sheet on so many threads, or go on with it if there is a run.

    `say` hears of each durable step.
    """
    prepare_threads()
    system, integrator = torn_sheet(), BDF2()
    with threads(min(count, max(available_thread_counts()))):
        if (folder / FILE).exists():
            resume(folder, system, integrator, tell=lambda p: say(p.durable))
        else:
            record(
                folder,
                system,
                integrator,
                h=H,
                until=UNTIL,
                scene="# torn sheet\n",
                tell=lambda p: say(p.durable),
                overwrite=True,
            )


def forked(
    work: Callable[[Callable[[int], object]], None], patience: float | None = None
) -> tuple[int, int | None]:
    """Do work in a process of its own, and kill it after so many seconds.

    The last step it said was durable (-1: none), and its
    exit code, or None where it was killed."""
    pid, heard = child(lambda said: work(lambda step: os.write(said, step.to_bytes(4, "little"))))
    if patience is not None:
        time.sleep(patience)
        os.kill(pid, signal.SIGKILL)  # one that has ended already waits for us, and does not notice
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    with os.fdopen(heard, "rb") as stream:
        told = stream.read()
    last = int.from_bytes(told[-4:], "little") if told else -1
    return last, None if code == -signal.SIGKILL else code


def frames_of(folder: Path) -> list[str]:
    """SHA-256 of every frame of a run, each read and verified."""
    with open_run(folder) as run:
        return [
            sha256(f.q.tobytes() + f.v.tobytes() + repr((f.step, f.t)).encode()).hexdigest()
            for f in run.frames
        ]


def campaign(
    kills: int, seed: int, folder: Path, tell: Callable[[int], object] = lambda done: None
) -> dict[str, Any]:
    """Kill runs in this folder so many times.

    Counts, and what went wrong. `tell` hears how many are done.
    """
    rng = random.Random(seed)
    counts: Counter[str] = Counter()
    failures: list[str] = []
    if (
        prepare_threads() == "tbb"
    ):  # whose threads stand a fork: what is loaded here need not be in every process
        run_into(folder / "warm", lambda step: None, 2)
    forked(lambda say: run_into(folder / "whole", say))
    whole = frames_of(folder / "whole")
    wanted = json.loads((folder / "whole" / "summary.json").read_text())["sha256"]
    begun = time.monotonic()
    forked(lambda say: run_into(folder / "again", say))
    span = time.monotonic() - begun
    number = 0
    while counts["kills"] < kills:
        where, number = folder / f"run{number}", number + 1
        told = -1
        while True:
            count = rng.choice((1, 2))
            patience = rng.uniform(0.0, 1.1 * span) if counts["kills"] < kills else None
            said, code = forked(lambda say, t=count, w=where: run_into(w, say, t), patience)  # type: ignore[misc]
            told = max(told, said)
            if code is None:
                counts["kills"] += 1
                tell(counts["kills"])
            elif code:
                failures.append(f"{where.name}: ended with {code}")
                break
            if not (where / FILE).exists():
                counts["before the first frame"] += 1
                if told >= 0:
                    failures.append(
                        f"{where.name}: step {told} was said to be durable, and there is no run"
                    )
                continue
            problem = _checked(where, told, whole, counts if code is None else Counter())
            if problem:
                failures.append(f"{where.name}: {problem}")
                break
            with open_run(where) as run:
                finished = run.finished
            if finished:  # perhaps killed right after it
                counts["ended"] += 1
                found = json.loads((where / "summary.json").read_text())["sha256"]
                if found != wanted:
                    failures.append(f"{where.name}: ends in other bits")
                break
    return {
        "kills": counts["kills"],
        "counts": dict(counts),
        "seconds a run": round(span, 3),
        "failures": failures,
    }


def _checked(where: Path, told: int, whole: list[str], counts: Counter[str]) -> str:
    """What is wrong with a run after a kill, or nothing."""
    try:
        frames = frames_of(where)
        with open_run(where) as run:
            step, status = run.step, run.status
            state = run.state()
    except TautError as error:
        return f"does not open: {error}"
    counts[f"opened, {status}"] += 1
    if step < told:
        return f"step {told} was said to be durable, and {step} is the last"
    if frames != whole[: len(frames)] or len(frames) != step + 1:
        return "has other frames than an undisturbed run"
    return "" if state.t <= step * H + 1e-9 else "has a checkpoint beyond its last step"
