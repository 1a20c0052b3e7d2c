"""`taut scenes`, `new`, `check`, `schema` and `info`."""

import json

import pytest

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


def test_schema(said):
    found = json.loads(said("schema"))
    assert {"time", "body", "integrator", "output"} <= set(found["properties"])


def test_info(said):
    rows = dict(line.split(maxsplit=1) for line in said("info").splitlines())
    assert {"taut", "python", "threads", "layer", "solvers", "extras"} <= set(rows)
    assert "plot" in rows["extras"]
