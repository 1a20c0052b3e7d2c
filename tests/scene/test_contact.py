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
