"""`render`: readable files, frames at their times, existing files kept."""

import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest
from PIL import Image

import taut
from taut.errors import MissingExtra, ModelError, RunError
from taut.run.open_run import open_run
from taut.run.record import record
from taut.show.colours import colour_table, parse_colour
from taut.show.render import _opengl, render
from taut.show.render._cameras import frame_points, measure_run
from taut.show.render._canvas import BACKGROUND, Canvas
from taut.show.visual_model import model_from_run
from tests.show.render.runs import HANGING, hanging

SMALL = (160, 120)


def pixels(path):
    """A picture as an array, (height, width, 3)."""
    with Image.open(path) as image:
        return np.asarray(image.convert("RGB")).astype(int)


def body(picture):
    """Where a picture is not grey: a body, a mark, a colour bar."""
    return np.ptp(picture, axis=-1) > 25


def test_a_png_shows_the_last_frame(hanging_run, tmp_path):
    made = render(hanging_run, tmp_path / "a.png", size=SMALL)
    assert made.frames == (20,)
    with Image.open(made.path) as image:
        assert (image.size, image.format) == (SMALL, "PNG")
    picture = pixels(made.path)
    seen = body(picture)
    assert 0.05 < seen.mean() < 0.7
    assert not seen[[0, -1]].any()  # all of the run is in the picture, with a margin
    assert not seen[:, [0, -1]].any()
    corners = picture[[0, 0, -1, -1], [0, -1, 0, -1]]
    assert (corners == parse_colour(BACKGROUND)).all()
    first = render(hanging_run, tmp_path / "b.png", size=SMALL, frame=0)
    assert first.frames == (0,)
    # it hangs in the plane z = 0 and is seen from the front: the picture is as the projection of
    # frame 0 and 20 says
    with open_run(hanging_run) as run:
        every = np.concatenate([frame.q for frame in run.frames])
        camera = frame_points(every, 0.0, 0.0, aspect=SMALL[0] / SMALL[1])
        for path, frame in ((first.path, run.frames[0]), (made.path, run.frames[20])):
            rows = np.flatnonzero(body(pixels(path)).any(axis=1))
            corners = camera.project(frame.q, SMALL)
            assert abs(rows[-1] - corners[:, 1].max()) <= 2
            assert abs(rows[0] - corners[:, 1].min()) <= 2


def test_the_colour_bar_and_its_range(hanging_run, tmp_path):
    made = render(hanging_run, tmp_path / "a.png", size=(320, 240), colour="speed")
    with open_run(hanging_run) as run:
        fastest = max(np.linalg.norm(frame.v, axis=1).max() for frame in run.frames)
    assert (made.quantity, made.unit, made.low, made.high) == ("speed", "m/s", 0.0, fastest)
    picture = pixels(made.path)
    colours = colour_table("sequential", n=120).astype(int)
    columns = [
        x for x in range(240, 320) if np.abs(picture[62:178, x] - colours[::-1][2:-2]).max() <= 1
    ]  # within its frame
    assert len(columns) >= 5
    strain = render(hanging_run, tmp_path / "b.png", size=SMALL, colour="strain")
    assert strain.low == -strain.high
    assert strain.unit == ""


def test_a_gif_plays_in_simulated_time(hanging_run, tmp_path):
    progress = []
    made = render(
        hanging_run,
        tmp_path / "a.gif",
        size=SMALL,
        fps=10,
        tell=lambda *what: progress.append(what),
    )
    assert made.frames == (0, 5, 10, 15, 20)  # frames are 0.02 s apart, pictures 0.1 s
    total, shown = 0, []
    with Image.open(made.path) as image:
        assert (image.format, image.size, image.n_frames, image.info["loop"]) == (
            "GIF",
            SMALL,
            5,
            0,
        )
        for k in range(image.n_frames):
            image.seek(k)
            total += image.info["duration"]
            shown.append(np.asarray(image.convert("RGB")).astype(int))
    assert total == 500
    assert all((a != b).any() for a, b in pairwise(shown))
    assert progress[0] == ("measuring", 1, 21)
    assert progress[-1] == ("drawing", 5, 5)
    with Image.open(render(hanging_run, tmp_path / "d.gif", size=SMALL, fps=8).path) as image:
        durations = []
        for k in range(image.n_frames):
            image.seek(k)
            durations.append(image.info["duration"])
    assert durations == [120, 130, 130, 120]  # whole hundredths of a second that add up to 4/8 s
    slow = render(hanging_run, tmp_path / "b.gif", size=SMALL, fps=10, speed=0.5)
    assert slow.frames == (0, 2, 5, 7, 10, 12, 15, 17, 20)
    assert render(hanging_run, tmp_path / "c.gif", size=SMALL, every=10).frames == (0, 10, 20)


