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


def test_a_scene_of_a_mesh_file_is_written_with_its_notes_and_runs(run_command, tmp_path):
    taut.mesh.write(taut.mesh.block(1, 1, 1), tmp_path / "cube.vtu")
    printed = run_command("new", str(tmp_path / "cube.vtu"), "--young", "1e6")
    assert printed.startswith("# cube.vtu: Mesh(8 points, 1 hex)")
    assert taut.scene.read_text(printed, folder=tmp_path).file.body[0].material.young == 1e6
    run_command("new", str(tmp_path / "cube.vtu"), "-o", str(tmp_path / "new" / "cube.toml"))
    assert taut.scene.load(tmp_path / "new" / "cube.toml").build().system.n == 8


def test_clean_says_what_is_unusual_and_writes_the_mended_mesh(run_command, tmp_path):
    points = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [5, 5, 5]]
    cells = {"triangle": [[0, 1, 2], [3, 4, 5], [0, 0, 1]]}
    taut.mesh.write(taut.mesh.Mesh(points, cells), tmp_path / "soup.vtu")
    said = run_command("clean", str(tmp_path / "soup.vtu"), "-o", str(tmp_path / "done.vtu"))
    assert "2 coincident points, 1 unused points, 1 degenerate cells" in said
    assert "2 welded points, 1 degenerate cells dropped, 1 unused points dropped" in said
    mended = taut.mesh.read(tmp_path / "done.vtu")
    assert (mended.n, len(mended.cells["triangle"])) == (4, 2)
