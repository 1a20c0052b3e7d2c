"""`taut sweep`, and `resume`, `plot` and `schema` for studies."""

import json

import pytest

pytest.importorskip("distributed", reason="needs the extra sweep")

STUDY = """
scene = "spring"
samples = "saltelli:8"
seed = 3

[vary]
"body.spring.law.spring.k" = "50:200"
"body.spring.mass" = [0.5, 2.0]

[measure]
f = "frequency(where(points(1), y))"

[set]
"time.duration" = 2.5
"""


def test_a_study_file_from_its_schema_to_its_plot(command, tmp_path):
    code, out, _ = command("schema", "study")
    schema = json.loads(out)
    assert code == 0
    assert all("description" in field for field in schema["properties"].values())
    (tmp_path / "study.toml").write_text(STUDY)
    code, out, err = command("sweep", "study.toml", "--workers", 2)
    assert code == 0, err
    assert out.startswith("One spring: 32 runs, saltelli:8\nmeasure ")
    assert "±" in out
    folder = tmp_path / "studies" / "study-1"
    assert len((folder / "results.csv").read_text().splitlines()) == 33
    assert "taut sweep: studies/study-1" in err
    code, out, _ = command("plot", folder)
    assert (code, out) == (0, "study.svg: study\n")
    assert "Sobol index" in (tmp_path / "study.svg").read_text()
    code, _, err = command("plot", folder, "--what", "energy")
    assert code == 2
    assert "no --what" in err
    code, out, _ = command("resume", folder)
    assert code == 0
    assert "32 of 32 runs done, 0 failed" in out
    code, _, err = command("sweep", "study.toml", "-o", folder)
    assert code == 2
    assert "--overwrite replaces it, taut resume continues it" in err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["spring"], "at least one parameter"),
        (["spring", "--vary", "time.h"], "--vary must have the form"),
        (["spring", "--vary", "time.h=0.1:0.2"], "a grid needs the number of values"),
        (["spring", "--vary", "time.h=0.1", "--samples", "sobol:3"], "power of 2"),
        (["spring", "--vary", "time.h=0.1", "--measure", "a=open(y)"], "unknown function"),
        (["sprong", "--vary", "time.h=0.1"], "did you mean 'spring'"),
        (["spring", "--vary", "time.hh=0.1"], "time.hh"),
    ],
)
def test_bad_input(command, tmp_path, words, message):
    code, _, err = command("sweep", *words)
    assert code == 2
    assert message in err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('scene = "spring"\n[vary]', "vary: Dictionary should have at least 1"),
        ('scene = "../spring.toml"\n[vary]\na = [1]', "inside the folder of the study"),
        ('scene = "spring"\nsample = "grid"\n[vary]\na = [1]', "sample: Extra inputs"),
        ('scene = "spring"\n[vary]\na = 3', "vary.a"),
    ],
)
def test_study_files_that_cannot_be_used(command, tmp_path, text, message):
    (tmp_path / "study.toml").write_text(text)
    code, _, err = command("sweep", "study.toml")
    assert code == 2
    assert message in err


def test_schema_of_something_else(command):
    code, _, err = command("schema", "studdy")
    assert code == 2
    assert "did you mean 'study'" in err
