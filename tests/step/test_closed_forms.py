"""Trajectories against the closed forms of the discrete equations, and of the continuous ones."""

import numpy as np
import pytest

import taut
from taut import laws

INTEGRATORS = [taut.ImplicitEuler, taut.LinearlyImplicitEuler]
every = pytest.mark.parametrize("integrator", INTEGRATORS, ids=lambda i: i.__name__)


def oscillator(k, c, m, x0=0.3, v0=-0.8, *, rest=2.0, damping="spring"):
    """A particle on a spring along x, displaced by x0; damped along the spring, by drag, or not."""
    dampers = {"spring": laws.spring_damping([[0, 1]], c=c), "drag": laws.drag(alpha=c / m), "none": None}
    return taut.System(
        [[0, 0, 0], [rest, 0, 0]], mass=m, fixed=[0], energies=[laws.spring([[0, 1]], k=k)],
        damping=[d for d in [dampers[damping]] if d], pose=[[0, 0, 0], [rest + x0, 0, 0]], velocity=[[0, 0, 0], [v0, 0, 0]],
    )  # fmt: skip


@every
@pytest.mark.parametrize("solver", ["direct", "cg"])
@pytest.mark.parametrize("damping", ["spring", "drag", "none"])
@pytest.mark.parametrize(("h", "k", "c", "m"), [(0.01, 25.0, 0.4, 1.0), (0.1, 400.0, 3.0, 0.5), (0.02, 1e4, 0.0, 2.0)])
def test_implicit_euler_follows_its_recurrence(integrator, solver, damping, h, k, c, m):
    """(1 + hc/m + h²k/m) z² - (2 + hc/m) z + 1 = 0: the displacement is a sum of powers of the two roots."""
    c = 0.0 if damping == "none" else c
    x0, v0, rest = 0.3, -0.8, 2.0
    z = np.roots([1 + h * c / m + h * h * k / m, -(2 + h * c / m), 1.0]).astype(complex)
    # x₋₁ = x₀ - h v₀ starts the recurrence
    a = np.linalg.solve(np.array([[1, 1], 1 / z]), np.array([x0, x0 - h * v0]))
    system = oscillator(k, c, m, x0, v0, rest=rest, damping=damping)
    run = taut.simulate(system, integrator(tolerance=taut.Tolerance(1e-13), solver=solver), h, 100 * h)
    got = np.array([state.q[1, 0] - rest for state, _ in run])
    n = np.arange(1, 101)
    expected = (a[0] * z[0] ** n + a[1] * z[1] ** n).real
    assert np.abs(got - expected).max() <= 1e-11


def test_undamped_factor():
    """Amplitude falls by 1/√(1 + h²ω²) a step and the phase advances by atan(hω); hω = 0.1: 0.730783 a period, ω̃/ω 0.996687."""
    h, omega = 0.1, 1.0
    system = oscillator(omega**2, 0.0, 1.0, 0.3, 0.0, damping="none")
    run = taut.simulate(system, taut.ImplicitEuler(tolerance=taut.Tolerance(1e-13)), h, 40.0)
    x = np.array([state.q[1, 0] - 2.0 for state, _ in run])
    z = (1 + 1j * h * omega) / (1 + h * h * omega**2)
    n = np.arange(1, len(x) + 1)
    fit = np.linalg.lstsq(np.column_stack([(z**n).real, (z**n).imag]), x, rcond=None)[0]
    assert np.abs(np.column_stack([(z**n).real, (z**n).imag]) @ fit - x).max() <= 1e-11
    phase = np.arctan(h * omega)
    assert phase / (h * omega) == pytest.approx(0.996687, abs=5e-7)
    assert abs(z) ** (2 * np.pi / phase) == pytest.approx(0.730783, abs=5e-7)


def test_damped_oscillator_of_the_lecture():
    """x = C e^{-t/T} cos(ωt + φ), T = 2m/c, ω = √(k/m - 1/T²), to 1e-3 as h → 0."""
    m, k, c, x0 = 1.0, 30.0, 0.8, 0.5
    decay = 2 * m / c
    omega = np.sqrt(k / m - 1 / decay**2)
    phase = np.arctan2(-1 / decay, omega)
    t_end = 2.0
    expected = x0 / np.cos(phase) * np.exp(-t_end / decay) * np.cos(omega * t_end + phase)
    results = []
    for h in (2e-3, 1e-3):
        *_, (state, _) = taut.simulate(oscillator(k, c, m, x0, 0.0), taut.ImplicitEuler(), h, t_end)
        results.append(state.q[1, 0] - 2.0)
    extrapolated = 2 * results[1] - results[0]
    assert abs(extrapolated - expected) <= 1e-3 * x0
    assert abs(results[1] - expected) < 0.55 * abs(results[0] - expected)


def test_critical_damping_does_not_overshoot():
    m, k = 1.0, 25.0
    system = oscillator(k, 2 * np.sqrt(k * m), m, 0.5, 0.0)
    x = [state.q[1, 0] - 2.0 for state, _ in taut.simulate(system, taut.ImplicitEuler(), 0.01, 3.0)]
    assert min(x) > -1e-12
    assert x[-1] < 1e-3 * 0.5


