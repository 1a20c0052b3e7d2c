"""Full disks, input and output errors, unwritable folders.

The error is clear, and existing data is not lost.
"""

import errno
import os
import shutil
import sqlite3
import subprocess
import sys
from itertools import count

import pytest

import taut
from taut.run.open_run import open_run
from taut.run.record import record, resume
from tests.run.recordings import ball, bits, frames, small_net

pytestmark = pytest.mark.usefixtures("no_picture")
BALL = ball()
ARGUMENTS = {
    "h": 0.02,
    "until": 0.12,
    "every": 2,
    "scene": "# scene\n",
    "inputs": {"x.obj": b"v 0 0 0"},
}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The frames and the last state of an undisturbed run."""
    folder = tmp_path_factory.mktemp("whole")
    done = record(folder, BALL, taut.BDF2(), **ARGUMENTS)
    return frames(folder), bits(done.state)


def attempt(folder, system=BALL):
    """Record a run; return the last durable step and the error."""
    durable = []
    try:
        record(folder, system, taut.BDF2(), tell=lambda p: durable.append(p.durable), **ARGUMENTS)
    except taut.errors.RunError as error:
        return max(durable, default=0), error
    return max(durable, default=0), None


def verify(folder, durable, error, whole, system=BALL):
    """Durable frames are readable and correct, and the run resumes to the same end."""
    if error is not None:
        assert str(folder) in str(error)
        assert "cannot" in str(error)
    if (folder / "run.sqlite").exists():
        there = frames(folder)
        assert there == whole[0][: len(there)]
        with open_run(folder) as run:
            assert run.step >= durable
            assert run.state().t <= 0.02 * run.step + 1e-9
            if run.finished:
                return "finished"
        if durable and error is not None and "is safe" in str(error):
            assert f"everything up to step {durable} is safe" in str(error)
        assert bits(resume(folder, system, taut.BDF2()).state) == whole[1]
    else:
        assert durable == 0
        record(folder, system, taut.BDF2(), overwrite=True, **ARGUMENTS)
    assert frames(folder) == whole[0]
    return "resumed"


def sweep(tmp_path, whole, fail_at):
    """Fail at the first call, at the second, … until a run succeeds."""
    ends = []
    for number in count():
        folder = tmp_path / str(number)
        with fail_at(number) as failed:
            durable, error = attempt(folder)
        ends.append((verify(folder, durable, error, whole), error))
        if not failed:
            assert error is None
            return ends


class Failing:
    """Raises an error at one of the calls that pass through it."""

    def __init__(self, number, error):
        self.number, self.error, self.calls, self.failed = number, error, 0, []

    def __call__(self, function):
        def through(*args, **kwargs):
            self.calls += 1
            if self.calls - 1 == self.number:
                self.failed.append(args)
                raise self.error
            return function(*args, **kwargs)

        return through


def test_every_sql_statement_fails_in_turn(tmp_path, whole, monkeypatch):
    from contextlib import contextmanager

    connect = sqlite3.connect

    @contextmanager
    def fail_at(number):
        fails = Failing(number, sqlite3.OperationalError("disk I/O error"))

        class Connection(sqlite3.Connection):
            def execute(self, *args):
                return fails(super().execute)(*args)

            def executemany(self, *args):
                return fails(super().executemany)(*args)

        with monkeypatch.context() as patch:
            patch.setattr(
                sqlite3, "connect", lambda *args, **more: connect(*args, **more, factory=Connection)
            )
            yield fails.failed

    ends = sweep(tmp_path, whole, fail_at)
    messages = [str(error) for _, error in ends if error is not None]
    assert len(messages) > 60
    assert all("disk I/O error" in text for text in messages)
    assert any(
        "frame 2 (step 4)" in text and "everything up to step 2 is safe" in text
        for text in messages
    )


@pytest.mark.parametrize("name", ["replace", "fsync", "open", "unlink", "mkdir", "os.open"])
def test_every_system_call_fails_in_turn(tmp_path, whole, monkeypatch, name):
    from contextlib import contextmanager
    from pathlib import Path

    places = {
        "replace": (os, "replace"),
        "fsync": (os, "fsync"),
        "open": ("taut.atomic_write.open", None),
        "unlink": (Path, "unlink"),
        "mkdir": (Path, "mkdir"),
        "os.open": (os, "open"),
    }

    @contextmanager
    def fail_at(number):
        fails = Failing(number, OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))
        where, attribute = places[name]
        with monkeypatch.context() as patch:
            if attribute is None:
                patch.setattr(where, fails(open), raising=False)
            else:
                patch.setattr(where, attribute, fails(getattr(where, attribute)))
            yield fails.failed

    ends = sweep(tmp_path, whole, fail_at)
    messages = [str(error) for _, error in ends if error is not None]
    assert messages
    assert all("no space left on device" in text for text in messages)


LIMITED = """
import resource, sys
from pathlib import Path
import taut
from taut.run.record import record
from tests.run.test_faults import ARGUMENTS, attempt
for line in sys.stdin:
    folder, limit = line.rsplit(" ", 1)
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit), resource.RLIM_INFINITY))
    durable, error = attempt(Path(folder))
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    print(durable, error, flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="setrlimit")
def test_file_size_limit(tmp_path, whole):
    """The system limits the file size, which cuts the database, the log or the final tables."""
    limits = [0, 100, 4096, 5000, *range(8192, 180_000, 12_007)]
    lines = "".join(f"{tmp_path / str(limit)} {limit}\n" for limit in limits)
    done = subprocess.run(
        [sys.executable, "-c", LIMITED], input=lines, capture_output=True, text=True, check=True
    )
    messages = done.stdout.splitlines()
    assert len(messages) == len(limits)
    failed = 0
    for limit, line in zip(limits, messages, strict=True):
        durable, text = line.split(" ", 1)
        error = None if text == "None" else taut.errors.RunError(text)
        failed += error is not None
        verify(tmp_path / str(limit), int(durable), error, whole)
    assert 5 < failed < len(limits)


