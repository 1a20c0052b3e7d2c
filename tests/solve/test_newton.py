"""Newton's method: its quadratic tail, its outcomes, and that it never claims what it has not reached."""

import numpy as np
import pytest

import taut
from taut import laws
from taut.errors import SingularState
from taut.solve.direct import Direct
from taut.solve.newton import minimise
from taut.solve.tolerance import Tolerance, rounding_floor
from taut.step.objective import ImplicitObjective


def stretched(rng, scale=1.3, n=8):
    x = rng.normal(size=(n, 3))
    edges = [(i, j) for i in range(n) for j in range(i)]
    return taut.System(
        x, mass=1.0, energies=[laws.spring(edges, k=50.0), laws.gravity()], pose=scale * x + 0.3 * rng.normal(size=x.shape)
    )


def residuals(system, h, **change):
    """Residuals of successive Newton iterates, by asking for ever tighter tolerances."""
    objective = ImplicitObjective(system, system.initial_state(), h)
    seen = []
    for relative in 10.0 ** -np.arange(0.0, 14.5, 0.25):
        r = minimise(objective, objective.target, Direct(), Tolerance(relative)).residual
        if not seen or r != seen[-1]:
            seen.append(r)
    return np.array(seen)


@pytest.mark.parametrize("seed", range(3))
def test_quadratic_tail(seed):
    r = residuals(stretched(np.random.default_rng(seed)), 0.1)
    r = r[r > 1e-11]
    logs = np.log(r)
    order = (logs[2:] - logs[1:-1]) / (logs[1:-1] - logs[:-2])
    assert 1.7 <= order[-1] <= 2.3, (r, order)


def test_rounding_floor_is_a_result_of_its_own():
    system = stretched(np.random.default_rng(1))
    _, report = taut.ImplicitEuler(tolerance=Tolerance(relative=0.0)).step(system, system.initial_state(), 0.05)
    assert report.outcome == "rounding floor"
    assert report.tolerance < report.residual <= report.floor < 1e-9


def test_far_from_the_origin_the_floor_rises_with_the_coordinates():
    """A body a million metres out cannot be balanced to 1e-12 N, and says so."""
    system = stretched(np.random.default_rng(1))
    far = system.with_(points=system.rest + 1e6, pose=system.pose + 1e6)
    _, near_report = taut.ImplicitEuler(tolerance=Tolerance(1e-13)).step(system, system.initial_state(), 0.05)
    _, report = taut.ImplicitEuler(tolerance=Tolerance(1e-13)).step(far, far.initial_state(), 0.05)
    assert report.outcome == "rounding floor"
    assert report.floor > 1e4 * max(near_report.floor, 1e-14)


def test_compressed_chain_needs_projection_and_converges():
    """Exactly straight and compressed to half: the true Hessian is indefinite."""
    n = 12
    x = np.column_stack([np.linspace(0, 1, n), np.zeros(n), np.zeros(n)])
    edges = np.column_stack([np.arange(n - 1), np.arange(1, n)])
    pose = x * [0.5, 1, 1] + 1e-4 * np.random.default_rng(0).normal(size=x.shape)
    system = taut.System(x, mass=0.01, energies=[laws.spring(edges, k=1e3)], pose=pose, fixed=[0, n - 1])
    state, report = taut.ImplicitEuler().step(system, system.initial_state(), 0.05)
    assert report.outcome == "converged"
    assert report.projections > 0
    assert system.V(state) < 1e-3 * system.V(system.initial_state()), "it buckles out of compression"


def test_not_converged_is_raised_with_the_state_intact(monkeypatch):
    monkeypatch.setattr("taut.solve.newton.ITERATIONS", 1)
    system = stretched(np.random.default_rng(2))
    state = system.initial_state()
    before = state.q.copy()
    with pytest.raises(taut.NotConverged, match="1 Newton iterations were not enough") as caught:
        taut.ImplicitEuler().step(system, state, 0.2)
    assert caught.value.state is state
    np.testing.assert_array_equal(state.q, before)
    assert caught.value.report.residual > caught.value.report.tolerance
    assert caught.value.report.outcome == "not converged"


def test_a_linear_solver_that_stops_short_is_not_believed(monkeypatch):
    monkeypatch.setattr("taut.solve.cg.RESTARTS", 0)
    monkeypatch.setattr("taut.solve.cg.ConjugateGradients.solve", _lazy(taut))
    system = stretched(np.random.default_rng(2))
    with pytest.raises(taut.NotConverged, match="linear solver stopped short"):
        taut.LinearlyImplicitEuler(solver="cg").step(system, system.initial_state(), 0.05)


def _lazy(_):
    from taut.solve.linear import Solution

    return lambda self, b, target: Solution(0 * b, True, float(np.linalg.norm(b, axis=1).max()), 1)


def test_the_line_search_backs_away_from_where_the_energy_has_no_value():
    """A logarithmic barrier at y = 0 under strong gravity: the prediction lies beyond it."""

    @taut.energy
    def floor(x, k):
        return -k * taut.formula.log(x[0][1])

    system = taut.System([[0, 0.1, 0]], mass=1.0, energies=[floor(k=1e-3), laws.gravity()], velocity=[[0, -5.0, 0]])
    state, report = taut.ImplicitEuler().step(system, system.initial_state(), 0.1)
    assert report.restarts == 1
    assert report.outcome == "converged"
    assert 0 < state.q[0, 1] < 0.1
    with pytest.raises(SingularState):
        system.V(system.initial_state().with_(q=[[0, -1.0, 0]]))


def test_start_above_the_old_objective_is_left():
    """Two springs under heavy compression and a wild prediction: the step never ends above where it began."""
    rng = np.random.default_rng(8)
    for _ in range(20):
        system = stretched(rng, scale=rng.uniform(0.05, 3.0), n=4).with_(velocity=20 * rng.normal(size=(4, 3)))
        _, report = taut.ImplicitEuler().step(system, system.initial_state(), 0.5)
        assert report.decrease >= 0.0 or abs(report.decrease) < 1e-9


def test_tolerance_is_checked():
    for bad in (-1.0, np.nan, np.inf):
        with pytest.raises(taut.ModelError, match="relative"):
            Tolerance(relative=bad)
    assert Tolerance(1e-3, force=5.0).target(np.array([100.0])) == 5.0
    assert Tolerance(1e-1, force=5.0).target(np.array([100.0])) == 10.0


def test_floor_formula():
    gross, stiffness, x = np.array([1.0, 2.0]), np.array([0.0, 1e6]), np.array([[1.0, 0, 0], [0, 3.0, 0]])
    assert rounding_floor(gross, stiffness, x) == pytest.approx(8 * 2.0**-52 * (2 + 3e6))


@pytest.mark.parametrize("h", [0.0, -0.1, np.nan, np.inf])
def test_bad_steps_are_refused(h):
    system = taut.System([[0, 0, 0]], mass=1.0)
    with pytest.raises(taut.ModelError, match="step h"):
        taut.ImplicitEuler().step(system, system.initial_state(), h)
    with pytest.raises(taut.ModelError, match="step h"):
        taut.simulate(system, taut.ImplicitEuler(), h, 1.0)
