"""Bounds of smallest eigenvalues, against matrices whose eigenvalues are known."""

import numpy as np
import pytest
from scipy.sparse import csr_array, diags_array, eye_array

from taut.proof.eigenvalue_bound import bound_smallest_eigenvalue


def second_differences(n):
    """The matrix with 2 on the diagonal and -1 beside it: eigenvalues 2 - 2 cos(kπ/(n + 1))."""
    return csr_array(
        diags_array([-np.ones(n - 1), 2 * np.ones(n), -np.ones(n - 1)], offsets=[-1, 0, 1])
    )


@pytest.mark.parametrize("n", [3, 30, 1000])
def test_a_chain_of_springs(n):
    exact = 4 * np.sin(np.pi / (2 * (n + 1))) ** 2
    bound = bound_smallest_eigenvalue(second_differences(n))
    assert 0.9 * exact < bound <= exact


def test_random_matrices_of_given_eigenvalues():
    rng = np.random.default_rng(1)
    for smallest in (1e-6, 1e-3, 1.0):
        basis, _ = np.linalg.qr(rng.normal(size=(40, 40)))
        values = np.geomspace(smallest, 1e3, 40)
        matrix = basis @ np.diag(values) @ basis.T
        matrix = (matrix + matrix.T) / 2
        bound = bound_smallest_eigenvalue(csr_array(matrix))
        # The matrix was rounded: its smallest eigenvalue may be less by n u ‖A‖.
        assert bound <= smallest + 40 * 2.0**-53 * 1e3
        assert bound > 0.9 * smallest


def test_singular_matrices_are_never_found_definite():
    # The Laplacian of a ring: integers, exactly singular.
    for n in (4, 50, 501):
        ring = second_differences(n).tolil()
        ring[0, n - 1] = ring[n - 1, 0] = -1.0
        assert bound_smallest_eigenvalue(csr_array(ring)) == -np.inf
        shifted = csr_array(csr_array(ring) + 1e-15 * eye_array(n))
        # 2 + 1e-15 is 2 + 8.9e-16 or so; too near to singular to tell.
        assert bound_smallest_eigenvalue(shifted) <= 1.4e-15


def test_indefinite_matrices_are_refused():
    rng = np.random.default_rng(2)
    for _ in range(20):
        matrix = rng.normal(size=(15, 15))
        matrix = matrix + matrix.T
        assert np.linalg.eigvalsh(matrix).min() < 0
        assert bound_smallest_eigenvalue(csr_array(matrix)) == -np.inf
    assert bound_smallest_eigenvalue(csr_array(np.diag([1.0, np.nan]))) == -np.inf
