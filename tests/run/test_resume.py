"""Resuming after an interruption.

Bit-identical results from the last good checkpoint, with the same system only.
"""

import json
import os
import sqlite3
import subprocess
import sys

import numpy as np
import pytest

import taut
from taut import laws
from taut.constraints import scripted
from taut.run.open_run import open_run
from taut.run.record import record, resume
from taut.run.run_folder import lock_run
from taut.step.explicit import Explicit
from tests.laws.test_integrators import OBEYS
from tests.run.recordings import ball, bits, frames, net, stopping_after

pytestmark = pytest.mark.usefixtures("no_picture")
H, UNTIL = 0.02, 0.4
EVERY = [
    *OBEYS,
    lambda: taut.Adaptive(taut.BDF2(), error=1e-2),
    lambda: taut.Adaptive(taut.TRBDF2()),
    lambda: taut.ImplicitEuler(minimiser="lbfgs"),
    lambda: taut.ImplicitEuler(solver="cg"),
]


def edit(folder, sql, values=()):
    with sqlite3.connect(folder / "run.sqlite") as file:
        file.execute(sql, values)
    file.close()


@pytest.mark.parametrize("make", EVERY, ids=lambda m: getattr(m, "__name__", "made"))
def test_resumed_run_is_bit_identical(tmp_path, make):
    """Every frame, the last state, the reports and the ledger.

    Interrupted twice, between frames.
    """
    h = 0.002 if isinstance(make(), Explicit) else H
    until = 20 * h
    whole = record(tmp_path / "whole", net(4), make(), h=h, until=until, every=3)
    first = record(
        tmp_path / "run", net(4), make(), h=h, until=until, every=3, stop=stopping_after(7)
    )
    assert (first.outcome, first.step) == ("interrupted", 7)
    assert open_run(tmp_path / "run").status == "interrupted"
    second = resume(tmp_path / "run", net(4), make(), stop=stopping_after(4))
    assert second.step == 11
    third = resume(tmp_path / "run", net(4), make())
    assert third.outcome == "finished"
    assert bits(third.state) == bits(whole.state)
    assert frames(tmp_path / "run") == frames(tmp_path / "whole")
    assert (tmp_path / "run/ledger.csv").read_text() == (tmp_path / "whole/ledger.csv").read_text()
    a, b = (json.loads((tmp_path / name / "summary.json").read_text()) for name in ("run", "whole"))
    assert a["sha256"] == b["sha256"]
    assert a["energy_J"] == b["energy_J"]
    assert a["steps"]["iterations"] == b["steps"]["iterations"]


SCRIPT = """
import sys
from pathlib import Path
import taut
from taut.run.record import record, resume
from tests.run.recordings import net, stopping_after
folder, way = Path(sys.argv[1]), sys.argv[2]
if way == "whole":
    done = record(folder, net(24), taut.BDF2(), h=0.01, until=0.05)
elif way == "begin":
    done = record(folder, net(24), taut.BDF2(), h=0.01, until=0.05, stop=stopping_after(2))
else:
    done = resume(folder, net(24), taut.BDF2())
from taut.run.encoding import hash_state
print(hash_state(done.state))
"""


def test_resume_with_another_number_of_threads(tmp_path):
    def process(folder, way, threads):
        environment = {**os.environ, "NUMBA_NUM_THREADS": threads}
        command = [sys.executable, "-c", SCRIPT, str(tmp_path / folder), way]
        return subprocess.run(
            command, env=environment, capture_output=True, text=True, check=True
        ).stdout

    whole = process("whole", "whole", "1")
    process("run", "begin", "2")
    assert process("run", "resume", "1") == whole
    assert frames(tmp_path / "run") == frames(tmp_path / "whole")


