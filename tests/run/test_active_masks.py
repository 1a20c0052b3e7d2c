"""Frames record which elements are torn: exactly the masks of the stepped states."""

import shutil
import sqlite3

import numpy as np
import pytest

import taut
from taut.run.encoding import checksum, masks_to_bytes
from taut.run.open_run import open_run
from taut.run.record import record, resume
from tests.run.recordings import frames, mask_bits, net, stopping_after

pytestmark = pytest.mark.usefixtures("no_picture")
H, UNTIL, EVERY = 0.02, 1.2, 4


@pytest.fixture(scope="module")
def system():
    return net(4)


@pytest.fixture(scope="module")
def recorded(system, tmp_path_factory):
    """A run whose springs tear between its first and its last frame."""
    folder = tmp_path_factory.mktemp("torn") / "run"
    record(folder, system, taut.BDF2(), h=H, until=UNTIL, every=EVERY)
    return folder


def test_frames_record_the_masks_of_the_stepped_states(system, recorded):
    steps = taut.simulate(system, taut.BDF2(), h=H, until=UNTIL)
    states = [system.initial_state(), *(state for state, _ in steps)]
    with open_run(recorded) as run:
        for frame in run.frames:
            assert mask_bits(frame) == mask_bits(states[frame.step])
        masks = [frame.active.get("spring", np.ones(0, dtype=bool)) for frame in run.frames]
        counts = [(~mask).sum() for mask in masks]
        assert counts[0] == 0
        assert len(set(counts)) > 3, "springs must tear in several frames"
        assert counts[-1] == run.reports["torn"].sum()
        state = taut.State(frame.t, frame.q, frame.v, frame.active)
        assert system.V(state) == system.V(run.state())


def test_masks_survive_an_interruption(system, recorded, tmp_path):
    done = record(
        tmp_path,
        system,
        taut.BDF2(),
        h=H,
        until=UNTIL,
        every=EVERY,
        checkpoint_every=11,
        stop=stopping_after(38),
    )
    assert done.outcome == "interrupted"
    with sqlite3.connect(
        tmp_path / "run.sqlite"
    ) as file:  # as if killed: frame 36 is computed again
        file.execute("DELETE FROM checkpoints WHERE step > 33")
    file.close()
    assert resume(tmp_path, system, taut.BDF2()).outcome == "finished"
    assert frames(tmp_path) == frames(recorded)


def copy_with_changed_frame(recorded, folder, **columns):
    """A copy of the run with changed values in its last frame and a valid checksum."""
    shutil.copytree(recorded, folder)
    with sqlite3.connect(folder / "run.sqlite") as file:
        names = ("step", "t", "q", "v", "active")
        (row,) = file.execute(
            f"SELECT {', '.join(names)} FROM frames ORDER BY step DESC LIMIT 1"
        ).fetchall()
        values = {**dict(zip(names, row, strict=True)), **columns}
        file.execute(
            "UPDATE frames SET active = ?, checksum = ? WHERE step = ?",
            (values["active"], checksum("frames", *values.values()), values["step"]),
        )
    file.close()
    return folder


def test_reject_changed_mask_with_stale_checksum(recorded, tmp_path):
    shutil.copytree(recorded, tmp_path / "x")
    with sqlite3.connect(tmp_path / "x/run.sqlite") as file:
        file.execute("UPDATE frames SET active = NULL")
    file.close()
    with open_run(tmp_path / "x") as run:
        assert run.frames[0].active == {}, "the first frame has no masks"
        with pytest.raises(taut.errors.RunError, match="its checksum is wrong"):
            run.frames[-1]


@pytest.mark.parametrize("active", [b"", b"\1\0\0\0", "text", 7, b"\xff" * 50])
def test_reject_malformed_mask_with_valid_checksum(recorded, tmp_path, active):
    with (
        open_run(copy_with_changed_frame(recorded, tmp_path / "x", active=active)) as run,
        pytest.raises(taut.errors.RunError, match=r"cannot read frame 15 \(step 60\): .*masks"),
    ):
        run.frames[-1]


def test_well_formed_mask_with_valid_checksum_is_read(recorded, tmp_path):
    mask = np.zeros(12, dtype=bool)
    folder = copy_with_changed_frame(
        recorded, tmp_path / "x", active=masks_to_bytes({"spring": mask})
    )
    with open_run(folder) as run:
        assert run.frames[-1].active["spring"].tolist() == mask.tolist()
