"""Explicit steps as weighted sums, against the same formulas on arrays."""

import numpy as np
import pytest

import taut
from taut import laws
from taut.constraints import on_line
from taut.step._combination import StageSums


def cloth(**more):
    mesh = taut.mesh.sheet(6, 6, size=1.0)
    rng = np.random.default_rng(3)
    return taut.System(
        mesh.points,
        mass=rng.uniform(0.1, 0.2, mesh.n),
        energies=[laws.spring(mesh.edges, k=50.0), laws.gravity()],
        damping=[laws.spring_damping(mesh.edges, c=0.05), laws.rayleigh(alpha=0.3, beta=1e-3)],
        velocity=rng.normal(size=(mesh.n, 3)),
        **more,
    )


@pytest.mark.parametrize("integrator", [taut.SymplecticEuler, taut.VelocityVerlet, taut.RK4])
def test_step_matches_its_formula(integrator):
    system = cloth()
    state = system.initial_state()

    def a(t, q, v):
        return system.f(state.with_(t=t, q=q, v=v)) / system.mass[:, None]

    q, v = integrator.formula(a, 0.0, np.array(state.q), np.array(state.v), 2e-3)
    new, _ = integrator().step(system, state, 2e-3)
    np.testing.assert_allclose(
        new.q, q, rtol=0, atol=4e-15
    )  # a few roundings of coordinates below 4 m
    np.testing.assert_allclose(new.v, v, rtol=0, atol=4e-14)


def test_ledger_inputs_match_the_step():
    system = cloth(fixed=[0, 6], constraints=[on_line([20], (1, 2, 0))])
    state = system.initial_state()
    done = taut.RK4().advance(system, state, 2e-3)
    np.testing.assert_array_equal(done.displacement, done.state.q - state.q)
    free = system._projector.project(done.state.v - state.v)
    np.testing.assert_allclose(done.inertia, system.mass[:, None] * free / 2e-3, rtol=1e-14)
    assert not done.residual.any()
    assert done.displacement is done.displacement
    assert not done.state.q.flags.writeable
    assert not done.state.v.flags.writeable


def test_first_stage_is_not_copied():
    system = cloth(fixed=[0, 6])
    state = system.initial_state()
    done = taut.SymplecticEuler().advance(system, state, 1e-3)
    assert done.stages[0].q is state.q
    np.testing.assert_array_equal(done.state.q[[0, 6]], system.pose[[0, 6]])


def test_overflowing_particle_is_named():
    sums = StageSums(np.zeros((3000, 3)), np.zeros((3000, 3)), np.zeros((1, 3000, 3)))
    sums.next_acceleration[:] = 0.0
    sums.next_acceleration[2100, 2] = 1e308
    a = sums.add_acceleration()
    q, v = sums.start
    assert np.isfinite(sums.evaluate(q + 0.5 * v, v + a)).all()
    with pytest.raises(taut.TautError, match="particle 2100 has left the finite numbers"):
        sums.evaluate(q, v + 10.0 * a)
