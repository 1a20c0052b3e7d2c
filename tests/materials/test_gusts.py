"""Turbulent wind: divergence-free, of given strength and sizes, the same for the same numbers."""

import pickle

import numpy as np
import pytest

import taut
from taut import laws, scene
from taut.errors import ModelError, SceneError
from taut.materials import Gusts

WIND = Gusts((4.0, 0.0, 1.0), rms=0.8, sizes=(0.5, 8.0), seed=3)


def places(count, size, seed=0):
    return np.random.default_rng(seed).uniform(-size, size, (count, 3))


def test_mean_and_strength_over_space_and_over_time():
    """Over a volume of many wavelengths: the mean wind, and 3 rms² in the sum of the components."""
    v = WIND(places(40_000, 200.0), 1.5) - [4.0, 0.0, 1.0]
    assert np.abs(v.mean(axis=0)).max() < 0.03
    assert (v**2).sum(axis=1).mean() == pytest.approx(3 * 0.8**2, rel=0.02)
    there = np.array([WIND([[1.0, 2.0, 3.0]], t)[0] for t in np.arange(0.0, 400.0, 0.1)])
    assert there.mean(axis=0) == pytest.approx([4.0, 0.0, 1.0], abs=0.1)
    assert ((there - [4, 0, 1]) ** 2).sum(axis=1).mean() == pytest.approx(3 * 0.8**2, rel=0.1)


def test_no_divergence():
    x, step = places(200, 5.0), 1e-4
    slopes = np.empty((200, 3, 3))  # ∂v_i/∂x_k
    for k in range(3):
        e = step * np.eye(3)[k]
        slopes[:, :, k] = (WIND(x + e, 0.7) - WIND(x - e, 0.7)) / (2 * step)
    assert np.abs(np.trace(slopes, axis1=1, axis2=2)).max() < 1e-6 * np.abs(slopes).max()


def test_sizes_bound_the_wavelengths():
    """Along a line, all of the power is at wavelengths above the shortest one."""
    n, length = 4096, 128.0
    line = np.zeros((n, 3))
    line[:, 1] = np.arange(n) / n * length
    window = np.hanning(n)
    power = sum(np.abs(np.fft.rfft(window * (v - v.mean()))) ** 2 for v in WIND(line, 0.0).T)
    number = np.arange(len(power)) / length  # waves per metre
    assert power[number > 1.1 / 0.5].sum() < 1e-6 * power.sum()
    assert power[number > 1 / 8.0].sum() > 0.1 * power.sum()


def test_same_numbers_give_the_same_bits_in_any_order():
    x = places(50, 3.0)
    first = WIND(x, 2.0)
    again = Gusts((4.0, 0.0, 1.0), rms=0.8, sizes=(0.5, 8.0), seed=3)
    again(x, 9.0)
    assert np.array_equal(again(x, 2.0), first)
    assert np.array_equal(again(x[::-1], 2.0)[::-1], first)
    assert np.array_equal(pickle.loads(pickle.dumps(WIND))(x, 2.0), first)
    other = Gusts((4.0, 0.0, 1.0), rms=0.8, sizes=(0.5, 8.0), seed=4)
    assert np.abs(other(x, 2.0) - first).max() > 0.1


def test_without_turbulence_the_wind_is_its_mean():
    calm = Gusts((1.0, 2.0, 3.0), rms=0.0, sizes=(0.1, 1.0))
    assert calm(places(4, 1.0), 5.0) == pytest.approx(np.tile([1.0, 2.0, 3.0], (4, 1)))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"mean": (1.0, 2.0)}, "mean must be a velocity of three numbers"),
        ({"rms": -1.0}, "rms must be a number"),
        ({"sizes": (2.0, 1.0)}, "sizes must increase, got 2 m and 1 m"),
        ({"sizes": (0.0, 1.0)}, "the shortest size must be a number"),
        ({"sizes": 1.0}, "sizes must be the shortest and longest"),
        ({"seed": -1}, "seed must be a whole number"),
    ],
)
def test_errors_say_what_must_be(changes, message):
    arguments = {"mean": (1.0, 0.0, 0.0), "rms": 1.0, "sizes": (0.1, 1.0), **changes}
    with pytest.raises(ModelError, match=message):
        Gusts(**arguments)


SCENE = """
[time]
h = 0.02
duration = 0.1
[[body]]
name = "flag"
mesh = { shape = "sheet", nx = 3, ny = 2 }
density = 0.2
[[law]]
law = "wind"
on = "triangles"
velocity = { mean = [4, 0, 1], rms = 0.8, sizes = [0.5, 8.0], seed = 3 }
"""


def test_scenes_have_the_wind_of_the_class():
    built = scene.read_text(SCENE).build()
    mesh = built.bodies[0].mesh
    same = taut.System(
        mesh.points,
        mass=built.system.mass,
        loads=[laws.wind(mesh.triangles, velocity=WIND)],
    )
    force = built.system.load_forces(built.state)["wind"]
    assert np.array_equal(force, same.load_forces(built.state)["wind"])
    assert np.linalg.norm(force) > 1.0


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("rms = 0.8, ", "", "line 12: a wind with a mean also needs rms"),
        ("rms = 0.8", "rms = 0.8, size = 2", "unknown key 'size'; did you mean 'sizes'"),
        ("seed = 3", "seed = -3", "seed must be a whole number from 0, got -3"),
        ("seed = 3 }", "seed = 3 }\ndrag = { mean = [1, 0, 0], rms = 1, sizes = [1, 2] }",
         "drag: a wind of mean and rms is a velocity"),
    ],
)  # fmt: skip
def test_scenes_name_what_is_wrong(before, after, message):
    with pytest.raises(SceneError, match=message):
        scene.read_text(SCENE.replace(before, after)).build()
