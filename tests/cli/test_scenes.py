"""`taut scenes`, `new`, `check`, `schema` and `info`."""

import errno
import json
import os

import pytest

import taut
from taut.scene import names


@pytest.fixture
def run_command(command):
    """Return the output of a command that must succeed."""

    def run(*words):
        code, out, err = command(*words)
        assert code == 0, err
        return out

    return run


def test_scenes(run_command):
    lines = run_command("scenes").splitlines()
    assert [line.split()[0] for line in lines] == list(names())
    assert all(len(line.split()) > 4 for line in lines)
    assert list(json.loads(run_command("scenes", "--json"))) == list(names())


def test_a_new_scene_checks_and_is_not_overwritten(run_command, command, tmp_path):
    assert run_command("new", "spring").startswith("# ")
    assert "wrote mine.toml" in run_command("new", "spring", "-o", "mine.toml")
    assert "2 particles" in run_command("check", "mine.toml")
    found = json.loads(run_command("check", "mine.toml", "--json"))
    assert (found["particles"], found["springs"]) == (2, 1)
    code, _, err = command("new", "cloth", "-o", "mine.toml")
    assert code == 2
    assert f"mine.toml: 1 error:\n  cannot be written: {os.strerror(errno.EEXIST)}" in err
    assert (tmp_path / "mine.toml").read_text() == run_command("new", "spring")


def test_a_full_disk_leaves_no_part_of_a_new_scene(command, tmp_path, monkeypatch):
    def fail(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", fail)
    code, _, err = command("new", "spring", "-o", "mine.toml")
    assert code == 2
    assert f"mine.toml: 1 error:\n  cannot be written: {os.strerror(errno.ENOSPC)}" in err
    assert list(tmp_path.iterdir()) == []


def test_check_builds_a_mesh_file_like_run(run_command, command, tmp_path):
    taut.mesh.write(taut.mesh.sheet(6, 6, size=1.0, plane="xz"), tmp_path / "patch.obj")
    assert "young = 1.25e+06 Pa (default; --young sets it)" in run_command(
        "check", "patch.obj"
    )  # 300 ρ g √2 m
    found = json.loads(
        run_command("check", "patch.obj", "--young", "1e5", "--fix", "z == min(z)", "--json")
    )
    assert not [
        note for note in found["notes"] if note.startswith(("young", "held"))
    ]  # all values are given
    code, _, err = command("check", "patch.obj", "--area", "1e-4")
    assert (code, "area does not apply to a sheet" in err) == (2, True)


def test_schema(run_command):
    found = json.loads(run_command("schema"))
    assert {"time", "body", "integrator", "output"} <= set(found["properties"])


def test_info(run_command):
    rows = dict(line.split(maxsplit=1) for line in run_command("info").splitlines())
    assert {"taut", "python", "threads", "layer", "solvers", "extras"} <= set(rows)
    assert "plot" in rows["extras"]
