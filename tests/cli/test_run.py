"""`taut run` and `taut resume`: files, output, exit codes."""

import errno
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import taut
from taut import scene


def test_run_builtin_scene(command, tmp_path):
    code, out, err = command("run", "spring", "--set", "time.duration=0.628")
    assert code == 0, err
    *_, done, view, render, numbers = out.replace(os.sep, "/").splitlines()
    assert done == "Done: 0.628 s of motion, in runs/spring-1"
    assert view == "Look at it: taut view runs/spring-1"
    assert render.strip() == "taut render runs/spring-1 -o spring-1.mp4"
    assert re.fullmatch(r"63 steps in [\d.e-]+ s", numbers)
    run = taut.open_run(tmp_path / "runs/spring-1")
    assert run.finished
    np.testing.assert_allclose(
        run.frames[-1].q[1], run.frames[0].q[1], atol=0.03
    )  # back after one period
    assert np.ptp([frame.q[1, 1] for frame in run.frames]) > 0.1
    assert command("run", "spring", "--set", "time.duration=0.1", "--quiet") == (0, "", "")
    assert sorted(path.name for path in (tmp_path / "runs").iterdir()) == ["spring-1", "spring-2"]


def test_a_run_is_not_overwritten_without_the_option(command, tmp_path):
    short = ("run", "spring", "-o", "here", "--quiet", "--set", "time.duration=0.1")
    assert command(*short)[0] == 0
    before = (tmp_path / "here/run.sqlite").read_bytes()
    code, _, err = command(*short)
    assert (code, "already contains a run" in err) == (2, True)
    assert (tmp_path / "here/run.sqlite").read_bytes() == before
    assert command(*short, "--overwrite")[0] == 0


def test_json_summary(command):
    code, out, _ = command("run", "spring", "-o", "a", "--set", "time.duration=0.05", "--json")
    assert code == 0
    found = json.loads(out)
    assert (found["folder"], found["outcome"], found["step"]) == ("a", "finished", 5)
    assert found["t_s"] == pytest.approx(0.05)


@pytest.mark.parametrize(
    ("words", "code", "expected"),
    [
        (["run", "cloht"], 2, "did you mean 'cloth'?"),
        (["run", "spring", "--set", "time.hh=1"], 2, "did you mean 'h'?"),
        (["run", "spring", "--set", "time"], 2, "a.b=value"),
        (["run", "spring", "--young", "1e5"], 2, "young is an option of mesh files"),
        (["run", "nothing.toml"], 2, "nothing.toml"),
        (["run", "nothing.obj"], 2, "nothing.obj"),
        (["resume", "nowhere"], 2, "nowhere"),
        (["new", "cloht"], 2, "did you mean 'cloth'?"),
        (["check", "spring", "--set", "time.h=-1"], 2, "time.h"),
    ],
)
def test_bad_input_exits_with_code_and_message(command, words, code, expected):
    found, out, err = command(*words)
    assert (found, out) == (code, "")
    assert expected in err
    assert "Traceback" not in err


def test_names_in_files_are_escaped_on_the_terminal(command):
    code, _, err = command("run", "a\x1b[31m.toml")
    assert code == 2
    assert "\x1b" not in err


def test_unwritable_folder_is_reported(command, tmp_path):
    (tmp_path / "file").write_text("not a folder")
    code, _, err = command("run", "spring", "-o", "file/run")
    assert code == 4
    assert "file" in err
    assert (tmp_path / "file").read_text() == "not a folder"


def test_not_converged_exit_code(command, tmp_path):
    far_too_long = [
        "--set",
        "integrator.method=SymplecticEuler",
        "--set",
        "time.h=10",
        "--set",
        "time.duration=2000",
    ]
    code, _, err = command("run", "spring", "-o", "a", *far_too_long)
    assert (code, "is beyond the limit" in err) == (3, True)
    run = taut.open_run(tmp_path / "a")
    assert (run.status, run.finished) == ("not converged", False)
    assert np.isfinite(run.state().q).all()


