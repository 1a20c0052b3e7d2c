"""Studies from the shell: every kind of data, every option, and fits that are killed."""

import json
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import taut

SCENE = """
[time]
h = 0.02
duration = 0.2

[integrator]
tolerance = 1e-10

[[body]]
name = "net"
mesh = { shape = "net", nx = 3, ny = 3, plane = "xz" }
mass = 0.05

[[body.law]]
law = "spring"
on = "edges"
k = 500.0

[[body.law]]
law = "spring_damping"
on = "edges"
c = 0.2

[[body.hold]]
where = [0, 3, 12, 15]

[[law]]
law = "gravity"
"""
HEAD = 'scene = "scene.toml"\n[[unknown]]\nname = "spring.k"\nstart = 200.0\n'
K, ELEMENTS = 500.0, 24


@pytest.fixture
def scene(tmp_path):
    (tmp_path / "scene.toml").write_text(SCENE)
    return taut.scene.load(tmp_path / "scene.toml").build()


def record(scene):
    steps = taut.simulate(scene.system, scene.integrator, scene.h, scene.until)
    states = [scene.state, *(state for state, _ in steps)]
    return np.array([s.t for s in states]), np.array([s.q for s in states])


def find_rest(system):
    return taut.equilibrium(system, tolerance=taut.Tolerance(relative=1e-12))


def write_motion_csv(folder, scene):
    times, q = record(scene)
    rows = [f"{t!r},{i},{x!r},{y!r},{z!r}" for t, p in zip(times.tolist(), q.tolist(), strict=True)
            for i, (x, y, z) in enumerate(p) if (i, t) != (5, times[3])]  # fmt: skip
    (folder / "data.csv").write_text("t,particle,x,y,z\n" + "\n".join(rows))
    return 'kind = "motion"\ndata = "data.csv"'


def write_motion_npz(folder, scene):
    times, q = record(scene)
    chosen = [5, 6, 9]
    np.savez(folder / "data.npz", times=times, particles=chosen, positions=q[:, chosen])
    return 'kind = "motion"\ndata = "data.npz"'


def write_run(folder, scene):
    taut.scene.load(folder / "scene.toml").record(folder / "seen")
    return 'kind = "motion"\ndata = "seen"'


def write_meshes(folder, scene):
    _, q = record(scene)
    (folder / "frames").mkdir()
    for k, points in enumerate(q):
        mesh = taut.mesh.Mesh(points, {"line": scene.bodies[0].mesh.edges})
        taut.mesh.write(mesh, folder / f"frames/f{k}.obj")
    return 'kind = "motion"\ndata = "frames/*.obj"\nrate = 50.0'


def write_shape(folder, scene):
    q = find_rest(scene.system).state.q
    rows = [f"{i},{x!r},{y!r},{z!r}" for i, (x, y, z) in enumerate(q.tolist())]
    (folder / "data.csv").write_text("particle,x,y,z\n" + "\n".join(rows[4:]))
    return 'kind = "shape"\ndata = "data.csv"'


def write_mesh(folder, scene):
    mesh = taut.mesh.Mesh(find_rest(scene.system).state.q, {"line": scene.bodies[0].mesh.edges})
    taut.mesh.write(mesh, folder / "shape.obj")
    return 'kind = "shape"\ndata = "shape.obj"'


def write_deflection(folder, scene):
    """How far two points sink under three times the weight."""
    heavy = taut.scene.load(folder / "scene.toml", overrides=[("body.net.mass", 0.15)]).build()
    moved = (find_rest(heavy.system).state.q - scene.system.rest).tolist()
    rows = [f"{i},{moved[i][0]!r},{moved[i][1]!r},{moved[i][2]!r}" for i in (5, 6)]
    (folder / "data.csv").write_text("particle,ux,uy,uz\n" + "\n".join(rows))
    return 'kind = "deflection"\ndata = "data.csv"\nset = {"body.net.mass" = 0.15}'


