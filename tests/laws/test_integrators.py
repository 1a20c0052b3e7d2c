"""Every integrator: its order, the momenta it keeps, the energy it must not make, the bits it repeats."""

import numba
import numpy as np
import pytest

import taut
from taut import laws

OBEYS = {
    taut.ImplicitEuler: {"descent", "angular momentum of the end"},
    taut.LinearlyImplicitEuler: set(),
}
every = pytest.mark.parametrize("integrator", OBEYS, ids=lambda i: i.__name__)
TIGHT = taut.Tolerance(relative=1e-13)


def body(rng, n=7, **more):
    """A free, tumbling, stretched body of springs with damping."""
    x = rng.normal(size=(n, 3))
    edges = [(i, j) for i in range(n) for j in range(i)]
    return taut.System(
        x, mass=rng.uniform(0.5, 2.0, n), energies=[laws.spring(edges, k=40.0)],
        pose=1.2 * x, velocity=rng.normal(size=x.shape) + np.cross([0.3, 1.0, -0.4], x), **more,
    )  # fmt: skip


def pendulum():
    """A nonlinear problem with damping, an elastic pendulum from the horizontal."""
    return taut.System(
        [[0, 0, 0], [1, 0, 0]], mass=1.0, fixed=[0], energies=[laws.spring([[0, 1]], k=60.0), laws.gravity()],
        damping=[laws.spring_damping([[0, 1]], c=0.4), laws.drag(alpha=0.1)],
    )  # fmt: skip


def end(system, integrator, h, until):
    *_, (state, _) = taut.simulate(system, integrator, h, until)
    return np.concatenate([state.q[1], state.v[1]])


def reference(until):
    """The pendulum's motion, integrated by SciPy from the equations written out here."""
    from scipy.integrate import solve_ivp

    def slope(_, y):
        x, v = y[:3], y[3:]
        length = np.sqrt(x @ x)
        d = x / length
        return np.concatenate([v, -60.0 * (length - 1.0) * d - 0.4 * (v @ d) * d - 0.1 * v + [0.0, -9.81, 0.0]])

    return solve_ivp(slope, (0.0, until), [1.0, 0, 0, 0, 0, 0], rtol=1e-12, atol=1e-13).y[:, -1]


@every
def test_order(integrator):
    exact = reference(0.5)
    steps = [0.5 / n for n in (512, 1024, 2048, 4096)]
    errors = [np.abs(end(pendulum(), integrator(tolerance=taut.Tolerance(1e-11)), h, 0.5) - exact).max() for h in steps]
    slopes = np.diff(np.log(errors)) / np.diff(np.log(steps))
    assert np.abs(slopes - integrator.order).max() <= 0.1, slopes


@every
def test_linear_momentum_is_kept(integrator):
    rng = np.random.default_rng(2)
    system = body(rng, damping=[laws.spring_damping([(0, 1), (2, 3)], c=0.5), laws.rayleigh(beta=1e-3)])
    start = system.initial_state()
    scale = float(np.sum(system.mass[:, None] * np.abs(start.v)))
    for state, _ in taut.simulate(system, integrator(tolerance=TIGHT), 0.02, 1.0):
        assert np.abs(system.momentum(state) - system.momentum(start)).max() <= 1e-11 * scale


@every
def test_angular_momentum(integrator):
    """With internal forces at the new positions, ΔL = h Σ m v' × v exactly."""
    rng = np.random.default_rng(3)
    system = body(rng, damping=[laws.spring_damping([(0, 1), (2, 3), (4, 6)], c=5.0)])
    old = system.initial_state()
    gaps = []
    for state, _ in taut.simulate(system, integrator(tolerance=TIGHT), 0.05, 1.0):
        expected = system.angular_momentum(old) + 0.05 * system.mass @ np.cross(state.v, old.v)
        gaps.append(np.abs(system.angular_momentum(state) - expected).max())
        old = state
    assert (max(gaps) <= 1e-11) == ("angular momentum of the end" in OBEYS[integrator])


@every
@pytest.mark.parametrize("seed", range(4))
def test_descent(integrator, seed):
    """With a V that does not depend on time: V' + ½|Δv|²_M ≤ V + ½|v|²_M."""
    if "descent" not in OBEYS[integrator]:
        assert not integrator.descends
        return
    assert integrator.descends
    rng = np.random.default_rng(seed)
    system = body(rng)
    system = system.with_(pose=system.rest * rng.uniform(0.2, 2.0), energies=[*system.energies, laws.gravity()])
    old = system.initial_state()
    for state, report in taut.simulate(system, integrator(), 0.1, 2.0):
        dv = state.v - old.v
        gain = system.V(state) + 0.5 * system.mass @ np.sum(dv**2, axis=1) - system.V(old) - system.T(old)
        assert gain <= 1e-9 * (abs(system.V(old)) + system.T(old))
        assert report.decrease >= -1e-9 * abs(system.V(old))
        assert report.residual <= max(report.tolerance, report.floor)
        old = state


def bits(system, make, threads, *, resume_at=None):
    numba.set_num_threads(threads)
    integrator, state, states = make(), system.initial_state(), []
    for i in range(12):
        if i == resume_at:
            integrator = make()
            state = taut.State(float(state.t), state.q.copy(), state.v.copy())
            system = system.with_()
        state, _ = integrator.step(system, state, 0.02)
        states.append(state.q.tobytes() + state.v.tobytes())
    return b"".join(states)


@every
@pytest.mark.parametrize("solver", ["direct", "cg"])
def test_same_bits(integrator, solver):
    """Run twice, with one thread and with two, and resumed from a saved state."""
    n = 24
    x = np.stack(np.meshgrid(np.linspace(0, 1, n), [0.0], np.linspace(0, 1, n), indexing="ij"), -1).reshape(-1, 3)
    index = np.arange(n * n).reshape(n, n)
    edges = np.concatenate(
        [np.stack([index[:-1].ravel(), index[1:].ravel()], 1), np.stack([index[:, :-1].ravel(), index[:, 1:].ravel()], 1)]
    )
    rows = np.concatenate([np.stack([index[i : n - 2 + i].ravel() for i in range(3)], 1)])
    system = taut.System(
        x, mass=0.2 / n**2, fixed=[0, n - 1],
        energies=[laws.spring(edges, k=500.0), laws.rod_hinge(rows, k=1e-4), laws.gravity()],
        damping=[laws.spring_damping(edges, c=0.01), laws.rayleigh(alpha=0.1)],
    )  # fmt: skip

    def make():
        return integrator(solver=solver)

    before = numba.get_num_threads()
    try:
        first = bits(system, make, 1)
        assert bits(system, make, 1) == first
        assert bits(system, make, min(2, before)) == first
        assert bits(system, make, 1, resume_at=6) == first
    finally:
        numba.set_num_threads(before)