def test_an_mp4_plays_in_simulated_time(hanging_run, tmp_path):
    ffmpeg = pytest.importorskip("imageio_ffmpeg", reason="videos need the extra render")
    made = render(hanging_run, tmp_path / "a.mp4", size=SMALL, fps=25, colour="strain")
    count, seconds = ffmpeg.count_frames_and_secs(str(made.path))
    assert (count, len(made.frames)) == (11, 11)
    assert seconds == pytest.approx(11 / 25, abs=0.011)  # ffmpeg reports hundredths
    reader = ffmpeg.read_frames(str(made.path))
    metadata = next(reader)
    assert (metadata["size"], metadata["fps"], metadata["codec"]) == (SMALL, 25.0, "h264")
    picture = np.frombuffer(next(reader), np.uint8).reshape(SMALL[1], SMALL[0], 3).astype(int)
    reader.close()
    assert (
        np.abs(picture[:3, :3] - parse_colour(BACKGROUND)).max() <= 6
    )  # compressed, but the same colours
    assert body(picture).mean() > 0.01


def test_turntable_and_follow(hanging_run, monkeypatch, tmp_path):
    cameras = []
    real = Canvas.draw
    monkeypatch.setattr(
        Canvas, "draw", lambda self, camera: cameras.append(camera) or real(self, camera)
    )
    render(hanging_run, tmp_path / "a.mp4", size=SMALL, every=5, turntable=360.0)
    directions = np.array([camera.eye - camera.target for camera in cameras])
    azimuth = np.unwrap(np.arctan2(directions[:, 0], directions[:, 2]))
    np.testing.assert_allclose(np.diff(azimuth), 2 * np.pi / 5, rtol=1e-9)
    with open_run(hanging_run) as run:
        every = np.concatenate([frame.q for frame in run.frames])
        for camera in cameras:
            seen = camera.project(every, SMALL)
            assert ((seen > 0) & (seen < SMALL)).all()
        cameras.clear()
        render(hanging_run, tmp_path / "b.mp4", size=SMALL, every=5, follow=True)
        middles = [
            camera.project(run.frames[i].q.mean(axis=0)[None], SMALL)
            for i, camera in zip(range(0, 21, 5), cameras, strict=True)
        ]
    np.testing.assert_allclose(np.array(middles) - middles[0], 0.0, atol=1e-9)
    assert (
        np.ptp([camera.eye[1] for camera in cameras]) > 0.05
    )  # the sheet stretches under its weight


def test_marks_of_held_points_vanish_when_the_hold_ends(tmp_path):
    hanging(
        tmp_path / "run", HANGING.replace('where = "y == max"', 'where = "y == max"\nuntil = 0.2')
    )
    with open_run(tmp_path / "run") as run:
        assert model_from_run(run).until.tolist() == [0.2] * 7
        red = []
        for i in (9, 10):
            picture = pixels(
                render(run, tmp_path / f"{i}.png", size=SMALL, frame=i, held=True).path
            )
            red.append(int((picture[..., 0] > 2 * picture[..., 2]).sum()))
        plain = pixels(render(run, tmp_path / "plain.png", size=SMALL, frame=9).path)
    assert red[0] >= 7  # a pixel and more for each of seven
    assert red[1] == 0
    assert int((plain[..., 0] > 2 * plain[..., 2]).sum()) == 0  # no marks unless they are wanted


def test_a_contact_sheet_has_the_frames_in_rows(tmp_path):
    hanging(tmp_path / "run", HANGING)
    with open_run(tmp_path / "run") as run:
        path = tmp_path / "sheet.png"
        drawn = render(run, path, size=(322, 202), sheet=(2, 2), every=None)
        found = pixels(drawn.path)
        assert found.shape[:2] == (202, 322)
        last = len(run.frames) - 1
        assert (drawn.frames[0], drawn.frames[-1], len(drawn.frames)) == (0, last, 4)
        tiles = [found[y : y + 100, x : x + 160].astype(int) for y in (0, 102) for x in (0, 162)]
        for k, frame in enumerate(drawn.frames):
            whole = pixels(render(run, tmp_path / f"{k}.png", size=(160, 100), frame=frame).path)
            # the same picture above the time stamp
            np.testing.assert_array_equal(tiles[k][:80], whole[:80])
        assert (tiles[0] != tiles[3]).any()
        assert (found[100:102] == 255).all()
        with pytest.raises(ModelError, match="a sheet must have 1 to 32 columns and rows"):
            render(run, tmp_path / "x.png", sheet=(0, 2))
        with pytest.raises(ModelError, match="a sheet needs a picture"):
            render(run, tmp_path / "x.gif", sheet=(2, 2))


