"""Links and pipes in folders from untrusted sources: nothing outside is read or written."""

import os
import sys

import pytest

import taut
from taut import scene
from taut.cli.main import main
from taut.run.run_folder import lock_run

SCENE = """
[time]
h = 0.01
duration = 0.02
[[body]]
name = "a"
mesh = { file = "FILE" }
mass = 0.1
[[body.law]]
law = "spring"
name = "NAME"
on = "edges"
k = 100.0
"""
NODES = "4 3 0 0\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n"
TRIANGLE = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"


def write_scene(folder, file, name="spring"):
    path = folder / "my.toml"
    path.write_text(SCENE.replace("FILE", file).replace("NAME", name))
    return path


def test_companion_file_of_a_link_target_is_not_read_from_outside(tmp_path):
    """TetGen's cells are read next to its points: next to the target of a link, not next to the
    link.
    """
    inside = tmp_path / "scene" / "sub"
    inside.mkdir(parents=True)
    (tmp_path / "secret.ele").write_text("1 4 0\n1 1 2 3 4\n")
    (inside / "y.node").write_text(NODES)
    (inside / "y.ele").symlink_to(tmp_path / "secret.ele")
    (inside.parent / "x.node").symlink_to("sub/y.node")
    path = write_scene(inside.parent, "x.node")
    with pytest.raises(taut.errors.SceneError, match=r"'x\.ele' is outside of the scene's folder"):
        scene.load(path).build()
    assert scene.load(path, allow_outside=True).build().system.n == 4


def run_scene(*line):
    """Return the exit code of `taut run`."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["taut", "run", *map(str, line), "--quiet"])
        with pytest.raises(SystemExit) as ended:
            main()
    return ended.value.code


@pytest.mark.parametrize("options", [(), ("--overwrite",)])
def test_link_in_the_run_folder_does_not_redirect_its_files(tmp_path, capsys, options):
    (tmp_path / "home").mkdir()
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "inputs").symlink_to(tmp_path / "home")
    (tmp_path / "tile.obj").write_text(TRIANGLE)
    assert run_scene(write_scene(tmp_path, "tile.obj"), "-o", tmp_path / "run", *options) != 0
    assert (
        "inputs/tile.obj must lie in the run folder, but a link leads outside"
        in capsys.readouterr().err
    )
    assert list((tmp_path / "home").iterdir()) == []


def test_a_lock_that_is_a_link_or_a_pipe_is_rejected(tmp_path):
    """Older versions of filelock truncate the target of the link."""
    (tmp_path / "precious").write_text("precious")
    for number, make in enumerate((lambda path: path.symlink_to(tmp_path / "precious"), os.mkfifo)):
        folder = tmp_path / str(number)
        folder.mkdir()
        make(folder / "run.lock")
        with (
            pytest.raises(taut.errors.RunError, match=r"run\.lock must be a regular file"),
            lock_run(folder),
        ):
            pass
    assert (tmp_path / "precious").read_text() == "precious"


@pytest.mark.parametrize("name", ["$", r"$\\frac$", "$x^{$", r"$\\href{file:///etc}{x}$"])
def test_law_name_is_not_typeset_in_the_plot(tmp_path, name):
    pytest.importorskip("matplotlib", reason="plots need the extra plot")
    (tmp_path / "tile.obj").write_text(TRIANGLE)
    assert run_scene(write_scene(tmp_path, "tile.obj", name), "-o", tmp_path / "run") == 0
    assert (tmp_path / "run" / "energy.png").exists()


def test_file_larger_than_memory_raises_and_is_named(tmp_path, monkeypatch):
    path = tmp_path / "huge.obj"
    path.write_text(TRIANGLE)

    def read(_):
        raise MemoryError

    monkeypatch.setattr(type(path), "read_bytes", read)
    with pytest.raises(
        taut.errors.MeshError, match=r"huge\.obj: not enough memory for its 32 bytes"
    ):
        taut.mesh.read(path)