@pytest.mark.parametrize("size", ["64k", "80k", "96k", "128k"])
def test_full_disk(tmp_path, whole, size):
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(disk)],
        capture_output=True,
        check=False,
    )
    if mounted.returncode:
        pytest.skip("a small disk cannot be mounted here")
    try:
        durable, error = attempt(disk / "run")
        assert error is not None
        subprocess.run(["mount", "-o", "remount,size=10m", str(disk)], check=True)
        verify(disk / "run", durable, error, whole)
    finally:
        subprocess.run(["umount", "--lazy", str(disk)], check=True)


KILLED = """
import os, signal, sys, taut
from taut.run.record import record
from tests.run.test_faults import ARGUMENTS, BALL
last = int(sys.argv[2])
def tell(progress):
    if progress.step >= last:
        os.kill(os.getpid(), signal.SIGKILL)
record(sys.argv[1], BALL, taut.BDF2(), tell=tell, **ARGUMENTS)
"""


def test_disk_becomes_read_only(tmp_path, whole):
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(
        ["mount", "-t", "tmpfs", "tmpfs", str(disk)], capture_output=True, check=False
    ).returncode:
        pytest.skip("a small disk cannot be mounted here")
    try:
        record(disk / "run", BALL, taut.BDF2(), **ARGUMENTS)
        record(disk / "stopped", BALL, taut.BDF2(), stop=lambda: True, **ARGUMENTS)
        for step in ("1", "3"):
            subprocess.run(
                [sys.executable, "-c", KILLED, str(disk / f"killed{step}"), step],
                capture_output=True,
                check=False,
            )
        shutil.copytree(disk / "killed3", disk / "copy")
        (disk / "copy/run.sqlite-shm").unlink()
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        assert frames(disk / "run") == whole[0], "the run must be readable"
        assert frames(disk / "stopped") == whole[0][:1]
        with pytest.raises(
            taut.errors.RunError, match="killed: copy it to where it can be written"
        ):
            open_run(disk / "copy")
        assert frames(disk / "killed3") == whole[0][:2]
        assert frames(disk / "killed1") == whole[0][:1], "there must be no frame and no log yet"
        with pytest.raises(taut.errors.RunError, match="read-only"):
            resume(disk / "stopped", BALL, taut.BDF2())
        for folder in ("run", "other"):
            with pytest.raises(taut.errors.RunError, match="read-only"):
                record(disk / folder, BALL, taut.BDF2(), overwrite=True, **ARGUMENTS)
        assert frames(disk / "run") == whole[0]
    finally:
        subprocess.run(["umount", "--lazy", str(disk)], check=True)


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write everywhere")
def test_read_only_folder_raises(tmp_path):
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(taut.errors.RunError, match="permission denied"):
            record(tmp_path / "run", BALL, taut.BDF2(), **ARGUMENTS)
    finally:
        tmp_path.chmod(0o700)


def test_full_database(tmp_path):
    """SQLite's own limit on pages, in the middle of a transaction."""
    from taut.run import writer

    done = record(tmp_path / "whole", small_net(), taut.BDF2(), **ARGUMENTS)
    whole = frames(tmp_path / "whole"), bits(done.state)
    for pages in range(9, 13):
        folder = tmp_path / str(pages)
        with pytest.MonkeyPatch.context() as patch:
            prepare = writer._set_durability
            patch.setattr(
                writer,
                "_set_durability",
                lambda execute, page, p=pages, f=prepare: (
                    f(execute, page),
                    execute(f"PRAGMA max_page_count = {p}"),
                ),
            )
            durable, error = attempt(folder, small_net())
        assert "full" in str(error)
        verify(folder, durable, error, whole, small_net())
