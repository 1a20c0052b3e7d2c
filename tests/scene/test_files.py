"""Files of a scene: meshes, tables and laws inside its folder, and copies of them elsewhere."""

import struct

import numpy as np
import pytest

import taut
from taut import scene

SCENE = """
[time]
h = 0.01
duration = 0.1
[[body]]
name = "a"
mesh = {{ file = "{file}" }}
mass = 0.1
[[body.law]]
law = "spring"
on = "edges"
k = 100.0
"""
TETRAHEDRON = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n"


@pytest.fixture
def folder(tmp_path):
    inside = tmp_path / "scene"
    (inside / "meshes").mkdir(parents=True)
    (inside / "meshes" / "tet.obj").write_text(TETRAHEDRON)
    (tmp_path / "secret.obj").write_text(TETRAHEDRON)
    return inside


def write_scene(folder, text, name="my.toml"):
    path = folder / name
    path.write_text(text)
    return path


def test_a_mesh_file_in_the_folder_is_read(folder):
    built = scene.load(write_scene(folder, SCENE.format(file="meshes/tet.obj"))).build()
    assert built.system.n == 4
    assert built.bodies[0].mesh.enclosed_volume == pytest.approx(1 / 6)


@pytest.mark.parametrize(
    "file",
    [
        "../secret.obj",
        "meshes/../../secret.obj",
        "{tmp}/secret.obj",
        "link.obj",
        "out/secret.obj",
        "..\\\\secret.obj",
    ],
)
def test_files_outside_are_rejected_unless_allowed(folder, file):
    (folder / "link.obj").symlink_to(folder.parent / "secret.obj")
    (folder / "out").symlink_to(folder.parent)
    path = write_scene(folder, SCENE.format(file=file.format(tmp=folder.parent)))
    for act in (lambda s: s.build(), lambda s: s.inputs()):
        with pytest.raises(
            taut.errors.SceneError, match=r"outside of the scene's folder.*--allow-outside"
        ) as caught:
            act(scene.load(path))
        assert "line 7" in str(caught.value)
    if "\\" not in file:
        assert scene.load(path, allow_outside=True).build().system.n == 4


@pytest.mark.parametrize(
    "file",
    [
        "missing.obj",
        "meshes",
        "a/b/c.obj",
        "",
        " ",
        "x\\u0000.obj",
        "n" * 500 + ".obj",
        "loop.obj",
        "tet.xyz",
    ],
)
def test_missing_files_are_reported(folder, file):
    (folder / "loop.obj").symlink_to(folder / "loop.obj")
    with pytest.raises((taut.errors.SceneError, taut.errors.MeshError)):
        scene.load(write_scene(folder, SCENE.format(file=file))).build()


def test_a_scene_without_a_folder_has_no_files():
    with pytest.raises(taut.errors.SceneError, match="not read from a folder"):
        scene.read_text(SCENE.format(file="tet.obj")).build()


def test_a_resolved_scene_with_copies_of_its_inputs_is_complete_elsewhere(folder, tmp_path):
    (folder / "k.csv").write_text("k\n" + "\n".join(str(100.0 + i) for i in range(6)))
    (folder / "law.py").write_text(
        "import taut\nfrom taut.formula import norm\n"
        "@taut.energy\ndef pull(x, k):\n    return k / 2 * norm(x[0]) ** 2\n"
    )
    text = SCENE.format(file="meshes/tet.obj").replace("k = 100.0", 'k = { file = "k.csv" }')
    text += '[[body.law]]\nlaw = "law.py:pull"\nk = 3.0\n'
    text += '[[body.hold]]\nwhere = [0]\nfollow = { file = "path.csv" }\n'
    (folder / "path.csv").write_text("t, x, y, z\n0, 0, 0, 0\n1, 0, 1, 0\n")
    made = scene.load(write_scene(folder, text), allow_code=True)
    inputs = made.inputs()
    assert set(inputs) == {
        "inputs/meshes/tet.obj",
        "inputs/k.csv",
        "inputs/law.py",
        "inputs/path.csv",
    }
    run = tmp_path / "run"
    for name, content in inputs.items():
        (run / name).parent.mkdir(parents=True, exist_ok=True)
        (run / name).write_bytes(content)
    (run / "scene.toml").write_text(made.resolved())
    again = scene.load(run / "scene.toml", allow_code=True)
    assert again.resolved() == made.resolved()
    assert set(again.inputs()) == set(inputs)
    a, b = made.build(), again.build()
    assert (
        a.system.energies[0].parameters["k"].tolist()
        == b.system.energies[0].parameters["k"].tolist()
        == [100, 101, 102, 103, 104, 105]
    )
    assert (
        a.system._projector.anchors(0.5)[0].tolist()
        == b.system._projector.anchors(0.5)[0].tolist()
        == [0, 0.5, 0]
    )


