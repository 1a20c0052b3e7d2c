"""Opening runs: lazily, while they are written, and rejecting other folders."""

import os
import shutil
import sqlite3
import struct
import subprocess
import sys

import numpy as np
import pytest

import taut
from taut.run.open_run import open_run
from taut.run.record import record
from tests.run.recordings import ball, net, stopping_after

pytestmark = pytest.mark.usefixtures("no_picture")


@pytest.fixture(scope="module")
def folder(tmp_path_factory, no_picture):
    where = tmp_path_factory.mktemp("runs") / "a run with spaces, % and ?"
    record(where, net(4), taut.ImplicitEuler(), h=0.02, until=0.2, every=3)
    return where


def test_frames_are_a_sequence(folder):
    with open_run(folder) as run:
        assert len(run.frames) == 5
        assert [f.step for f in run.frames] == [0, 3, 6, 9, 10]
        assert [f.step for f in run.frames[::-2]] == [10, 6, 0]
        assert [f.step for f in run.frames[1:][-2:]] == [9, 10]
        assert run.frames[-5].step == 0
        assert run.frames[np.int64(1)].step == 3
        for index in (5, -6):
            with pytest.raises(IndexError):
                run.frames[index]
        assert run.frames[-1].t == pytest.approx(0.2)
        assert run.frames[0].q.shape == (run.n, 3)
        assert "25 particles, one every 3 steps" in repr(run.frames)
        assert "25 particles in 10 steps" in repr(run)
        with pytest.raises(ValueError, match="read-only"):
            run.frames[0].q[0] = 0.0
    with pytest.raises(taut.errors.RunError, match="closed"):
        run.frames[0]


def test_reading_leaves_no_trace(folder):
    before = sorted(p.name for p in folder.iterdir())
    with open_run(folder) as run:
        assert run.frames[0].q.any()
    assert sorted(p.name for p in folder.iterdir()) == before


def test_frames_are_read_one_at_a_time(tmp_path):
    """Live memory while iterating over all frames stays below three frames."""
    import tracemalloc

    system = taut.System(np.random.default_rng(0).normal(size=(5000, 3)), mass=1.0)
    record(tmp_path, system, taut.SymplecticEuler(), h=0.1, until=4.0)
    frame = 48 * 5000
    with open_run(tmp_path) as run:
        run.frames[0]
        tracemalloc.start()
        try:
            assert sum(f.q[0, 0] for f in run.frames) == 41 * system.rest[0, 0]
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    assert peak < 3 * frame


def test_growing_run_is_followed(tmp_path):
    from taut.run.record import resume

    record(tmp_path, ball(), taut.BDF2(), h=0.1, until=1.0, stop=stopping_after(4))
    run = open_run(tmp_path)
    some = run.frames[1:]
    assert (len(run.frames), len(some), run.finished) == (5, 4, False)
    resume(tmp_path, ball(), taut.BDF2())
    assert (len(run.frames), len(some), run.finished) == (11, 4, True)
    assert run.frames[-1].t == pytest.approx(1.0)
    run.close()


WRITER = """
import os, signal, sys, taut
from taut.run.record import record
from tests.run.recordings import net
def tell(progress):
    if progress.step == 6:
        os.kill(os.getpid(), signal.SIGKILL)
record(sys.argv[1], net(4), taut.ImplicitEuler(), h=0.02, until=0.2, every=3, tell=tell)
"""


@pytest.mark.skipif(os.name != "posix", reason="SIGKILL")
def test_a_copy_of_a_killed_run_opens(tmp_path, folder):
    subprocess.run(
        [sys.executable, "-c", WRITER, str(tmp_path / "killed")], capture_output=True, check=False
    )
    assert (tmp_path / "killed/run.sqlite-wal").stat().st_size > 0
    shutil.copytree(tmp_path / "killed", tmp_path / "copy")
    (tmp_path / "copy/run.sqlite-shm").unlink(missing_ok=True)
    with open_run(tmp_path / "copy") as run, open_run(folder) as whole:
        assert (run.status, run.step) == ("running", 6)
        assert [f.q.tobytes() for f in run.frames] == [f.q.tobytes() for f in whole.frames[:3]]
        assert run.state().q.tobytes() == whole.frames[2].q.tobytes()


