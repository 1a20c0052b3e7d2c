"""Trajectories against closed forms of the discrete and the continuous equations."""

import numpy as np
import pytest

import taut
from taut import laws

INTEGRATORS = [taut.ImplicitEuler, taut.LinearlyImplicitEuler]
every = pytest.mark.parametrize("integrator", INTEGRATORS, ids=lambda i: i.__name__)


def oscillator(k, c, m, x0=0.3, v0=-0.8, *, rest=2.0, damping="spring"):
    """A particle on a spring along x, displaced by x0; damped along the spring, by drag, or not."""
    dampers = {
        "spring": laws.spring_damping([[0, 1]], c=c),
        "drag": laws.drag(alpha=c / m),
        "none": None,
    }
    return taut.System(
        [[0, 0, 0], [rest, 0, 0]],
        mass=m,
        fixed=[0],
        energies=[laws.spring([[0, 1]], k=k)],
        damping=[d for d in [dampers[damping]] if d],
        pose=[[0, 0, 0], [rest + x0, 0, 0]],
        velocity=[[0, 0, 0], [v0, 0, 0]],
    )


@every
@pytest.mark.parametrize("solver", ["direct", "cg"])
@pytest.mark.parametrize("damping", ["spring", "drag", "none"])
@pytest.mark.parametrize(
    ("h", "k", "c", "m"), [(0.01, 25.0, 0.4, 1.0), (0.1, 400.0, 3.0, 0.5), (0.02, 1e4, 0.0, 2.0)]
)
def test_implicit_euler_follows_its_recurrence(integrator, solver, damping, h, k, c, m):
    """(1 + hc/m + h²k/m) z² - (2 + hc/m) z + 1 = 0: the displacement is a sum of powers of the two
    roots."""
    c = 0.0 if damping == "none" else c
    x0, v0, rest = 0.3, -0.8, 2.0
    z = np.roots([1 + h * c / m + h * h * k / m, -(2 + h * c / m), 1.0]).astype(complex)
    # x₋₁ = x₀ - h v₀ starts the recurrence
    a = np.linalg.solve(np.array([[1, 1], 1 / z]), np.array([x0, x0 - h * v0]))
    system = oscillator(k, c, m, x0, v0, rest=rest, damping=damping)
    run = taut.simulate(
        system, integrator(tolerance=taut.Tolerance(1e-13), solver=solver), h, 100 * h
    )
    got = np.array([state.q[1, 0] - rest for state, _ in run])
    n = np.arange(1, 101)
    expected = (a[0] * z[0] ** n + a[1] * z[1] ** n).real
    assert np.abs(got - expected).max() <= 1e-11


def test_critical_damping_does_not_overshoot():
    m, k = 1.0, 25.0
    system = oscillator(k, 2 * np.sqrt(k * m), m, 0.5, 0.0)
    x = [state.q[1, 0] - 2.0 for state, _ in taut.simulate(system, taut.ImplicitEuler(), 0.01, 3.0)]
    assert min(x) > -1e-12
    assert x[-1] < 1e-3 * 0.5


def test_drag_damps_rotation_and_spring_damping_does_not():
    """Two particles rotate about each other: the difference between the two kinds of damping."""
    pair = {
        "mass": 1.0,
        "energies": [laws.spring([[0, 1]], k=1e3)],
        "velocity": [[0, -1.0, 0], [0, 1.0, 0]],
    }
    points = [[-0.5, 0, 0], [0.5, 0, 0]]
    spins = {}
    for name, damper in {
        "none": [],
        "spring": [laws.spring_damping([[0, 1]], c=5.0)],
        "drag": [laws.drag(alpha=5.0)],
    }.items():
        system = taut.System(points, damping=damper, **pair)
        *_, (state, _) = taut.simulate(system, taut.ImplicitEuler(), 1e-3, 0.2)
        spins[name] = system.angular_momentum(state)[2]
    assert spins["spring"] == pytest.approx(spins["none"], rel=1e-4)
    assert spins["drag"] == pytest.approx(
        spins["none"] * np.exp(-1.0), rel=5e-3
    )  # (1 + αh)⁻ⁿ for e⁻¹: αh/2


def test_linearly_implicit_euler_matches_the_dense_equation():
    """(M + hD + h²K) Δv = h(f(q, v) - hK v), assembled densely from the system's f, K and D."""
    rng = np.random.default_rng(4)
    n, h = 6, 0.03
    x = rng.normal(size=(n, 3))
    edges = [(i, j) for i in range(n) for j in range(i)]
    system = taut.System(
        x,
        mass=rng.uniform(1, 2, n),
        energies=[laws.spring(edges, k=20.0), laws.gravity()],
        pose=1.4 * x,
        velocity=rng.normal(size=x.shape),
        damping=[laws.spring_damping(edges[:5], c=0.7), laws.rayleigh(alpha=0.2, beta=0.01)],
    )
    state = system.initial_state()
    k, d, mass = (
        system.K(state).toarray(),
        system.D(state).toarray(),
        np.diag(np.repeat(system.mass, 3)),
    )
    v = state.v.ravel()
    dv = np.linalg.solve(mass + h * d + h * h * k, h * (system.f(state).ravel() - h * k @ v))
    after, report = taut.LinearlyImplicitEuler(tolerance=taut.Tolerance(1e-13)).step(
        system, state, h
    )
    assert report.iterations == 1
    assert abs(k - system.K(state, project=True).toarray()).max() < 1e-10, (
        "all springs are stretched"
    )
    np.testing.assert_allclose(after.v.ravel(), v + dv, rtol=1e-10, atol=1e-11)
    np.testing.assert_allclose(after.q, state.q + h * after.v, atol=1e-13)


def test_implicit_euler_satisfies_its_equation():
    """M(v' - v)/h = f(q', v') for energies and linear drag, from the system's f."""
    rng = np.random.default_rng(5)
    n, h = 6, 0.05
    x = rng.normal(size=(n, 3))
    edges = [(i, j) for i in range(n) for j in range(i)]
    system = taut.System(
        x,
        mass=rng.uniform(1, 2, n),
        energies=[laws.spring(edges, k=20.0), laws.gravity()],
        pose=0.7 * x,
        velocity=rng.normal(size=x.shape),
        damping=[laws.drag(alpha=0.3)],
    )
    state = system.initial_state()
    after, report = taut.ImplicitEuler(tolerance=taut.Tolerance(1e-12)).step(system, state, h)
    unbalanced = system.mass[:, None] * (after.v - state.v) / h - system.f(after)
    assert np.abs(unbalanced).max() <= 1e-9
    assert report.residual <= 1e-9