def test_an_embedded_mesh_is_drawn_and_coloured(tmp_path):
    solid = HANGING.replace(
        'mesh = { shape = "sheet", nx = 6, ny = 6, size = 1.0 }',
        'mesh = { shape = "block", nx = 2, ny = 2, nz = 2 }',
    )
    solid = solid.replace(
        "density = 0.2",
        "density = 0.2\n"
        'render = { shape = "sphere", n = 4, radius = 0.4, translate = [0.5, 0.5, 0.5] }',
    )
    hanging(tmp_path / "run", solid.replace("duration = 0.4", "duration = 0.1"))
    with open_run(tmp_path / "run") as run:
        fastest = max(np.linalg.norm(frame.v, axis=1).max() for frame in run.frames)
        for colour, unit in (("stress", "Pa"), ("speed", "m/s"), ("strain", ""), ("gravity", "J")):
            made = render(run, tmp_path / f"{colour}.png", size=SMALL, colour=colour)
            assert made.unit == unit
            assert made.high > made.low
            if colour == "speed":
                assert (
                    0 < made.high < fastest
                )  # the ball is inside the block, whose lowest corners are fastest
    assert body(pixels(tmp_path / "speed.png")).mean() > 0.1


def test_a_run_without_a_scene_shows_particles(tmp_path):
    ball = taut.System(
        [[0, 1, 0], [0, 2, 0], [0.5, 1, 0.2]], mass=1.0, energies=[taut.laws.gravity()]
    )
    record(tmp_path / "run", ball, taut.ImplicitEuler(), h=0.1, until=0.2)
    assert body(pixels(render(tmp_path / "run", tmp_path / "a.png", size=SMALL).path)).sum() > 20
    with pytest.raises(RunError, match="without a scene"):
        render(tmp_path / "run", tmp_path / "b.png", colour="gravity")


def test_existing_files_are_replaced_only_with_overwrite(hanging_run, tmp_path, monkeypatch):
    path = tmp_path / "a.png"
    path.write_text("mine")
    with pytest.raises(ModelError, match="exists already"):
        render(hanging_run, path, size=SMALL)
    assert path.read_text() == "mine"
    render(hanging_run, path, size=SMALL, overwrite=True)
    assert pixels(path).shape == (*SMALL[::-1], 3)
    for name in ("b.gif", "b.mp4"):
        path = tmp_path / name
        path.write_text("mine")

        def fails(self, camera):
            raise OSError(28, "No space left on device")

        with monkeypatch.context() as patch:
            patch.setattr(Canvas, "draw", fails)
            with pytest.raises((RunError, OSError), match=r"(?i)no space left"):
                render(hanging_run, path, size=SMALL, overwrite=True)
        assert path.read_text() == "mine"
    assert not list(tmp_path.glob(".taut-*"))
    with pytest.raises(ModelError, match="no folder"):
        render(hanging_run, tmp_path / "none/a.png")