def copy_with_journal(folder, copy):
    """A copy of a run with a half-written rollback journal, as after a kill."""
    with sqlite3.connect(folder / "run.sqlite", isolation_level=None) as file:
        file.execute("PRAGMA cache_size = 1")
        file.execute("BEGIN")
        file.execute("UPDATE frames SET q = v, v = q")
        shutil.copytree(folder, copy)
        file.execute("ROLLBACK")
    file.close()
    assert (copy / "run.sqlite-journal").stat().st_size > 0


def test_leftover_journal_is_rolled_back(tmp_path, folder):
    """A writer killed while it switches to or from its log leaves a rollback journal.

    The run is unreadable before it is rolled back.
    """
    copy_with_journal(folder, tmp_path / "x")
    assert (tmp_path / "x/run.sqlite").read_bytes() != (folder / "run.sqlite").read_bytes()
    with open_run(tmp_path / "x") as run, open_run(folder) as whole:
        assert [f.q.tobytes() for f in run.frames] == [f.q.tobytes() for f in whole.frames]


def write_super_journal(journal, victim):
    """Make a journal name the victim as its super-journal."""
    name = str(victim).encode()
    record = (
        struct.pack(">I", len(name))
        + struct.pack(">I", sum(name))
        + bytes.fromhex("d9d505f920a163d7")
    )
    with open(journal, "ab") as file:
        file.write(b"\0\0\0\1" + name + record)


def test_reject_journal_that_names_other_files(tmp_path, folder):
    """SQLite would look for them and may delete one; no run writes such a journal."""
    copy_with_journal(folder, tmp_path / "x")
    victim = tmp_path / "victim"
    victim.write_bytes(b"")
    write_super_journal(tmp_path / "x/run.sqlite-journal", victim)
    with pytest.raises(taut.errors.RunError, match="names other files"):
        open_run(tmp_path / "x")
    assert victim.exists()


@pytest.mark.skipif(os.name != "posix", reason="links")
def test_reject_hostile_journal_behind_a_link(tmp_path, folder):
    """SQLite follows the link and uses the journal next to its target.

    That journal would delete the victim.
    """
    copy_with_journal(folder, tmp_path / "x")
    victim = tmp_path / "victim"
    victim.write_text("precious")
    (tmp_path / "x/deep").mkdir()
    for end in ("", "-journal"):
        (tmp_path / f"x/run.sqlite{end}").rename(tmp_path / f"x/deep/a{end}")
    write_super_journal(tmp_path / "x/deep/a-journal", victim)
    (tmp_path / "x/run.sqlite").symlink_to("deep/a")
    with pytest.raises(
        taut.errors.RunError, match=r"run\.sqlite must be a regular file, but it is a link"
    ):
        open_run(tmp_path / "x")
    assert victim.exists()


def no_folder(path):
    pass


def a_file(path):
    path.write_text("")


def empty_folder(path):
    path.mkdir()


def empty_file(path):
    path.mkdir()
    (path / "run.sqlite").write_bytes(b"")


def random_bytes(path):
    path.mkdir()
    (path / "run.sqlite").write_bytes(np.random.default_rng(0).bytes(20_000))


def another_database(path):
    path.mkdir()
    with sqlite3.connect(path / "run.sqlite") as file:
        file.execute("CREATE TABLE frames(step)")
    file.close()


def folder_inside(path):
    (path / "run.sqlite").mkdir(parents=True)


def link_loop(path):
    path.symlink_to(path)


def link_loop_inside(path):
    path.mkdir()
    (path / "run.sqlite").symlink_to("run.sqlite")


def pipe_inside(path):
    path.mkdir()
    os.mkfifo(path / "run.sqlite")


def link_for_a_log(path):
    shutil.copytree(FOLDER[0], path)
    (path / "run.sqlite-wal").symlink_to("elsewhere")


def pipe_for_a_log(path):
    shutil.copytree(FOLDER[0], path)
    os.mkfifo(path / "run.sqlite-wal")


def make_changed_copy(*statements):
    def make(path):
        shutil.copytree(FOLDER[0], path)
        with sqlite3.connect(path / "run.sqlite") as file:
            for sql in statements:
                file.execute(sql)
        file.close()

    make.__name__ = statements[0]
    return make


