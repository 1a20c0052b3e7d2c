"""A cape on an armature, with an obstacle and a vertex-group map, baked in Blender."""

import json

import numpy as np
import pytest

import taut

FRAMES = 6


@pytest.fixture(scope="module")
def baked(blender):
    return blender("bake_cape.py")


def to_blender(q):
    """Return positions of taut in the axes of Blender, z up."""
    return np.stack([q[..., 0], -q[..., 2], q[..., 1]], axis=-1)


def read(baked, fps):
    """Return the times and positions of a run, (frames, n, 3), and what Blender shows."""
    folder = baked[0] / str(fps) / "Scene"
    with taut.open_run(folder / "run") as run:
        assert run.finished
        q = np.array([frame.q for frame in run.frames])
        times = np.array([frame.t for frame in run.frames])
    return times, to_blender(q), np.load(baked[0] / f"{fps}.npz")


@pytest.mark.parametrize("fps", [24, 25, 30])
def test_blender_shows_the_points_of_the_run_in_every_frame(baked, fps):
    times, q, shown = read(baked, fps)
    np.testing.assert_allclose(times, np.arange(FRAMES) / fps, atol=1e-12)
    ball, cape = shown["obstacle"].shape[1], shown["shown"].shape[1]
    assert q.shape == (FRAMES, ball + cape, 3)
    assert abs(q[:, ball:] - shown["shown"]).max() < 1e-6
    assert abs(q[:, :ball] - shown["obstacle"]).max() < 1e-6  # the sphere moves as it is keyframed
    assert baked[1]["messages"][str(fps)] == f"done: {FRAMES} frames"


@pytest.mark.parametrize("fps", [24, 25, 30])
def test_pins_follow_the_armature_and_the_rest_falls(baked, fps):
    _, q, shown = read(baked, fps)
    cape = q[:, shown["obstacle"].shape[1] :]
    height = shown["animated"][0][:, 2]
    pins = height > height.max() - 0.05
    assert pins.sum() == 7
    assert abs(cape[:, pins] - shown["animated"][:, pins]).max() < 1e-6
    assert np.linalg.norm(np.ptp(cape[:, pins], axis=0), axis=1).min() > 0.05
    hem = ~pins
    assert np.linalg.norm(cape[-1, hem] - shown["animated"][-1, hem], axis=1).max() > 0.02


def test_a_vertex_group_stiffens_the_hem(baked):
    built = taut.scene.load(baked[0] / "24" / "Scene" / "scene.toml").build()
    cape = built.bodies[1].mesh
    weights = np.clip((1.0 - cape.positions[:, 1]) / 0.4, 0.0, 1.0)  # 0 at half height, 1 below
    laws = built.system._placed_energies
    law = next(law for name, law in laws.items() if "stiffness map" in name)
    expected = 2000.0 * weights[cape.edges].mean(axis=1)
    np.testing.assert_allclose(law.parameters.constant["k"], expected, rtol=1e-6, atol=1e-3)
    assert built.system.contact.thickness.max() == pytest.approx(0.004)  # of the ball


def test_a_bake_that_was_cancelled_and_resumed_has_the_bits_of_a_run_from_the_shell(
    blender, command, tmp_path
):
    folder, found = blender("cancel_cape.py")
    assert found["first"].startswith("cancelled after ")
    assert found["first"].endswith(" of 16 frames; Resume goes on from there")
    assert found["second"] == "done: 16 frames"
    scene = folder / "Scene"
    assert command("run", scene / "scene.toml", "-o", "shell", "--quiet") == (0, "", "")
    ends = [
        json.loads((path / "summary.json").read_text())["sha256"]
        for path in (scene / "run", tmp_path / "shell")
    ]
    assert ends[0] == ends[1]
    shown = np.load(folder / "shown.npz")
    whole, partial = shown["whole"], shown["partial"]
    with taut.open_run(tmp_path / "shell") as run:
        q = to_blender(np.array([frame.q for frame in run.frames]))
    assert abs(q[:, -whole.shape[1] :] - whole).max() < 1e-6
    # While a bake goes on, frames that are not there yet show the last one that is.
    np.testing.assert_array_equal(partial[:3], whole[:3])
    assert (partial[-1] != whole[-1]).any()
