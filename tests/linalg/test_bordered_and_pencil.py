"""Bordered systems through singular matrices; eigenvalues of pencils."""

import numpy as np
import pytest
from scipy.sparse import csc_array, diags_array, eye_array

from taut.errors import EigenError
from taut.linalg.bordered import BorderedMatrix
from taut.linalg.low_rank import SparsePlusLowRank
from taut.linalg.pencil import find_smallest_of_pencil


def laplacian(n):
    """Second differences with free ends: singular, with the constant vector as its null space."""
    matrix = diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(n, n)).tolil()
    matrix[0, 0] = matrix[n - 1, n - 1] = 1.0
    return matrix.tocsc()


@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e8])
def test_singular_matrix_with_a_border(scale):
    """Row and column of any size: x and ξ solve the bordered equations."""
    rng = np.random.default_rng(0)
    A, p, c = laplacian(30), scale * rng.normal(size=30), rng.normal(size=30)
    b = rng.normal(size=30)
    x, xi = BorderedMatrix(A, p, c, 0.3 * scale).solve(b, 2.0)
    assert A @ x + p * xi == pytest.approx(b, abs=1e-11)
    assert c @ x + 0.3 * scale * xi == pytest.approx(2.0, abs=1e-9)


def test_border_and_low_rank_part():
    rng = np.random.default_rng(1)
    g, p, c, b = rng.normal(size=(4, 20))
    A = SparsePlusLowRank(laplacian(20), np.array([5.0]), g[:, None])
    x, xi = BorderedMatrix(A, p, c, 0.0).solve(b, -1.0)
    assert A @ x + p * xi == pytest.approx(b, abs=1e-10)
    assert c @ x == pytest.approx(-1.0)


def test_singular_border_raises():
    """With p in the range of A the whole is singular."""
    A = csc_array(np.diag([1.0, 2.0, 0.0]))
    with pytest.raises(np.linalg.LinAlgError):
        BorderedMatrix(A, np.array([1.0, 0, 0]), np.array([1.0, 0, 0]), 0.0).solve(np.ones(3), 1.0)


@pytest.mark.parametrize("n", [20, 400])
def test_pencil_of_consistent_masses(n):
    """Of second differences and (1, 4, 1)/6: λ = 6(1 - cos)/(2 + cos), dense and by Lanczos."""
    A = diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(n, n)).tocsc()
    B = diags_array([1.0, 4.0, 1.0], offsets=[-1, 0, 1], shape=(n, n)).tocsc() / 6
    wave = np.cos(np.arange(1, 6) * np.pi / (n + 1))
    values, vectors = find_smallest_of_pencil(A, B, 5, 1e-6)
    assert values == pytest.approx(6 * (1 - wave) / (2 + wave), rel=1e-9)
    assert vectors.T @ (B @ vectors) == pytest.approx(np.eye(5), abs=1e-9)


def test_equal_eigenvalues_are_not_missed():
    """Two copies of a matrix have every eigenvalue twice."""
    n = 200
    one = diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(n, n))
    from scipy.sparse import block_diag

    A, B = block_diag([one, one], format="csc"), 2.0 * eye_array(2 * n, format="csc")
    wave = 1 - np.cos(np.arange(1, 4) * np.pi / (n + 1))
    values, _ = find_smallest_of_pencil(csc_array(A), B, 6, 1e-6)
    assert values == pytest.approx(np.repeat(wave, 2), rel=1e-8)


@pytest.mark.parametrize("n", [4, 400])
def test_reject_an_indefinite_second_matrix(n):
    B = diags_array(np.append(np.ones(n - 1), -1.0)).tocsc()
    with pytest.raises(EigenError, match="positive definite"):
        find_smallest_of_pencil(eye_array(n, format="csc"), B, 2, 1e-3)
