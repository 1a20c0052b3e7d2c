"""Flipped and cut bytes anywhere in a run are detected or harmless; other data is never read."""

import shutil
import subprocess
import sys

import numpy as np
import pytest

import taut
from taut.run.open_run import open_run
from taut.run.record import record, resume
from tests.run.recordings import bits, mask_bits, small_net, stopping_after

pytestmark = pytest.mark.usefixtures("no_picture")


def frame_bits(frame):
    return frame.t, frame.q.tobytes(), frame.v.tobytes(), mask_bits(frame)


def contents(folder):
    """All readable parts of a run; parts that raise RunError are omitted."""
    found = {}
    with open_run(folder) as run:
        found["header"] = repr(run._metadata)
        parts = {
            "reports": lambda: run.reports,
            "ledger": lambda: run.ledger,
            "state": lambda: bits(run.state()),
        }
        parts |= {i: lambda i=i: frame_bits(run.frames[i]) for i in range(len(run.frames))}
        found["progress"] = run.step
        for name, read in parts.items():
            try:
                value = read()
            except taut.errors.RunError:
                continue
            found[name] = (
                {k: v.tolist() for k, v in value.items()} if isinstance(value, dict) else value
            )
    return found


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A run, its contents, and all of its states."""
    folder = tmp_path_factory.mktemp("damage") / "run"
    record(folder, small_net(), taut.BDF2(), h=0.02, until=0.2, every=2, scene="# a scene\n")
    states = [
        small_net().initial_state(),
        *(s for s, _ in taut.simulate(small_net(), taut.BDF2(), h=0.02, until=0.2)),
    ]
    return folder, contents(folder), [bits(state) for state in states]


def outcome(folder, whole, states):
    """Return "same", "noticed", or "wrong" if other data than was written is read."""
    try:
        found = contents(folder)
    except taut.errors.RunError:
        return "noticed"
    if found == whole:
        return "same"
    if found.pop("state", states[0]) not in states:
        return "wrong"
    known = {**whole}
    step = found.pop("progress")
    if step > known.pop("progress"):
        return "wrong"
    for table in ("reports", "ledger"):  # of a shorter run: the first rows
        if table in found:
            found[table] = {k: v for k, v in found[table].items() if len(v) == step}
            known[table] = {
                name: known[table][name][:step] for name in found[table] if name in known[table]
            }
    return "noticed" if all(known.get(name) == value for name, value in found.items()) else "wrong"


def test_flipped_bytes_are_detected_or_harmless(tmp_path, finished):
    folder, whole, states = finished
    data = (folder / "run.sqlite").read_bytes()
    rng = np.random.default_rng(1)
    found = []
    (tmp_path / "x").mkdir()
    for place in rng.integers(0, len(data), 250):
        damaged = bytearray(data)
        damaged[place] ^= 1 << rng.integers(8)
        (tmp_path / "x/run.sqlite").write_bytes(damaged)
        found.append(outcome(tmp_path / "x", whole, states))
        assert found[-1] != "wrong", f"byte {place}"
    assert found.count("noticed") > 50, "most of the file is data"


def test_every_flipped_byte_of_a_frame_is_detected(tmp_path, finished):
    folder, whole, _ = finished
    data = (folder / "run.sqlite").read_bytes()
    (tmp_path / "x").mkdir()
    for index in (0, 5):
        q = whole[index][1]
        assert q in data
        for offset in range(0, len(q), 23):
            broken = q[:offset] + bytes([q[offset] ^ 255]) + q[offset + 1 :]
            (tmp_path / "x/run.sqlite").write_bytes(
                data.replace(q, broken)
            )  # a checkpoint may have it too
            with open_run(tmp_path / "x") as run:
                with pytest.raises(
                    taut.errors.RunError, match=rf"frame {index} \(step {2 * index}\).*checksum"
                ):
                    run.frames[index]
                assert run.frames[3].q.tobytes() == whole[3][1], "the other frames must be readable"


def test_truncated_file_is_detected(tmp_path, finished):
    folder, whole, states = finished
    data = (folder / "run.sqlite").read_bytes()
    (tmp_path / "x").mkdir()
    for length in [*range(0, len(data), 1777), len(data) - 1]:
        (tmp_path / "x/run.sqlite").write_bytes(data[:length])
        found = outcome(tmp_path / "x", whole, states)
        assert found == "noticed" or (found == "same" and length > 0.75 * len(data)), (
            length
        )  # the end may be unusable


KILLED = """
import os, signal, sys, taut
from taut.run.record import record
from tests.run.recordings import small_net
record(sys.argv[1], small_net(), taut.BDF2(), h=0.02, until=0.2, every=2, scene="# a scene\\n",
       tell=lambda p: os.kill(os.getpid(), signal.SIGKILL) if p.step == 9 else None)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL")
def test_damaged_log_loses_only_its_end(tmp_path, finished):
    """The write-ahead log of a killed run, flipped or cut.

    The remainder is a prefix of the run and resumes to the same end.
    """
    _, whole, states = finished
    subprocess.run(
        [sys.executable, "-c", KILLED, str(tmp_path / "killed")], capture_output=True, check=False
    )
    log = (tmp_path / "killed/run.sqlite-wal").read_bytes()
    killed = contents(tmp_path / "killed")
    assert killed["progress"] == 8
    rng = np.random.default_rng(2)
    steps = set()
    for place in rng.integers(0, len(log), 60):
        for damaged in (log[:place], log[:place] + bytes([log[place] ^ 4]) + log[place + 1 :]):
            shutil.rmtree(tmp_path / "x", ignore_errors=True)
            shutil.copytree(tmp_path / "killed", tmp_path / "x")
            (tmp_path / "x/run.sqlite-wal").write_bytes(damaged)
            assert outcome(tmp_path / "x", killed, states) in ("same", "noticed")
            with open_run(tmp_path / "x") as run:
                steps.add(run.step)
    assert steps >= {0, 2, 4, 6}, "only transactions at the end may be lost"
    done = resume(tmp_path / "x", small_net(), taut.BDF2())
    assert bits(done.state) == states[-1]
    assert {k: v for k, v in contents(tmp_path / "x").items() if isinstance(k, int)} == {
        k: v for k, v in whole.items() if isinstance(k, int)
    }


def test_interrupted_run_with_flipped_bytes_resumes_identically_or_raises(tmp_path, finished):
    """Resumed from the last good checkpoint it ends bit-identically, or it is rejected."""
    _, _, states = finished
    record(
        tmp_path / "run",
        small_net(),
        taut.BDF2(),
        h=0.02,
        until=0.2,
        every=2,
        scene="# a scene\n",
        stop=stopping_after(7),
    )
    data = (tmp_path / "run/run.sqlite").read_bytes()
    rng = np.random.default_rng(3)
    ends = {"same": 0, "refused": 0}
    for place in rng.integers(0, len(data), 25):
        damaged = bytearray(data)
        damaged[place] ^= 1 << rng.integers(8)
        shutil.rmtree(tmp_path / "x", ignore_errors=True)
        shutil.copytree(tmp_path / "run", tmp_path / "x")
        (tmp_path / "x/run.sqlite").write_bytes(damaged)
        try:
            assert bits(resume(tmp_path / "x", small_net(), taut.BDF2()).state) == states[-1]
            ends["same"] += 1
        except taut.errors.RunError:
            ends["refused"] += 1
    assert ends["same"] > 5
