"""Measures: values of known motions, and errors that name what is wrong."""

import numpy as np
import pytest

import taut
from taut import laws
from taut.errors import ModelError, SceneError
from taut.study.measures import Measure
from taut.study.quantities import Quantities


def run(text, bodies=None, parameters=None, until=2.0):
    """The measure of a weight that swings about 0 on a spring, exactly at its frequency."""
    spring = laws.spring([[0, 1]], k=4.0 * np.pi**2, l0=1.0)
    points = [[0, 1, 0], [0, 0, 0], [3, 0, 4]]
    pose = [[0, 1, 0], [0, -0.1, 0], [3, 0, 4]]
    system = taut.System(points, mass=1.0, fixed=[0], pose=pose, energies=[spring])
    measure = Measure("m", text)
    start = system.initial_state()
    now = Quantities(system, start, start.q, bodies or {}, parameters or {})
    measure.check(now)
    measure.observe(now)
    for state, _ in taut.simulate(system, taut.RK4(), h=0.005, until=until):
        now = Quantities(system, state, start.q, bodies or {}, parameters or {})
        measure.observe(now)
    return measure.evaluate(now)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("frequency(where(points(1), y))", 1.0),  # √(k/m)/2π
        ("time_max(max(y)) - time_min(where(points(1), y))", 1.1),
        ("time_mean(where(points(1), y))", 0.0),
        ("time_max(kinetic)", 0.5 * 4 * np.pi**2 * 0.01),
        ("energy", 0.5 * 4 * np.pi**2 * 0.01),
        ("stored('spring') + kinetic - energy", 0.0),
        ("max(hypot(x, y, z))", 5.0),
        ("sum(mass)", 3.0),
        ("max(abs(strain))", 0.1),
        ("max(length) - 1", 0.1),
        ("max(force)", 4 * np.pi**2 * 0.1),
        ("mean(where('far', x0))", 3.0),
        ("sum(where(not far and y0 < 0.5, mass))", 1.0),
        ("sum(where(points(0:1), mass))", 2.0),
        ("mean(where(x0 == max(x0), z))", 4.0),
        ("max(speed)", 0.0),
        ("t", 2.0),
        ("2^3^2 - cos(pi) * 'body.a.k'", 512.0 + 7.0),
        ("min(vx) + max(z0) - 4", 0.0),
    ],
)
def test_values(text, value):
    found = run(text, {"far": (2, 3)}, {"body.a.k": 7.0})
    assert found == pytest.approx(value, abs=2e-5)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("max(y", "expected"),
        ("maxx(y)", "did you mean 'max'"),
        ("max(yy)", "unknown quantity 'yy'"),
        ("y", "must be one number, got 3 values"),
        ("max(x + strain)", "do not combine"),
        ("mean(where(near, y))", "there is no body 'near'"),
        ("where(points(7), y)", "from 0 to 2"),
        ("where(points(0.5), y)", "whole numbers"),
        ("mean(where(x0 > 9, y))", "selects no particle"),
        ("stored('sprung')", "there is no energy 'sprung'; did you mean 'spring'"),
        ("frequency(time_max(kinetic))", "over time"),
        ("max(x, y)", "max has 2 arguments"),
        ("x > 3", "use it in where"),
        ("__import__('os')", "unknown function"),
        ("mean(where(y, y))", "there is no body 'y'"),
    ],
)
def test_errors_name_the_place(text, message):
    with pytest.raises(SceneError, match=message) as caught:
        run(text, {"far": (2, 3)})
    assert str(caught.value).startswith("1 error:\n  measure m: ")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("frequency(where(points(1), y))", "two rises through the mean"),
        ("1 / max(speed - speed)", "not finite"),
        ("log(0*t)", "not finite"),
    ],
)
def test_measures_without_a_value(text, message):
    with pytest.raises(ModelError, match=message):
        run(text, until=0.5)
