"""Several bodies: laws of one body only, holds that must not jump, joints that must be near."""

import numpy as np
import pytest

import taut
from taut import scene
from taut.errors import SceneError

HEAD = "[time]\nh = 0.01\nduration = 0.1\n"
ROPE = '[[body]]\nname = "{name}"\nmesh = {{ shape = "rope", n = 2 }}\nmass = 0.1\n'
GRAVITY = '[[body.law]]\nlaw = "gravity"\n'
HELD = "[[body.hold]]\nwhere = [0]\n"


def build_scene(text, **options):
    return scene.read_text(HEAD + text, **options).build()


def fall_distances(made):
    """How far each body has fallen at the end [m]."""
    *_, (state, _) = taut.simulate(
        made.system, made.integrator, made.h, made.until, state=made.state
    )
    return {
        part.name: float((made.state.q - state.q)[part.start : part.stop, 1].mean())
        for part in made.bodies
    }


@pytest.mark.parametrize("heavy", ["a", "b"])
def test_a_law_of_a_body_acts_on_that_body_alone(heavy):
    made = build_scene("".join(ROPE.format(name=name) + GRAVITY * (name == heavy) for name in "ab"))
    other = "b" if heavy == "a" else "a"
    found = fall_distances(made)
    assert found[other] == 0.0
    assert found[heavy] == pytest.approx(9.81 * 0.01**2 * 10 * 11 / 2)  # implicit Euler's free fall


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "[[body.hold]]\nwhere = [0]\non_plane = [0, 1, 0]\nthrough = [0, 1, 0]\n",
            "would jump by 1 m",
        ),
        ("[[body.hold]]\nwhere = []\n", "the selection contains no points"),
        ('density = "1 + t"\n', "must not depend on time"),
        ('[body.velocity]\nlinear = [0, "t", 0]\n', "must not depend on time"),
    ],
)
def test_invalid_bodies_are_rejected(text, expected):
    body = ROPE.format(name="a")
    if text.startswith("density"):
        body = body.replace("mass = 0.1\n", "")
    with pytest.raises(SceneError, match=expected):
        build_scene(body + text)


def test_a_table_of_displacements_starts_with_zero(tmp_path):
    (tmp_path / "way.csv").write_text("0,5,0,0\n1,6,0,0\n")
    text = HEAD + ROPE.format(name="a") + HELD + 'follow = { file = "way.csv" }\n'
    with pytest.raises(SceneError, match="the first displacement must be 0 0 0"):
        scene.read_text(text, folder=tmp_path).build()
    (tmp_path / "way.csv").write_text("0,0,0,0\n1,1,0,0\n")
    made = scene.read_text(text, folder=tmp_path).build()
    np.testing.assert_allclose(made.system._projector.anchors(0.5)[0], [0.5, 0, 0])


def test_animation_frames_use_the_scale_of_the_mesh(tmp_path):
    x = np.array([[0.0, 0, 0], [500, 0, 0], [1000, 0, 0]])
    for i in range(2):
        taut.mesh.write(
            taut.mesh.Mesh(x + np.array([0, 100.0 * i, 0]), {"line": [[0, 1], [1, 2]]}),
            tmp_path / f"f{i}.obj",
        )
    body = '[[body]]\nname = "a"\nmesh = { file = "f0.obj", scale = 0.001 }\nmass = 0.1\n'
    follow = '[[body.hold]]\nwhere = [1]\nfollow = { frames = ["f0.obj", "f1.obj"], rate = 1.0 }\n'
    made = scene.read_text(HEAD + body + follow, folder=tmp_path).build()
    np.testing.assert_allclose(made.system._projector.anchors(0.5)[1], [0.5, 0.05, 0], atol=1e-12)
    with pytest.raises(SceneError, match="would jump by 1 m"):
        scene.read_text(
            HEAD + body + "[body.pose]\ntranslate = [1, 0, 0]\n" + follow, folder=tmp_path
        ).build()


def build_joined(pose, joint):
    return build_scene(
        ROPE.format(name="a") + ROPE.format(name="b") + f"[body.pose]\ntranslate = {pose}\n" + joint
    )


def test_stitches_find_the_nearest_point_in_the_start_positions():
    stitch = (
        '[[stitch]]\nbodies = ["a", "b"]\nwhere = [[2], [0, 1, 2]]\npair = "nearest"\nk = 1.0\n'
    )
    made = build_joined(
        "[0.5, 0, 0]", stitch
    )  # the rope is 1 m long, with points each 0.5 m: a's last is where b's second is
    assert made.system._placed_energies["stitch"].elements.tolist() == [[2, 3 + 1]]
    with pytest.raises(SceneError, match="the selection contains no points"):
        build_joined("[0, 0, 0]", stitch.replace("[0, 1, 2]", "[]"))