def test_spring_damping_leaves_rotation_alone_and_drag_does_not():
    """Two particles turning about each other: source 004's point about the two kinds of damping."""
    pair = {"mass": 1.0, "energies": [laws.spring([[0, 1]], k=1e3)], "velocity": [[0, -1.0, 0], [0, 1.0, 0]]}
    points = [[-0.5, 0, 0], [0.5, 0, 0]]
    spins = {}
    for name, damper in {"none": [], "spring": [laws.spring_damping([[0, 1]], c=5.0)], "drag": [laws.drag(alpha=5.0)]}.items():
        system = taut.System(points, damping=damper, **pair)
        *_, (state, _) = taut.simulate(system, taut.ImplicitEuler(), 1e-3, 0.2)
        spins[name] = system.angular_momentum(state)[2]
    assert spins["spring"] == pytest.approx(spins["none"], rel=1e-3)
    assert spins["drag"] == pytest.approx(spins["none"] * np.exp(-1.0), rel=2e-2)


@pytest.mark.parametrize("n", [1, 2, 50])
def test_frequencies_of_a_fixed_chain(n):
    """ω_j = 2√(k/m) sin(jπ/2(N+1)), all of them, to 1e-10."""
    k, m = 70.0, 0.4
    x = np.column_stack([np.arange(n + 2.0), np.zeros(n + 2), np.zeros(n + 2)])
    edges = np.column_stack([np.arange(n + 1), np.arange(1, n + 2)])
    system = taut.System(x, mass=m, energies=[laws.spring(edges, k=k)])
    stiffness = system.K(system.initial_state()).toarray()[3:-3:3, 3:-3:3]
    got = np.sqrt(np.linalg.eigvalsh(stiffness) / m)
    expected = 2 * np.sqrt(k / m) * np.sin(np.arange(1, n + 1) * np.pi / (2 * (n + 1)))
    assert np.abs(got - expected).max() <= 1e-10


def test_frequencies_of_a_taut_string():
    """Transverse: ω_j = 2√(T/(m a)) sin(jπ/2(N+1)) for tension T and spacing a."""
    n, k, m, a, l0 = 20, 100.0, 0.1, 0.5, 0.4
    x = np.column_stack([a * np.arange(n + 2.0), np.zeros(n + 2), np.zeros(n + 2)])
    edges = np.column_stack([np.arange(n + 1), np.arange(1, n + 2)])
    system = taut.System(x, mass=m, energies=[laws.spring(edges, k=k, l0=l0)])
    stiffness = system.K(system.initial_state()).toarray()[4:-3:3, 4:-3:3]
    got = np.sqrt(np.linalg.eigvalsh(stiffness) / m)
    expected = 2 * np.sqrt(k * (a - l0) / (m * a)) * np.sin(np.arange(1, n + 1) * np.pi / (2 * (n + 1)))
    assert np.abs(got - expected).max() <= 1e-8


def test_linearly_implicit_euler_in_its_own_form():
    """(M + hD + h²K) Δv = h(f(q, v) - hK v), assembled densely from the system's own f, K and D."""
    rng = np.random.default_rng(4)
    n, h = 6, 0.03
    x = rng.normal(size=(n, 3))
    edges = [(i, j) for i in range(n) for j in range(i)]
    system = taut.System(
        x, mass=rng.uniform(1, 2, n), energies=[laws.spring(edges, k=20.0), laws.gravity()], pose=1.4 * x,
        velocity=rng.normal(size=x.shape), damping=[laws.spring_damping(edges[:5], c=0.7), laws.rayleigh(alpha=0.2, beta=0.01)],
    )  # fmt: skip
    state = system.initial_state()
    k, d, mass = system.K(state).toarray(), system.D(state).toarray(), np.diag(np.repeat(system.mass, 3))
    v = state.v.ravel()
    dv = np.linalg.solve(mass + h * d + h * h * k, h * (system.f(state).ravel() - h * k @ v))
    after, report = taut.LinearlyImplicitEuler(tolerance=taut.Tolerance(1e-13)).step(system, state, h)
    assert report.projections == 1
    assert abs(k - system.K(state, project=True).toarray()).max() < 1e-10, "all springs are stretched"
    np.testing.assert_allclose(after.v.ravel(), v + dv, rtol=1e-10, atol=1e-11)
    np.testing.assert_allclose(after.q, state.q + h * after.v, atol=1e-13)


def test_implicit_euler_satisfies_its_equation():
    """M(v' - v)/h = f(q', v') for energies and the drag that has no geometry, from the system's own f."""
    rng = np.random.default_rng(5)
    n, h = 6, 0.05
    x = rng.normal(size=(n, 3))
    edges = [(i, j) for i in range(n) for j in range(i)]
    system = taut.System(x, mass=rng.uniform(1, 2, n), energies=[laws.spring(edges, k=20.0), laws.gravity()], pose=0.7 * x,
                         velocity=rng.normal(size=x.shape), damping=[laws.drag(alpha=0.3)])  # fmt: skip
    state = system.initial_state()
    after, report = taut.ImplicitEuler(tolerance=taut.Tolerance(1e-12)).step(system, state, h)
    unbalanced = system.mass[:, None] * (after.v - state.v) / h - system.f(after)
    assert np.abs(unbalanced).max() <= 1e-9
    assert report.residual <= 1e-9
