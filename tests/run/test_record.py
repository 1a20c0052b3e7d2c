"""A run folder: contents, durability and rejected arguments."""

import csv
import json
import sqlite3
import sys

import numpy as np
import pytest

import taut
from taut.run.open_run import open_run
from taut.run.record import record
from tests.run.recordings import ball, bits, net, stopping_after


def test_run_matches_simulate(tmp_path):
    """Every frame, report and ledger entry is exact; the final files are complete."""
    ledger = taut.Ledger()
    steps = list(taut.simulate(net(), taut.TRBDF2(), h=0.02, until=0.31, ledger=ledger))
    assert len(steps) == 16, "the last step is shorter"
    done = record(
        tmp_path / "run",
        net(),
        taut.TRBDF2(),
        h=0.02,
        until=0.31,
        every=3,
        scene="a = 1\n",
        inputs={"m/x.obj": b"v"},
    )
    assert done.outcome == "finished"
    assert bits(done.state) == bits(steps[-1][0])
    run = open_run(tmp_path / "run")
    assert run.finished
    assert [frame.step for frame in run.frames] == [0, 3, 6, 9, 12, 15, 16]
    for frame in run.frames[1:]:
        state = steps[frame.step - 1][0]
        assert (frame.t, frame.q.tobytes(), frame.v.tobytes()) == (
            state.t,
            state.q.tobytes(),
            state.v.tobytes(),
        )
    assert run.frames[0].q.tobytes() == net().initial_state().q.tobytes()
    assert bits(run.state()) == bits(done.state)
    reports = run.reports
    for name in ("outcome", "residual", "tolerance", "iterations", "torn", "h", "t", "solver"):
        assert reports[name].tolist() == [getattr(r, name) for _, r in steps], name
    assert reports["torn"].sum() > 0
    book = run.ledger
    assert book["step"].tolist() == list(range(1, 17))
    for name, of in {
        "kinetic": lambda e: e.kinetic,
        "gap": lambda e: e.gap,
        "stored spring": lambda e: e.stored["spring"],
        "work wind": lambda e: e.work["wind"],
        "dissipated drag": lambda e: e.dissipated["drag"],
        "torn spring": lambda e: e.torn.get("spring", 0.0),
    }.items():
        assert book[name].tolist() == [of(entry) + 0.0 for entry in ledger.entries], name
    assert run.scene == "a = 1\n" == (tmp_path / "run/scene.toml").read_text()
    assert (tmp_path / "run/m/x.obj").read_bytes() == b"v"
    assert run.versions["taut"] == taut.__version__
    ledger.write_csv(tmp_path / "ledger.csv")
    assert (tmp_path / "run/ledger.csv").read_text() == (tmp_path / "ledger.csv").read_text()
    summary = json.loads((tmp_path / "run/summary.json").read_text())
    assert summary["steps"]["iterations"] == sum(r.iterations for _, r in steps)
    total = ledger.total()
    assert (summary["energy_J"]["numerical"], summary["energy_J"]["between"]) == (
        total.numerical,
        total.between,
    )
    names = {p.name for p in (tmp_path / "run").iterdir()}
    assert names - {"energy.png"} == {
        "scene.toml",
        "m",
        "run.sqlite",
        "run.lock",
        "ledger.csv",
        "summary.json",
    }, "only one database file must remain"


def test_energy_of_a_falling_ball_by_sql(tmp_path):
    """Midpoint conserves T + V in free fall: y = 10 - g t²/2, and T = m g² t²/2."""
    record(tmp_path, ball(), taut.ImplicitMidpoint(), h=0.1, until=1.0)
    with sqlite3.connect(tmp_path / "run.sqlite") as file:
        rows = file.execute(
            "SELECT l.t, l.kinetic, e.joules FROM ledger l JOIN energies e USING (step) "
            "WHERE kind = 'stored' AND law = 'gravity'"
        ).fetchall()
        ((blob,),) = file.execute("SELECT q FROM frames WHERE step = 10").fetchall()
    file.close()
    t, kinetic, stored = np.array(rows).T
    np.testing.assert_allclose(kinetic, 0.5 * 9.81**2 * t**2, rtol=1e-12)
    np.testing.assert_allclose(kinetic + stored, 9.81 * 10.0, rtol=1e-13)
    assert np.frombuffer(blob, "<f8")[1] == pytest.approx(10 - 9.81 / 2, rel=1e-13)


