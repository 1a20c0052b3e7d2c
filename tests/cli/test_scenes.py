"""`taut scenes`, `new`, `check`, `schema` and `info`."""

import json

import pytest

import taut
from taut.scene import names


@pytest.fixture
def said(command):
    """What a command that ends well prints."""

    def run(*words):
        code, out, err = command(*words)
        assert code == 0, err
        return out

    return run


def test_scenes(said):
    lines = said("scenes").splitlines()
    assert [line.split()[0] for line in lines] == list(names())
    assert all(len(line.split()) > 4 for line in lines)
    assert list(json.loads(said("scenes", "--json"))) == list(names())


def test_a_new_scene_checks_and_is_not_overwritten(said, command, tmp_path):
    assert said("new", "spring").startswith("# ")
    assert "wrote mine.toml" in said("new", "spring", "-o", "mine.toml")
    assert "2 particles" in said("check", "mine.toml")
    found = json.loads(said("check", "mine.toml", "--json"))
    assert (found["particles"], found["springs"]) == (2, 1)
    code, _, err = command("new", "cloth", "-o", "mine.toml")
    assert (code, "exists" in err) == (2, True)
    assert (tmp_path / "mine.toml").read_text() == said("new", "spring")


def test_a_mesh_file_is_checked_as_it_would_be_run(said, command, tmp_path):
    taut.mesh.write(taut.mesh.sheet(6, 6, size=1.0, plane="xz"), tmp_path / "patch.obj")
    assert "young = 1.25e+06 Pa, picked; --young sets it" in said("check", "patch.obj")  # 300 ρ g √2 m
    found = json.loads(said("check", "patch.obj", "--young", "1e5", "--fix", "z == min(z)", "--json"))
    assert not [note for note in found["notes"] if note.startswith(("young", "held"))]  # nothing was left to pick
    code, _, err = command("check", "patch.obj", "--area", "1e-4")
    assert (code, "area says nothing about a sheet" in err) == (2, True)


def test_schema(said):
    found = json.loads(said("schema"))
    assert {"time", "body", "integrator", "output"} <= set(found["properties"])


def test_info(said):
    rows = dict(line.split(maxsplit=1) for line in said("info").splitlines())
    assert {"taut", "python", "threads", "layer", "solvers", "extras"} <= set(rows)
    assert "plot" in rows["extras"]
