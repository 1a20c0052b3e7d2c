"""The table [contact] of scenes."""

import numpy as np
import pytest

import taut
from taut import scene
from taut.errors import SceneError
from taut.run.record import resume

TEXT = """
[time]
h = 0.01
duration = 0.05

[contact]
ground = 0.0
range = 0.002
{contact}

[[body]]
name = "ball"
mesh = {{ shape = "points", points = [[0.0, 0.05, 0.0]] }}
mass = 0.1

[[body]]
name = "sheet"
mesh = {{ shape = "sheet", nx = 2, ny = 2, size = 0.2, plane = "xz" }}
pose = {{ translate = [-0.1, {height}, 0.1] }}
mass = 0.01

[[body.hold]]
where = "all"

[[law]]
law = "gravity"
"""


def read(contact="", height=0.02, text=TEXT):
    if 'shape = "points"' in text:
        text = text.replace('shape = "points", points', "points")
    return scene.read_text(text.format(contact=contact, height=height))


def test_bodies_planes_and_options():
    built = read("friction = 0.3\nslip_speed = 0.01\nthickness = 0.001\nk = 5.0").build()
    contact = built.system.contact
    assert (contact.range, contact.friction, contact.slip_speed, contact.k) == (0.002, 0.3, 0.01, 5)
    assert contact.planes[0].normal.tolist() == [0, 1, 0]
    assert len(contact.primitives.triangles) == 8
    assert contact.primitives.loose.tolist() == [0]
    some = read('bodies = ["ball"]\nplanes = [{ point = [0, 1, 0], normal = [0, -2, 0] }]').build()
    assert len(some.system.contact.primitives.points) == 1
    assert some.system.contact.planes[0].normal.tolist() == [0, -1, 0]


@pytest.mark.parametrize(
    ("contact", "message"),
    [
        ('bodies = ["bal"]', "unknown body 'bal'; did you mean 'ball'?"),
        ("friction = -1", "contact.friction"),
        ("thick = 1", "unknown key; did you mean 'thickness'?"),
        ("planes = [{ point = [0, 0, 0], normal = [0, 0, 0] }]", "normal must not be zero"),
        (
            "planes = [{ point = [0, 1, 0], normal = [0, 1, 0] }]",
            "particle 0 of 'ball' and plane 0",
        ),
        ("thickness = 0.5", "bodies in contact must be apart"),
    ],
)
def test_errors_name_the_table_and_its_line(contact, message):
    with pytest.raises(SceneError, match="contact") as caught:
        read(contact).build()
    assert message in str(caught.value)
    assert "line" in str(caught.value)


def test_start_that_intersects_is_an_error_of_the_table():
    text = TEXT.replace(
        "[[0.0, 0.05, 0.0]] }}",
        "[[0.0, 0.05, 0.0], [0.01, 0.01, 0.01]], cells = {{ line = [[0, 1]] }} }}",
    )
    with pytest.raises(SceneError, match=r"contact, line 6: .* passes through the triangle"):
        read(height=0.03, text=text).build()


def test_integrators_that_do_not_test_their_way_are_an_error():
    text = TEXT + '\n[integrator]\nmethod = "VelocityVerlet"\n'
    with pytest.raises(SceneError, match="VelocityVerlet cannot step a system with contact"):
        read(text=text).build()


def test_resolved_scene_has_the_table():
    resolved = scene.read_text(read("friction = 0.3").resolved()).build().system.contact
    assert resolved.friction == 0.3
    assert resolved.range == 0.002


def test_recorded_run_with_contact_resumes_to_the_same_bits(tmp_path):
    loaded = scene.load("ropes", overrides=[("time.duration", 0.12), ("body.rope 4.mesh.n", 12)])
    whole = loaded.record(tmp_path / "whole")
    calls = []

    def stop():
        calls.append(None)
        return len(calls) > 9

    loaded.record(tmp_path / "part", stop=stop)
    built = loaded.build()
    resume(tmp_path / "part", built.system, built.integrator)
    first, second = taut.open_run(tmp_path / "whole"), taut.open_run(tmp_path / "part")
    assert whole.outcome == "finished"
    assert (np.array(first.frames[-1].q) == np.array(second.frames[-1].q)).all()
    assert (np.array(first.frames[-1].v) == np.array(second.frames[-1].v)).all()


OBSTACLES = """
[time]
h = 0.01
duration = 0.05

[contact]
range = 0.002
friction = 0.1
ground = -0.5
{contact}

[[body]]
name = "sheet"
mesh = {{ shape = "sheet", nx = 4, ny = 4, size = 0.2, plane = "xz" }}
pose = {{ translate = [-0.1, {height}, 0.1] }}
mass = 0.01

[[body.law]]
law = "spring"
on = "edges"
k = 50.0

[[body]]
name = "ball"
obstacle = {obstacle}
{more}

[[law]]
law = "gravity"

[[law]]
law = "spring_damping"
on = "edges"
c = 0.01
"""
SPHERE = '{ shape = "sphere", radius = 0.1 }'