def test_frames_after_the_checkpoint_are_verified(tmp_path):
    record(tmp_path / "whole", net(4), taut.BDF2(), h=H, until=UNTIL)
    record(
        tmp_path / "run",
        net(4),
        taut.BDF2(),
        h=H,
        until=UNTIL,
        checkpoint_every=6,
        stop=stopping_after(10),
    )
    edit(
        tmp_path / "run", "DELETE FROM checkpoints WHERE step = 10"
    )  # as if killed: frames 7 to 10 exist
    reports = []
    resume(tmp_path / "run", net(4), taut.BDF2(), tell=reports.append)
    assert reports[0].step == 7
    assert [p.durable for p in reports[:5]] == [10, 10, 10, 10, 11]
    assert frames(tmp_path / "run") == frames(tmp_path / "whole")


def test_resumed_frame_mismatch_raises(tmp_path):
    record(
        tmp_path, net(4), taut.BDF2(), h=H, until=UNTIL, checkpoint_every=6, stop=stopping_after(10)
    )
    edit(tmp_path, "DELETE FROM checkpoints WHERE step = 10")
    from taut.run.encoding import checksum

    with sqlite3.connect(tmp_path / "run.sqlite") as file:
        ((t, q, v, active),) = file.execute("SELECT t, q, v, active FROM frames WHERE step = 8")
        other = bytes(8) + q[8:]
        file.execute(
            "UPDATE frames SET q = ?, checksum = ? WHERE step = 8",
            (other, checksum("frames", 8, t, other, v, active)),
        )
    file.close()
    before = frames(tmp_path)
    with pytest.raises(taut.errors.RunError, match=r"frame 8 \(step 8\).*differs"):
        resume(tmp_path, net(4), taut.BDF2())
    assert frames(tmp_path) == before


def test_damaged_checkpoints_are_skipped_and_reported(tmp_path, log):
    record(tmp_path / "whole", net(4), taut.BDF2(), h=H, until=UNTIL)
    record(tmp_path / "run", net(4), taut.BDF2(), h=H, until=UNTIL, stop=stopping_after(9))
    edit(
        tmp_path / "run",
        "UPDATE checkpoints SET state = substr(state, 1, 100) || x'00' || substr(state, 102) "
        "WHERE step = 9",
    )
    edit(tmp_path / "run", "UPDATE checkpoints SET t = 0.1 WHERE step = 8")
    assert open_run(tmp_path / "run").state().t == pytest.approx(7 * H)
    log.clear()
    reports = []
    resume(tmp_path / "run", net(4), taut.BDF2(), tell=reports.append)
    assert reports[0].step == 8
    assert ["step 9" in log.messages[0], "step 8" in log.messages[1]] == [True, True]
    assert frames(tmp_path / "run") == frames(tmp_path / "whole")


def test_resume_from_the_start_repairs_frames(tmp_path):
    record(tmp_path / "whole", net(4), taut.BDF2(), h=H, until=UNTIL)
    record(tmp_path / "run", net(4), taut.BDF2(), h=H, until=UNTIL, stop=stopping_after(9))
    edit(tmp_path / "run", "UPDATE checkpoints SET state = zeroblob(20) WHERE step > 0")
    edit(tmp_path / "run", "UPDATE frames SET q = v WHERE step = 3")
    edit(tmp_path / "run", "DELETE FROM frames WHERE step = 4")
    edit(tmp_path / "run", "DELETE FROM energies WHERE step = 5")
    resume(tmp_path / "run", net(4), taut.BDF2())
    assert frames(tmp_path / "run") == frames(tmp_path / "whole")
    assert (tmp_path / "run/ledger.csv").read_text() == (tmp_path / "whole/ledger.csv").read_text()


