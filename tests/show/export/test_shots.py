"""Frames of a shot: the same motion at 24, 25 and 30 fps, exact where it was solved."""

import struct

import numpy as np
import pytest

import taut
from taut.errors import SceneError
from taut.run.sampling import SampledFrames
from taut.scene import read_text
from taut.show.export import export
from taut.show.shot import find_shot

THROWN = """
[time]
TIME
[integrator]
method = "ImplicitMidpoint"
[[body]]
name = "ball"
mesh = { points = [[0, 0, 0], [0, 1, 0]] }
mass = 1.0
velocity = { linear = [1.0, 5.0, 0.0] }
[[law]]
law = "gravity"
"""


def thrown(t):
    """Positions of both particles at a time [m]."""
    return np.array([[t, 5 * t - 9.81 / 2 * t * t + y, 0] for y in (0, 1)])


def read_pc2(path):
    data = path.read_bytes()
    _, _, n, _, sampling, samples = struct.unpack_from("<12siiffi", data)
    return sampling, np.frombuffer(data, "<f4", offset=32).reshape(samples, n, 3)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """A run of 1 s with 50 frames per second, without a shot."""
    folder = tmp_path_factory.mktemp("thrown") / "run"
    read_text(THROWN.replace("TIME", "h = 0.01\nduration = 1.0\n[output]\nevery = 2")).record(
        folder
    )
    return folder


@pytest.mark.parametrize("fps", [24, 25, 30, 23.976])
def test_resampled_motion_is_that_of_the_ball(recorded, tmp_path, fps):
    """A cubic reproduces a parabola: all frames are exact, in files of single precision."""
    done = export(recorded, tmp_path / "x.pc2", fps=fps)
    sampling, x = read_pc2(done.files[0])
    assert (sampling, len(x), done.fps) == (1.0, int(fps) + 1, fps)
    assert done.numbers == (1, int(fps) + 1)
    for i, found in enumerate(x):
        np.testing.assert_allclose(found, thrown(i / fps), rtol=0, atol=4e-7)


def test_usd_plays_at_the_true_speed(recorded, tmp_path):
    usd = pytest.importorskip("pxr.Usd", reason="usd-core is not installed")
    geom = pytest.importorskip("pxr.UsdGeom")
    for options in ({}, {"fps": 30}):
        path = tmp_path / f"{len(options)}.usdc"
        export(recorded, path, **options)
        stage = usd.Stage.Open(str(path))
        rate = stage.GetTimeCodesPerSecond()
        assert rate == options.get("fps", 24)
        points = geom.Points(stage.GetPrimAtPath("/World/ball"))
        for seconds in (0.0, 0.5, 1.0):
            found = points.GetPointsAttr().Get(1 + seconds * rate)
            np.testing.assert_allclose(found, thrown(seconds), rtol=0, atol=4e-7)
        np.testing.assert_allclose(
            points.GetVelocitiesAttr().Get(1 + rate), [[1.0, 5 - 9.81, 0]] * 2, rtol=0, atol=1e-6
        )


def test_recorded_frames_keep_their_bits(recorded):
    with taut.open_run(recorded) as run:
        samples = SampledFrames(run, np.arange(26) / 25)
        assert samples.is_recorded.all()
        for i, frame in enumerate(samples):
            assert frame.q.tobytes() == run.frames[2 * i].q.tobytes()


def test_error_of_the_interpolation_has_fourth_order(tmp_path):
    """On a circle, against the exact motion; the velocity has third order."""
    errors = []
    times = np.linspace(0, 1, 101)
    for every in (8, 4):
        text = THROWN.replace(
            "TIME", f"h = 0.00125\nduration = 1.0\n[output]\nevery = {10 * every}"
        )
        text = text.replace('[[law]]\nlaw = "gravity"\n', "")
        text += '[[body.hold]]\nwhere = "points"\nrotate = { axis = [0, 0, 1], rate = 3.0 }\n'
        text = text.replace('where = "points"', 'where = "all"')
        folder = tmp_path / f"run{every}"
        read_text(text.replace("velocity = { linear = [1.0, 5.0, 0.0] }", "")).record(folder)
        with taut.open_run(folder) as run:
            c = run.frames[0].q.mean(axis=0)[:2]
            x = np.array([frame.q[0, :2] for frame in SampledFrames(run, times)])
        start = np.array([0.0, 0.0]) - c
        exact = np.column_stack(
            [
                np.cos(3 * times) * start[0] - np.sin(3 * times) * start[1],
                np.sin(3 * times) * start[0] + np.cos(3 * times) * start[1],
            ]
        )
        errors.append(np.abs(x - c - exact).max())
    assert errors[0] < 3e-5
    assert 12 < errors[0] / errors[1] < 20


@pytest.mark.parametrize(
    ("time", "h", "until", "every", "numbers"),
    [
        ("fps = 24\nframes = [1, 13]\nsubsteps = 3", 1 / 72, 0.5, 3, (1, 13)),
        ("fps = 25\nframes = [101, 111]\nh = 0.015", 1 / 75, 0.4, 3, (101, 111)),
        ("fps = 30\nduration = 0.41\nh = 1", 1 / 30, 13 / 30, 1, (1, 14)),
        ("fps = 24\nframes = [1, 5]\nsubsteps = 4\n[output]\nevery = 1", 1 / 96, 1 / 6, 1, (1, 5)),
    ],
)
def test_scene_of_a_shot(tmp_path, time, h, until, every, numbers):
    scene = read_text(THROWN.replace("TIME", time))
    built = scene.build()
    assert (built.h, built.until) == pytest.approx((h, until), rel=1e-14)
    assert built.every == every
    again = read_text(scene.resolved()).build()
    assert (again.h, again.until, again.every) == (built.h, built.until, built.every)
    scene.record(tmp_path / "run")
    done = export(tmp_path / "run", tmp_path / "x.obj")
    assert done.numbers == numbers
    assert done.files[0].name == f"x_{numbers[0]:04}.obj"
    assert done.frames == numbers[1] - numbers[0] + 1
    with taut.open_run(tmp_path / "run") as run:
        shot = find_shot(run)
        times = shot.times(np.arange(numbers[0], numbers[1] + 1))
        assert SampledFrames(run, times).is_recorded.all()


@pytest.mark.parametrize(
    ("time", "message"),
    [
        ("h = 0.1\nduration = 1\nframes = [1, 2]", "frames needs fps"),
        ("h = 0.1\nduration = 1\nsubsteps = 2", "substeps needs fps"),
        ("h = 0.1", "duration is missing (or fps, frames and substeps of a shot)"),
        ("fps = 24\nh = 0.1", "a shot needs frames, such as [1, 240], or a duration"),
        ("fps = 24\nframes = [1, 9]", "a shot needs substeps, or h, the largest step"),
        ("fps = 24\nframes = [9, 9]\nh = 0.1", "frames must end after they begin, got 9 to 9"),
        ("fps = 24\nframes = [1, 9]\nh = 0.1\nduration = 3", "exclude each other"),
        ("fps = 24\nframes = [1, 9]\nh = 0.1\nsubsteps = 3", "substeps and h exclude each other"),
        ("fps = 24\nframes = [1]\nh = 0.1", "frames"),
    ],
)
def test_contradictory_times_are_errors(time, message):
    with pytest.raises(SceneError) as caught:
        read_text(THROWN.replace("TIME", time))
    assert message in str(caught.value)