def test_copies_of_files_outside_have_different_names(folder):
    (folder / "run.sqlite.obj").write_text(TETRAHEDRON)
    (folder.parent / "other").mkdir()
    (folder.parent / "other" / "secret.obj").write_text(TETRAHEDRON)
    two = SCENE.format(file="../secret.obj") + SCENE.format(file="../other/secret.obj").partition(
        "[[body]]"
    )[2].replace('"a"', '"b"').join(["[[body]]", ""])
    made = scene.load(write_scene(folder, two), allow_outside=True)
    assert len(made.inputs()) == 2
    assert all(name.startswith("inputs/") and ".." not in name for name in made.inputs())


def test_code_runs_only_when_allowed(folder):
    (folder / "law.py").write_text(
        "import pathlib\npathlib.Path(__file__).with_name('ran').touch()\nraise ValueError('no')\n"
    )
    path = write_scene(
        folder, SCENE.format(file="meshes/tet.obj") + '[[law]]\nlaw = "law.py:pull"\n'
    )
    with pytest.raises(taut.errors.SceneError, match="--allow-code"):
        scene.load(path).build()
    assert not (folder / "ran").exists()
    with pytest.raises(
        taut.errors.SceneError,
        match=r"law\[0\], line \d+: law.py could not be run: ValueError\('no'\)",
    ):
        scene.load(path, allow_code=True).build()
    (folder / "law.py").write_text(
        "import taut\n@taut.energy\ndef pul(x, k):\n    return k * x[0][1]\n"
    )
    with pytest.raises(taut.errors.SceneError, match="has no law 'pull'; did you mean 'pul'"):
        scene.load(path, allow_code=True).build()
    write_scene(folder, path.read_text().replace("law.py", "../law.py"))
    with pytest.raises(taut.errors.SceneError, match="outside of the scene's folder"):
        scene.load(path, allow_code=True).build()


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("1\n2\n", "must have a row for each of 6 elements, got 2"),
        ("k\n", "has no numbers"),
        ("1\n2\nx\n", "line 3: must be numbers, got 'x'"),
        ("1 2\n3\n", "line 2: must have 2 columns as the first row has, got 1"),
        ("1\n2\nnan\n4\n5\n6\n", "row 3, column 1 is not finite"),
        ("\xff", "has no numbers"),
    ],
)
def test_invalid_tables_are_reported(folder, content, expected):
    (folder / "k.csv").write_text(content)
    path = write_scene(
        folder, SCENE.format(file="meshes/tet.obj").replace("k = 100.0", 'k = { file = "k.csv" }')
    )
    with pytest.raises(taut.errors.SceneError) as caught:
        scene.load(path).build()
    assert expected in str(caught.value)


def test_held_points_follow_an_animated_mesh(folder):
    for i in range(3):
        (folder / f"f{i}.obj").write_text(TETRAHEDRON.replace("v 0 0 1", f"v 0 0 {1 + i}"))
    text = SCENE.format(file="meshes/tet.obj")
    text += "[[body.hold]]\nwhere = [0, 3]\n"
    text += 'follow = { frames = ["f0.obj", "f1.obj", "f2.obj"], rate = 10.0 }\n'
    built = scene.load(write_scene(folder, text)).build()
    assert built.system._projector.anchors(0.15)[[0, 3], 2] == pytest.approx([0, 2.5])
    *_, (state, _) = taut.simulate(built.system, built.integrator, 0.01, 0.1)
    assert state.q[3, 2] == pytest.approx(2.0, abs=1e-12)


