"""Stages that begin from heavy masses: the same minimum, certified, in far fewer iterations."""

import numpy as np
import pytest

import taut
from benchmarks.reliability.random_scenes import scene
from taut.linalg.linear import make_solver
from taut.optimise.newton import minimise
from taut.optimise.tolerance import Tolerance
from taut.step import _heavy_start
from taut.step._heavy_start import _HeavyObjective
from taut.step._objective import ImplicitObjective, extrapolate
from taut.system.workspace import workspace_for


def make_objective(system, h):
    """Return the objective of the first step of implicit Euler, and its start."""
    state = system.initial_state()
    start = extrapolate(system, h, np.array(state.q), np.array(state.v), h)
    objective = ImplicitObjective(
        workspace_for(system), start, state, state.q - start.q, increments=False
    )
    return objective, objective.evaluate(state.q - start.q)


@pytest.fixture
def slack_net():
    """Stiff cables near their slack lengths, which plain steps make taut one at a time."""
    return scene(1598)


def test_slack_cables_converge_in_few_iterations(slack_net):
    """Plain descents took 1302 to 1772 iterations for the first of these steps."""
    state, integrator = slack_net.system.initial_state(), taut.ImplicitEuler()
    for _ in range(3):
        state, report = integrator.step(slack_net.system, state, slack_net.h)
        assert report.outcome in ("converged", "rounding floor")
        assert report.iterations < 120


def test_the_end_is_lower_than_the_start_and_balanced(slack_net):
    objective, start = make_objective(slack_net.system, slack_net.h)
    solver = make_solver("direct")
    descent = _heavy_start.minimise_stage(objective, start, solver, Tolerance(), None)
    assert descent.outcome in ("converged", "rounding floor")
    assert objective.change(start, descent.point) < 0.0
    # The certificate is that of the true masses: an evaluation anew finds the same residuals.
    again = objective.evaluate(descent.point.y)
    assert np.array_equal(again.residuals, descent.point.residuals)


def test_large_bodies_descend_plainly(slack_net):
    """With conjugate gradients the bits are those of a plain descent."""
    objective, start = make_objective(slack_net.system, slack_net.h)
    ends = []
    solver = make_solver("cg")
    ends.append(_heavy_start.minimise_stage(objective, start, solver, Tolerance(), None))
    ends.append(minimise(objective, start, make_solver("cg"), Tolerance()))
    assert np.array_equal(ends[0].point.y, ends[1].point.y)


def test_a_failure_goes_on_where_the_plain_descent_was_left(monkeypatch, slack_net):
    """Heavy masses that lead nowhere cost iterations, and nothing else."""
    objective, start = make_objective(slack_net.system, slack_net.h)

    def lead_nowhere(objective, solver, work):
        return start, work

    monkeypatch.setattr(_heavy_start, "_lower_masses", lead_nowhere)
    descent = _heavy_start.minimise_stage(
        objective, start, make_solver("direct"), Tolerance(), None
    )
    assert descent.outcome in ("converged", "rounding floor")
    assert objective.change(start, descent.point) < 0.0


def test_derivatives_of_the_heavy_objective():
    sheet = taut.mesh.sheet(3, 3)
    system = taut.System(
        sheet.points,
        mass=0.1,
        fixed=[0],
        energies=[taut.laws.spring(sheet.edges, k=1e3), taut.laws.gravity()],
    )
    objective, _ = make_objective(system, 0.02)
    heavy = _HeavyObjective(objective)
    heavy.factor = 7.0
    rng = np.random.default_rng(1)
    y = system._projector.project(0.05 * rng.normal(size=system.pose.shape))
    move = system._projector.project(rng.normal(size=y.shape))
    eps = 1e-6
    ahead, behind = heavy.evaluate(y + eps * move), heavy.evaluate(y - eps * move)
    slope = float((heavy.evaluate(y).gradient * move).sum())
    assert (ahead.value - behind.value) / (2 * eps) == pytest.approx(slope, rel=1e-7)
    assert heavy.change(behind, ahead) / (2 * eps) == pytest.approx(slope, rel=1e-7)
    product = heavy.hessian(y, y).multiply(move)
    difference = system._projector.project((ahead.gradient - behind.gradient) / (2 * eps))
    free = ~system._projector.is_fixed
    assert np.abs(product - difference)[free].max() <= 1e-6 * np.abs(difference).max()
