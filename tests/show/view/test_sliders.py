"""Sliders of gravity and wind set the strength and keep the direction of the scene."""

import numpy as np
import pytest

import taut
from taut import laws
from taut.binding.law import Law
from taut.show.view._sliders import STIFFNESS_PARAMETERS, Sliders, SliderValues
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


def at(sliders, t, group="loads", name="velocity", **values):
    """The parameter of the last law of a group at time t, at slider values."""
    start = sliders.initial
    law = sliders.scale_laws(
        SliderValues(**{"gravity": start.gravity, "wind": start.wind, "h": H, **values})
    )[group][-1]
    value = law.parameters[name]
    return np.broadcast_to(value(t) if callable(value) else value, (3,))


def test_wind_that_rises_from_nothing_has_a_slider():
    built = cloth(RISING).build()
    sliders = Sliders(built.system, built.h, until=built.until)
    shown = sliders.initial.wind
    assert 0.0 < shown <= 5.0 * built.until
    moment = shown / 5.0  # the time at which it has the strength shown
    assert (
        sliders.scale_laws(sliders.initial)["loads"][-1] is built.system.loads[-1]
    )  # unchanged, it is that of the scene
    for strength in (4.0, 0.5):
        assert at(sliders, moment, wind=strength) == pytest.approx([0.0, 0.0, strength], rel=1e-12)
        assert at(sliders, 2 * moment, wind=strength) == pytest.approx(
            [0.0, 0.0, 2 * strength], rel=1e-12
        )  # it rises as before
    for t in (0.0, moment, 10.0):
        assert not at(sliders, t, wind=0.0).any()


def test_functions_without_an_end_are_sampled_for_a_thousand_steps():
    late = laws.wind([[0, 1, 2]], velocity=lambda t: (0.0, 3.0 if t > 500 * H else 0.0, 0.0))
    system = taut.System([[0, 0, 0], [1, 0, 0], [0, 0, 1]], mass=1.0, loads=[late])
    assert Sliders(system, H).initial.wind == pytest.approx(3.0)
    assert Sliders(system, H, until=499 * H).initial.wind == 0.0


def test_gravity_that_starts_later_has_a_slider():
    heavy = laws.gravity(g=lambda t: (2.0 if t >= 0.5 else 0.0, 0.0, 0.0))
    sliders = Sliders(taut.System([[0, 0, 0]], mass=1.0, energies=[heavy]), H, until=1.0)
    assert sliders.initial.gravity == pytest.approx(2.0)
    assert at(sliders, 0.7, "energies", "g", gravity=7.0) == pytest.approx([7.0, 0.0, 0.0])
    assert not at(sliders, 0.2, "energies", "g", gravity=7.0).any()
    assert not at(sliders, 0.7, "energies", "g", gravity=0.0).any()


def test_rounding_does_not_count_as_wind():
    gusts = laws.wind(
        [[0, 1, 2]], velocity=lambda t: (0.0, 0.0, 6.0 * np.sin(np.pi * (t + 1.0)))
    )  # -7e-16 at t = 0
    system = taut.System([[0, 0, 0], [1, 0, 0], [0, 0, 1]], mass=1.0, loads=[gusts])
    assert 0.06 < Sliders(system, H, until=4.0).initial.wind <= 6.0


def test_strength_is_that_of_the_first_non_zero_law():
    still, blowing = (
        laws.wind([[0, 1, 2]], velocity=v, name=f"wind {v[2]}")
        for v in ((0.0, 0.0, 0.0), (0.0, 0.0, 2.0))
    )
    sliders = Sliders(
        taut.System([[0, 0, 0], [1, 0, 0], [0, 1, 0]], mass=1.0, loads=[still, blowing]), H
    )
    assert sliders.initial.wind == 2.0
    assert at(sliders, 0.0, wind=3.0) == pytest.approx([0.0, 0.0, 3.0])


def test_a_function_with_an_end_is_sampled_up_to_it():
    def table(t):
        if t > 0.3:
            raise ValueError("beyond the table")
        return (0.0, 0.0, 10.0 * t)

    system = taut.System(
        [[0, 0, 0], [1, 0, 0], [0, 1, 0]], mass=1.0, loads=[laws.wind([[0, 1, 2]], velocity=table)]
    )
    assert 0.0 < Sliders(system, H, until=1.0).initial.wind <= 3.0


def test_wind_that_depends_on_position_has_a_slider():
    def breeze(x, t):
        return np.column_stack(
            [np.zeros(len(x)), np.zeros(len(x)), np.full(len(x), 4.0 * (t > 0.5))]
        )

    system = taut.System(
        [[0, 0, 0], [1, 0, 0], [0, 1, 0]], mass=1.0, loads=[laws.wind([[0, 1, 2]], velocity=breeze)]
    )
    sliders = Sliders(system, H, until=1.0)
    assert sliders.initial.wind == 4.0
    law = sliders.scale_laws(SliderValues(0.0, 6.0, H))["loads"][0]
    assert law.parameters["velocity"](np.zeros((1, 3)), 0.7).tolist() == [[0.0, 0.0, 6.0]]


def test_stiffness_parameters_occur_in_laws():
    known = {name for law in vars(laws).values() if isinstance(law, Law) for name in law.parameters}
    assert set(STIFFNESS_PARAMETERS) <= known