LIMITED = """
import resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))
from taut.show.render._files import write_mp4, write_gif, write_png
from taut.errors import RunError
from pathlib import Path
import numpy as np
noise = np.random.default_rng(1).integers(0, 256, (8, 120, 160, 3), dtype=np.uint8)
for write in (
    lambda path: write_mp4(path, noise, (160, 120), 10),
    lambda path: write_gif(path, noise, noise, 10, np.empty((0, 3), np.uint8)),
    lambda path: write_png(path, noise[0]),
):
    try:
        write(Path(sys.argv[1]))
    except RunError as error:
        print(error)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="the platform has no file size limit")
def test_a_full_disk_leaves_the_old_file(tmp_path):
    pytest.importorskip("imageio_ffmpeg", reason="videos need the extra render")
    (tmp_path / "a.mp4").write_text("mine")
    run = subprocess.run(
        [sys.executable, "-c", LIMITED, tmp_path / "a.mp4"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout.count("cannot write a.mp4") == 3
    assert [path.name for path in tmp_path.iterdir()] == ["a.mp4"]
    assert (tmp_path / "a.mp4").read_text() == "mine"


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("a.jpg", {}, "must be one of .png, .gif, .mp4, got '.jpg'"),
        ("a.png", {"size": (0, 10)}, "from 64 to 8192 pixels, got 0x10"),
        ("a.png", {"size": (100_000, 100)}, "from 64 to 8192"),
        ("a.mp4", {"size": (161, 120)}, "even, got 161x120"),
        ("a.png", {"frame": 21}, "frame must be from 0 to 20, .* got 21"),
        ("a.gif", {"frame": 1}, "frame needs a picture"),
        ("a.png", {"speed": 2.0}, "need a video"),
        ("a.gif", {"every": 2, "speed": 2.0}, "exclude each other"),
        ("a.gif", {"every": 0}, "every must be 1 or more, got 0"),
        ("a.gif", {"speed": -1.0}, "speed must be positive and finite, got -1"),
        ("a.gif", {"speed": 1e-9}, "at most 100,000"),
        ("a.gif", {"fps": 60.0}, "at most 50, got 60"),
        ("a.mp4", {"fps": float("nan")}, "fps must be positive"),
        ("a.gif", {"turntable": float("inf")}, "turntable must be a finite angle"),
        (
            "a.png",
            {"camera": "frnt"},
            "unknown camera 'frnt'; choose one of .*; did you mean 'front'",
        ),
        (
            "a.png",
            {"colour": "sped"},
            "unknown colour 'sped'; choose one of .*; did you mean 'speed'",
        ),
    ],
)
def test_invalid_options_are_rejected(hanging_run, tmp_path, name, options, words):
    with pytest.raises(ModelError, match=words):
        render(hanging_run, tmp_path / name, **{"size": SMALL, **options})
    assert list(tmp_path.iterdir()) == []


def test_missing_run_and_missing_frames_raise(hanging_run, tmp_path):
    with pytest.raises(RunError):
        render(tmp_path, tmp_path / "a.png")
    with open_run(hanging_run) as run:
        run.frames = run.frames[:0]
        with pytest.raises(RunError, match="no frames"):
            render(run, tmp_path / "a.png")


def test_missing_packages_and_drivers_are_named(hanging_run, tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "pyvista", None)
        with pytest.raises(MissingExtra, match=r"pip install 'taut\[render\]'"):
            render(hanging_run, tmp_path / "a.png")
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "imageio_ffmpeg", None)
        with pytest.raises(MissingExtra, match=r"pip install 'taut\[render\]'"):
            render(hanging_run, tmp_path / "a.mp4")

    class vtkOSOpenGLRenderWindow:  # noqa: N801
        """The fallback of VTK, which crashes."""

    class Plotter:
        def __init__(self, **options):
            self.render_window = vtkOSOpenGLRenderWindow()

        def close(self):
            pass

    monkeypatch.setattr("pyvista.Plotter", Plotter)
    monkeypatch.setattr(_opengl, "_can_load", lambda library: False)
    with pytest.raises(MissingExtra, match="neither a driver for EGL nor OSMesa"):
        render(hanging_run, tmp_path / "a.png")
    assert list(tmp_path.iterdir()) == []


def test_a_hostile_title_is_drawn_as_text(hanging_run, tmp_path):
    from taut.show.render._legend import add_colour_bar

    blank = np.full((240, 320, 3), 244, np.uint8)
    drawn = add_colour_bar(blank, "x" * 500 + "\x1b[31m\n\0", "J", -1e300, 1e300, "diverging")
    assert drawn.shape == blank.shape
    assert (drawn != blank).any()


def test_the_camera_frames_the_main_body_and_not_a_bit_that_has_fallen_off(tmp_path):
    """A sheet that is held, and a triangle that falls by 19.6 m in 2 s: the sheet stays large."""
    sheet = taut.mesh.sheet(6, 6)
    points = np.vstack([sheet.points, [[0.2, 0.2, 0.5], [0.4, 0.2, 0.5], [0.3, 0.4, 0.5]]])
    cells = {"quad": sheet.cells["quad"], "triangle": [[49, 50, 51]]}
    taut.mesh.write(taut.mesh.Mesh(points, cells), tmp_path / "two.vtu")
    loaded = taut.scene.load(
        tmp_path / "two.vtu", loose=True, overrides=[("time.duration", 2.0), ("time.h", 0.1)]
    )
    loaded.record(tmp_path / "run")
    with open_run(tmp_path / "run") as run:
        assert run.frames[-1].q[49, 1] < -15.0
        extent = measure_run(run, model_from_run(run), None, lambda *_: None)
    framed = np.concatenate(extent.extreme_points)
    assert framed[:, 1].min() > -2.5
    assert extent.centroids[-1][1] > 0.0
