"""The compiled factorisation has the bits of QDLDL."""

import numpy as np
import pytest
from numba import njit

from taut.linalg.blocks import BlockMatrix, Pattern
from taut.linalg.direct import Direct, plan_elimination
from taut.linalg.elimination import factor, solve


@njit(error_model="numpy")
def _factor_and_solve(plan, data, b):
    m = b.shape[0]
    lower, inverse, work = np.empty(plan.l_row.shape[0] + 1), np.empty(m), np.empty(m)
    definite = factor(plan, data, lower, inverse, work, np.empty(m, dtype=np.int64))
    x = np.zeros(m)
    if definite:
        solve(plan, lower, inverse, b, x, work)
    return definite, x


def _random_matrix(rng, n, band):
    pairs = [(i, j) for i in range(n) for j in range(i + 1, min(n, i + band)) if rng.random() < 0.6]
    pattern = Pattern.from_pairs(np.array(pairs, dtype=np.int64).reshape(-1, 2), n)
    data = np.zeros((len(pattern.indices), 3, 3))
    for u, m in zip(pattern.upper, pattern.mirror, strict=True):
        data[u] = rng.normal(size=(3, 3))
        data[m] = data[u].T
    data[pattern.diagonal] += data[pattern.diagonal].transpose(0, 2, 1) + 30.0 * np.eye(3)
    return BlockMatrix(pattern, data)


@pytest.mark.parametrize("seed", range(20))
def test_solutions_have_the_bits_of_qdldl(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 40))
    matrix = _random_matrix(rng, n, int(rng.integers(1, 6)))
    b = rng.normal(size=(n, 3))
    direct = Direct()
    assert direct.factor(matrix)
    expected = direct.model(matrix, b, np.zeros(n))._precondition(b)
    plan = plan_elimination(matrix.pattern)
    definite, x = _factor_and_solve(plan, matrix.data.reshape(-1), b.reshape(-1))
    assert definite
    assert x.tobytes() == expected.tobytes()


def test_an_indefinite_matrix_is_refused():
    matrix = _random_matrix(np.random.default_rng(1), 5, 3)
    matrix.data[matrix.pattern.diagonal[2]] -= 60.0 * np.eye(3)
    plan = plan_elimination(matrix.pattern)
    assert not _factor_and_solve(plan, matrix.data.reshape(-1), np.ones(15))[0]
    assert not Direct().factor(matrix)