FOLDER = []


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (no_folder, "no such file"),
        (a_file, "not a folder"),
        (empty_folder, r"no run\.sqlite"),
        (empty_file, r"run\.sqlite is empty: nothing was recorded"),
        (random_bytes, "not a database"),
        (another_database, "not a run of taut"),
        (folder_inside, "must be a regular file"),
        (link_loop, "symbolic links"),
        (link_loop_inside, r"run\.sqlite must be a regular file, but it is a link"),
        (pipe_inside, "must be a regular file"),
        (pipe_for_a_log, "must be a regular file"),
        (link_for_a_log, r"run\.sqlite-wal must be a regular file, but it is a link"),
        (
            make_changed_copy("PRAGMA user_version = 1"),
            "recorded in format 1 .*, this version reads format 4",
        ),
        (make_changed_copy("DROP TABLE frames"), "'frames' is missing"),
        (
            make_changed_copy("DROP TABLE frames", "CREATE VIEW frames AS SELECT 1 AS step"),
            "'frames' is missing",
        ),
        (
            make_changed_copy("CREATE TRIGGER t AFTER INSERT ON frames BEGIN SELECT 1; END"),
            "triggers",
        ),
        (make_changed_copy("UPDATE meta SET value = 7 WHERE key = 'n'"), "checksum of 'n'"),
        (make_changed_copy("DELETE FROM meta WHERE key = 'every'"), "'every' is missing"),
        (make_changed_copy("UPDATE progress SET step = 7"), "missing or damaged"),
        (make_changed_copy("DELETE FROM progress"), "missing or damaged"),
        (
            make_changed_copy("UPDATE meta SET value = x'ff' WHERE key = 'versions'"),
            "checksum of 'versions'",
        ),
    ],
    ids=lambda x: getattr(x, "__name__", ""),
)
@pytest.mark.skipif(os.name != "posix", reason="links and pipes")
def test_reject_folders_that_are_not_runs(tmp_path, folder, make, message):
    FOLDER[:] = [folder]
    make(tmp_path / "x")
    with pytest.raises(taut.errors.RunError, match=message) as caught:
        open_run(tmp_path / "x")
    assert str(tmp_path / "x") in str(caught.value)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("n", 0),
        ("n", 2**60),
        ("n", "5"),
        ("every", 0),
        ("steps", -1),
        ("h", 0.0),
        ("until", float("inf")),
        ("versions", "[]"),
        ("inputs", '{"a": 1}'),
        ("versions", "[" * 100_000),
    ],
)
def test_reject_forged_header(tmp_path, folder, key, value):
    """With a valid checksum, which an attacker can compute."""
    from taut.run.encoding import checksum

    shutil.copytree(folder, tmp_path / "x")
    with sqlite3.connect(tmp_path / "x/run.sqlite") as file:
        file.execute(
            "UPDATE meta SET value = ?, checksum = ? WHERE key = ?",
            (value, checksum("meta", key, value), key),
        )
    file.close()
    with pytest.raises(taut.errors.RunError, match="cannot read the metadata"):
        open_run(tmp_path / "x")


def test_reject_frame_of_wrong_size(tmp_path, folder):
    from taut.run.encoding import checksum

    shutil.copytree(folder, tmp_path / "x")
    with sqlite3.connect(tmp_path / "x/run.sqlite") as file:
        file.execute(
            "UPDATE frames SET q = x'00', checksum = ? WHERE step = 3",
            (checksum("frames", 3, 0.06, b"\0", b"", None),),
        )
        ((t, v),) = file.execute("SELECT t, v FROM frames WHERE step = 3")
        file.execute(
            "UPDATE frames SET checksum = ? WHERE step = 3",
            (checksum("frames", 3, t, b"\0", v, None),),
        )
    file.close()
    with open_run(tmp_path / "x") as run:
        with pytest.raises(taut.errors.RunError, match=r"frame 1 \(step 3\): 25 vectors must take"):
            run.frames[1]
        assert run.frames[2].step == 6, "the other frames must be readable"


@pytest.mark.parametrize("path", [None, 3, "a\0b"])
def test_reject_bad_paths(path):
    with pytest.raises(taut.errors.RunError, match=r"must be a path|null byte"):
        open_run(path)
