"""Faces that cannot collapse: the barrier's formula, and what it does for slivers under hinges."""

import numpy as np
import pytest

import taut
from taut import laws, scene

TRIANGLE = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.5, 1.0, 0.0]])  # of area ½


def squeezed(part, k=3.0):
    """The system of a triangle with this part of its area, and its state."""
    system = taut.System(TRIANGLE, mass=1.0, energies=[laws.area_barrier([[0, 1, 2]], k=k)])
    return system, system.initial_state().with_(q=TRIANGLE * [1.0, part, 1.0])


def test_energy_and_pressure_at_a_quarter_of_the_area():
    """V = ¼ k A₀ ln 2 and a pressure of (1 + 2 ln 2) k, on half of the opposite edge."""
    system, state = squeezed(0.25)
    assert system.V(state) == pytest.approx(3.0 * 0.5 * 0.25 * np.log(2.0))
    assert system.f(state)[2] == pytest.approx([0.0, 3.0 * (1 + 2 * np.log(2.0)) * 0.5, 0.0])


def test_a_face_with_half_of_its_area_or_more_is_free():
    for part in (0.5, 0.51, 1.0, 3.0):
        system, state = squeezed(part)
        assert system.V(state) == 0.0
        assert np.abs(system.f(state)).max() == 0.0
        assert np.abs(system.K(state).toarray()).max() == 0.0


def test_two_derivatives_are_continuous_at_half_of_the_area():
    """V begins as (1 - u)³, u = 2A/A₀: 10⁻⁴ below, with force and stiffness as its derivatives."""
    system, state = squeezed(0.5 * (1 - 1e-4))
    assert system.V(state) == pytest.approx(3.0 * 0.5 * 1e-12, rel=1e-3)
    assert np.abs(system.f(state)).max() < 1e-6
    assert np.abs(system.K(state).toarray()).max() < 1e-2


def test_energy_grows_without_bound():
    system, state = squeezed(1e-12)
    assert system.V(state) == pytest.approx(-3.0 * 0.5 * np.log(2e-12))
    flat = state.with_(q=TRIANGLE * [1.0, 0.0, 1.0])
    with pytest.raises(taut.errors.SingularState):
        system.f(flat)


def sliver(height, *energies, theta0=0.0):
    """Two triangles over an edge of 1 m: a sliver of this height, and one that is held."""
    points = np.array([[0.5, height, 0.0], [0.5, -0.6, 0.0], [0.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    hinge = laws.shell_bending([[0, 1, 2, 3]], c=1.0, theta0=theta0, ratio=1.0)
    return taut.System(points, mass=0.01, energies=[hinge, *energies], fixed=[1, 2, 3])


def test_force_of_a_hinge_grows_as_one_over_the_height():
    """V' = c (θ - θ₀), at the apex over the height: what the barrier is there for."""
    for height in (1.0, 1e-3, 1e-9):
        system = sliver(height, theta0=0.5)
        force = system.f(system.initial_state())[0]
        assert np.linalg.norm(force) == pytest.approx(0.5 / height)


def test_pressed_sliver_keeps_its_side():
    """A sliver of 5% height between springs, its apex pressed onto the opposite edge.

    The springs give way by a thousandth. Without the barrier the apex reaches the edge, where its
    hinge has no angle and a step no solution.
    """
    edges = [[0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]
    system = sliver(
        0.05,
        laws.spring(edges, k=1e3),
        laws.area_barrier([[0, 2, 3]], k=10.0),
        laws.force([0], f=(0.0, -2.0, 0.0)),
    )
    for state, report in taut.simulate(system, taut.ImplicitEuler(), 0.01, 0.5):
        assert report.iterations < 40
        assert state.q[0, 1] > 0.0
    assert state.q[0, 1] < 0.025  # half of its height at rest: the barrier bears the load


def test_materials_of_scenes_keep_triangles_from_collapsing():
    """Hinges come with the barrier, of the stiffness E t; a solid has neither."""
    text = """
    [time]
    h = 0.01
    duration = 0.1
    [[body]]
    name = "cloth"
    mesh = { shape = "sheet", nx = 3, ny = 3 }
    material = { young = 1e5, thickness = 1e-3, density = 1000.0 }
    """
    system = scene.read_text(text).build().system
    placed = system._placed_energies["area_barrier"]
    assert len(placed.elements) == 18
    assert placed.parameters.constant["k"] == pytest.approx(100.0)