def test_damaged_rows_do_not_prevent_completion(tmp_path):
    record(tmp_path, ball(), taut.BDF2(), h=0.1, until=1.0, stop=stopping_after(4))
    edit(tmp_path, "UPDATE ledger SET kinetic = 0.0 WHERE step = 2")
    done = resume(tmp_path, ball(), taut.BDF2())
    assert done.outcome == "finished"
    assert "the ledger of step 2" in done.notes[0]
    assert json.loads((tmp_path / "summary.json").read_text())["notes"] == list(done.notes)
    assert not (tmp_path / "ledger.csv").exists()
    with open_run(tmp_path) as run:
        assert len(run.reports["t"]) == 10
        with pytest.raises(taut.errors.RunError, match="ledger of step 2"):
            run.ledger  # noqa: B018


def test_no_valid_checkpoint_raises(tmp_path):
    record(tmp_path, ball(), taut.BDF2(), h=0.1, until=1.0, stop=stopping_after(4))
    edit(tmp_path, "UPDATE checkpoints SET checksum = x'00'")
    with pytest.raises(taut.errors.RunError, match="no checkpoint is undamaged"):
        resume(tmp_path, ball(), taut.BDF2())
    with pytest.raises(taut.errors.RunError, match="no checkpoint is undamaged"):
        open_run(tmp_path).state()
    assert len(open_run(tmp_path).frames) == 5


def test_missing_final_files_are_written(tmp_path):
    done = record(tmp_path, ball(), taut.BDF2(), h=0.1, until=1.0)
    (tmp_path / "summary.json").unlink()
    from taut.run.encoding import checksum

    edit(
        tmp_path,
        "UPDATE progress SET status = 'running', checksum = ?",
        (checksum("progress", 1, 10, "running"),),
    )
    again = resume(tmp_path, ball(), taut.BDF2())
    assert bits(again.state) == bits(done.state)
    assert open_run(tmp_path).finished
    assert json.loads((tmp_path / "summary.json").read_text())["steps"]["steps"] == 10


def spring(k=10.0, points=((0, 0, 0), (1, 0, 0)), **more):
    return taut.System(points, mass=1.0, energies=[laws.spring([[0, 1]], k=k)], **more)


@pytest.mark.parametrize(
    ("system", "integrator", "scene", "message"),
    [
        (lambda: taut.System(np.eye(3), mass=1.0), taut.BDF2, None, "3 particles, the run 2"),
        (lambda: spring(k=11.0), taut.BDF2, None, "'law spring' differs"),
        (lambda: spring(points=((0, 0, 0), (1, 0, 1e-9))), taut.BDF2, None, "'particles' differs"),
        (lambda: spring(fixed=[0]), taut.BDF2, None, "'constraints' differs"),
        (
            lambda: spring(damping=[laws.drag(alpha=1.0)]),
            taut.BDF2,
            None,
            "'law drag' exists in only one",
        ),
        (
            lambda: spring(damping=[laws.rayleigh(alpha=1.0)]),
            taut.BDF2,
            None,
            "'rayleigh' exists in only one",
        ),
        (lambda: spring().with_(mass=2.0), taut.BDF2, None, "'masses' differs"),
        (spring, taut.ImplicitEuler, None, "integrator must be BDF2.*got ImplicitEuler"),
        (spring, lambda: taut.BDF2(solver="cg"), None, "solver_name='cg'"),
        (spring, taut.BDF2, "k = 11", "the scene differs from that of the run"),
    ],
)
def test_reject_another_system(tmp_path, system, integrator, scene, message):
    record(
        tmp_path, spring(), taut.BDF2(), h=0.1, until=1.0, scene="k = 10", stop=stopping_after(3)
    )
    before = frames(tmp_path)
    with pytest.raises(taut.errors.RunError, match=message):
        resume(tmp_path, system(), integrator(), scene=scene)
    assert frames(tmp_path) == before
    assert resume(tmp_path, spring(), taut.BDF2(), scene="k = 10").outcome == "finished"
    with pytest.raises(taut.errors.RunError, match="the run is finished"):
        resume(tmp_path, spring(), taut.BDF2())