def test_reject_distant_attachments():
    mesh = '{ shape = "sheet", nx = 2, ny = 2, size = 1.0, plane = "xz" }'
    sheet = f'[[body]]\nname = "b"\nmesh = {mesh}\nmass = 0.1\n'
    attach = '[[attach]]\nbodies = ["a", "b"]\nwhere = [0]\nk = 1.0\n'
    near = build_scene(ROPE.format(name="a") + sheet + attach)
    assert len(near.system._placed_energies["attach"].elements) == 1
    with pytest.raises(SceneError, match="is far outside"):
        build_scene(
            ROPE.format(name="a") + sheet + "[body.pose]\ntranslate = [30, 0, 0]\n" + attach
        )
    with pytest.raises(
        SceneError, match=r"attach\[0\], line \d+: a body cannot be attached to itself"
    ):
        build_scene(ROPE.format(name="a") + sheet + attach.replace('"a", "b"', '"b", "b"'))


def test_group_names_are_not_files(tmp_path):
    mesh = '{ shape = "rope", n = 2, groups = { file = "x == min(x)" } }'
    text = f'{HEAD}[[body]]\nname = "a"\nmass = 0.1\nmesh = {mesh}\n'
    assert scene.read_text(text, folder=tmp_path).inputs() == {}


def test_law_file_that_exits_raises_scene_error(tmp_path):
    (tmp_path / "own.py").write_text("import sys\nsys.exit(0)\n")
    text = HEAD + ROPE.format(name="a") + '[[body.law]]\nlaw = "own.py:mine"\n'
    with pytest.raises(SceneError, match="could not be run"):
        scene.read_text(text, folder=tmp_path, allow_code=True).build()


def test_unused_points_and_concave_quads_are_repaired_and_noted(tmp_path):
    """Points of no cell are left out, concave quads are cut; both are noted."""
    loose = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 9 9 9\nf 1 2 3 4\n"
    (tmp_path / "loose.obj").write_text(loose)
    made = scene.load(tmp_path / "loose.obj", fix="y == max(y)")
    assert any("1 points belong to no cell" in note for note in made.notes)
    assert made.build().system.n == 4
    (tmp_path / "dart.obj").write_text("v 0 0 0\nv 1 0 0\nv 0.2 0.2 0\nv 0 1 0\nf 1 2 3 4\n")
    made = scene.load(tmp_path / "dart.obj", fix="y == max(y)")
    assert any("cut into triangles" in note for note in made.notes)
    assert made.build().system.n == 4


def test_mesh_links_are_followed(tmp_path):
    (tmp_path / "real").mkdir()
    taut.mesh.write(taut.mesh.sheet(2, 2, size=1.0), tmp_path / "real/a.obj")
    (tmp_path / "link.obj").symlink_to(tmp_path / "real/a.obj")
    assert scene.load(tmp_path / "link.obj", fix="y == max(y)").build().system.n == 9


def test_cape_keeps_its_distance_from_turning_shoulders():
    """Attached points keep their height above the triangles, and the seam stays closed."""
    changes = [("body.left.mesh.ny", 6), ("body.right.mesh.ny", 6), ("body.shoulders.mesh.n", 3)]
    built = scene.load("cape", overrides=changes).build()
    system, start = built.system, built.state
    stored = system.V_by_law(start)
    for name in ("collar left", "collar right", "stitch"):
        assert stored[name] == pytest.approx(0.0, abs=1e-20)  # nothing pulls at the start
    _, left, right = built.bodies
    collar = np.concatenate([part.mesh.select("y == max") + part.start for part in (left, right)])
    distance = np.linalg.norm(start.q[collar], axis=1)
    assert distance.min() > 0.24 + 0.03
    *_, (state, _) = taut.simulate(system, built.integrator, built.h, 0.5)
    turned = np.arctan2(*state.q[collar][:, [0, 2]].T) - np.arctan2(*start.q[collar][:, [0, 2]].T)
    np.testing.assert_allclose(np.cos(turned), np.cos(2.0), atol=0.1)  # 4 rad/s for half a second
    # within the weight of a panel on its collar and the pull of the turn, over k: some millimetres
    np.testing.assert_allclose(np.linalg.norm(state.q[collar], axis=1), distance, atol=0.01)
    seam = [
        part.mesh.select(where) + part.start
        for part, where in ((left, "x == max"), (right, "x == min"))
    ]
    assert np.linalg.norm(state.q[seam[0]] - state.q[seam[1]], axis=1).max() < 0.01
