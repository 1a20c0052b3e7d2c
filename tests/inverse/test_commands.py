"""`taut fit` and `taut sagfree`."""

import json

import numpy as np
import pytest

import taut

STUDY = """
scene = "scene.toml"

[[unknown]]
name = "spring.k"
start = 200.0

[[experiment]]
kind = "{kind}"
data = "{data}"
"""


@pytest.fixture
def scene(tmp_path):
    """A small cloth whose springs have 500 N/m, as a scene file; and its built form."""
    text = taut.scene.new("cloth")
    (tmp_path / "scene.toml").write_text(text)
    overrides = [("body.cloth.mesh.nx", 4), ("body.cloth.mesh.ny", 4), ("time.duration", 0.2)]
    small = taut.scene.load(tmp_path / "scene.toml", overrides=overrides)
    (tmp_path / "scene.toml").write_text(small.resolved())
    return taut.scene.load(tmp_path / "scene.toml").build()


def name_of_springs(built):
    return next(name for name in built.system._placed_energies if "spring" in name)


def write_study(tmp_path, built, kind, data):
    text = STUDY.format(kind=kind, data=data).replace("spring.k", f"{name_of_springs(built)}.k")
    (tmp_path / "study.toml").write_text(text)


def stiffness(out, built):
    return json.loads(out)["parameters"][f"{name_of_springs(built)}.k"]


def test_fit_of_a_motion(command, tmp_path, scene):
    rows = ["t,particle,x,y,z"]
    for state, _ in taut.simulate(scene.system, scene.integrator, scene.h, scene.until):
        rows += [
            f"{state.t!r},{i},{x!r},{y!r},{z!r}" for i, (x, y, z) in enumerate(state.q.tolist())
        ]
    (tmp_path / "points.csv").write_text("\n".join(rows))
    write_study(tmp_path, scene, "motion", "points.csv")
    code, out, err = command("fit", "study.toml", "--json")
    assert code == 0, err
    found = stiffness(out, scene)
    assert found["value"] == pytest.approx(500.0, rel=1e-6)
    assert found["determined"]


def test_fit_of_a_shape_with_a_plot(command, tmp_path, scene):
    rest = taut.equilibrium(scene.system)
    n = scene.system.n
    np.savez(tmp_path / "shape.npz", particles=np.arange(n), positions=rest.state.q)
    write_study(tmp_path, scene, "shape", "shape.npz")
    code, out, _ = command("fit", "study.toml", "--plot", "fit.svg")
    assert code == 0
    assert "500" in out
    assert (tmp_path / "fit.svg").stat().st_size > 1000
    code, _, err = command("fit", "study.toml", "--plot", "fit.svg")
    assert code == 2
    assert "exists" in err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("scene = 3", "scene: Input should be a valid string"),
        ('scene = "cloth"\nunknown = []\nexperiment = []', "at least 1 item"),
        ("scene =", "Invalid value"),
        (STUDY.format(kind="motion", data="../x.csv"), "no file scene.toml"),
        (STUDY.format(kind="motion", data="../x.csv").replace("scene.toml", "cloth"), "inside"),
        (STUDY.format(kind="dance", data="x.csv"), "Input should be 'motion'"),
    ],
)
def test_studies_that_cannot_be_used(command, tmp_path, text, message):
    (tmp_path / "study.toml").write_text(text)
    code, _, err = command("fit", "study.toml")
    assert code == 2
    assert message in err


CURTAIN = """
title = "A folded curtain"

[time]
h = 0.02
duration = 1.0

[[body]]
name = "curtain"
density = 0.3
mesh = { shape = "sheet", nx = 10, ny = 8, size = [1.0, 0.8], displace = [0, 0, "0.05*sin(13*x)"] }

[[body.law]]
law = "spring"
on = "edges"
k = 400.0

[[body.law]]
law = "shell_bending"
on = "hinges"
c = 2e-3

[[body.hold]]
where = "y > max(y) - 1e-6"

[[law]]
law = "gravity"

[[law]]
law = "drag"
alpha = 0.5
"""


def measure_motion(folder):
    """How far particles of a run get from where they start [m]."""
    with taut.open_run(folder) as run:
        q = np.array([frame.q for frame in run.frames])
    return float(np.abs(q - q[0]).max())


def test_a_scene_of_sagfree_stays_where_it_starts(command, tmp_path):
    (tmp_path / "curtain.toml").write_text(CURTAIN)
    code, out, err = command("sagfree", "curtain.toml", "-o", "still.toml")
    assert code == 0, err
    assert "balanced" in out
    for scene in ("curtain", "still"):
        assert command("run", f"{scene}.toml", "-o", scene, "--quiet")[0] == 0
    assert measure_motion(tmp_path / "curtain") > 1e-3
    assert measure_motion(tmp_path / "still") < 1e-6
    # The run has copies of the rest values, and the scene can be made sag-free again.
    assert command("check", "still/scene.toml")[0] == 0
    assert command("sagfree", "still.toml", "-o", "again.toml", "--quiet")[0] == 0
    tables = taut.scene.load(tmp_path / "again.toml").tables["rest"]
    assert [table["name"] for table in tables] == ["spring", "shell_bending"]
    code, _, err = command("sagfree", "curtain.toml", "-o", "still.toml")
    assert (code, "exists" in err) == (2, True)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("name = 'spring'\nparameter = 'l0'", "one number for each of 178 elements"),
        ("name = 'sprng'\nparameter = 'l0'", "no energy 'sprng'; did you mean 'spring'"),
        ("name = 'spring'\nparameter = 'k'", "'spring' has no rest value 'k'"),
    ],
)
def test_rest_values_that_do_not_fit(command, tmp_path, line, message):
    (tmp_path / "l0.csv").write_text("0.1\n0.2\n")
    (tmp_path / "a.toml").write_text(f"{CURTAIN}\n[[rest]]\n{line}\nfile = 'l0.csv'\n")
    code, _, err = command("check", "a.toml")
    assert code == 2
    assert message in err
    assert "rest[0]" in err or "rest" in err


def test_a_chain_that_springs_cannot_carry(command, tmp_path):
    """Its springs pull along the straight line that was modelled, across which its weight acts."""
    (tmp_path / "rope.toml").write_text(taut.scene.new("chain"))
    code, out, err = command("sagfree", "rope.toml")
    assert code == 1, err
    assert "not balanced" in out
    assert "laws.rod_hinge" in out
