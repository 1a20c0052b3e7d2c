"""The replay of a run shows its frames bit by bit."""

import shutil
import sqlite3

import numpy as np
import pytest

import taut
from taut import laws
from taut.run.encoding import checksum
from taut.run.open_run import open_run
from taut.run.record import record
from taut.scene import load
from taut.show.view import _replay
from taut.show.view._plots import ENERGIES, History, sum_energies, tabulate_run
from taut.show.view._replay import Replay
from taut.show.view.live import Live
from taut.show.visual_model import model_from_run, model_from_system
from tests.show.view.scenes import cloth, record_scene


def open_replay(folder):
    with open_run(folder) as run:
        return Replay(folder, model_from_run(run))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return record_scene(tmp_path_factory.mktemp("runs") / "cloth")


@pytest.fixture
def replay(folder):
    made = open_replay(folder)
    made.start()
    yield made
    made.close()


def test_seek_every_frame(replay, folder):
    with open_run(folder) as run:
        for which in (5, 0, len(run.frames) - 1, 3):
            replay.seek(which)
            now = replay.wait(lambda now, which=which: now.frame == which)
            assert np.array_equal(now.q, run.frames[which].q)
            assert (now.step, now.t, now.frames) == (
                run.frames[which].step,
                run.frames[which].t,
                len(run.frames),
            )
            if which == 0:
                assert now.report is None
            else:
                assert now.report.residual == run.reports["residual"][now.step - 1]
                assert now.report.iterations == run.reports["iterations"][now.step - 1]


def test_plays_to_the_end_and_restarts(replay):
    replay.set_speed(1000.0)
    replay.play()
    end = replay.wait(lambda now: now.frame == now.frames - 1 and not now.playing)
    assert end.t == pytest.approx(0.3)
    replay.set_speed(0.01)
    replay.play()
    assert replay.wait(lambda now: now.playing).frame <= 1
    replay.pause()
    replay.wait(lambda now: not now.playing)


def test_step_reset_and_seek(replay):
    replay.step()
    assert replay.wait(lambda now: now.frame == 1).step == 2
    replay.reset()
    assert replay.wait(lambda now: now.frame == 0).t == 0.0
    replay.seek(10**6)
    replay.wait(lambda now: now.frame == now.frames - 1)


def test_a_damaged_frame_shows_an_error_and_the_others_their_state(tmp_path):
    folder = record_scene(tmp_path / "run")
    with sqlite3.connect(folder / "run.sqlite") as database:
        table = next(
            name
            for (name,) in database.execute("select name from sqlite_master where type='table'")
            if "frame" in name
        )
        columns = [row[1] for row in database.execute(f"pragma table_info({table})")]
        q = next(name for name in columns if name == "q")
        database.execute(f"update {table} set {q} = zeroblob(8) where step = 4")
    database.close()
    replay = open_replay(folder)
    replay.start()
    replay.seek(2)
    assert "frame 2" in replay.wait(lambda now: now.frame == 2).error
    replay.seek(3)
    assert replay.wait(lambda now: now.frame == 3).error == ""
    replay.close()


def test_plots_of_a_run_match_a_live_simulation(folder):
    built = cloth().build()
    live = Live(built.system, built.integrator, built.h, state=built.state)
    live.start()
    history = History()
    for step in range(1, 11):
        live.step()
        history.add_snapshot(live.wait(lambda now, step=step: now.step == step))
    live.close()
    with open_run(folder) as run:
        table = tabulate_run(run.ledger, run.reports)
    here = history.table()
    assert here[:, : 1 + len(ENERGIES)] == pytest.approx(
        table[:10, : 1 + len(ENERGIES)], rel=1e-9, abs=1e-12
    )
    assert np.array_equal(here[:, 1 + len(ENERGIES) :], table[:10, 1 + len(ENERGIES) :])
    total = live.newest.total
    kinetic, stored, dissipated, numerical, work = sum_energies(total)
    assert kinetic + stored + dissipated + numerical - work - total.residual == pytest.approx(
        total.opening, abs=1e-12 * total.scale
    )


def test_the_history_stays_short():
    history = History(max_rows=64)
    for step in range(10_000):
        history.add([float(step)] * 8)
    table = history.table()
    assert 32 <= len(table) <= 64
    assert np.unique(np.diff(table[:, 0])).size == 1
    assert table[0, 0] == 0.0


@pytest.fixture(scope="module")
def slack():
    """A bar that tears and is soon slack again, because another spring pulls its end back."""
    bar, back = (
        laws.spring([[0, 1]], k=1.0, breaking_strain=0.3),
        laws.spring([[1, 2]], k=400.0, name="back"),
    )
    return taut.System(
        [[0, 0, 0], [1, 0, 0], [2, 0, 0]], mass=1.0, fixed=[0, 2], energies=[bar, back]
    )


