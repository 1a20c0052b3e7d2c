"""Objectives without a minimum are reported early; non-finite points are never certified."""

import numpy as np
import pytest

import taut
from taut.formula import exp
from taut.linalg.blocks import BlockMatrix, Pattern
from taut.linalg.direct import Direct
from taut.optimise._line_search import Stagnation, Step
from taut.optimise.descent import Descent, Point
from taut.optimise.lbfgs import minimise_lbfgs
from taut.optimise.newton import minimise
from taut.optimise.tolerance import Tolerance, all_within

TIGHT = Tolerance(relative=1e-8)
PATTERN = Pattern.from_pairs(np.empty((0, 2), dtype=np.int64), 1)


class Wave:
    """Φ(y) = f(x) + ½(y² + z²), y = (x, y, z) one particle's coordinates; f, f' and f'' given."""

    def __init__(self, f, slope, curvature, floor=1e-15):
        self.f, self.slope, self.curvature, self.floor = f, slope, curvature, floor

    def evaluate(self, y):
        g = y.copy()
        g[0, 0] = self.slope(y[0, 0])
        value = float(self.f(y[0, 0]) + 0.5 * (y[0, 1:] ** 2).sum())
        return Point(y, value, g, np.abs(g).sum(axis=1), abs(value), np.abs(y).max(axis=1))

    def start(self, x):
        return self.evaluate(np.array([[x, 0.0, 0.0]]))

    def change(self, start, end):
        return end.value - start.value

    def hessian(self, y, previous):
        return BlockMatrix(PATTERN, np.diag([self.curvature(y[0, 0]), 1.0, 1.0])[None])

    def metric(self, y, previous):
        return BlockMatrix(PATTERN, np.diag([max(self.curvature(y[0, 0]), 1e-3), 1.0, 1.0])[None])

    def relax(self, point, region, sweeps):
        return point.y

    def free_part(self, y, move):
        return 1.0

    def rounding_floors(self, point):
        return np.full(1, self.floor)


def lbfgs(objective, start, solver, tolerance):
    assert solver.factor(BlockMatrix(PATTERN, np.eye(3)[None].copy()))
    return minimise_lbfgs(objective, start, solver, tolerance)


FALLING = {
    "hill": Wave(lambda x: -(x**2), lambda x: -2 * x, lambda x: -2.0),
    "steep hill": Wave(lambda x: -(x**4), lambda x: -4 * x**3, lambda x: -12 * x**2),
}


@pytest.mark.parametrize("method", [minimise, lbfgs], ids=["newton", "lbfgs"])
@pytest.mark.parametrize("name", FALLING)
@pytest.mark.parametrize("size", [1e-3, 1.0, 1e6])
def test_unbounded_objective_is_detected_early(method, name, size):
    m = method(FALLING[name], FALLING[name].start(size), Direct(), TIGHT)
    assert (m.outcome, m.reason, m.unbounded) == (
        "not converged",
        "the objective falls without bound",
        True,
    )
    assert m.evaluations < 200
    assert m.point.size.max() > 1e12 * size
    assert np.isfinite(m.point.residuals).all()


@pytest.mark.parametrize("method", [minimise, lbfgs], ids=["newton", "lbfgs"])
def test_distant_minimum_is_found_from_a_tiny_start(method):
    """-x²/2 + x⁴/4 from 10⁻²⁰ m: the minimum at 1 m is 20 decades away and must not count as
    unbounded.
    """
    well = Wave(lambda x: -(x**2) / 2 + x**4 / 4, lambda x: x**3 - x, lambda x: 3 * x**2 - 1)
    m = method(well, well.start(1e-20), Direct(), Tolerance(1e-8, force=1e-30))
    assert m.outcome in ("converged", "rounding floor")
    assert not m.unbounded
    assert abs(m.point.y[0, 0]) == pytest.approx(1.0, abs=1e-7)


def runaway(law):
    return taut.System([[1.0, 0, 0], [5.0, 0, 0]], mass=1.0, energies=[law([[0]], k=10.0)])


@taut.energy
def hill(x, k):
    return -k * x[0][0] ** 2 / 2


@taut.energy
def steep(x, k):
    return -k * x[0][0] ** 4


@taut.energy
def cliff(x, k):
    return -k * exp(x[0][0])


@pytest.mark.parametrize("law", [hill, steep, cliff], ids=lambda law: law.name)
def test_step_without_a_minimum_raises(law):
    with pytest.raises(taut.NotConverged, match="the objective falls without bound") as caught:
        taut.ImplicitEuler().step(runaway(law), runaway(law).initial_state(), 1.0)
    assert np.isfinite(caught.value.report.residual)
    assert caught.value.report.evaluations < 200


def test_adaptive_finds_a_step_with_a_minimum():
    """Below h = 1/√k the step has a minimum: x' = x/(1 - k h²) from rest.

    Adaptive finds h = 1/4 s, where v' = (x' - x)/h.
    """
    state, report = taut.Adaptive(taut.ImplicitEuler()).step(
        runaway(hill), runaway(hill).initial_state(), 1.0
    )
    assert (report.substeps, report.outcome) == (4, "converged")
    x, v = 1.0, 0.0
    for _ in range(4):
        new = (x + 0.25 * v) / (1 - 10 * 0.25**2)
        x, v = new, (new - x) / 0.25
    assert state.q[0, 0] == pytest.approx(x, rel=1e-12)


@pytest.mark.parametrize(
    ("residual", "gross", "floor"),
    [(np.inf, 1.0, np.inf), (1.0, np.inf, 0.0), (np.nan, 1.0, np.inf)],
)
def test_non_finite_points_are_never_certified(residual, gross, floor):
    flat = Wave(lambda x: 0.0 * x, lambda x: 0.0 * x, lambda x: 0.0, floor=floor)
    at = Point(
        np.zeros((1, 3)), 0.0, np.array([[residual, 0.0, 0.0]]), np.array([gross]), 0.0, np.zeros(1)
    )
    with np.errstate(invalid="ignore"):
        m = Descent(at, TIGHT.targets(at.gross, at.gross)).end_without_progress(flat, "stuck")
    assert (m.outcome, m.reason) == ("not converged", "stuck")
    assert not all_within(m.point.residuals, m.targets)


def test_stagnation_uses_the_tolerance_at_the_final_point():
    """The acting force falls from 10⁶ N to 1 N: a residual of 10⁻³ N meets the old tolerance, but
    not the new one.
    """
    flat = Wave(lambda x: 0.0 * x, lambda x: 0.0 * x, lambda x: 0.0)

    def at(gross, residual):
        return Point(
            np.zeros((1, 3)),
            0.0,
            np.array([[residual, 0.0, 0.0]]),
            np.array([gross]),
            1.0,
            np.ones(1),
        )

    m = Descent.start(at(1e6, 1e-3), TIGHT)
    stagnation = Stagnation(1, TIGHT)
    ends = [stagnation.ends(Step(at(1.0, 1e-3), 0.0, True), flat, m) for _ in range(65)]
    assert ends == [False] * 64 + [True]
    assert (m.outcome, m.targets.tolist()) == ("not converged", [1e-8])
    m = Descent.start(at(1e6, 1e-3), TIGHT)
    stagnation = Stagnation(1, TIGHT)
    for _ in range(2):
        assert not stagnation.ends(Step(at(1.0, 1e-3), 0.0, True), flat, m)
    assert len(m.rounding_floors) == 0, "an inconclusive check must leave no state behind"
    assert not stagnation.ends(Step(at(1e6, 1e-3), 0.0, True), flat, m), (
        "the tolerance is met: the minimiser reports convergence"
    )
    assert m.reason == ""
