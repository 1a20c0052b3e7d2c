"""Studies: tables with the same bytes however they came about, failures as rows, safe workers."""

import csv
import json
import math
import shutil

import numpy as np
import pytest

import taut
from taut.errors import ModelError, RunError, SceneError
from taut.study import open_study, resume_study
from taut.study.study_folder import read_description

K, MASS = "body.spring.law.spring.k", "body.spring.mass"
MEASURES = {"f": "frequency(where(points(1), y))", "energy": "energy"}
SCENE = """
[time]
h = 0.1
duration = 0.3
[[body]]
name = "a"
mesh = { file = "one.obj" }
mass = 1.0
[[law]]
law = "gravity"
"""


def read_table(path):
    with open(path, newline="") as stream:
        return list(csv.DictReader(stream))


def stop_after(count):
    """A function that stops a study once it was told about so many results."""
    done = []

    def tell(progress):
        done.append(progress.done)

    return {"tell": tell, "stop": lambda: len(done) > count}


def test_a_spring_over_stiffness_and_mass(client, tmp_path):
    study = taut.sweep(
        "spring", {K: "50:200:3", MASS: [0.5, 2.0]}, MEASURES, folder=tmp_path / "s", client=client
    )
    assert (len(study), study.failed, study.finished) == (6, 0, True)
    columns = study.columns()
    expected = np.sqrt(columns[K] / columns[MASS]) / (2 * np.pi)
    assert columns["f"] == pytest.approx(expected, rel=5e-3)  # h ω is 0.2 at most
    assert columns["energy"] == pytest.approx(0.5 * columns[K] * 0.2**2, rel=1e-2)
    rows = read_table(tmp_path / "s" / "results.csv")
    assert [float(row["f"]) for row in rows] == columns["f"].tolist()  # all digits
    assert [row["run"] for row in rows] == [str(run) for run in range(6)]
    assert {row["outcome"] for row in rows} == {"explicit"}
    timings = read_table(tmp_path / "s" / "timings.csv")
    assert all(float(row["seconds"]) > 0.0 for row in timings)
    again = open_study(tmp_path / "s")
    assert repr(list(again)) == repr(list(study))  # nan differs from itself


