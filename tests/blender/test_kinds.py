"""Objects of every kind in one simulation, in a scene of centimetres at 23.976 frames a second."""

import numpy as np
import pytest

import taut

FPS, STEPS = 24 / 1.001, 4  # steps of each frame


@pytest.fixture(scope="module")
def shown(blender):
    folder, found = blender("bake_kinds.py")
    assert found["message"] == "done: 7 frames"
    with taut.open_run(folder / "Scene" / "run") as run:
        assert run.h == pytest.approx(1 / (FPS * STEPS), rel=1e-12)
        assert run.frames[-1].t == pytest.approx(6 / FPS, rel=1e-9)
        # a law that the user wrote, with an attribute of the points as its map
        assert run.ledger["stored own"][-1] > 0.0
    return np.load(folder / "kinds.npz")


def test_a_rope_falls_with_the_gravity_of_the_earth(shown):
    rope = shown["Rope"]
    fallen = (rope[0] - rope)[:, :4, 2]
    steps = np.arange(7) * STEPS
    h = 1 / (FPS * STEPS)
    expected = 981.0 * h**2 * steps * (steps + 1) / 2  # implicit Euler's fall [cm]
    np.testing.assert_allclose(fallen, np.tile(expected[:, None], 4), rtol=1e-5, atol=1e-4)
    # A point without an edge stays where it is animated.
    np.testing.assert_array_equal(rope[:, 4], shown["Rope animated"][:, 4])


def test_loose_edges_pull_a_seam_together(shown):
    seam = shown["Seam"]
    gap = np.linalg.norm(seam[:, [2, 3]] - seam[:, [4, 5]], axis=2)
    assert gap[0] == pytest.approx(20.0)
    assert gap[-1].max() < 4.0
    assert abs(seam[:, :2] - seam[0, :2]).max() < 1e-4  # the pins
    assert (seam[-1, 4:, 0] - seam[0, 4:, 0]).max() < -10.0  # the other piece comes to them


def test_wind_blows_along_the_axis_of_its_field(shown):
    banner = shown["Banner"]
    moved = banner[-1] - banner[0]
    pinned = shown["Banner animated"][0][:, 2] > 119
    assert pinned.sum() == 5
    assert abs(moved[pinned]).max() < 1e-4
    lowest = banner[0][:, 2] < 81
    assert moved[lowest, 1].max() < -1.0  # cm
    # the field turns towards +x by 0.2 rad
    assert moved[lowest, 0].mean() > 0.0


def test_a_soft_body_is_carried_by_its_pins(shown):
    block, animated = shown["Jelly"], shown["Jelly animated"]
    grip = animated[0][:, 0] < 0
    assert np.ptp(animated[:, grip, 2], axis=0) == pytest.approx(6.0)
    assert abs(block[:, grip] - animated[:, grip]).max() < 1.0
    free = block[-1, ~grip, 2] - animated[-1, ~grip, 2]
    assert (free < -0.2).all()  # the other side sags
    assert (free > -4.0).all()