def test_progress_reports_durable_frames(tmp_path):
    reports = []

    def tell(progress):
        with open_run(tmp_path) as run:  # while it is being written
            assert run.step == progress.durable
            assert len(run.frames) == 1 + progress.durable // 4
            if progress.frame:
                assert run.frames[-1].step == progress.step == progress.durable
                assert run.frames[-1].t == progress.t
        reports.append(progress)

    record(tmp_path, ball(), taut.BDF2(), h=0.1, until=1.2, every=4, checkpoint_every=8, tell=tell)
    assert [p.step for p in reports] == list(range(1, 13))
    assert [p.durable for p in reports] == [0, 0, 0, 4, 4, 4, 4, 8, 8, 8, 8, 12]
    assert [p.step for p in reports if p.frame] == [4, 8, 12]
    assert {p.steps for p in reports} == {12}
    assert reports[-1].left == 0.0 < reports[-2].left
    assert reports[2].report.outcome == "converged"
    with sqlite3.connect(tmp_path / "run.sqlite") as file:
        assert file.execute("SELECT step FROM checkpoints").fetchall() == [(0,), (8,), (12,)]
    file.close()


def test_only_recent_checkpoints_are_kept(tmp_path):
    record(tmp_path, ball(), taut.BDF2(), h=0.1, until=2.0)
    with sqlite3.connect(tmp_path / "run.sqlite") as file:
        assert file.execute("SELECT step FROM checkpoints").fetchall() == [
            (0,),
            (18,),
            (19,),
            (20,),
        ]
    file.close()


def test_pending_steps_are_flushed(tmp_path, monkeypatch):
    monkeypatch.setattr("taut.run.record.MAX_PENDING_ROWS", 10)
    durable = []
    record(
        tmp_path,
        ball(),
        taut.SymplecticEuler(),
        h=0.01,
        until=0.5,
        every=1000,
        tell=lambda p: durable.append(p.durable),
    )
    assert durable[:21] == [0] * 9 + [10] * 10 + [20] * 2
    with open_run(tmp_path) as run:
        assert [f.step for f in run.frames] == [0, 50]
        assert len(run.reports["t"]) == 50


def test_existing_run_is_kept_without_overwrite(tmp_path):
    record(tmp_path, ball(), taut.BDF2(), h=0.1, until=1.0, scene="# one")
    (tmp_path / "notes.txt").write_text("mine")
    before = {p.name: p.read_bytes() for p in tmp_path.iterdir()}
    with pytest.raises(taut.errors.RunError, match="a run exists here"):
        record(tmp_path, ball(), taut.BDF2(), h=0.1, until=0.5)
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == before
    done = record(tmp_path, ball(), taut.BDF2(), h=0.1, until=0.5, overwrite=True)
    assert done.steps == 5
    assert len(open_run(tmp_path).frames) == 6
    assert not (tmp_path / "scene.toml").exists(), "the scene of the old run must be removed"
    assert (tmp_path / "notes.txt").read_text() == "mine"


def test_overwriting_a_killed_run_removes_its_log(tmp_path):
    """The write-ahead log of an old file would be applied to the new one."""
    record(tmp_path, ball(), taut.BDF2(), h=0.1, until=1.0, stop=stopping_after(5))
    with sqlite3.connect(tmp_path / "run.sqlite") as file:  # as a killed writer leaves it
        file.execute("PRAGMA journal_mode = WAL")
        file.execute("UPDATE progress SET step = 99")
        file.commit()
        log = (tmp_path / "run.sqlite-wal").read_bytes()
    file.close()
    (tmp_path / "run.sqlite-wal").write_bytes(log)
    record(tmp_path, ball(), taut.BDF2(), h=0.1, until=0.3, overwrite=True)
    assert open_run(tmp_path).step == 3


def test_foreign_files_are_not_overwritten(tmp_path):
    (tmp_path / "run.sqlite").mkdir()
    with pytest.raises(taut.errors.RunError, match="must be a file of a run"):
        record(tmp_path, ball(), taut.BDF2(), h=0.1, until=0.5, overwrite=True)
    (tmp_path / "file").write_text("")
    with pytest.raises(taut.errors.RunError, match="file: cannot write the folder"):
        record(tmp_path / "file", ball(), taut.BDF2(), h=0.1, until=0.5)
    (tmp_path / "other").mkdir()
    (tmp_path / "other/a.obj").write_bytes(b"theirs")
    with pytest.raises(taut.errors.RunError, match=r"another a\.obj"):
        record(tmp_path / "other", ball(), taut.BDF2(), h=0.1, until=0.5, inputs={"a.obj": b"ours"})
    assert (tmp_path / "other/a.obj").read_bytes() == b"theirs"


