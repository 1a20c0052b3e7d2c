"""Errors for arguments of the wrong kind say what is wanted, what was given and what to do."""

import numpy as np
import pytest

import taut
from taut import constraints, laws

POINTS = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
SPRING = laws.spring([[0, 1]], k=1.0)
ENTRIES = {
    "energies": SPRING,
    "damping": laws.drag(alpha=0.1),
    "loads": laws.wind([[0, 1, 2]], velocity=(1, 0, 0)),
    "constraints": constraints.fixed([2]),
}
SYSTEM = taut.System(POINTS, mass=1.0, **{what: [entry] for what, entry in ENTRIES.items()})


def build(**changes):
    return taut.System(**{"points": POINTS, "mass": 1.0, **changes})


@pytest.mark.parametrize("what", ENTRIES)
@pytest.mark.parametrize("value", [0.5, "wind", None, {"wind": 1}], ids=str)
def test_a_list_is_wanted(what, value):
    kind = "damping laws" if what == "damping" else what
    with pytest.raises(taut.errors.ModelError) as caught:
        build(**{what: value})
    assert str(caught.value) == f"{what} must be a list of {kind}, got {value!r}"


@pytest.mark.parametrize("what", ENTRIES)
def test_an_entry_without_its_list(what):
    with pytest.raises(taut.errors.ModelError, match=rf"; write {what}=\[…\]"):
        build(**{what: ENTRIES[what]})


@pytest.mark.parametrize("what", ENTRIES)
@pytest.mark.parametrize("other", ENTRIES)
def test_an_entry_of_another_list_is_told_where_it_belongs(what, other):
    if what == other:
        assert build(**{what: [ENTRIES[what]]}).n == 3
        return
    with pytest.raises(taut.errors.ModelError, match=rf"; it belongs in {other}=\[…\]"):
        build(**{what: [ENTRIES[other]]})


def test_a_list_in_a_list():
    with pytest.raises(taut.errors.ModelError, match=r"join lists by \[\*a, \*b\]"):
        build(energies=[[SPRING], laws.gravity()])


OF_A_STATE = ["T", "V", "V_by_law", "f", "K", "D", "members", "momentum", "angular_momentum"]


@pytest.mark.parametrize("method", OF_A_STATE)
@pytest.mark.parametrize("is_evaluated", [False, True], ids=["new", "evaluated"])
def test_methods_of_a_state_reject_an_array(method, is_evaluated):
    system = SYSTEM.with_()
    if is_evaluated:  # whose workspace then remembers the active elements of a state
        getattr(system, method)(system.initial_state())
    with pytest.raises(taut.errors.ModelError) as caught:
        getattr(system, method)(np.zeros((3, 3)))
    assert "a taut.State is needed, got an array of shape (3, 3)" in str(caught.value)
    assert "system.initial_state().with_(q=q)" in str(caught.value)


INTEGRATORS = ["ImplicitEuler", "LinearlyImplicitEuler", "ImplicitMidpoint", "BDF2", "TRBDF2"]
INTEGRATORS += ["SymplecticEuler", "VelocityVerlet", "RK4"]


@pytest.mark.parametrize("name", INTEGRATORS)
def test_steps_reject_what_is_no_state(name):
    step = getattr(taut, name)().step
    with pytest.raises(taut.errors.ModelError, match="State is needed, got an array"):
        step(SYSTEM, np.zeros((3, 3)), 0.01)
    with pytest.raises(taut.errors.ModelError, match="a step returns two values: state, report"):
        step(SYSTEM, (SYSTEM.initial_state(), None), 0.01)
    with pytest.raises(taut.errors.ModelError, match=r"must be a taut.System, got an array"):
        step(np.zeros((3, 3)), SYSTEM.initial_state(), 0.01)


@pytest.mark.parametrize("function", [taut.equilibrium, taut.modes, taut.stability])
def test_statics_rejects_an_array(function):
    with pytest.raises(taut.errors.ModelError, match=rf"{function.__name__}: a taut.State is"):
        function(SYSTEM.with_(loads=[]), np.zeros((3, 3)))


TEXT = {
    "mass": lambda: build(mass="3"),
    "one mass of several": lambda: build(mass=[1.0, "3", 1.0]),
    "points": lambda: taut.System([["0", "0", "0"]], mass=1.0),
    "pose": lambda: build(pose=[["0", "0", "0"]] * 3),
    "velocity": lambda: build(velocity=[["0", "0", "0"]] * 3),
    "k": lambda: build(energies=[laws.spring([[0, 1]], k="3")]),
    "k of an element": lambda: build(energies=[laws.spring([[0, 1]], k=["3"])]),
    "k as objects": lambda: build(
        energies=[laws.spring([[0, 1]], k=np.array(["3"], dtype=object))]
    ),
    "k of time": lambda: build(energies=[laws.spring([[0, 1]], k=lambda t: "3")]),
    "breaking strain": lambda: build(energies=[laws.spring([[0, 1]], k=3, breaking_strain="1")]),
    "a vector": lambda: build(energies=[laws.force([1], f=("1", "0", "0"))]),
    "rayleigh": lambda: laws.rayleigh(alpha="3"),
    "density": lambda: taut.areal_mass(taut.mesh.sheet(1, 1), "3"),
    "rest length": lambda: taut.rest_length(POINTS, [[0, 1]], k="1", force="1"),
    "direction": lambda: constraints.on_line(0, ("1", "0", "0")),
    "path": lambda: build(constraints=[constraints.scripted(0, lambda t: ("0", "0", "0"))]),
    "samples": lambda: constraints.scripted(0, ([0, 1], [["0", "0", "0"]] * 2)),
    "end of a rope": lambda: taut.mesh.rope(2, end=("1", "0", "0")),
    "time of a state": lambda: taut.State("0", POINTS, POINTS),
    "about": lambda: SYSTEM.angular_momentum(SYSTEM.initial_state(), about="xyz"),
    "force density": lambda: taut.form_finding(POINTS, fixed=[0], edges=[[0, 1]], density="1"),
}


@pytest.mark.parametrize("name", TEXT)
def test_text_is_not_a_number(name):
    with pytest.raises(taut.TautError, match=r"number|three coordinates|vector"):
        TEXT[name]()


def test_load_factors_and_forces_are_told_apart():
    with pytest.raises(taut.errors.ModelError, match=r"must be a list of load factors, got 0\.5"):
        taut.equilibrium(SYSTEM.with_(loads=[]), loads=0.5)
    with pytest.raises(taut.errors.ModelError, match=r"loads must be forces \[N\].*, got 0\.5"):
        taut.form_finding(POINTS, fixed=[0, 1], edges=[[0, 2], [1, 2]], density=1.0, loads=0.5)