@pytest.fixture(scope="module")
def torn_run(slack, tmp_path_factory):
    folder = tmp_path_factory.mktemp("torn") / "run"
    start = slack.initial_state().with_(v=[[0, 0, 0], [10.0, 0, 0], [0, 0, 0]])
    record(
        folder,
        slack,
        taut.TRBDF2(),
        h=0.005,
        until=0.4,
        every=2,
        checkpoint_every=1000,
        state=start,
    )
    return folder


def set_progress(folder, step, status="running"):
    """Set the progress of a run as while it is written, or after its process was killed."""
    with sqlite3.connect(folder / "run.sqlite") as database:
        (run,) = database.execute("SELECT run FROM progress").fetchone()
        row = (step, status, checksum("progress", run, step, status))
        database.execute("UPDATE progress SET step = ?, status = ?, checksum = ?", row)
    database.close()


def copy_as_killed(folder, copy, step):
    """Copy a run as if it was killed after a step, with only the first checkpoint."""
    shutil.copytree(folder, copy)
    with sqlite3.connect(copy / "run.sqlite") as database:
        database.execute("DELETE FROM checkpoints WHERE step > 0")
    database.close()
    set_progress(copy, step)
    return copy


def test_torn_elements_stay_torn(torn_run, slack):
    replay = Replay(torn_run, model_from_system(slack))
    with open_run(torn_run) as run:
        strains = np.array([frame.q[1, 0] - frame.q[0, 0] - 1.0 for frame in run.frames])
        tears = int(np.flatnonzero(strains > 0.3)[0])
        assert strains[tears:].min() < 0.0  # by the current strain alone it would be intact again
        for i, frame in enumerate(run.frames):
            assert replay.make_snapshot(frame).active.get("spring", np.array([True])).tolist() == [
                i < tears
            ]


def test_a_killed_run_shows_torn_what_tore_after_its_last_checkpoint(torn_run, slack, tmp_path):
    model = model_from_system(slack)
    with open_run(torn_run) as run:
        torn = [len(model.torn_pairs(frame)) for frame in run.frames]
    assert torn[0] == 0
    assert torn[15] == 1
    with open_run(copy_as_killed(torn_run, tmp_path / "run", 60)) as run:
        assert run.state().t == 0.0
        assert [len(model.torn_pairs(frame)) for frame in run.frames] == torn[:31]


def test_held_points_follow_the_scene(tmp_path):
    scene = load(
        "tower", overrides=[("time.duration", 0.6), ("body.tower.mesh.ny", 3), ("output.every", 10)]
    )
    built = scene.build()
    scene.record(tmp_path / "run", built=built)
    replay = open_replay(tmp_path / "run")
    bottom, top = (np.flatnonzero(built.system.rest[:, 1] == y) for y in (0.0, 3.0))
    assert len(bottom) == len(top) == 9
    with open_run(tmp_path / "run") as run:
        for frame in run.frames:
            expected = (
                [*bottom, *top] if frame.step < 100 else bottom
            )  # until 0.5 s, in steps of 5 ms
            assert sorted(replay.make_snapshot(frame).held) == sorted(expected)


def test_a_killed_run_ends_at_its_last_frame(torn_run, slack, tmp_path, monkeypatch):
    monkeypatch.setattr(_replay, "_END_SECONDS", 0.1)
    replay = Replay(copy_as_killed(torn_run, tmp_path / "run", 61), model_from_system(slack))
    replay.start()
    replay.set_speed(100.0)
    replay.play()
    replay.wait(lambda now: now.playing)
    end = replay.wait(lambda now: not now.playing, seconds=20.0)
    replay.close()
    assert (end.frame, end.frames, end.step) == (30, 31, 60)


def test_reports_and_plots_grow_with_the_run(torn_run, slack, tmp_path, monkeypatch):
    monkeypatch.setattr(_replay, "_POLL_SECONDS", 0.05)
    folder = copy_as_killed(torn_run, tmp_path / "run", 4)
    replay = Replay(folder, model_from_system(slack))
    assert replay.table[-1, 0] == pytest.approx(0.02)
    replay.start()
    set_progress(folder, 80, "finished")
    replay.seek(40)
    end = replay.wait(lambda now: now.frame == 40 and now.report is not None, seconds=20.0)
    replay.close()
    assert replay.table[-1, 0] == pytest.approx(0.4)
    assert not end.active["spring"][0]


def test_nothing_is_torn_in_a_run_with_unknown_laws(torn_run):
    with open_run(torn_run) as run:
        assert not run.state().active["spring"].all()
        assert not model_from_run(run).active_masks(run.frames[-1])
    assert open_replay(torn_run).newest.active == {}