def test_leftovers_of_a_run_killed_at_the_start(tmp_path):
    (tmp_path / "scene.toml").write_text("a = 1")
    with pytest.raises(taut.errors.RunError, match=r"another scene\.toml"):
        record(tmp_path, ball(), taut.BDF2(), h=0.1, until=0.5, scene="a = 2")
    with pytest.raises(taut.errors.RunError, match=r"another scene\.toml"):
        record(tmp_path, ball(), taut.BDF2(), h=0.1, until=0.5)
    assert (
        record(tmp_path, ball(), taut.BDF2(), h=0.1, until=0.5, scene="a = 1").outcome == "finished"
    )


@pytest.mark.parametrize(
    "name",
    [
        "../x",
        "/etc/x",
        "a/../../x",
        "run.sqlite",
        "SCENE.toml",
        "",
        "..",
        "c:x",
        "a\\b",
        "run.lock/x",
    ],
)
def test_reject_inputs_outside_the_folder(tmp_path, name):
    with pytest.raises(taut.errors.RunError, match="input"):
        record(tmp_path / "run", ball(), taut.BDF2(), h=0.1, until=0.5, inputs={name: b"x"})
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"every": 0}, "every"),
        ({"every": True}, "every"),
        ({"checkpoint_every": 1.5}, "checkpoint_every"),
        ({"h": -1.0}, "h must be positive"),
        ({"integrator": taut.BDF2}, "must be an instance: BDF2"),
        ({"folder": 3}, "path"),
        ({"state": taut.State(0, [[0, 0, 0]] * 2, [[0, 0, 0]] * 2)}, "got 2"),
    ],
)
def test_reject_bad_arguments_before_writing(tmp_path, changes, message):
    arguments = {
        "folder": tmp_path / "run",
        "system": ball(),
        "integrator": taut.BDF2(),
        "h": 0.1,
        "until": 1.0,
        **changes,
    }
    with pytest.raises(taut.TautError, match=message):
        record(**arguments)
    assert list(tmp_path.iterdir()) == []


def test_run_without_steps(tmp_path):
    done = record(tmp_path, ball(), taut.BDF2(), h=0.1, until=0.0)
    assert (done.outcome, done.step) == ("finished", 0)
    run = open_run(tmp_path)
    assert (len(run.frames), run.ledger["kinetic"].shape, run.reports["outcome"].shape) == (
        1,
        (0,),
        (0,),
    )


def test_missing_matplotlib_is_noted_in_the_summary(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    done = record(tmp_path, ball(), taut.BDF2(), h=0.1, until=0.5)
    assert not (tmp_path / "energy.png").exists()
    [note] = done.notes
    assert (
        note
        == "energy.png was not drawn: plots need the package matplotlib: pip install 'taut[plot]'"
    )
    assert json.loads((tmp_path / "summary.json").read_text())["notes"] == [note]


def test_energy_plot_is_written(tmp_path):
    pytest.importorskip("matplotlib")
    assert record(tmp_path, ball(), taut.BDF2(), h=0.01, until=0.5).notes == ()
    assert (tmp_path / "energy.png").read_bytes().startswith(b"\x89PNG")


def test_failed_step_keeps_all_before_it(tmp_path):
    """The state before it is in a checkpoint, and the reports before it are written.

    The error of the step is raised unchanged.
    """

    class FailsAfterSomeSteps(taut.ImplicitEuler):
        def advance(self, system, state, h):
            if state.t > 0.65:
                raise taut.NotConverged("enough", state=state)
            return super().advance(system, state, h)

    with pytest.raises(taut.NotConverged, match="enough") as caught:
        record(tmp_path, ball(), FailsAfterSomeSteps(), h=0.1, until=1.0, every=5)
    run = open_run(tmp_path)
    assert (run.status, run.step, len(run.frames)) == ("not converged", 7, 2)
    assert bits(run.state()) == bits(caught.value.state)
    assert run.reports["step"].tolist() == list(range(1, 8))
    assert not (tmp_path / "summary.json").exists()


def test_memory_does_not_grow_with_the_run(tmp_path):
    """Live memory after 80 steps equals that after 20: no data of a step is retained."""
    import gc
    import tracemalloc

    kept = {}

    def tell(progress):
        if progress.step in (20, 80):
            gc.collect()
            kept[progress.step] = tracemalloc.get_traced_memory()[0]

    system = net(12)
    tracemalloc.start()
    try:
        record(tmp_path, system, taut.SymplecticEuler(), h=1e-4, until=0.008, tell=tell)
    finally:
        tracemalloc.stop()
    frame = 48 * system.n
    assert kept[80] - kept[20] < 5 * frame, "60 more frames must be on the disk"


def test_final_table_has_one_row_per_step(tmp_path):
    record(tmp_path, net(), taut.ImplicitEuler(), h=0.02, until=0.2, every=10)
    with open(tmp_path / "ledger.csv", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [round(float(row["t_s"]), 9) for row in rows] == [
        round(0.02 * i, 9) for i in range(1, 11)
    ]