def test_ctrl_c_then_resume(command, tmp_path):
    span = ["--set", "time.duration=4", "--set", "time.h=0.002"]
    assert command("run", "spring", "-o", "whole", "--quiet", *span)[0] == 0
    process = subprocess.Popen(
        [sys.executable, "-m", "taut.cli", "run", "spring", "-o", "stopped", *span],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    while not (tmp_path / "stopped/run.sqlite").exists():
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert "taut resume stopped continues" in out
    with taut.open_run(tmp_path / "stopped") as run:
        assert (run.status, run.step < run.steps) == ("interrupted", True)
    code, out, err = command("resume", "stopped")
    assert (code, "Done" in out) == (0, True), err
    ends = [
        json.loads((tmp_path / name / "summary.json").read_text())["sha256"]
        for name in ("whole", "stopped")
    ]
    assert ends[0] == ends[1]


def test_run_mesh_file(command, tmp_path):
    taut.mesh.write(taut.mesh.sheet(6, 6, size=1.0, plane="xz"), tmp_path / "patch.obj")
    code, out, err = command(
        "run",
        "patch.obj",
        "-o",
        "a",
        "--fix",
        "z == min(z)",
        "--young",
        "1e5",
        "--thickness",
        "1e-3",
        "--density",
        "300",
        "--set",
        "time.duration=0.2",
        "--save-scene",
        "patch.toml",
    )
    assert code == 0, err
    assert "a sheet or shell of its faces" in out
    run = taut.open_run(tmp_path / "a")
    assert run.frames[-1].q[:, 1].min() < -0.05  # more than half of g t²/2: it swings down
    held = run.frames[0].q[:, 2] == run.frames[0].q[:, 2].min()
    np.testing.assert_array_equal(run.frames[-1].q[held], run.frames[0].q[held])
    code, _, err = command("run", "patch.toml", "-o", "b", "--quiet")
    assert code == 0, err
    ends = [json.loads((tmp_path / name / "summary.json").read_text())["sha256"] for name in "ab"]
    assert ends[0] == ends[1]


def test_foreign_files_are_not_changed(command, tmp_path):
    (tmp_path / "scene.toml").write_text(command("new", "spring")[1])
    text = (tmp_path / "scene.toml").read_text()
    code, _, err = command("run", "scene.toml", "-o", ".", "--overwrite")
    assert (code, "is not changed" in err) == (2, True)
    assert (tmp_path / "scene.toml").read_text() == text


def test_resume_does_not_run_changed_code(command, tmp_path):
    (tmp_path / "own.py").write_text(
        "import taut\n\n\n@taut.energy\ndef pull(x, k):\n    return k / 2 * x[0][1] ** 2\n"
    )
    head = "[time]\nh = 0.01\nduration = 0.1\n"
    head += '[[body]]\nname = "a"\nmesh = { shape = "rope", n = 1 }\nmass = 1.0\n'
    (tmp_path / "own.toml").write_text(head + '[[body.law]]\nlaw = "own.py:pull"\nk = 1.0\n')
    assert command("run", "own.toml")[0] == 2  # not without the flag
    scene.load(tmp_path / "own.toml", allow_code=True).record(tmp_path / "a", stop=lambda: True)
    (tmp_path / "a/inputs/own.py").write_text("raise SystemExit('this was run')\n")
    code, out, err = command("resume", "a", "--allow-code")
    assert (code, "has changed" in err, "this was run" in out + err) == (4, True, False)


def test_titles_are_escaped_on_the_terminal(command, tmp_path):
    text = command("new", "spring")[1].replace('title = "', 'title = "\\u001b[31m')
    (tmp_path / "red.toml").write_text(text)
    code, out, _ = command("check", "red.toml")
    assert (code, "\x1b" in out, "\\x1b[31m" in out) == (0, False, True)


def test_a_finished_run_needs_no_resume(command):
    assert command("run", "spring", "-o", "a", "--quiet", "--set", "time.duration=0.05")[0] == 0
    code, out, err = command("resume", "a")
    assert (code, err) == (0, "")
    assert out.endswith("the run is finished\n")
    assert command("resume", "a", "--quiet") == (0, "", "")
    assert json.loads(command("resume", "a", "--json")[1])["outcome"] == "finished"


def test_a_rejected_scene_file_leaves_no_copies(command, tmp_path):
    taut.mesh.write(taut.mesh.sheet(2, 2), tmp_path / "a.obj")
    (tmp_path / "saved").mkdir()
    (tmp_path / "saved/my.toml").write_text("mine")
    code, _, err = command("run", "a.obj", "--save-scene", "saved/my.toml", "--quiet")
    assert (code, "is not changed" in err) == (2, True)
    assert [path.name for path in (tmp_path / "saved").iterdir()] == ["my.toml"]
    assert not (tmp_path / "runs").exists()


def fail_to_save_scene(command):
    """Save the scene of a mesh file, which must fail; return standard error."""
    code, _, err = command("run", "a.obj", "--save-scene", "saved/my.toml", "--quiet")
    assert code == 2
    return err


def test_a_saved_scene_leaves_existing_copies(command, tmp_path):
    taut.mesh.write(taut.mesh.sheet(2, 2), tmp_path / "a.obj")
    (tmp_path / "saved/inputs").mkdir(parents=True)
    (tmp_path / "saved/inputs/a.obj").write_text("mine")
    err = fail_to_save_scene(command)
    assert f"inputs/a.obj: 1 error:\n  cannot be written: {os.strerror(errno.EEXIST)}" in err
    assert (tmp_path / "saved/inputs/a.obj").read_text() == "mine"
    assert [path.name for path in (tmp_path / "saved").iterdir()] == ["inputs"]


@pytest.mark.skipif(os.name != "posix", reason="requires hard links")
@pytest.mark.parametrize("written", [0, 1])
def test_a_full_disk_leaves_no_part_of_a_saved_scene(command, tmp_path, monkeypatch, written):
    """The copy of the mesh is written first, then the scene."""
    taut.mesh.write(taut.mesh.sheet(2, 2), tmp_path / "a.obj")
    link, targets = os.link, []

    def fail_late(part, target):
        targets.append(target)
        if len(targets) > written:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        link(part, target)

    monkeypatch.setattr(os, "link", fail_late)
    err = fail_to_save_scene(command)
    failed = ["inputs/a.obj", "my.toml"][written]
    assert f"{failed}: 1 error:\n  cannot be written: {os.strerror(errno.ENOSPC)}" in err
    files = [path for path in (tmp_path / "saved").rglob("*") if path.is_file()]
    assert [path.name for path in files] == ["a.obj"][:written]


def test_a_mesh_file_is_read_once_and_logged_once(command, tmp_path):
    (tmp_path / "a.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\nfoo 1\n")
    _, out, err = command("check", "a.obj")
    assert (out + err).count("foo") == 1


def test_files_outside_the_folder_need_the_flag(command, tmp_path):
    (tmp_path / "in").mkdir()
    taut.mesh.write(taut.mesh.sheet(2, 2), tmp_path / "out.obj")
    text = "[time]\nh = 0.01\nduration = 0.02\n"
    text += '[[body]]\nname = "a"\nmesh = { file = "../out.obj" }\nmass = 1.0\n'
    (tmp_path / "in/my.toml").write_text(text)
    code, _, err = command("run", "in/my.toml", "--quiet")
    assert (code, "outside of the scene's folder" in err) == (2, True)
    assert command("run", "in/my.toml", "--quiet", "--allow-outside", "-o", "b")[0] == 0
    assert any(
        path.name.endswith("out.obj") for path in (tmp_path / "b/inputs").iterdir()
    )  # the run folder is self-contained
    assert command("resume", "b")[0] == 0


def run_and_interrupt(code, folder):
    """Interrupt a program in a folder and return its standard error."""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 130
    assert "Traceback" not in done.stderr
    return done.stderr


SLOW_STEP = """
import os, signal, sys, threading
sys.path.append({tests!r})
sys.argv = ["taut", "run", "cloth", "-o", "a", *{options!r}]
from taut.cli.main import main
from taut.step.implicit import Implicit
from tests.linalg.slow_solve import solve_slowly
advance = Implicit.advance
def slow(self, system, state, h):
    if state.t > 3.5 * h:  # the fifth step never ends
        threading.Timer(1.0, os.kill, [os.getpid(), signal.{signal}]).start()
        while True:
            solve_slowly()
    return advance(self, system, state, h)
Implicit.advance = slow
main()
"""


can_signal = pytest.mark.skipif(
    sys.platform == "win32", reason="Windows cannot send a signal to one process"
)


@can_signal
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_signal_within_a_solve_ends_the_run_which_resumes_with_the_same_bits(
    command, tmp_path, name
):
    options = ["--set", "time.duration=0.1", "--set", "time.h=0.01", "--set", "output.every=10"]
    assert command("run", "cloth", "-o", "whole", "--quiet", *options)[0] == 0
    code = SLOW_STEP.format(tests=str(Path(__file__).parents[2]), options=options, signal=name)
    assert run_and_interrupt(code, tmp_path).endswith("s\n")  # the time of the task: no message
    with taut.open_run(tmp_path / "a") as run:
        assert (run.status, run.step) == ("interrupted", 4)
    assert command("resume", "a", "--quiet")[0] == 0
    ends = [
        json.loads((tmp_path / folder / "summary.json").read_text())["sha256"]
        for folder in ("whole", "a")
    ]
    assert ends[0] == ends[1]


@can_signal
def test_a_second_ctrl_c_stops_even_while_files_are_written(tmp_path):
    """The run folder has the last checkpoint, from which the run can continue."""
    code = (
        "import os, signal, sys\n"
        "sys.argv = ['taut', 'run', 'spring', '-o', 'a']\n"
        "from taut.cli.main import main\n"
        "from taut.run.writer import RunWriter\n"
        "save = RunWriter.save\n"
        "def pressed(self, step, *given, **more):\n"
        "    for _ in range(2 if step == 4 else 0):\n"
        "        os.kill(os.getpid(), signal.SIGINT)\n"
        "    return save(self, step, *given, **more)\n"
        "RunWriter.save = pressed\n"
        "main()\n"
    )
    assert run_and_interrupt(code, tmp_path).endswith(
        "taut: interrupted; taut resume a continues from the last checkpoint\n"
    )
    with taut.open_run(tmp_path / "a") as run:
        assert (run.status, run.step) == ("running", 3)


@can_signal
def test_a_signal_between_two_steps_ends_the_next_one(tmp_path):
    """Here it comes when a step has been saved, after the run was asked whether to stop."""
    code = (
        "import os, signal, sys\n"
        "sys.argv = ['taut', 'run', 'spring', '-o', 'a']\n"
        "from taut.cli.main import main\n"
        "from taut.run.writer import RunWriter\n"
        "save = RunWriter.save\n"
        "def pressed(self, step, *given, **more):\n"
        "    save(self, step, *given, **more)\n"
        "    if step == 4 and more['status'] == 'running':\n"
        "        os.kill(os.getpid(), signal.SIGTERM)\n"
        "RunWriter.save = pressed\n"
        "main()\n"
    )
    run_and_interrupt(code, tmp_path)
    with taut.open_run(tmp_path / "a") as run:
        assert (run.status, run.step) == ("interrupted", 4)


def test_long_step_shows_its_iterations(monkeypatch, command):
    """On a stream that is no terminal a line is due after each five seconds; here, at once."""
    monkeypatch.setattr("taut.cli._run._LONG_STEP", 0.0)
    monkeypatch.setattr("taut.cli._run._REFRESH", 0.0)
    monkeypatch.setattr("taut.cli._options.PROGRESS_SECONDS", 0.0)
    code, _, err = command("run", "cloth", "-o", "a", "--set", "time.duration=0.03")
    assert code == 0
    assert re.search(r"step 2: 1 iterations, residual [\d.e+]+ × tolerance", err), err


def test_ctrl_c_before_the_first_step_is_reported(tmp_path):
    """While a scene is built there is nothing to save: taut exits at once with a message."""
    code = (
        "import os, signal, sys\n"
        # a shell starts background jobs with SIGINT ignored
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "sys.argv = ['taut', 'run', 'bunny', '-o', 'a']\n"
        "import taut.scene\nfrom taut.cli.main import main\n"
        "build = taut.scene.Scene.build\n"
        "def interrupt(self):\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        "    return build(self)\n"
        "taut.scene.Scene.build = interrupt\n"
        "main()\n"
    )
    assert run_and_interrupt(code, tmp_path).endswith("taut: interrupted\n")
    assert not (tmp_path / "a").exists()


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="/dev/full does not exist")
def test_full_standard_output_is_reported(tmp_path):
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "taut.cli", "scenes"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
        )
    assert (done.returncode, done.stderr) == (4, "taut: standard output: No space left on device\n")


def test_file_errors_name_the_file(command, monkeypatch):
    def fails():
        raise FileExistsError(17, "File exists", "pictures")

    monkeypatch.setattr("taut.scene.names", fails)
    assert command("scenes") == (4, "", "taut: pictures: File exists\n")


def test_run_of_a_shot(command, tmp_path):
    code, out, err = command(
        "run", "spring", "-o", "shot", "--fps", 24, "--frames", "101-113", "--substeps", 4
    )
    assert code == 0, err
    assert "h = 0.0104167 s, 0.5 s, frames 101 to 113 at 24 fps of 4 substeps" in out
    with taut.open_run(tmp_path / "shot") as run:
        assert (run.steps, run.every, len(run.frames)) == (48, 4, 13)
    code, out, err = command("run", "spring", "-o", "other", "--frames", "1-12")
    assert (code, "frames needs fps" in err) == (2, True)


def test_details_of_the_solver_are_printed_on_request(command):
    short = ("run", "chain", "--set", "time.duration=0.05")
    assert "residual" not in command(*short)[1]
    assert "worst residual" in command(*short, "--verbose")[1]
