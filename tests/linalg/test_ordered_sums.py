"""Compiled sums add in the order of NumPy, bit for bit."""

import numpy as np
import pytest
from numba import njit

from taut.linalg.ordered_sums import dot_flat, pairwise_sum, weighted_dot

SIZES = [*range(1, 20), 31, 64, 127, 128, 129, 200, 257, 600, 768]


@njit
def _all(a, b, weights):
    count = weights.shape[0]
    return (
        dot_flat(a, b, 3 * count),
        weighted_dot(weights, a, b, count),
        pairwise_sum(a, 0, 3 * count),
    )


@pytest.mark.parametrize("n", SIZES)
def test_sums_have_the_bits_of_numpy(n):
    """Numbers of very different size, so that every other order gives other bits."""
    rng = np.random.default_rng(n)
    a, b = rng.normal(size=(2, n, 3)) * 10.0 ** rng.integers(-8, 8, size=(2, n, 3))
    weights = rng.uniform(0.1, 2.0, n)
    dot, weighted, total = _all(a.ravel(), b.ravel(), weights)
    assert dot == np.einsum("ij,ij->", a, b)
    assert weighted == np.einsum("i,ij,ij->", weights, a, b)
    assert total == a.ravel().sum()


def test_another_order_gives_other_bits():
    a = np.random.default_rng(0).normal(size=300)
    assert _all(a, a, np.ones(100))[0] != float(np.cumsum(a * a)[-1])
