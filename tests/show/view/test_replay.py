"""The replay of a run shows its frames, to the last bit."""

import shutil
import sqlite3

import numpy as np
import pytest

import taut
from taut import laws
from taut.run.codec import checksum
from taut.run.opening import open_run
from taut.run.record import record
from taut.scene import load
from taut.show import torn as torn_module
from taut.show.subject import of_run as subject_of
from taut.show.subject import of_system
from taut.show.torn import Tearing, torn_in
from taut.show.view import replay as module
from taut.show.view.curves import ENERGIES, Curves, curves_of_run, energies
from taut.show.view.live import Live
from taut.show.view.replay import Replay
from tests.show.view.scenes import cloth, recorded


def replayed(folder):
    with open_run(folder) as run:
        return Replay(folder, subject_of(run))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return recorded(tmp_path_factory.mktemp("runs") / "cloth")


@pytest.fixture
def replay(folder):
    made = replayed(folder)
    made.start()
    yield made
    made.close()


def test_every_frame_can_be_sought(replay, folder):
    with open_run(folder) as run:
        for which in (5, 0, len(run.frames) - 1, 3):
            replay.seek(which)
            now = replay.wait(lambda now, which=which: now.frame == which)
            assert np.array_equal(now.q, run.frames[which].q)
            assert (now.step, now.t, now.frames) == (run.frames[which].step, run.frames[which].t, len(run.frames))
            if which == 0:
                assert now.report is None
            else:
                assert now.report.residual == run.reports["residual"][now.step - 1]
                assert now.report.iterations == run.reports["iterations"][now.step - 1]


def test_it_plays_to_the_end_and_from_the_start_again(replay):
    replay.pace(1000.0)
    replay.play()
    end = replay.wait(lambda now: now.frame == now.frames - 1 and not now.playing)
    assert end.t == pytest.approx(0.3)
    replay.pace(0.01)
    replay.play()
    assert replay.wait(lambda now: now.playing).frame <= 1
    replay.pause()
    replay.wait(lambda now: not now.playing)


def test_it_steps_and_resets(replay):
    replay.step()
    assert replay.wait(lambda now: now.frame == 1).step == 2
    replay.reset()
    assert replay.wait(lambda now: now.frame == 0).t == 0.0
    replay.seek(10**6)
    replay.wait(lambda now: now.frame == now.frames - 1)


def test_a_damaged_frame_is_told_and_the_others_are_shown(tmp_path):
    folder = recorded(tmp_path / "run")
    with sqlite3.connect(folder / "run.sqlite") as database:
        table = next(name for (name,) in database.execute("select name from sqlite_master where type='table'") if "frame" in name)
        columns = [row[1] for row in database.execute(f"pragma table_info({table})")]
        q = next(name for name in columns if name == "q")
        database.execute(f"update {table} set {q} = zeroblob(8) where step = 4")
    database.close()
    replay = replayed(folder)
    replay.start()
    replay.seek(2)
    assert "frame 2" in replay.wait(lambda now: now.frame == 2).note
    replay.seek(3)
    assert replay.wait(lambda now: now.frame == 3).note == ""
    replay.close()


def test_the_curves_of_a_run_are_those_of_the_same_steps_live(folder):
    built = cloth().build()
    live = Live(built.system, built.integrator, built.h, state=built.state)
    live.start()
    curves = Curves()
    for step in range(1, 11):
        live.step()
        curves.look(live.wait(lambda now, step=step: now.step == step))
    live.close()
    with open_run(folder) as run:
        table = curves_of_run(run.ledger, run.reports)
    here = curves.table()
    assert here[:, : 1 + len(ENERGIES)] == pytest.approx(table[:10, : 1 + len(ENERGIES)], rel=1e-9, abs=1e-12)
    assert np.array_equal(here[:, 1 + len(ENERGIES) :], table[:10, 1 + len(ENERGIES) :])
    total = live.newest.total
    kinetic, stored, dissipated, numerical, work = energies(total)
    assert kinetic + stored + dissipated + numerical - work - total.residual == pytest.approx(
        total.opening, abs=1e-12 * total.scale
    )


def test_curves_stay_short_and_begin_anew():
    curves = Curves(most=64)
    for step in range(10_000):
        curves.add([float(step)] * 8)
    table = curves.table()
    assert 32 <= len(table) <= 64
    assert np.unique(np.diff(table[:, 0])).size == 1
    assert table[0, 0] == 0.0


@pytest.fixture(scope="module")
def slack():
    """A bar that a blow tears and that is slack again a moment later: its end comes back on another spring."""
    bar, back = laws.spring([[0, 1]], k=1.0, breaking_strain=0.3), laws.spring([[1, 2]], k=400.0, name="back")
    return taut.System([[0, 0, 0], [1, 0, 0], [2, 0, 0]], mass=1.0, fixed=[0, 2], energies=[bar, back])