def write_forces(folder, scene):
    rest = find_rest(scene.system)
    force = scene.system.members(rest.state).force.tolist()
    rows = [f"{i},{force[i]!r}" for i in (0, 3, 7)]
    (folder / "data.csv").write_text("element,force\n" + "\n".join(rows))
    return 'kind = "forces"\ndata = "data.csv"\nlaw = "spring"'


def write_frequencies(folder, scene):
    rest = find_rest(scene.system)
    omega = taut.modes(scene.system, rest.state, n=3).omega.tolist()
    (folder / "data.csv").write_text("omega\n" + "\n".join(map(repr, omega)))
    return 'kind = "frequencies"\ndata = "data.csv"'


WRITERS = [
    *(write_motion_csv, write_motion_npz, write_run, write_meshes, write_shape, write_mesh),
    *(write_deflection, write_forces, write_frequencies),
]


@pytest.mark.parametrize("write", WRITERS, ids=lambda w: w.__name__[6:])
def test_every_kind_of_data(command, tmp_path, scene, write):
    (tmp_path / "study.toml").write_text(f"{HEAD}\n[[experiment]]\n{write(tmp_path, scene)}\n")
    code, out, err = command("fit", "study.toml", "--json")
    assert code == 0, err
    found = json.loads(out)["parameters"]["spring.k"]
    # OBJ files have coordinates of nine digits
    rel = 1e-4 if write in (write_meshes, write_mesh) else 1e-7
    assert found["value"] == pytest.approx(K, rel=rel)
    assert found["determined"]


def test_several_experiments_with_bounds_priors_and_logarithms(command, tmp_path, scene):
    text = 'scene = "scene.toml"\n'
    text += '[[unknown]]\nname = "spring.k"\nstart = 200.0\nlow = 10.0\nhigh = 1e4\nlog = false\n'
    text += '[[unknown]]\nname = "spring_damping.c"\nstart = 0.1\nprior = [0.2, 1.0]\n'
    for k, write in enumerate((write_motion_csv, write_shape)):
        part = write(tmp_path, scene).replace("data.csv", f"data-{k}.csv")
        (tmp_path / "data.csv").rename(tmp_path / f"data-{k}.csv")
        text += f"[[experiment]]\nsigma = 1e-4\n{part}\n"
    (tmp_path / "study.toml").write_text(text)
    code, out, err = command("fit", "study.toml", "--plot", "fit.svg", "--json", "-o", "folder")
    assert code == 0, err
    found = json.loads(out)
    assert found["parameters"]["spring.k"]["value"] == pytest.approx(K, rel=1e-6)
    assert found["parameters"]["spring_damping.c"]["value"] == pytest.approx(0.2, rel=1e-4)
    assert found["correlations"][0][0] == pytest.approx(1.0)
    assert abs(found["correlations"][0][1]) < 1.0
    assert (tmp_path / "fit.svg").read_text().count("experiment") >= 2
    assert json.loads((tmp_path / "folder/fit.json").read_text())["sigma"] == [1e-4, 1e-4]


def test_one_number_for_each_element(command, tmp_path, scene):
    stiff = np.linspace(400.0, 600.0, ELEMENTS)
    (tmp_path / "k.csv").write_text("\n".join(map(repr, stiff.tolist())))
    own = SCENE.replace("k = 500.0", 'k = { file = "k.csv" }')
    (tmp_path / "true.toml").write_text(own)
    seen = taut.scene.load(tmp_path / "true.toml").build()
    part = write_motion_csv(tmp_path, seen)
    (tmp_path / "study.toml").write_text(f"{HEAD}each = true\n[[experiment]]\n{part}\n")
    code, out, err = command("fit", "study.toml", "--json")
    assert code == 0, err
    found = json.loads(out)["parameters"]
    values = [found[f"spring.k[{i}]"]["value"] for i in range(ELEMENTS)]
    np.testing.assert_allclose(values, stiff, rtol=1e-6)