def read_obstacle(contact="", height=0.104, obstacle=SPHERE, more=""):
    text = OBSTACLES.format(contact=contact, height=height, obstacle=obstacle, more=more)
    return scene.read_text(text)


@pytest.mark.parametrize(
    "obstacle",
    [
        SPHERE,
        '{ shape = "capsule", ends = [[-1, 0, 0], [1, 0, 0]], radius = 0.1 }',
        '{ shape = "box", size = [0.1, 0.18, 0.1], rotate = [0, 0.3, 0], rounding = 0.01 }',
    ],
)
def test_exact_obstacles_hold_what_falls_on_them(obstacle):
    loaded = read_obstacle(obstacle=obstacle)
    built = loaded.build()
    for state, _ in taut.simulate(built.system, built.integrator, built.h, built.until):
        assert taut.find_intersections(built.system, state) == []
    assert state.q[:25, 1].max() > 0.09
    part = built.bodies[1]
    assert part.render is not None
    again = scene.read_text(loaded.resolved()).build()
    assert (again.system.pose == built.system.pose).all()


def test_obstacle_that_moves_and_turns():
    hold = '[[body.hold]]\nwhere = "all"\nmove = [[0, 0, 0, 0], [1, 0, 2, 0]]\n'
    hold += "rotate = { axis = [0, 1, 0], rate = 3.0 }"
    built = read_obstacle(more=hold).build()
    assert len(built.system.contact.frames) == 1
    for state, _ in taut.simulate(built.system, built.integrator, built.h, built.until):
        assert taut.find_intersections(built.system, state) == []
    np.testing.assert_allclose(state.q[25], [0, 0.1, 0], atol=1e-12)
    assert state.q[:25, 1].max() > 0.2


def test_pairs_and_thickness_by_name():
    pairs = """
thickness = { sheet = 0.001 }
pairs = [{ bodies = ["sheet", "ball"], friction = 0.7 },
    { bodies = ["ground", "sheet"], touch = false }]
"""
    contact = read_obstacle(pairs).build().system.contact
    assert contact.friction_pairs[0].coefficient == 0.7
    assert contact.exempt[0][0].planes.tolist() == [0]
    assert contact.thickness[[0, 25]].tolist() == [0.001, 0.2]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"contact": 'pairs = [{ bodies = ["shet", "ball"], friction = 1 }]'},
            "did you mean 'shee",
        ),
        ({"contact": 'pairs = [{ bodies = ["sheet", "ball"] }]'}, "exactly one of friction, touch"),
        ({"contact": "thickness = { shet = 0.1 }"}, "unknown body 'shet'; did you mean 'sheet'?"),
        ({"contact": 'one_sided = ["sheet"]'}, "'sheet' must be closed and oriented"),
        ({"contact": 'one_sided = ["bll"]'}, "unknown body 'bll'"),
        ({"obstacle": '{ shape = "spher", radius = 1 }'}, "unknown shape 'spher'; did you mean"),
        ({"obstacle": "{ radius = 1 }"}, "the name of the shape is required"),
        ({"obstacle": '{ shape = "sphere", radius = -1 }'}, "radius"),
        ({"more": "mass = 1"}, "an obstacle has a name and holds only, got mass"),
        ({"more": 'mesh = { shape = "sphere", n = 2 }'}, "exactly one of mesh, obstacle"),
        ({"more": "[[body.hold]]\nwhere = [0]"}, "held as a whole"),
        ({"more": '[[body.hold]]\nwhere = "all"\non_line = [0, 1, 0]'}, "move and rotate only"),
        ({"height": 0.09}, "of 'sheet'"),
    ],
)
def test_errors_of_obstacles_and_pairs(options, message):
    with pytest.raises(SceneError) as caught:
        read_obstacle(**options).build()
    assert message in str(caught.value)


def test_start_that_intersects_is_untangled_on_request():
    built = read_obstacle("untangle = true", height=0.095).build()
    assert taut.find_intersections(built.system) == []
    assert any("particles were moved" in note for note in built.notes)


def test_stitched_sheets_do_not_repel_each_other_at_their_seam():
    text = OBSTACLES.split('[[body]]\nname = "ball"')[0].format(contact="", height=0.0)
    text += """
[[body]]
name = "other"
mesh = { shape = "sheet", nx = 4, ny = 4, size = 0.2, plane = "xz" }
pose = { translate = [0.1, 0.0, 0.1] }
mass = 0.01

[[stitch]]
bodies = ["sheet", "other"]
where = ["x == max", "x == min"]
k = 100.0
"""
    built = scene.read_text(text).build()
    assert built.system.V_by_law(built.system.initial_state())["contact"] == 0.0
