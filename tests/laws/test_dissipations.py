"""Every damping law dissipates energy, its two forms agree, and it conserves what it declares."""

import numpy as np
import pytest

import taut
from taut import laws
from taut.system.assembly import Assembly
from taut.system.terms import Inputs, Term
from tests.laws import checks
from tests.laws.specimens import DISSIPATIONS

every = pytest.mark.parametrize("specimen", DISSIPATIONS.values(), ids=DISSIPATIONS.keys())


def evaluate(placed, form, x, y, h, *, hessian=False, metric=False):
    assembly = Assembly(len(placed.rest), [Term(placed.name, placed, form, None)])
    at = [Inputs(x, y, h, 0.0)]
    if not hessian:
        value, gradient, _ = assembly.gradient(at)
        return value, gradient.copy()
    assembly.hessian(at, np.zeros(len(placed.rest)), metric=metric)
    return assembly.matrix.to_scipy().toarray()


@pytest.fixture
def prepared(specimen):
    rng = np.random.default_rng(7)
    placed = specimen.placed(rng)
    return placed, placed.rest.copy(), rng.normal(size=placed.rest.shape), rng


@every
def test_dissipation_rate_is_positive(prepared):
    placed, q, v, _ = prepared
    value, force = evaluate(placed, "rate", v, q, 0.0)
    assert value > 0.0
    assert np.vdot(force, v) > 0.0
    assert evaluate(placed, "rate", 0 * v, q, 0.0)[0] == 0.0
    d = evaluate(placed, "rate", v, q, 0.0, hessian=True)
    assert np.linalg.eigvalsh(d).min() >= -1e-13 * np.abs(d).max()


@every
@pytest.mark.parametrize(("form", "h"), [("rate", 0.0), ("increment", 0.02)])
def test_derivatives_match_finite_differences(prepared, form, h):
    placed, q, v, rng = prepared
    x = v if form == "rate" else q + 0.3 * v
    d = rng.normal(size=x.shape)
    s = 1e-5
    (up, gu), (down, gd) = (evaluate(placed, form, x + e * d, q, h) for e in (s, -s))
    gradient = evaluate(placed, form, x, q, h)[1]
    hessian = evaluate(placed, form, x, q, h, hessian=True)
    assert abs(np.vdot(gradient, d)) > 1e-3
    assert (up - down) / (2 * s) == pytest.approx(np.vdot(gradient, d), rel=1e-7)
    np.testing.assert_allclose(
        (gu - gd).ravel() / (2 * s),
        hessian @ d.ravel(),
        rtol=1e-6,
        atol=1e-7 * np.abs(hessian).max(),
    )
    assert np.abs(hessian - hessian.T).max() <= 1e-14 * np.abs(hessian).max()


@every
@pytest.mark.parametrize(("form", "h"), [("rate", 0.0), ("increment", 0.02)])
def test_metric(prepared, form, h):
    placed, q, v, _ = prepared
    x = v if form == "rate" else q + 0.3 * v
    assert placed.forms[form].has_metric
    true = evaluate(placed, form, x, q, h, hessian=True)
    checks.metric(true, evaluate(placed, form, x, q, h, hessian=True, metric=True))
    at_start = 0 * v if form == "rate" else q  # no rate and no force
    np.testing.assert_allclose(
        evaluate(placed, form, at_start, q, h, hessian=True, metric=True),
        evaluate(placed, form, at_start, q, h, hessian=True),
        atol=1e-12 * np.abs(true).max(),
    )


@every
def test_parameter_derivatives_match_finite_differences(prepared):
    placed, q, v, _ = prepared
    checks.parameter_derivatives(placed, v, at=q)
    with pytest.raises(taut.errors.LawError, match="`at` must give the positions"):
        placed.values(v)


@every
def test_element_methods_agree_with_the_sums(prepared):
    placed, q, v, _ = prepared
    value, force = evaluate(placed, "rate", v, q, 0.0)
    assert placed.values(v, at=q).sum() == pytest.approx(value)
    np.testing.assert_allclose(placed.gradients(v, at=q).reshape(-1, 3), force, atol=1e-14)
    np.testing.assert_allclose(
        placed.hessians(v, at=q), placed.hessians(v, at=q, project=True), atol=1e-13
    )


@every
def test_increment_converges_to_the_rate(prepared):
    placed, q, v, _ = prepared
    exact = evaluate(placed, "rate", v, q, 0.0)[1]
    errors = [
        np.abs(evaluate(placed, "increment", q + h * v, q, h)[1] - exact).max()
        for h in (1e-3, 1e-4, 1e-5)
    ]
    assert errors[0] <= 1e-2 * np.abs(exact).max()
    assert errors[2] <= 0.011 * errors[0] + 1e-9 * np.abs(exact).max()


@every
def test_forces_of_a_step_balance(prepared):
    """If no rigid motion is damped, the forces at the new positions have zero sum and torque for
    any h.
    """
    placed, q, v, _ = prepared
    x = q + 0.5 * v
    force = evaluate(placed, "increment", x, q, 0.1)[1]
    scale = np.abs(force).sum()
    balanced = (
        np.abs(force.sum(axis=0)).max() <= 1e-13 * scale
        and np.abs(np.cross(x, force).sum(axis=0)).max() <= 1e-12 * scale
    )
    assert balanced == (placed.law.invariant == "rigid motion")


@every
def test_rigid_motion_is_damped_as_declared(prepared):
    placed, q, _, rng = prepared
    spin = np.cross(rng.normal(size=3), q) + rng.normal(size=3)
    value, force = evaluate(placed, "rate", spin, q, 0.0)
    free = abs(value) <= 1e-24 and np.abs(force).max() <= 1e-12
    assert free == (placed.law.invariant == "rigid motion")


def test_rayleigh_is_positive_and_damps_a_compressed_system():
    rng = np.random.default_rng(3)
    x = rng.normal(size=(6, 3))
    edges = [(i, j) for i in range(6) for j in range(i)]
    system = taut.System(
        x,
        mass=2.0,
        energies=[laws.spring(edges, k=100.0)],
        damping=[laws.rayleigh(alpha=0.3, beta=0.01)],
        pose=0.6 * x,
        velocity=rng.normal(size=x.shape),
    )
    state = system.initial_state()
    assert np.linalg.eigvalsh(system.K(state).toarray()).min() < -1.0
    d = system.D(state).toarray()
    expected = 0.3 * 2.0 * np.eye(18) + 0.01 * system.K(state, project=True).toarray()
    np.testing.assert_allclose(d, expected, atol=1e-13)
    assert np.linalg.eigvalsh(d).min() >= 0.6 - 1e-12
    undamped = system.with_(damping=[])
    np.testing.assert_allclose(
        system.f(state), undamped.f(state) - (d @ state.v.ravel()).reshape(-1, 3), rtol=1e-12
    )
