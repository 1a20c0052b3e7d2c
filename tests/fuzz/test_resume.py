"""Run folders made to harm the user who resumes them.

Input files that never end or lie outside the folder are rejected before they are read.
"""

import json
import os
import shutil
import sqlite3
import sys

import pytest

import taut
from benchmarks.reliability.watch import limit_time
from taut.cli._run import resume
from taut.run.encoding import checksum
from taut.run.open_run import open_run
from taut.run.record import record
from taut.run.run_folder import FILE
from taut.scene import load
from tests.run.recordings import stopping_after

SCENE = """
[time]
h = 0.1
duration = 1.0
[[body]]
name = "a"
mesh = { shape = "rope", n = 2 }
mass = 1.0
[[law]]
law = "gravity"
"""


@pytest.fixture(scope="module")
def interrupted_run(tmp_path_factory):
    """A run that was stopped after two steps."""
    folder = tmp_path_factory.mktemp("stopped")
    (folder / "scene.toml").write_text(SCENE)
    scene = load(str(folder / "scene.toml"))
    built = scene.build()
    more = {"scene": scene.resolved(), "inputs": scene.inputs(), "stop": stopping_after(2)}
    record(
        folder / "run",
        built.system,
        built.integrator,
        h=built.h,
        until=built.until,
        state=built.state,
        **more,
    )
    return folder / "run"


def record_inputs(folder, inputs):
    """Register these files as inputs of the run, with a valid checksum."""
    with sqlite3.connect(folder / FILE) as connection:
        text = json.dumps(inputs)
        connection.execute(
            "UPDATE meta SET value = ?, checksum = ? WHERE key = 'inputs'",
            (text, checksum("meta", "inputs", text)),
        )
    connection.close()


def test_unmodified_run_resumes(interrupted_run, tmp_path):
    shutil.copytree(interrupted_run, tmp_path / "run")
    resume(tmp_path / "run", quiet=True)
    with open_run(tmp_path / "run") as run:
        assert run.finished


@pytest.mark.skipif(sys.platform != "linux", reason="/dev/zero")
@pytest.mark.parametrize(
    "name",
    [
        "/dev/zero",
        "../../../../../../../dev/zero",
        "a\0b",
        "x" * 5000,
        "link",
        "pipe",
        ".",
        "../run/x",
    ],
)
def test_reject_endless_or_outside_input_files(interrupted_run, tmp_path, name):
    shutil.copytree(interrupted_run, tmp_path / "run")
    (tmp_path / "run" / "link").symlink_to("/dev/zero")
    os.mkfifo(tmp_path / "run" / "pipe")
    record_inputs(tmp_path / "run", {name: "0" * 64})
    with limit_time(2), pytest.raises(taut.errors.RunError, match="run"):
        resume(tmp_path / "run", quiet=True)
