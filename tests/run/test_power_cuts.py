"""A loss of power at any moment of a run: it opens, loses no durable frame, and resumes."""

import random

import pytest

from benchmarks.reliability import power
from benchmarks.reliability.disk import SECTOR, Call, Disk
from benchmarks.reliability.faults import find_obstacle

needs_recorder = pytest.mark.skipif(
    bool(find_obstacle()), reason=find_obstacle() or "calls can be recorded"
)


def write(offset, data, path="/r/a"):
    return Call("w", offset, path, data)


def build_disk(*calls):
    disk = Disk()
    for call in calls:
        disk.apply(call)
    return disk


CREATE = Call("c", 0, "/r/a", b"")
SYNC, SYNC_FOLDER = Call("s", 0, "/r/a", b""), Call("s", 0, "/r", b"")


def test_what_was_synchronised_stays():
    disk = build_disk(CREATE, write(0, b"abc"), SYNC, SYNC_FOLDER, write(1, b"XY"))
    rng = random.Random(0)
    assert disk.leave("everything", rng) == {"/r/a": b"abc"}
    assert disk.leave("nothing", rng) == {"/r/a": b"aXY"}
    for seed in range(20):
        assert disk.leave("some", random.Random(seed))["/r/a"] in (b"abc", b"aXY")


def test_a_file_whose_folder_was_not_synchronised_may_be_missing():
    disk = build_disk(CREATE, write(0, b"abc"), SYNC)
    assert disk.leave("everything", random.Random(0)) == {}
    assert disk.leave("nothing", random.Random(0)) == {"/r/a": b"abc"}
    rename = Call("r", 0, "/r/a", b"/r/b")
    disk = build_disk(CREATE, write(0, b"abc"), SYNC, SYNC_FOLDER, rename)
    assert disk.leave("everything", random.Random(0)) == {"/r/a": b"abc"}
    assert disk.leave("nothing", random.Random(0)) == {"/r/b": b"abc"}


def test_pending_writes_are_lost_reordered_and_torn():
    first, second = bytes([1]) * (2 * SECTOR), bytes([2]) * (2 * SECTOR)
    disk = build_disk(CREATE, SYNC_FOLDER, write(0, first), write(SECTOR, second))
    found = {disk.leave("some", random.Random(seed))["/r/a"] for seed in range(200)}
    assert b"" in found
    assert first in found
    assert first[:SECTOR] + second in found  # in their order
    assert first + second[SECTOR:] in found  # the second one first
    assert first[:SECTOR] in found  # torn
    assert disk.leave("all but the last", random.Random(0))["/r/a"] == bytes(SECTOR) + second


def test_truncation_and_deletion():
    disk = build_disk(CREATE, write(0, b"abcdef"), SYNC, SYNC_FOLDER, Call("t", 2, "/r/a", b""))
    assert disk.leave("nothing", random.Random(0)) == {"/r/a": b"ab"}
    assert disk.leave("everything", random.Random(0)) == {"/r/a": b"abcdef"}
    disk.apply(Call("u", 0, "/r/a", b""))
    assert disk.leave("nothing", random.Random(0)) == {}
    assert disk.leave("everything", random.Random(0)) == {"/r/a": b"abcdef"}


@needs_recorder
def test_a_run_survives_cuts_of_the_power(tmp_path):
    found = power.campaign(tmp_path, every=61, resume_every=10)
    assert found["failures"] == []
    assert found["counts"]["opened and resumed"] >= 2
    assert found["counts"]["opened"] >= 10


@needs_recorder
def test_a_disk_that_ignores_synchronisation_loses_frames(tmp_path, monkeypatch):
    # The campaign must find what it is made to find.
    kept = [call for call in read(tmp_path) if not (call.what == "s" and "-wal" in call.path)]
    monkeypatch.setattr(power, "read_calls", lambda path: kept)
    failures = power.campaign(tmp_path / "again", every=29, resume_every=1000)["failures"]
    assert any("was reported as durable, but there" in failure for failure in failures)


def read(folder):
    """The calls of a run, by their paths in another folder."""
    (folder / "again").mkdir()
    power.record_calls(folder / "again" / "whole", folder / "calls")
    calls = power.read_calls(folder / "calls")
    power.shutil.rmtree(folder / "again" / "whole")
    return calls
