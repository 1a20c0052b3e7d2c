"""Kill a run at random moments: it must open, hold every frame that was said to be on the disk, and end in the same bits.

    python -m benchmarks.kill [--kills 100] [--seed 0] [--folder DIR] [--json]

A small sheet that tears, stepped by BDF2 (so that a checkpoint needs history and masks), a frame each step, in processes with one
or two threads. Each is ended by SIGKILL after a random time, while it begins, steps, writes or finishes. Then the run is opened:
every frame said to be durable must be there, and every frame there must be that of a run that nobody killed. Then it is resumed in
another process, which may be killed as well, until it ends; the SHA-256 of the last state must be that of the undisturbed run.

Prints how many were killed where, and the bound on the chance of a failure that as many kills without one leave (3/N, at 95%).
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

import taut
from taut import laws
from taut.run.connection import FILE
from taut.run.opening import open_run
from taut.run.record import record, resume
from taut.threads import prepare_threads

H, UNTIL = 0.01, 0.4


def torn_sheet() -> taut.System:
    """A sheet pulled apart until springs break."""
    sheet = taut.mesh.sheet(8, 8)
    top = sheet.select("y > 0.99*max")
    path = sheet.points[top]
    return taut.System(
        sheet.points, mass=2e-3, fixed=sheet.select("y < 0.01*max"),
        energies=[laws.spring(sheet.edges, k=60.0, breaking_strain=0.08), laws.gravity()],
        damping=[laws.drag(alpha=1.0)],
        constraints=[taut.scripted(top, lambda t: path + np.array([0.1 * t, 0.4 * t, 0.0]))],
    )  # fmt: skip


def run_into(folder: Path, say: Callable[[int], object], threads: int = 1) -> None:
    """Record the sheet, or go on with it if there is a run; `say` hears of each durable step."""
    import numba

    prepare_threads()
    numba.set_num_threads(min(threads, numba.config.NUMBA_NUM_THREADS))
    system, integrator = torn_sheet(), taut.BDF2()
    if (folder / FILE).exists():
        resume(folder, system, integrator, tell=lambda p: say(p.durable))
    else:
        record(folder, system, integrator, h=H, until=UNTIL, scene="# torn sheet\n", tell=lambda p: say(p.durable), overwrite=True)


def forked(work: Callable[[Callable[[int], object]], None], patience: float | None = None) -> tuple[int, int | None]:
    """Do work in a process of its own, and kill it after so many seconds: the last step it said was durable (-1: none), and its
    exit code, or None where it was killed."""
    heard, said = os.pipe()
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            os.close(heard)
            work(lambda step: os.write(said, step.to_bytes(4, "little")))
            code = 0
        finally:
            os._exit(code)
    os.close(said)
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
        return [sha256(f.q.tobytes() + f.v.tobytes() + repr((f.step, f.t)).encode()).hexdigest() for f in run.frames]


def campaign(kills: int, seed: int, folder: Path) -> dict[str, Any]:
    """Kill runs in this folder so many times; counts, and what went wrong."""
    rng = random.Random(seed)
    counts: Counter[str] = Counter()
    failures: list[str] = []
    if prepare_threads() == "tbb":  # whose threads stand a fork: what is loaded here need not be in every process
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
            threads = rng.choice((1, 2))
            patience = rng.uniform(0.0, 1.1 * span) if counts["kills"] < kills else None
            said, code = forked(lambda say, t=threads, w=where: run_into(w, say, t), patience)  # type: ignore[misc]
            told = max(told, said)
            if code is None:
                counts["kills"] += 1
            elif code:
                failures.append(f"{where.name}: ended with {code}")
                break
            if not (where / FILE).exists():
                counts["before the first frame"] += 1
                if told >= 0:
                    failures.append(f"{where.name}: step {told} was said to be durable, and there is no run")
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
    return {"kills": counts["kills"], "counts": dict(counts), "seconds a run": round(span, 3), "failures": failures}


def _checked(where: Path, told: int, whole: list[str], counts: Counter[str]) -> str:
    """What is wrong with a run after a kill, or nothing."""
    try:
        frames = frames_of(where)
        with open_run(where) as run:
            step, status = run.step, run.status
            state = run.state()
    except taut.TautError as error:
        return f"does not open: {error}"
    counts[f"opened, {status}"] += 1
    if step < told:
        return f"step {told} was said to be durable, and {step} is the last"
    if frames != whole[: len(frames)] or len(frames) != step + 1:
        return "has other frames than an undisturbed run"
    return "" if state.t <= step * H + 1e-9 else "has a checkpoint beyond its last step"


def main() -> None:
    """See above."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folder", type=Path, help="where the runs are put (default: a temporary folder)")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        found = campaign(options.kills, options.seed, options.folder or Path(temporary))
    if options.json:
        print(json.dumps(found, indent=1))
    else:
        print(f"{found['kills']} kills, a run takes {found['seconds a run']} s: {found['counts']}")
        bound = f"no failure: with 95% confidence, fewer than {3 / options.kills:.1%} of kills do harm"
        print("\n".join(found["failures"]) or bound)
    sys.exit(bool(found["failures"]))


if __name__ == "__main__":
    main()
