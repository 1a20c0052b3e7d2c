"""Every energy of the catalogue, on random states where its derivatives are not zero."""

import numpy as np
import pytest

from tests.laws import checks
from tests.laws.specimens import ENERGIES, state

every = pytest.mark.parametrize("specimen", ENERGIES.values(), ids=ENERGIES.keys())
seeds = pytest.mark.parametrize("seed", [1, 2, 3])


@pytest.fixture
def prepared(specimen, seed):
    rng = np.random.default_rng(seed)
    placed = specimen.placed(rng)
    return placed, state(rng, placed), rng


@every
@seeds
def test_value_equals_the_formula(prepared):
    checks.formula(*prepared[:2])


@every
@seeds
def test_taylor_remainder_is_third_order(prepared):
    placed, q, rng = prepared
    checks.taylor(placed, q, rng)


@every
@seeds
def test_symmetric(prepared):
    checks.symmetry(*prepared[:2])


@every
@seeds
def test_invariance_is_as_declared(prepared):
    checks.invariance(*prepared)


@every
@seeds
def test_no_net_force(prepared):
    checks.no_net_force(*prepared[:2])


@every
@seeds
def test_projection(prepared):
    checks.projection(*prepared[:2])


@every
@seeds
def test_metric(prepared):
    placed, q, _ = prepared
    checks.metric(placed.hessians(q), placed.hessians(q, metric=True))
    assert placed.forms["energy"].has_metric, (
        "a law of the catalogue must not need eigenvalues in every iteration of Newton's method"
    )


@every
@pytest.mark.parametrize("seed", [4])
def test_parameter_derivatives(prepared):
    checks.parameter_derivatives(*prepared[:2])


@every
def test_force_and_energy_vanish_at_rest_where_the_metric_is_the_hessian(specimen):
    if specimen.relaxed is None:
        assert specimen.law.invariant is None or not specimen.law.rest, (
            "an internal energy must have a rest state to test"
        )
        return
    rng = np.random.default_rng(5)
    q = specimen.relaxed(rng)
    given = {
        name: v if np.shape(v) == specimen.law.declared_shape(name) else np.atleast_1d(v)[0]
        for name, v in specimen.parameters(rng).items()
        if name not in specimen.law.rest
    }
    placed = specimen.place_at(q, given)
    checks.rest_state(placed, q)
    checks.metric_at_rest(placed, q)
