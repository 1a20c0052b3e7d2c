"""Runs, saved pages and tokens in a real browser."""

import numpy as np

from taut.run.open_run import open_run
from taut.show.view.saving import save_run
from taut.show.view.viewer import view_run, view_scene
from taut.show.visual_model import model_from_run
from tests.show.view.browser import open_page, until
from tests.show.view.scenes import CLOTH, cloth, record_scene


def test_after_scrubbing_a_replay_the_browser_holds_the_frame(chromium, tmp_path):
    folder = record_scene(tmp_path / "run")
    with (
        view_run(folder, port=0) as viewer,
        open_page(chromium, viewer.url) as page,
        open_run(folder) as run,
    ):
        piece = viewer.model.pieces[0]
        page.holds(piece, run.frames[0].q)
        slider = page.slider("Frame")
        slider.press("End")
        viewer.source.wait(lambda now: now.frame == len(run.frames) - 1)
        page.holds(piece, run.frames[-1].q)
        for _ in range(3):
            slider.press("ArrowLeft")
        viewer.source.wait(lambda now: now.frame == len(run.frames) - 4)
        page.holds(piece, run.frames[len(run.frames) - 4].q)
        assert page.errors == []


def test_all_points_can_be_released_and_held_again(chromium, tmp_path):
    folder = record_scene(
        tmp_path / "run",
        CLOTH.replace('where = "y == max"', 'where = "y == max"\nuntil = 0.1').replace(
            "0.3", "0.2"
        ),
    )
    with (
        view_run(folder, port=0) as viewer,
        open_page(chromium, viewer.url) as page,
        open_run(folder) as run,
    ):
        piece = viewer.model.pieces[0]
        for frame, held in ((0, 9), (len(run.frames) - 1, 0), (1, 9)):
            viewer.source.seek(frame)
            assert len(viewer.source.wait(lambda now, frame=frame: now.frame == frame).held) == held
            page.holds(piece, run.frames[frame].q)
            assert len(viewer.graph._held.batched_positions) == held
        assert page.errors == []


def test_a_saved_run_shows_its_frames_from_the_disk(chromium, tmp_path):
    folder = record_scene(tmp_path / "run", CLOTH.replace("0.3", "0.1"), every=5)
    count = save_run(folder, tmp_path / "run.html")
    with (
        open_page(chromium, (tmp_path / "run.html").as_uri(), offline=True) as page,
        open_run(folder) as run,
    ):
        piece = model_from_run(run).pieces[0]
        frames = [piece.positions(frame.q).astype(np.float32).tobytes() for frame in run.frames]
        assert count == len(frames) == 3

        # it loops: every state shown is a frame, eventually the last one
        def at_end():
            now = page.vertices(piece.triangles, piece.mesh.n)
            return now is not None and frames.index(now.tobytes()) == 2

        until(at_end, "the last frame was not seen")
        assert page.errors == []


def test_beyond_this_machine_the_page_needs_its_token(chromium):
    with view_scene(cloth(), host="0.0.0.0", port=0) as viewer:
        here = viewer.url.replace(f"//{viewer.url.split('/')[2].split(':')[0]}:", "//127.0.0.1:")
        with open_page(chromium, here) as page:
            page.holds(viewer.model.pieces[0], viewer.source.newest.q)
            assert page.errors == []
        context = chromium.new_context()
        answer = context.new_page().goto(here.partition("?")[0])
        assert answer.status == 403
        context.close()
