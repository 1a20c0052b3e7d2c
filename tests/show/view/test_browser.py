"""A live simulation in a real browser, which holds the simulated positions bit by bit."""

import io

import numpy as np
import pytest

from taut.show.view.viewer import view_scene
from tests.show.view.browser import open_page, until
from tests.show.view.scenes import cloth


@pytest.fixture(scope="module")
def live(chromium):
    """A viewer of the small cloth, and its page."""
    with view_scene(cloth(), port=0) as viewer, open_page(chromium, viewer.url) as page:
        page.holds(viewer.model.pieces[0], viewer.source.newest.q)
        until(
            lambda: len(viewer.server.viser.get_clients()) == 1,
            "the page has not reported its camera",
        )
        yield viewer, page


@pytest.fixture
def begun(live):
    """The same, reset and paused."""
    viewer, page = live
    epoch = viewer.source.newest.epoch
    viewer.source.reset()
    viewer.source.wait(lambda now: now.epoch > epoch)
    yield viewer, page
    viewer.source.pause()
    assert page.errors == []


def press(page, name):
    page.page.get_by_role("button", name=name, exact=True).click()


def test_the_picture_shows_the_body(begun):
    image = pytest.importorskip("PIL.Image", reason="pillow is not installed")
    viewer, page = begun
    page.holds(viewer.model.pieces[0], viewer.source.newest.q)

    def coloured():
        box = page.page.locator("canvas").first.bounding_box()
        pixels = np.asarray(
            image.open(io.BytesIO(page.page.screenshot(clip=box))).convert("RGB"), dtype=np.int64
        )
        return (
            (pixels[:, :, 2] - pixels[:, :, 0]) > 40
        ).mean() > 0.02  # the body is blue, the ground is grey

    until(coloured, "the canvas shows no body")


def test_after_play_the_browser_holds_the_state(begun):
    viewer, page = begun
    press(page, "Play")
    viewer.source.wait(lambda now: now.step >= 10)
    press(page, "Pause")
    now = viewer.source.wait(lambda now: not now.playing)
    assert np.abs(now.q - viewer.source.initial_state.q).max() > 1e-3
    page.holds(viewer.model.pieces[0], viewer.source.newest.q)


def test_after_a_slider_the_browser_holds_the_state(begun):
    viewer, page = begun
    slider = page.slider("Gravity [m/s²]")
    slider.press("Home")
    until(lambda: viewer.source._commands.sliders.gravity == 0.0, "the slider has not acted")
    press(page, "Step")
    weightless = viewer.source.wait(lambda now: now.step == 1)
    assert np.array_equal(
        weightless.q, viewer.source.initial_state.q
    )  # hanging at rest, and nothing pulls
    slider.press("End")
    until(lambda: viewer.source._commands.sliders.gravity == 30.0, "the slider has not acted")
    press(page, "Step")
    heavy = viewer.source.wait(lambda now: now.step == 2)
    free = np.setdiff1d(np.arange(len(heavy.q)), heavy.held)
    assert (heavy.q[free, 1] < weightless.q[free, 1]).all()
    page.holds(viewer.model.pieces[0], heavy.q)
    viewer.source.set_sliders(gravity=viewer.source.sliders.initial.gravity)


def on_page(viewer, page, particle):
    """The position of a particle on the page, and the vectors of one pixel right and down there."""
    page.holds(viewer.model.pieces[0], viewer.source.newest.q)
    camera = next(iter(viewer.server.viser.get_clients().values())).camera
    return page.at(camera, viewer.source.newest.q[particle])


def test_a_dragged_point_follows_the_pointer(begun):
    viewer, page = begun
    source, mouse, particle = viewer.source, page.page.mouse, 40
    (x, y), (right, down) = on_page(viewer, page, particle)
    source.set_sliders(gravity=0.0)
    source.play()
    mouse.move(x, y)
    mouse.down()
    mouse.move(x + 20, y - 10, steps=3)
    mouse.move(x + 40, y - 20, steps=3)
    target = source.initial_state.q[particle] + 40 * right - 20 * down
    way = np.linalg.norm(40 * right - 20 * down)
    assert way > 0.02

    def aimed(now):  # within a pixel: the browser takes whole ones
        return [i for i, _ in now.drags] == [particle] and np.linalg.norm(
            now.drags[0][1] - target
        ) < np.linalg.norm(right)

    source.wait(aimed)
    source.wait(lambda now: np.linalg.norm(now.q[particle] - target) < 0.5 * way)
    report = source.newest.report
    assert report.residual <= report.limit
    source.pause()
    source.wait(lambda now: not now.playing)
    mouse.up()
    source.wait(lambda now: not now.drags)
    page.holds(viewer.model.pieces[0], source.newest.q)
    source.set_sliders(gravity=source.sliders.initial.gravity)


def test_a_click_pins_a_point_and_another_releases_it(begun):
    viewer, page = begun
    particle = 40
    (x, y), _ = on_page(viewer, page, particle)
    page.page.mouse.click(x, y)
    assert particle in viewer.source.wait(lambda now: particle in now.held).held
    page.page.mouse.click(x, y)
    assert particle not in viewer.source.wait(lambda now: particle not in now.held).held


def test_a_recording_is_a_page_that_works_offline(begun, chromium, tmp_path):
    viewer, page = begun
    press(page, "Start recording")
    until(lambda: viewer.panel.record_button.label == "Save recording", "no recording has begun")
    viewer.source.play()
    viewer.source.wait(lambda now: now.step >= 8)
    viewer.source.pause()
    now = viewer.source.wait(lambda now: not now.playing)
    page.holds(viewer.model.pieces[0], now.q)
    with page.page.expect_download() as waiting:
        press(page, "Save recording")
    file = tmp_path / "saved.html"
    waiting.value.save_as(file)
    assert waiting.value.suggested_filename == "a-small-cloth.html"
    with open_page(chromium, file.as_uri(), offline=True) as saved:
        saved.holds(viewer.model.pieces[0], now.q)
        assert saved.page.title() == "A small cloth"
        assert saved.errors == []
