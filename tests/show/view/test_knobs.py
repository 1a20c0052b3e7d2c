"""What the sliders of gravity and wind make of a scene: one strength, in the scene's own direction, and 0 is none."""

import numpy as np
import pytest

import taut
from taut import laws
from taut.formula.law import Law
from taut.show.view.knobs import STIFF, Knobs, Tuning
from tests.show.view.scenes import CLOTH, cloth

H = 0.01
RISING = (
    CLOTH
    + """
[[body.law]]
law = "wind"
on = "triangles"
velocity = [0, 0, "5*t"]
"""
)


def at(tuning, t, group="loads", name="velocity", **knobs):
    """The parameter of the last law of a group at time t, under knobs."""
    start = tuning.start
    law = tuning.laws(Knobs(**{"gravity": start.gravity, "wind": start.wind, "h": H, **knobs}))[group][-1]
    value = law.parameters[name]
    return np.broadcast_to(value(t) if callable(value) else value, (3,))


def test_wind_that_rises_from_nothing_has_a_slider():
    built = cloth(RISING).build()
    tuning = Tuning(built.system, built.h, until=built.until)
    shown = tuning.start.wind
    assert 0.0 < shown <= 5.0 * built.until
    moment = shown / 5.0  # at which it is as strong as shown
    assert tuning.laws(tuning.start)["loads"][-1] is built.system.loads[-1]  # untouched, it is the scene's own
    for strength in (4.0, 0.5):
        assert at(tuning, moment, wind=strength) == pytest.approx([0.0, 0.0, strength], rel=1e-12)
        assert at(tuning, 2 * moment, wind=strength) == pytest.approx([0.0, 0.0, 2 * strength], rel=1e-12)  # it rises as before
    for t in (0.0, moment, 10.0):
        assert not at(tuning, t, wind=0.0).any()


def test_without_an_end_a_thousand_steps_are_looked_at():
    late = laws.wind([[0, 1, 2]], velocity=lambda t: (0.0, 3.0 if t > 500 * H else 0.0, 0.0))
    system = taut.System([[0, 0, 0], [1, 0, 0], [0, 0, 1]], mass=1.0, loads=[late])
    assert Tuning(system, H).start.wind == pytest.approx(3.0)
    assert Tuning(system, H, until=499 * H).start.wind == 0.0


def test_gravity_that_begins_later_has_a_slider_too():
    heavy = laws.gravity(g=lambda t: (2.0 if t >= 0.5 else 0.0, 0.0, 0.0))
    tuning = Tuning(taut.System([[0, 0, 0]], mass=1.0, energies=[heavy]), H, until=1.0)
    assert tuning.start.gravity == pytest.approx(2.0)
    assert at(tuning, 0.7, "energies", "g", gravity=7.0) == pytest.approx([7.0, 0.0, 0.0])
    assert not at(tuning, 0.2, "energies", "g", gravity=7.0).any()
    assert not at(tuning, 0.7, "energies", "g", gravity=0.0).any()


def test_rounding_is_not_taken_for_wind():
    gusts = laws.wind([[0, 1, 2]], velocity=lambda t: (0.0, 0.0, 6.0 * np.sin(np.pi * (t + 1.0))))  # -7e-16 at t = 0
    system = taut.System([[0, 0, 0], [1, 0, 0], [0, 0, 1]], mass=1.0, loads=[gusts])
    assert 0.06 < Tuning(system, H, until=4.0).start.wind <= 6.0


def test_the_strength_is_that_of_the_first_law_that_has_any():
    still, blowing = (laws.wind([[0, 1, 2]], velocity=v, name=f"wind {v[2]}") for v in ((0.0, 0.0, 0.0), (0.0, 0.0, 2.0)))
    tuning = Tuning(taut.System([[0, 0, 0], [1, 0, 0], [0, 1, 0]], mass=1.0, loads=[still, blowing]), H)
    assert tuning.start.wind == 2.0
    assert at(tuning, 0.0, wind=3.0) == pytest.approx([0.0, 0.0, 3.0])


def test_a_function_that_ends_is_looked_at_no_further():
    def table(t):
        if t > 0.3:
            raise ValueError("beyond the table")
        return (0.0, 0.0, 10.0 * t)

    system = taut.System([[0, 0, 0], [1, 0, 0], [0, 1, 0]], mass=1.0, loads=[laws.wind([[0, 1, 2]], velocity=table)])
    assert 0.0 < Tuning(system, H, until=1.0).start.wind <= 3.0


def test_wind_that_depends_on_the_place_is_found_too():
    def breeze(x, t):
        return np.column_stack([np.zeros(len(x)), np.zeros(len(x)), np.full(len(x), 4.0 * (t > 0.5))])

    system = taut.System([[0, 0, 0], [1, 0, 0], [0, 1, 0]], mass=1.0, loads=[laws.wind([[0, 1, 2]], velocity=breeze)])
    tuning = Tuning(system, H, until=1.0)
    assert tuning.start.wind == 4.0
    law = tuning.laws(Knobs(0.0, 6.0, H))["loads"][0]
    assert law.parameters["velocity"](np.zeros((1, 3)), 0.7).tolist() == [[0.0, 0.0, 6.0]]


def test_what_is_stiff_is_a_parameter_of_some_law():
    known = {name for law in vars(laws).values() if isinstance(law, Law) for name in law.parameters}
    assert set(STIFF) <= known