def test_parameters_of_which_only_a_combination_is_told(command, tmp_path):
    """Two springs in series, observed at their end: a singular matrix is an answer."""
    (tmp_path / "scene.toml").write_text("""
[time]
h = 0.01
duration = 0.1
[[body]]
name = "rod"
mesh = { points = [[0, 0, 0], [0, -1, 0], [0, -2, 0]], cells = { line = [[0, 1], [1, 2]] } }
mass = 1e-9
[[body.law]]
law = "spring"
name = "upper"
on = [[0, 1]]
k = 100.0
[[body.law]]
law = "spring"
name = "lower"
on = [[1, 2]]
k = 300.0
[[body.law]]
law = "force"
on = [[2]]
f = [0, -10, 0]
[[body.hold]]
where = [0]
""")
    built = taut.scene.load(tmp_path / "scene.toml").build()
    sunk = float(find_rest(built.system).state.q[2, 1]) + 2.0
    (tmp_path / "data.csv").write_text(f"particle,uy,ux,uz\n2,{sunk!r},nan,nan\n")
    (tmp_path / "study.toml").write_text(
        'scene = "scene.toml"\n[[unknown]]\nname = "upper.k"\n[[unknown]]\nname = "lower.k"\n'
        '[[experiment]]\nkind = "deflection"\ndata = "data.csv"\nsigma = 1e-3\n'
    )
    code, out, err = command("fit", "study.toml", "--json")
    assert code == 0, err
    for name in ("upper.k", "lower.k"):
        found = json.loads(out)["parameters"][name]
        assert not found["determined"]
        assert found["standard_error"] is None
    assert "not determined" in command("resume", "fits/study-1")[1]