def test_parquet_has_the_same_values(client, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    study = taut.sweep("spring", {K: [50, 100]}, MEASURES, folder=tmp_path / "s", client=client)
    table = parquet.read_table(tmp_path / "s" / "results.parquet")
    assert table.column_names == study.header
    assert table["f"].to_pylist() == study.columns()["f"].tolist()
    assert table[K].to_pylist() == [50, 100]


def test_the_certificate_of_implicit_steps(client):
    study = taut.sweep("chain", {"time.duration": [0.06]}, client=client)
    (row,) = study
    assert row["outcome"] == "converged"
    assert row["steps"] == 3
    assert row["iterations"] >= 3
    assert 0.0 < row["worst_residual_N"] <= row["worst_limit_N"]


def test_bytes_do_not_depend_on_interruptions_or_workers(client, tmp_path):
    design = {"samples": "sobol:8", "seed": 5, "client": client}
    vary = {K: "50:200:log", MASS: "0.5:2"}
    taut.sweep("spring", vary, MEASURES, folder=tmp_path / "whole", **design)
    part = taut.sweep("spring", vary, MEASURES, folder=tmp_path / "p", **design, **stop_after(3))
    assert 3 <= len(part) < 8
    assert len(read_table(tmp_path / "p" / "results.csv")) == len(part)
    kept = {path: path.stat().st_mtime_ns for path in (tmp_path / "p" / "rows").iterdir()}
    assert len(kept) == len(part)
    told = []
    done = resume_study(tmp_path / "p", workers=1, tell=told.append)
    assert done.finished
    assert [progress.done for progress in told] == list(range(len(part), 9))
    assert all(path.stat().st_mtime_ns == time for path, time in kept.items())
    for name in ("results.csv", "results.parquet"):
        assert (tmp_path / "p" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


def test_a_damaged_row_is_done_again(client, tmp_path):
    folder = tmp_path / "s"
    taut.sweep("spring", {K: [50, 100, 200]}, MEASURES, folder=folder, client=client)
    table = (folder / "results.csv").read_bytes()
    row = folder / "rows" / "000001.json"
    row.write_bytes(row.read_bytes().replace(b"explicit", b"implicit"))
    (folder / "rows" / "000002.json").write_text("{")
    assert len(open_study(folder)) == 1
    assert row.exists()  # reading changes nothing
    resume_study(folder, client=client)
    assert (folder / "results.csv").read_bytes() == table


def test_a_run_that_fails_is_a_row(client, tmp_path):
    """A stiffness below zero is an error of the scene; a short run has no frequency."""
    vary = {K: [100.0, -1.0], "time.duration": [2.0, 0.1]}
    study = taut.sweep("spring", vary, MEASURES, folder=tmp_path / "s", client=client)
    assert (study.finished, study.failed) == (True, 2)
    good, short, *bad = list(study)
    assert good["error"] == ""
    assert short["outcome"] == "explicit"
    assert short["error"].startswith("f: a frequency needs at least two rises")
    assert math.isnan(short["f"])
    assert short["energy"] > 0.0
    for row in bad:
        assert row["outcome"] == "failed"
        assert row["error"].startswith("SceneError: 1 error: body")
        assert "-1" in row["error"]
        assert math.isnan(row["energy"])


def test_steps_that_do_not_converge(client):
    def miss(residual):
        report = taut.Report("BDF2", 0.1, 0.1, "not converged", residual=residual, tolerance=1.0)
        raise taut.NotConverged("the step missed its tolerance", report)

    (row,) = taut.sweep(miss, {"residual": [3.0]}, client=client)
    assert row["outcome"] == "not converged"
    assert row["error"] == "NotConverged: the step missed its tolerance"
    assert (row["worst_residual_N"], row["worst_limit_N"]) == (3.0, 1.0)


def test_a_function_may_return_a_simulation(client):
    def swing(k):
        built = taut.scene.load("spring").build()
        system = built.system.with_(energies=[taut.laws.spring([[0, 1]], k=k)])
        return taut.simulate(system, taut.VelocityVerlet(), h=0.005, until=3.0)

    study = taut.sweep(swing, {"k": [100.0, 400.0]}, {"f": "frequency(min(y))"}, client=client)
    assert study.columns()["f"] == pytest.approx(np.sqrt([100, 400]) / (2 * np.pi), rel=2e-3)
    assert study.columns()["steps"].tolist() == [600, 600]


def test_functions(client):
    def pair(a, b):
        if b == 0:
            raise ZeroDivisionError("b is zero")
        return {"ratio": a / b, "sum": a + b}

    study = taut.sweep(pair, {"a": [1, 2], "b": [0, 4]}, client=client)
    assert study.columns()["ratio"][1::2].tolist() == [0.25, 0.5]
    assert [row["error"] for row in study][::2] == ["ZeroDivisionError: b is zero"] * 2
    assert study.measures == ["ratio", "sum"]


def test_a_study_of_a_function_is_continued_in_python(client, tmp_path):
    def root(a):
        return a**0.5

    arguments = (root, {"a": "1..6"})
    part = taut.sweep(*arguments, folder=tmp_path / "s", client=client, **stop_after(2))
    assert not part.finished
    with pytest.raises(RunError, match="another one"):
        taut.sweep(root, {"a": "1..7"}, folder=tmp_path / "s", client=client, resume=True)
    with pytest.raises(RunError, match="a study exists here"):
        taut.sweep(*arguments, folder=tmp_path / "s", client=client)
    with pytest.raises(RunError, match=r"continue it in Python"):
        resume_study(tmp_path / "s", client=client)
    done = taut.sweep(*arguments, folder=tmp_path / "s", client=client, resume=True)
    assert done.columns()["result"].tolist() == [a**0.5 for a in range(1, 7)]


def test_several_keys_take_one_value(client):
    sides = "body.cloth.mesh.nx,body.cloth.mesh.ny"
    vary = {sides: [2, 3], "time.duration": [0.02]}
    study = taut.sweep("cloth", vary, {"mass": "sum(mass)", "n": "sum(mass/mass)"}, client=client)
    assert study.columns()["body.cloth.mesh.ny"].tolist() == [2, 3]
    assert study.columns()["n"].tolist() == [9.0, 16.0]


def test_mesh_files_go_to_the_workers(client, tmp_path):
    """They are copied into the study, which needs the original folder no more."""
    home = tmp_path / "home"
    home.mkdir()
    (home / "scene.toml").write_text(SCENE)
    (home / "one.obj").write_text("v 0 0 0\nv 1 0 0\nl 1 2\n")
    (home / "two.obj").write_text("v 0 0 0\nv 1 0 0\nv 2 0 0\nl 1 2 3\n")
    vary = {"body.a.mesh.file": "one.obj,two.obj", "time.duration": [0.2, 0.3]}
    arguments = (home / "scene.toml", vary, {"n": "sum(mass)"})
    taut.sweep(*arguments, folder=tmp_path / "s", client=client, **stop_after(0))
    shutil.rmtree(home)
    study = resume_study(tmp_path / "s", client=client)
    assert study.columns()["n"].tolist() == [2.0, 2.0, 3.0, 3.0]
    assert study.columns()["body.a.mesh.file"][-1] == "two.obj"
    (tmp_path / "s" / "inputs" / "two.obj").write_text("v 0 0 0\n")
    with pytest.raises(RunError, match="has changed"):
        resume_study(tmp_path / "s", client=client)


def test_frames_are_kept_on_request(client, tmp_path):
    study = taut.sweep(
        "spring", {K: [50, 100]}, MEASURES, folder=tmp_path / "s", client=client, keep_frames=True
    )
    plain = taut.sweep("spring", {K: [50, 100]}, MEASURES, client=client)
    assert repr(list(study)) == repr(list(plain))  # nan differs from itself
    with taut.open_run(study.run_folder(1)) as run:
        assert run.finished
        assert "k = 100" in run.scene
    names = sorted(path.name for path in (tmp_path / "s" / "runs").iterdir())
    assert names == ["000000", "000001"]


def test_scenes_keep_their_rules_on_workers(client, tmp_path):
    """No file outside of the folder, no code."""
    (tmp_path / "scene.toml").write_text(SCENE)
    (tmp_path / "one.obj").write_text("v 0 0 0\nv 1 0 0\nl 1 2\n")
    (tmp_path / "law.py").write_text("raise SystemExit\n")
    scene = tmp_path / "scene.toml"
    with pytest.raises(SceneError, match="outside of the scene's folder"):
        taut.sweep(scene, {"body.a.mesh.file": ["../../etc/passwd"]}, client=client)
    with pytest.raises(SceneError, match="outside of the scene's folder"):
        taut.sweep(scene, {"body.a.mesh.file": ["one.obj", "/etc/passwd"]}, client=client)
    code = [[{"law": "law.py:law"}]]
    with pytest.raises(SceneError, match="allow_code"):
        taut.sweep(scene, {"body.a.law": code}, client=client)
    # A forged study reaches the worker, which refuses too.
    taut.sweep(scene, {"time.h": [0.1]}, folder=tmp_path / "s", client=client, **stop_after(-1))
    description = read_description(tmp_path / "s")
    forged = description.model_dump()
    forged["parameters"], forged["values"] = (
        {"body.a.mesh.file": ["body.a.mesh.file"]},
        [["/etc/passwd"]],
    )
    (tmp_path / "s" / "study.json").write_text(json.dumps(forged))
    (row,) = resume_study(tmp_path / "s", client=client)
    assert "outside of the scene's folder" in row["error"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("cloth", {"body.cloth.densty": [1.0]}), "did you mean 'density'"),
        (("cloth", {"time.h": [-1.0, -2.0]}), "time.h"),
        (("cloth", {}), "at least one parameter"),
        (("cloth", {"time.h": [0.1]}, {"time.h": "t"}), "must be different"),
        (("cloth", {"time.h": [0.1]}, {"outcome": "t"}), "must be different"),
        (("cloth", {"time.h": [0.1]}, {"a": "stored('x')"}), "there is no energy"),
        (("cloth", {"time.h": [0.1]}, {"a": "1 +"}), "measure a"),
    ],
)
def test_errors_come_before_the_first_step(arguments, message):
    with pytest.raises(SceneError, match=message):
        taut.sweep(*arguments)


def test_options_that_do_not_fit():
    with pytest.raises(ModelError, match="need the folder"):
        taut.sweep("spring", {K: [1.0]}, keep_frames=True)
    with pytest.raises(ModelError, match="studies of scenes"):
        taut.sweep(abs, {"x": [1.0]}, keep_frames=True)
    with pytest.raises(ModelError, match="workers must be a positive"):
        taut.sweep("spring", {K: [1.0]}, workers=0)
    with pytest.raises(RunError, match="there is no study"):
        open_study("nowhere")