def test_per_vertex_maps_and_groups_of_a_file_are_known(folder):
    mesh = taut.mesh.sheet(2, 2).with_(
        point_data={"stiff": np.arange(9.0)}, groups={"left side": [0, 3, 6]}
    )
    taut.mesh.write(mesh, folder / "m.vtu")
    text = SCENE.format(file="m.vtu").replace("k = 100.0", 'k = "10*stiff"')
    built = scene.load(write_scene(folder, text)).build()
    edges = built.bodies[0].mesh.edges
    assert built.system.energies[0].parameters["k"] == pytest.approx(5.0 * edges.sum(axis=1))


def test_a_file_and_a_copy_of_the_same_name_have_different_copies(folder):
    (folder / "inputs").mkdir()
    (folder / "inputs" / "tet.obj").write_text(TETRAHEDRON.replace("v 1 0 0", "v 2 0 0"))
    (folder / "tet.obj").write_text(TETRAHEDRON)
    second = SCENE.format(file="inputs/tet.obj").partition("[[body]]")[2].replace('"a"', '"b"')
    made = scene.load(write_scene(folder, SCENE.format(file="tet.obj") + "[[body]]" + second))
    inputs = made.inputs()
    assert len(inputs) == 2
    assert inputs["inputs/tet.obj"] == (folder / "inputs" / "tet.obj").read_bytes()
    assert all(f'"{name}"' in made.resolved() for name in inputs)


@pytest.mark.parametrize("points", [[0, 3], [0, 1, 2, 3]])
def test_held_points_follow_a_point_cache_of_themselves_or_of_all(folder, points):
    z_up = np.array([[0, 0, 0], [1, 0, 0], [0, 0, 1], [0, -1, 0]], dtype=float) * 100
    x = np.stack([z_up, z_up + np.array([0, 0, 7]), z_up + np.array([0, 0, 9])])[:, points].astype(
        "<f4"
    )
    header = struct.pack("<12siiffi", b"POINTCACHE2\0", 1, len(points), 0.0, 0.5, 3)
    (folder / "way.pc2").write_bytes(header + x.tobytes())
    (folder / "turned.obj").write_text(
        "".join(f"v {a} {b} {c}\n" for a, b, c in z_up) + "f 1 3 2\nf 1 2 4\n"
    )
    text = SCENE.format(file="turned.obj").replace('.obj"', '.obj", up = "z", scale = 0.01')
    text += '[[body.hold]]\nwhere = [0, 3]\nfollow = { file = "way.pc2", rate = 5.0 }\n'
    loaded = scene.load(write_scene(folder, text))
    built = loaded.build()
    anchors = [built.system._projector.anchors(t)[[0, 3]] for t in (0.0, 0.05, 0.2)]
    start = np.array([[0, 0, 0], [0, 0, 1]])
    for found, height in zip(anchors, (0.0, 0.035, 0.09), strict=True):
        assert found == pytest.approx(start + np.array([0, height, 0]), abs=1e-7)
    assert sorted(loaded.inputs()) == ["inputs/turned.obj", "inputs/way.pc2"]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"POINTCACHE2", "file 'way.pc2': a point cache must begin with POINTCACHE2"),
        (
            struct.pack("<12siiffi9f", b"POINTCACHE2\0", 1, 3, 0.0, 1.0, 1, *range(9)),
            "must have the 2 held points, or all 4 of the body, got 3",
        ),
        (
            struct.pack("<12siiffi6f", b"POINTCACHE2\0", 1, 2, 0.0, 1.0, 1, 0, 0, 0, 0, 0, 5),
            "point 3 does not start at its first position: it would jump by 4 m",
        ),
    ],
)
def test_point_caches_that_do_not_fit_are_errors(folder, data, expected):
    (folder / "way.pc2").write_bytes(data)
    text = SCENE.format(file="meshes/tet.obj")
    text += '[[body.hold]]\nwhere = [0, 3]\nfollow = { file = "way.pc2" }\n'
    with pytest.raises(taut.errors.SceneError, match=expected):
        scene.load(write_scene(folder, text)).build()
