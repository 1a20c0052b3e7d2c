"""Kill workers, schedulers and drivers of studies: the table must be complete, with the same bytes.

The study varies a chain that swings for a moment, with two workers: in half of the trials those
that `taut sweep` starts, in the other half a scheduler and workers in processes of their own. At
random moments SIGKILL ends a worker, the scheduler or the driver. `taut resume` goes on where the
driver ended, behind a new scheduler if the old one was killed. In the end results.csv and
results.parquet must have the bytes of an undisturbed study, and no row that was on the disk may
have been written again.
"""

from __future__ import annotations

import os
import random
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil

_COMMAND = [sys.executable, "-m", "taut.cli"]
_TIMEOUT = 300.0  # seconds for one command: a hang is a failure
TABLES = ("results.csv", "results.parquet")
STUDY = """
scene = "chain"
samples = "lhs:{runs}"

[vary]
"body.chain.law.spring.k" = "1e4:1e6:log"
"body.chain.density" = "0.2:1"

[measure]
depth = "max(y0 - y)"
stretch = "time_max(max(strain))"

[set]
"time.duration" = 0.2
"""


class Cluster:
    """A scheduler and two workers, each in a process of its own."""

    def __init__(self) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.address = f"tcp://127.0.0.1:{port}"
        where = ["--host", "127.0.0.1", "--no-dashboard"]
        self.processes = [self._start("scheduler", "--port", str(port), *where)]
        for _ in range(2):
            arguments = [self.address, "--nthreads", "1", "--nworkers", "1", *where]
            self.processes.append(self._start("worker", *arguments))

    def _start(self, kind: str, *arguments: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", f"distributed.cli.dask_{kind}", *arguments]
        environment = {**os.environ, "NUMBA_NUM_THREADS": "1"}
        return subprocess.Popen(
            command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )

    def find_workers(self) -> list[psutil.Process]:
        """Return the processes that do the runs: each nanny has one."""
        return [child for p in self.processes[1:] for child in find_workers(p.pid)]

    def close(self) -> None:
        """End all processes."""
        for process in self.processes:
            for child in find_workers(process.pid):
                child.kill()
            process.kill()
        for process in self.processes:
            process.wait()


def find_workers(pid: int) -> list[psutil.Process]:
    """Return the worker processes that a process has started."""
    try:
        children = psutil.Process(pid).children(recursive=True)
        return [child for child in children if "spawn_main" in " ".join(child.cmdline())]
    except psutil.NoSuchProcess:
        return []


def start(folder: Path, study: Path, cluster: Cluster | None) -> subprocess.Popen[str]:
    """Begin a study, or resume it if there is one."""
    words = ["resume", str(folder)]
    if not (folder / "study.json").exists():
        words = ["sweep", str(study), "-o", str(folder)]
    words += ["--workers", "2"] if cluster is None else ["--scheduler", cluster.address]
    return subprocess.Popen(
        [*_COMMAND, *words, "--quiet"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def list_rows(folder: Path) -> dict[str, tuple[int, int]]:
    """Return the rows on the disk: name → inode and time of the last change."""
    found = {}
    for path in (folder / "rows").glob("[0-9]*.json"):
        status = path.stat()
        found[path.name] = status.st_ino, status.st_mtime_ns
    return found


def campaign(
    kills: int,
    seed: int,
    folder: Path,
    runs: int = 200,
    tell: Callable[[int], object] = lambda done: None,
) -> dict[str, Any]:
    """Kill processes of studies in a folder; return counts and failures.

    tell : called with the number of kills so far
    """
    rng = random.Random(seed)
    folder.mkdir(parents=True, exist_ok=True)
    study = folder / "study.toml"
    study.write_text(STUDY.format(runs=runs))
    wanted, span = _run_undisturbed(folder / "whole", study)
    counts: Counter[str] = Counter()
    failures: list[str] = []
    number = 0
    while sum(counts[f"{target} killed"] for target in ("worker", "scheduler", "driver")) < kills:
        trial = _Trial(folder / f"study{number}", study, span, rng, counts, kills, tell)
        defect = trial.run(local=number % 2 == 0)
        found = {name: (trial.folder / name).read_bytes() for name in TABLES if not defect}
        if not defect and found != wanted:
            defect = "the tables differ from those of an undisturbed study"
        if defect:
            failures.append(f"{trial.folder.name}: {defect}")
        counts["studies"] += 1
        number += 1
    return {"kills": kills, "counts": dict(counts), "failures": failures, "seconds": span}


def _run_undisturbed(folder: Path, study: Path) -> tuple[dict[str, bytes], float]:
    """Return the tables of a study with one worker, and the seconds of one with two."""
    subprocess.run(
        [*_COMMAND, "sweep", str(study), "-o", str(folder), "--workers", "1", "-q"], check=True
    )
    begun = time.monotonic()
    again = folder.with_name("again")
    subprocess.run(
        [*_COMMAND, "sweep", str(study), "-o", str(again), "--workers", "2", "-q"], check=True
    )
    return {name: (folder / name).read_bytes() for name in TABLES}, time.monotonic() - begun


class _Trial:
    """One study that is disturbed a few times, and then left alone until it is done."""

    def __init__(
        self,
        folder: Path,
        study: Path,
        span: float,
        rng: random.Random,
        counts: Counter[str],
        kills: int,
        tell: Callable[[int], object],
    ) -> None:
        self.folder, self.study, self.span, self.rng = folder, study, span, rng
        self.counts, self.kills, self.tell = counts, kills, tell
        self.cluster: Cluster | None = None

    def _count(self) -> int:
        return sum(self.counts[f"{name} killed"] for name in ("worker", "scheduler", "driver"))

    def run(self, *, local: bool) -> str:
        """Do the study; return what is wrong, or nothing."""
        rows: dict[str, tuple[int, int]] = {}
        quiet = self.rng.randint(3, 5)  # moments after which the study is left alone
        try:
            while True:
                if not local and self.cluster is None:
                    self.cluster = Cluster()
                driver = start(self.folder, self.study, self.cluster)
                while quiet and self._count() < self.kills:
                    quiet -= 1
                    if not self._disturb(driver):
                        break
                try:
                    _, message = driver.communicate(timeout=_TIMEOUT)
                except subprocess.TimeoutExpired:
                    driver.kill()
                    return "the driver hangs"
                now = list_rows(self.folder)
                lost = [name for name in rows if now.get(name) != rows[name]]
                if lost:
                    return f"rows were lost or written twice: {lost[:3]}"
                rows = now
                if driver.returncode == 0:
                    return ""
                scheduler_died = self._replace_dead_scheduler()
                if driver.returncode != -signal.SIGKILL and not scheduler_died:
                    return f"the driver ended with code {driver.returncode}: {message[-300:]}"
        finally:
            if self.cluster is not None:
                self.cluster.close()

    def _disturb(self, driver: subprocess.Popen[str]) -> bool:
        """Kill something at a random moment; return whether the driver goes on."""
        try:
            driver.wait(self.rng.uniform(0.1, 0.8 * self.span))
            return False
        except subprocess.TimeoutExpired:
            pass
        targets = (
            ["worker", "driver"] if self.cluster is None else ["worker", "scheduler", "driver"]
        )
        target = self.rng.choice(targets)
        pids = [driver.pid]
        if target == "worker":
            found = (
                find_workers(driver.pid) if self.cluster is None else self.cluster.find_workers()
            )
            pids = [self.rng.choice(found).pid] if found else []
        elif target == "scheduler" and self.cluster is not None:
            pids = [self.cluster.processes[0].pid]
        if not pids:
            return True  # no worker has started yet
        os.kill(pids[0], signal.SIGKILL)
        self.counts[f"{target} killed"] += 1
        self.tell(self._count())
        return target == "worker"

    def _replace_dead_scheduler(self) -> bool:
        """Close a cluster without a scheduler; return whether there was one."""
        if self.cluster is None or self.cluster.processes[0].poll() is None:
            return False
        self.cluster.close()
        self.cluster = None
        return True