def test_reject_changed_formula_or_path(tmp_path):
    from taut.formula import norm

    def law(power):
        @taut.energy
        def tie(x, k):
            return k * norm(x[1] - x[0]) ** power

        return tie

    def push(way):
        @taut.load
        def blow(x, v, c):
            return [[c * way, 0.0, 0.0]]

        return blow

    def system(power=2, speed=1.0, way=1.0):
        moving = scripted([0], lambda t: (0.0, speed * t, 0.0))
        return taut.System(
            [[0, 0, 0], [1, 0, 0]],
            mass=1.0,
            energies=[law(power)([[0, 1]], k=1.0)],
            loads=[push(way)([1], c=0.1)],
            constraints=[moving],
        )

    record(tmp_path, system(), taut.BDF2(), h=0.1, until=1.0, stop=stopping_after(3))
    with pytest.raises(taut.errors.RunError, match="'law tie' differs"):
        resume(tmp_path, system(power=4), taut.BDF2())
    with pytest.raises(taut.errors.RunError, match="'law blow' differs"):
        resume(tmp_path, system(way=2.0), taut.BDF2())
    with pytest.raises(taut.errors.RunError, match="'constraints' differs"):
        resume(tmp_path, system(speed=2.0), taut.BDF2())
    assert resume(tmp_path, system(), taut.BDF2()).outcome == "finished"


def test_reject_changed_scene_or_input(tmp_path):
    record(
        tmp_path,
        ball(),
        taut.BDF2(),
        h=0.1,
        until=1.0,
        scene="a = 1",
        inputs={"x.obj": b"v"},
        stop=stopping_after(3),
    )
    (tmp_path / "x.obj").write_bytes(b"w")
    with pytest.raises(taut.errors.RunError, match=r"x\.obj has changed"):
        resume(tmp_path, ball(), taut.BDF2())
    (tmp_path / "x.obj").unlink()
    with pytest.raises(taut.errors.RunError, match=r"cannot read x\.obj"):
        resume(tmp_path, ball(), taut.BDF2())
    (tmp_path / "x.obj").write_bytes(b"v")
    (tmp_path / "scene.toml").write_text("a = 2")
    with pytest.raises(taut.errors.RunError, match=r"scene\.toml has changed"):
        resume(tmp_path, ball(), taut.BDF2())


def test_changed_versions_are_reported(tmp_path, log, monkeypatch):
    record(tmp_path, ball(), taut.BDF2(), h=0.1, until=1.0, stop=stopping_after(3))
    monkeypatch.setattr(
        "taut.run.metadata.library_versions",
        lambda: {"taut": "99", **dict.fromkeys(("python", "platform"), "x")},
    )
    resume(tmp_path, ball(), taut.BDF2())
    assert f"taut {taut.__version__} → 99" in log.text


def test_reject_concurrent_writers(tmp_path):
    record(tmp_path, ball(), taut.BDF2(), h=0.1, until=1.0, stop=stopping_after(3))
    with lock_run(tmp_path):
        for attempt in (
            lambda: resume(tmp_path, ball(), taut.BDF2()),
            lambda: record(tmp_path, ball(), taut.BDF2(), h=0.1, until=1.0, overwrite=True),
        ):
            with pytest.raises(taut.errors.RunError, match="another process is writing"):
                attempt()
    code = (
        "import sys\nfrom pathlib import Path\nfrom taut.run.run_folder import lock_run\n"
        "with lock_run(Path(sys.argv[1])): pass"
    )
    with lock_run(tmp_path):
        found = subprocess.run(
            [sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=False
        )
    assert "another process is writing this run" in found.stderr
    assert resume(tmp_path, ball(), taut.BDF2()).outcome == "finished"


def test_resume_without_a_run_raises(tmp_path):
    with pytest.raises(taut.errors.RunError, match="no such folder"):
        resume(tmp_path / "nowhere", ball(), taut.BDF2())
    with pytest.raises(taut.errors.RunError, match=r"there is no run\.sqlite"):
        resume(tmp_path, ball(), taut.BDF2())
