"""Slack chains and cables, as stiff as they come, hang in catenaries after few iterations."""

import numpy as np
import pytest
from scipy.optimize import brentq

import taut
from taut import laws

SPAN, LENGTH = 0.8, 1.0


def slack_chain(n, k, law):
    """Return a chain of n particles, laid straight between its ends, with its ends' distance."""
    x = np.zeros((n, 3))
    x[:, 0] = np.linspace(0.0, SPAN, n)
    links = np.stack([np.arange(n - 1), np.arange(1, n)], axis=1)
    links = law(links, k=k * (n - 1), l0=LENGTH / (n - 1))
    return taut.System(x, mass=0.1 / n, fixed=[0, n - 1], energies=[links, laws.gravity()])


@pytest.mark.parametrize("law", [laws.spring, laws.cable])
@pytest.mark.parametrize("k", [1e2, 1e6, 4e8])
def test_few_iterations_at_any_stiffness(k, law):
    rest = taut.equilibrium(slack_chain(50, k, law))
    assert rest.outcome in ("converged", "rounding floor")
    assert rest.stability.stable
    assert rest.iterations <= 100
    assert len(rest.path) == 1  # the way there is not the user's


def test_sag_of_the_catenary():
    """Of an inextensible chain: a cosh(x/a), with 2a sinh(span/2a) = length."""
    n = 201
    rest = taut.equilibrium(slack_chain(n, 4e8, laws.spring))
    a = brentq(lambda a: 2 * a * np.sinh(SPAN / (2 * a)) - LENGTH, 0.1, 10.0)
    sag = a * (np.cosh(SPAN / (2 * a)) - 1.0)
    # Links instead of an arc: of order 1/n².
    assert -rest.state.q[n // 2, 1] == pytest.approx(sag, rel=1e-4)