@pytest.fixture(scope="module")
def torn_run(slack, tmp_path_factory):
    folder = tmp_path_factory.mktemp("torn") / "run"
    start = slack.initial_state().with_(v=[[0, 0, 0], [10.0, 0, 0], [0, 0, 0]])
    record(folder, slack, taut.TRBDF2(), h=0.005, until=0.4, every=2, checkpoint_every=1000, state=start)
    return folder


def at_step(folder, step, status="running"):
    """Let a run look as it does while it is written, or after its process was killed."""
    with sqlite3.connect(folder / "run.sqlite") as database:
        (run,) = database.execute("SELECT run FROM progress").fetchone()
        row = (step, status, checksum("progress", run, step, status))
        database.execute("UPDATE progress SET step = ?, status = ?, checksum = ?", row)
    database.close()


def killed(folder, copy, step):
    """A copy of a run as if its process was killed after a step, with a checkpoint of the beginning alone."""
    shutil.copytree(folder, copy)
    with sqlite3.connect(copy / "run.sqlite") as database:
        database.execute("DELETE FROM checkpoints WHERE step > 0")
    database.close()
    at_step(copy, step)
    return copy


def test_what_is_torn_stays_torn(torn_run, slack):
    replay = Replay(torn_run, of_system(slack))
    with open_run(torn_run) as run:
        strains = np.array([frame.q[1, 0] - frame.q[0, 0] - 1.0 for frame in run.frames])
        tears = int(np.flatnonzero(strains > 0.3)[0])
        assert strains[tears:].min() < 0.0  # by the strain of the moment alone it would be whole again
        for i, frame in enumerate(run.frames):
            assert replay.at(frame).active.get("spring", np.array([True])).tolist() == [i < tears]


def test_a_killed_run_shows_torn_what_tore_after_its_last_checkpoint(torn_run, slack, tmp_path):
    with open_run(torn_run) as run:
        whole = torn_in(run, of_system(slack))
    with open_run(killed(torn_run, tmp_path / "run", 60)) as run:
        assert run.state().t == 0.0
        assert torn_in(run, of_system(slack)).since["spring"].tolist() == whole.since["spring"].tolist()


def test_what_tears_in_a_run_that_grows_is_found_reading_no_frame_twice(torn_run, slack, tmp_path, monkeypatch):
    folder = killed(torn_run, tmp_path / "run", 4)
    with open_run(torn_run) as run:
        whole = torn_in(run, of_system(slack))
    assert 4 < whole.since["spring"][0] < 30
    tearing, read, real = Tearing(of_system(slack)), [], torn_module._beyond
    monkeypatch.setattr(torn_module, "_beyond", lambda law, q, t: read.append(t) or real(law, q, t))
    with open_run(folder) as run:
        assert tearing.look(run).since == {}
        for step in (30, 31, 60, 80):
            at_step(folder, step)
            assert tearing.look(run).since["spring"].tolist() == whole.since["spring"].tolist()
        assert read == [frame.t for frame in run.frames][1:]  # of the first, the checkpoint says that nothing is torn


def test_points_are_held_as_long_as_the_scene_holds_them(tmp_path):
    scene = load("tower", overrides=[("time.duration", 0.6), ("body.tower.mesh.ny", 3), ("output.every", 10)])
    built = scene.build()
    scene.record(tmp_path / "run", built=built)
    replay = replayed(tmp_path / "run")
    bottom, top = (np.flatnonzero(built.system.rest[:, 1] == y) for y in (0.0, 3.0))
    assert len(bottom) == len(top) == 9
    with open_run(tmp_path / "run") as run:
        for frame in run.frames:
            expected = [*bottom, *top] if frame.step < 100 else bottom  # until 0.5 s, in steps of 5 ms
            assert sorted(replay.at(frame).held) == sorted(expected)


def test_a_killed_run_ends_at_its_last_frame(torn_run, slack, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "PATIENCE", 0.1)
    replay = Replay(killed(torn_run, tmp_path / "run", 61), of_system(slack))
    replay.start()
    replay.pace(100.0)
    replay.play()
    replay.wait(lambda now: now.playing)
    end = replay.wait(lambda now: not now.playing, seconds=20.0)
    replay.close()
    assert (end.frame, end.frames, end.step) == (30, 31, 60)


def test_what_is_known_of_a_run_grows_with_it(torn_run, slack, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "LOOK", 0.05)
    folder = killed(torn_run, tmp_path / "run", 4)
    replay = Replay(folder, of_system(slack))
    assert replay.curves[-1, 0] == pytest.approx(0.02)
    replay.start()
    at_step(folder, 80, "finished")
    replay.seek(40)
    end = replay.wait(lambda now: now.frame == 40 and now.report is not None, seconds=20.0)
    replay.close()
    assert replay.curves[-1, 0] == pytest.approx(0.4)
    assert not end.active["spring"][0]


def test_of_a_run_whose_laws_are_not_known_nothing_is_seen_to_tear(torn_run):
    with open_run(torn_run) as run:
        assert not run.state().active["spring"].all()
        assert torn_in(run, subject_of(run)).since == {}
    assert replayed(torn_run).newest.active == {}
