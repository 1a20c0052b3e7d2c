"""The replay of a run shows its frames, to the last bit."""

import numpy as np
import pytest

from taut.run.opening import open_run
from taut.show.view.curves import ENERGIES, Curves, energies, of_run
from taut.show.view.live import Live
from taut.show.view.replay import Replay
from tests.show.view.scenes import cloth, recorded

NONE = np.empty(0, np.int64)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return recorded(tmp_path_factory.mktemp("runs") / "cloth")


@pytest.fixture
def replay(folder):
    made = Replay(folder, NONE)
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
    import sqlite3

    folder = recorded(tmp_path / "run")
    with sqlite3.connect(folder / "run.sqlite") as database:
        table = next(name for (name,) in database.execute("select name from sqlite_master where type='table'") if "frame" in name)
        columns = [row[1] for row in database.execute(f"pragma table_info({table})")]
        q = next(name for name in columns if name == "q")
        database.execute(f"update {table} set {q} = zeroblob(8) where step = 4")
    database.close()
    replay = Replay(folder, NONE)
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
        table = of_run(run.ledger, run.reports)
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
