"""Contact in a real browser: a cloth is dragged over a sphere, and nothing passes through."""

import numpy as np
import pytest

from taut.collision.intersections import find_intersections
from taut.scene import load, read_text
from taut.show.view.viewer import view_scene
from tests.show.view.browser import open_page, until

BALL = """
title = "A ball on the ground"
[time]
h = 0.01
duration = 1.0
[contact]
ground = -0.3
[[body]]
name = "ball"
mesh = { shape = "sphere", n = 2, radius = 0.1 }
mass = 0.01
[[body.law]]
law = "spring"
on = "edges"
k = 200.0
[[body.law]]
law = "spring_damping"
on = "edges"
c = 0.2
[[law]]
law = "gravity"
"""


def small_drape():
    changes = [("body.cloth.mesh.nx", 8), ("body.cloth.mesh.ny", 8), ("body.ball.mesh.n", 3)]
    return load("drape", overrides=changes)


def assert_apart(live, q):
    parts = live.sliders.system.contact.primitives
    assert not len(find_intersections(np.array(q), parts.edges, parts.triangles))


def nearest_to_camera(viewer, particles):
    """Return which of the particles is nearest to the camera of the only client."""
    eye = next(iter(viewer.server.viser.get_clients().values())).camera.position
    q = viewer.source.newest.q[particles]
    return int(particles[np.argmin(np.linalg.norm(q - eye, axis=1))])


def drag_on_page(viewer, page, particle, way):
    """Press on a particle and move by `way` pixels right and down; the button stays pressed."""
    page.holds(viewer.model.pieces[0], viewer.source.newest.q)
    camera = next(iter(viewer.server.viser.get_clients().values())).camera
    (x, y), _ = page.at(camera, viewer.source.newest.q[particle])
    mouse = page.page.mouse
    mouse.move(x, y)
    mouse.down()
    for part in (0.2, 0.6, 1.0):
        mouse.move(x + part * way[0], y + part * way[1], steps=2)


@pytest.fixture
def open_viewer(chromium):
    """Open a viewer of a scene, its page, and wait until the page has reported its camera."""
    opened = []

    def open_one(scene):
        viewer = view_scene(scene, port=0)
        context = open_page(chromium, viewer.url)
        opened.append((viewer, context))
        page = context.__enter__()
        page.holds(viewer.model.pieces[0], viewer.source.newest.q)
        until(lambda: len(viewer.server.viser.get_clients()) == 1, "the page has no camera")
        return viewer, page

    yield open_one
    for viewer, context in opened:
        context.__exit__(None, None, None)
        viewer.close()


def test_a_cloth_is_dragged_over_a_sphere(open_viewer):
    viewer, page = open_viewer(small_drape())
    live = viewer.source
    live.set_speed(100.0)
    live.play()
    live.wait(lambda now: now.step >= 20)
    live.pause()
    live.wait(lambda now: not now.playing)
    page.page.get_by_text("Contact forces", exact=True).click()
    until(lambda: viewer.graph.visible["contact forces"], "the checkbox has not acted")
    particle = nearest_to_camera(viewer, np.arange(81).reshape(9, 9)[1:-1, 1:-1].ravel())
    drag_on_page(viewer, page, particle, (-160, -60))  # across the sphere
    assert [i for i, _ in live.wait(lambda now: bool(now.drags)).drags] == [particle]
    start, q = live.newest.step, np.array(live.newest.q)
    for step in range(start + 1, start + 31):
        live.step()
        now = live.wait(lambda now, step=step: now.step >= step or bool(now.error))
        assert not now.error
        assert_apart(live, now.q)
    assert np.linalg.norm(now.q[particle] - q[particle]) > 0.05
    page.page.mouse.up()
    live.wait(lambda now: not now.drags)
    assert viewer.graph.arrows.limit > 0
    page.holds(viewer.model.pieces[0], live.newest.q)
    assert page.errors == []


def test_a_ball_is_thrown_and_stays_above_the_ground(open_viewer):
    viewer, page = open_viewer(read_text(BALL))
    live = viewer.source
    ground = viewer.graph.ground
    assert (ground.is_real, ground.height) == (True, -0.3)
    live.set_speed(100.0)
    drag_on_page(viewer, page, nearest_to_camera(viewer, np.arange(len(live.newest.q))), (120, 40))
    live.wait(lambda now: bool(now.drags))
    live.play()
    live.wait(lambda now: now.step >= 15)
    page.page.mouse.up()
    now = live.wait(lambda now: not now.drags)
    assert live._state.v.mean(axis=0)[0] > 0.1  # [m/s]: it flies on to the right
    now = live.wait(lambda now, n=now.step: now.step >= n + 60 or bool(now.error))
    assert not now.error
    assert now.q[:, 1].min() > -0.3
    assert_apart(live, now.q)
    assert page.errors == []