def write_slow_study(folder, scene):
    part = write_motion_csv(folder, scene)
    text = f'{HEAD}[[unknown]]\nname = "spring_damping.c"\nstart = 0.01\n[[experiment]]\n{part}\n'
    shape = write_shape(folder, scene).replace("data.csv", "shape.csv")
    (folder / "data.csv").rename(folder / "shape.csv")
    write_motion_csv(folder, scene)
    (folder / "study.toml").write_text(f"{text}\n[[experiment]]\n{shape}\n")


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="processes cannot be killed")
@pytest.mark.parametrize("number", ["SIGKILL", "SIGINT"])
def test_a_killed_fit_continues_with_the_same_bits(command, tmp_path, scene, number):
    write_slow_study(tmp_path, scene)
    code, _, err = command("fit", "study.toml", "-o", "whole", "-q")
    assert code == 0, err
    count = json.loads((tmp_path / "whole/fit.json").read_text())["evaluations"]
    assert count > 4
    fit = [sys.executable, "-m", "taut.cli", "fit", "study.toml", "-o", "part", "-q"]
    process = subprocess.Popen(fit, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    while not (tmp_path / "part/evaluation-2.npz").exists() and process.poll() is None:
        time.sleep(0.002)
    process.send_signal(getattr(signal, number))
    _, err = process.communicate(timeout=60)
    assert not (tmp_path / "part/fit.json").exists(), "it ended before the signal"
    if number == "SIGINT":
        assert process.returncode == 130
        assert "taut resume part continues" in err
    code, _, err = command("resume", "part", "-q")
    assert code == 0, err
    for name in ("fit.json", *(f"evaluation-{k}.npz" for k in range(1, count + 1))):
        whole, part = (tmp_path / folder / name for folder in ("whole", "part"))
        if name.endswith(".json"):
            assert whole.read_text() == part.read_text()
            continue
        with np.load(whole) as a, np.load(part) as b:
            assert a.files == b.files
            assert all(a[key].tobytes() == b[key].tobytes() for key in a.files)


def test_a_fit_whose_data_have_changed_is_not_continued(command, tmp_path, scene):
    part = write_shape(tmp_path, scene)
    (tmp_path / "study.toml").write_text(f"{HEAD}[[experiment]]\n{part}\n")
    assert command("fit", "study.toml", "-o", "folder", "-q")[0] == 0
    code, _, err = command("fit", "study.toml", "-o", "folder")
    assert (code, "not empty" in err) == (4, True)
    (tmp_path / "data.csv").write_text("particle,x,y,z\n5,0,0,0\n")
    code, _, err = command("resume", "folder")
    assert (code, "have changed since" in err) == (4, True)


def test_data_that_do_not_fit(command, tmp_path, scene):
    cases = {
        'kind = "motion"\ndata = "data.csv"': "must have a column t",
        'kind = "shape"\ndata = "data.csv"': "must have a column particle",
        'kind = "forces"\ndata = "data.csv"': "law must name",
        'kind = "forces"\ndata = "data.csv"\nlaw = "gravity"': "energy between two particles",
        'kind = "motion"\ndata = "*.obj"': "no file matches",
    }
    (tmp_path / "data.csv").write_text("element,force\n0,1.0\n")
    for part, message in cases.items():
        (tmp_path / "study.toml").write_text(f"{HEAD}[[experiment]]\n{part}\n")
        code, _, err = command("fit", "study.toml")
        assert code == 2, part
        assert message in err, part
    (tmp_path / "study.toml").write_text(
        f'{HEAD}high = 300.0\nmissing = 1\n[[experiment]]\nkind = "shape"\ndata = "data.csv"\n'
    )
    assert "missing" in command("fit", "study.toml")[2]


MOTION = 'kind = "motion"\ndata = "data.{}"'


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("0.1,5,abc,0,0", "line 2: x must be a number, got 'abc'"),
        ("0.1,5,inf,0,0", "positions must be finite, or nan"),
        ("nan,5,0,0,0", "t must be a finite number"),
        ("-0.1,5,0,0,0", "times must be a list of numbers from 0 on"),
        ("0.1,5,0,0,0\n0.1,5,0,1,0", "a particle has two rows at the same time"),
        ("0.1,5,0,0,0\n0.2,5,0", "line 3 must have 5 columns, got 3"),
        ("0.1,1.5,0,0,0", "whole numbers"),
        ({"times": [[0.0], [0.1]]}, "times must be a list of numbers from 0 on"),
        ({"times": [0.1]}, "one for each observation"),
        ({"particles": [5, 6]}, "must have the shape (1, 2, 3)"),
        ({"positions": None}, "must have an array positions"),
        (b"PK\3\4 cut", "it is damaged"),
    ],
)
def test_motions_that_cannot_be_read(command, tmp_path, scene, data, message):
    """None is taken for "not observed" in silence."""
    if isinstance(data, dict):
        whole = {"times": [0.0, 0.1], "particles": [5], "positions": np.zeros((2, 1, 3)), **data}
        np.savez(tmp_path / "data.npz", **{k: v for k, v in whole.items() if v is not None})
    elif isinstance(data, bytes):
        (tmp_path / "data.npz").write_bytes(data)
    else:
        (tmp_path / "data.csv").write_text(f"t,particle,x,y,z\n{data}\n")
    kind = MOTION.format("csv" if isinstance(data, str) else "npz")
    (tmp_path / "study.toml").write_text(f"{HEAD}\n[[experiment]]\n{kind}\n")
    code, _, err = command("fit", "study.toml")
    assert code == 2, err
    assert message in err


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("low = 200.0\nhigh = 200.0", "low must be less than high, got 200 and 200"),
        ("prior = [200.0, 0.0]", "a positive standard deviation"),
        ("prior = [-5.0, 1.0]", "the expected value of its prior must be positive, got -5"),
    ],
)
def test_unknowns_that_cannot_be_fitted(command, tmp_path, scene, line, message):
    part = write_shape(tmp_path, scene)
    (tmp_path / "study.toml").write_text(f"{HEAD}{line}\n[[experiment]]\n{part}\n")
    code, _, err = command("fit", "study.toml")
    assert (code, message in err) == (2, True), err
