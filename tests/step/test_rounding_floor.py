"""When a step may end at the rounding floor: random scenes with extreme stiffness, and at rest."""

import numpy as np
import pytest

import taut
from benchmarks.reliability.random_scenes import scene
from taut import laws


@pytest.mark.parametrize("number", [676, 1108])
def test_rod_whose_particles_coincide_is_solved(number):
    """The energy of its hinges is continuous where segments vanish, so that the rod unfolds."""
    made = scene(number)
    start = made.system.initial_state()
    assert np.ptp(start.q, axis=0).max() == 0.0
    state, report = taut.ImplicitEuler().step(made.system, start, made.h)
    assert report.outcome == "converged"
    assert report.residual <= report.tolerance
    assert np.ptp(state.q, axis=0).max() > 0.01


def test_floor_above_all_forces_raises():
    """Two particles of a stiff spring nearly coincide, far away: rounding exceeds everything."""
    system = taut.System(
        [[1e9, 0.0, 0.0], [1e9 + 1e-6, 0.0, 0.0]],
        mass=1e-12,
        energies=[laws.spring([[0, 1]], k=1e15, l0=1e-3)],
    )
    with pytest.raises(taut.NotConverged) as caught:
        taut.ImplicitEuler().step(system, system.initial_state(), 1e-2)
    report = caught.value.report
    assert report.residual > max(report.tolerance, report.floor)


def hang_chain(distance):
    """Ten particles of 10 g on springs, hanging from one that is this far from the origin [m]."""
    points = np.zeros((10, 3))
    points[:, 0] = distance + 0.1 * np.arange(10)
    edges = np.stack([np.arange(9), np.arange(1, 10)], axis=1)
    energies = [laws.spring(edges, k=1000.0), laws.gravity()]
    return taut.System(points, mass=0.01, energies=energies, fixed=[0])


def test_floor_above_the_forces_at_work_certifies_nothing():
    """At 1e12 m coordinates are known to 1e-4 m, and forces to 0.1 N: the weights are 0.1 N.

    At 1e9 m the floor is less than a tenth of the weights, which is something.
    """
    near, far = hang_chain(1e9), hang_chain(1e12)
    _, report = taut.ImplicitEuler().step(near, near.initial_state(), 0.01)
    assert report.outcome == "rounding floor"
    assert report.tolerance < report.residual < report.floor < 0.1 * report.mass * 9.81
    words = "hides the forces at work on particle .* or the origin is too far away"
    with pytest.raises(taut.NotConverged, match=words):
        list(taut.simulate(far, taut.ImplicitEuler(), 0.01, 0.1))
    with pytest.raises(taut.NotConverged, match="hides the forces at work") as caught:
        taut.equilibrium(far)
    assert "velocity" not in str(caught.value.report)  # of which statics have none


@pytest.mark.parametrize("number", [753, 993])
def test_rod_at_rest_ends_at_the_rounding_floor(number):
    """Only rounding of 1e-29 N acts, below the rounding floor."""
    made = scene(number)
    start = made.system.initial_state()
    state, report = taut.ImplicitEuler().step(made.system, start, made.h)
    assert report.outcome == "rounding floor"
    assert report.residual < 1e-20
    assert np.abs(state.q - start.q).max() < 1e-15 * np.abs(start.q).max()


def test_fine_light_shell_ends_at_the_rounding_floor_after_few_iterations():
    """Rounding of coordinates of 10 m exceeds the tolerance of particles of 0.1 mg.

    The first iteration without progress ends the step.
    """
    mesh = taut.mesh.sphere(8, radius=0.1)
    energies = [
        laws.spring(mesh.edges, k=1e3),
        laws.shell_bending(mesh.hinges, c=1e-2),
        laws.gravity(),
    ]
    system = taut.System(
        mesh.points + np.array([10.0, 0.0, 0.0]), mass=1e-7, energies=energies, fixed=[0]
    )
    for _, report in taut.simulate(system, taut.ImplicitEuler(), 0.01, 0.05):
        assert report.outcome == "rounding floor"
        assert report.tolerance < report.residual < report.floor
        assert report.iterations <= 6
