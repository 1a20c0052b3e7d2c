"""The workers of a study: Dask's, on this machine or behind a scheduler that runs already.

A Dask scheduler executes what it is sent. The cluster that is started here listens on the loopback
interface only, and on TLS connections with certificates made for it alone, so that other users of
the machine cannot use it either.

A worker that dies is replaced (by Dask's nanny), and its run is given to another one. If four
workers die one after another on the same run, Dask gives up, and so does the study, on that run.
"""

from __future__ import annotations

import logging
import math
import os
import queue
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

from taut.errors import ModelError, RunError, TautError
from taut.extras import import_extra
from taut.study.job import Job, JobResult, do_job
from taut.study.plan import write_files

_POLL = 0.2  # seconds between two looks at signals and at the connection
_RECOUNT = 2.0  # seconds between two counts of the workers
_MAX_STARTS = 3  # attempts to start the workers
_MAX_SILENCE = 10.0  # seconds without a scheduler after which the study ends
_JOBS_PER_THREAD = 2  # one under way and one that waits, so that no worker is idle


@contextmanager
def local_client(workers: int | None) -> Iterator[Any]:
    """Start workers on this machine, one process per core, one thread each; yield their client.

    workers : number of processes; None: one per core
    """
    distributed = import_extra("sweep", "distributed", "sweeps")
    import_extra("sweep", "cryptography", "sweeps")
    from dask.system import CPU_COUNT

    count = CPU_COUNT if workers is None else workers
    if not isinstance(count, int) or isinstance(count, bool) or count < 1:
        raise ModelError(f"workers must be a positive whole number, got {workers!r}")
    with _start_cluster(distributed, count) as cluster, distributed.Client(cluster) as client:
        yield client


def _start_cluster(distributed: Any, workers: int) -> Any:
    """Start a scheduler and workers; again, if a worker dies before it is ready."""
    for attempt in range(1, _MAX_STARTS + 1):
        try:
            return distributed.LocalCluster(
                n_workers=workers,
                threads_per_worker=1,
                processes=True,
                host="127.0.0.1",
                dashboard_address="127.0.0.1:0",
                security=distributed.Security.temporary(),
                env={"NUMBA_NUM_THREADS": "1"},
                preload=["taut.study.worker_signals"],
                silence_logs=logging.CRITICAL,
            )
        except (RuntimeError, OSError) as error:
            if attempt == _MAX_STARTS:
                raise RunError(f"the workers cannot be started: {error}") from error
    raise AssertionError("the last attempt returns or raises")


@contextmanager
def remote_client(address: str) -> Iterator[Any]:
    """Connect to a scheduler that runs already, such as tcp://127.0.0.1:8786."""
    distributed = import_extra("sweep", "distributed", "sweeps")
    try:
        client = distributed.Client(address, timeout=f"{_MAX_SILENCE:g}s")
    except (OSError, ValueError, TimeoutError) as error:
        raise RunError(f"there is no Dask scheduler at {address}: {error}") from None
    try:
        yield client
    finally:
        client.close(timeout=1)


def dashboard_address(client: Any) -> str | None:
    """Return where Dask's dashboard is; None without bokeh, which it needs."""
    from importlib.util import find_spec

    return client.dashboard_link if find_spec("bokeh") is not None else None


def _make_plugin(files: Mapping[str, bytes]) -> Any:
    """Return what gives each worker, old or new, the files of the study."""
    base = import_extra("sweep", "distributed", "sweeps").WorkerPlugin
    digest = _digest(files)
    contents = dict(files)

    class StudyFiles(base):  # type: ignore[misc,valid-type]
        name = f"taut-{digest}"

        def setup(self, worker: Any) -> None:
            write_files(Path(worker.local_directory) / f"taut-{digest}", contents)

    return StudyFiles()


def _digest(files: Mapping[str, bytes]) -> str:
    total = sha256()
    for name, content in files.items():
        total.update(name.encode() + b"\0" + sha256(content).digest())
    return total.hexdigest()[:16]


def do_job_on_worker(job: Job, digest: str | None) -> dict[str, Any]:
    """Do one run on a Dask worker, with the files that it was given."""
    if digest is None:
        return do_job(job)
    from distributed import get_worker

    return do_job(job, os.path.join(get_worker().local_directory, f"taut-{digest}"))


class Driver:
    """Gives jobs to workers and takes their results, one by one, in whatever order they come."""

    def __init__(self, client: Any, files: Mapping[str, bytes], stop: Callable[[], bool]) -> None:
        self.client, self.stop = client, stop
        self.digest = _digest(files) if files else None
        if files:
            client.register_plugin(_make_plugin(files))
        self._done: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._jobs: dict[str, tuple[Any, Job]] = {}  # under way: key → future and job
        self._silent_since: float | None = None
        self._threads, self._counted_at = 0, -math.inf

    def run(self, jobs: Iterator[Job]) -> Iterator[JobResult]:
        """Yield results as they arrive; end early if `stop` returns True."""
        waiting = True
        try:
            while not self.stop():
                while waiting and len(self._jobs) < self._capacity():
                    job = next(jobs, None)
                    waiting = job is not None
                    if job is not None:
                        self._submit(job)
                if not self._jobs:
                    return
                try:
                    future = self._done.get(timeout=_POLL)
                except queue.Empty:
                    self._check_connection()
                    continue
                result = self._take(future)
                if result is not None:
                    yield result
        finally:
            self._cancel()

    def _capacity(self) -> int:
        """How many jobs may be under way; the workers are counted now and then."""
        now = time.monotonic()
        if now - self._counted_at > _RECOUNT and self.client.status == "running":
            with suppress(OSError):  # the scheduler has gone; `_check_connection` sees to it
                self._threads = sum(self.client.nthreads().values())
                self._counted_at = now
        return _JOBS_PER_THREAD * max(1, self._threads)

    def _submit(self, job: Job) -> None:
        future = self.client.submit(do_job_on_worker, job, self.digest, pure=False)
        self._jobs[future.key] = (future, job)
        future.add_done_callback(self._done.put)

    def _take(self, future: Any) -> JobResult | None:
        """Return the result of a job; None if its scheduler lost it and it was given out again."""
        _, job = self._jobs.pop(future.key)
        if future.status == "finished":
            return JobResult(**future.result())
        if future.status != "error":  # cancelled or lost
            self._check_connection()
            self._submit(job)
            return None
        error = future.exception()
        if type(error).__name__ == "KilledWorker":
            message = "WorkerDied: four workers died one after another while they did this run"
            return JobResult(job.run, "failed", error=message)
        if isinstance(error, TautError):
            raise error
        raise RunError(f"run {job.run} ended with {type(error).__name__}: {error}") from error

    def _check_connection(self) -> None:
        """Raise RunError if the scheduler has been gone for some time."""
        if self.client.status == "running":
            self._silent_since = None
            return
        now = time.monotonic()
        if self._silent_since is None:
            self._silent_since = now
        if self.client.status == "closed" or now - self._silent_since > _MAX_SILENCE:
            raise RunError("the connection to the Dask scheduler is lost")

    def _cancel(self) -> None:
        """Give up the jobs under way; one that is being done ends with its worker, or unread."""
        if self._jobs and self.client.status == "running":
            self.client.cancel([future for future, _ in self._jobs.values()], force=True)
        self._jobs.clear()
