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


def test_sagfree_writes_rest_values(command, tmp_path):
    (tmp_path / "rope.toml").write_text(taut.scene.new("chain"))
    code, out, err = command("sagfree", "rope.toml", "-o", "rest.npz")
    assert code == 1, err  # its springs cannot carry it in the straight line that was modelled
    assert "not balanced" in out
    built = taut.scene.load(tmp_path / "rope.toml").build()
    with np.load(tmp_path / "rest.npz") as values:
        for name in values.files:
            assert values[name].shape == taut.inverse.targets.read_value(built.system, name).shape
