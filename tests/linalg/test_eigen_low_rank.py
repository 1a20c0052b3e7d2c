"""Eigenvalues of A + Σ w g gᵀ without forming it, against those of the full matrix."""

from functools import cache

import numpy as np
import pytest
from scipy.sparse import csc_array, diags_array, random_array

import taut
from taut import laws
from taut.constraints import on_line, on_plane
from taut.linalg import eigen, low_rank
from taut.linalg.blocks import BlockMatrix
from taut.linalg.low_rank import RankOne, SparsePlusLowRank
from taut.statics import _proximal_descent as proximal
from taut.system.reduction import Reduction
from taut.system.workspace import workspace_for

SIZE = 400  # above eigen.DENSE_UP_TO, so that none of it is solved densely
WEIGHTS = {
    "one": (3.0,),
    "one below zero": (-3.0,),
    "two": (0.5, 40.0),
    "of both signs": (5.0, -2.0),
    "two below zero": (-1.0, -0.2),
    "stiff": (1e9,),
    "stiff and soft": (1e9, -1e-3),
}
every = pytest.mark.parametrize("weights", WEIGHTS.values(), ids=WEIGHTS)


@cache
def random_matrix():
    """A random sparse matrix whose lowest eigenvalue is zero."""
    rng = np.random.default_rng(0)
    part = random_array((SIZE, SIZE), density=2 / SIZE, rng=rng)
    sparse = (part + part.T + diags_array(rng.uniform(0.0, 4.0, SIZE))).toarray()
    return sparse - np.linalg.eigvalsh(sparse)[0] * np.eye(SIZE)


@cache
def make_matrix(weights, lowest):
    """A with the given lowest eigenvalue.

    The vectors have length about 1; the last one has zero entries.
    """
    rng = np.random.default_rng(1)
    sparse = random_matrix() + lowest * np.eye(SIZE)
    vectors = rng.normal(size=(SIZE, len(weights))) / np.sqrt(SIZE)
    vectors[: SIZE // 3, -1] = 0.0
    matrix = SparsePlusLowRank(csc_array(sparse), np.array(weights), vectors)
    full = sparse + vectors @ np.diag(weights) @ vectors.T
    return matrix, full, *np.linalg.eigh((full + full.T) / 2)


@pytest.fixture
def forbid_dense_matrix(monkeypatch):
    def refuse(_):
        pytest.fail("the full matrix was formed")

    monkeypatch.setattr(SparsePlusLowRank, "toarray", refuse)


@every
def test_products_and_bounds(weights):
    """Up to rounding of the largest terms, 1e-14 of the norm.

    The bounds hold, with a slack below the contribution of the low-rank term.
    """
    matrix, full, values, _ = make_matrix(weights, -0.3)
    x = np.random.default_rng(1).normal(size=(SIZE, 3))
    assert (
        np.abs(matrix @ x - full @ x).max()
        <= 1e-14 * low_rank.infinity_norm(matrix) * np.abs(x).max()
    )
    assert (
        np.abs(matrix @ x[:, 1] - full @ x[:, 1]).max()
        <= 1e-14 * low_rank.infinity_norm(matrix) * np.abs(x).max()
    )
    np.testing.assert_allclose(
        matrix.toarray(), full, rtol=1e-13, atol=1e-15 * max(np.abs(weights))
    )
    np.testing.assert_array_equal(matrix.tocsc().toarray(), matrix.toarray())
    assert np.abs(full).max() <= low_rank.max_abs_entry(matrix)
    assert np.abs(full).sum(axis=0).max() <= low_rank.infinity_norm(matrix) * (1 + 1e-12)
    assert -low_rank.bound_negative_eigenvalues(matrix) <= values[0]
    if min(weights) > 0.0:
        assert low_rank.bound_negative_eigenvalues(matrix) == low_rank.infinity_norm(matrix.sparse)


@every
@pytest.mark.parametrize("lowest", [0.2, -0.3])
@pytest.mark.usefixtures("forbid_dense_matrix")
def test_smallest_pairs_and_counts(weights, lowest):
    """With positive and negative eigenvalues of A alone; a stiff rank costs digits: ε·w."""
    matrix, _, values, vectors = make_matrix(weights, lowest)
    tol = 8 * eigen.EPS * low_rank.infinity_norm(matrix)
    found = eigen.find_smallest(matrix, 6, tol)
    assert found.values == pytest.approx(values[:6], abs=max(1e-11, tol))
    assert (found.negative, found.zero) == ((values < -tol).sum(), (np.abs(values) <= tol).sum())
    assert found.vectors.T @ found.vectors == pytest.approx(np.eye(6), abs=1e-12)
    apart = np.diff(values[:7]).min()
    assert np.abs(np.einsum("ik,ik->k", found.vectors, vectors[:, :6])) == pytest.approx(
        1.0, abs=max(1e-10, tol) / apart
    )
    for k in (1, 2, 5, 9):
        middle, gap = (values[k - 1] + values[k]) / 2, values[k] - values[k - 1]
        assert eigen.count_below(matrix, middle, max(tol, gap / 8)) == k


@every
@pytest.mark.usefixtures("forbid_dense_matrix")
def test_solution_and_inertia_of_the_factor(weights):
    """A - sI at a shift between the fourth and the fifth eigenvalue.

    The residual is that of a direct solver on the full matrix.
    """
    matrix, full, values, _ = make_matrix(weights, 0.2)
    shift = (values[3] + values[4]) / 2
    factor = low_rank.Factor(low_rank.subtract_identity(matrix, shift))
    assert (factor.below, factor.above) == (4, SIZE - 4)
    b = np.random.default_rng(2).normal(size=SIZE)
    x = factor.solve(b)
    residual = b - (full - shift * np.eye(SIZE)) @ x
    assert (
        np.abs(residual).max()
        <= 8 * eigen.EPS * low_rank.infinity_norm(matrix) * np.abs(x).max() + 1e-12
    )


@every
@pytest.mark.usefixtures("forbid_dense_matrix")
def test_definiteness_and_lowest_eigenvalue(weights):
    matrix, _, values, _ = make_matrix(weights, -0.3)
    assert values[0] < -0.1
    for step in (1e-2, 1e-5):
        assert eigen.all_eigenvalues_exceed(matrix, values[0] - step)
        assert not eigen.all_eigenvalues_exceed(matrix, values[0] + step)
    assert not eigen.all_eigenvalues_exceed(matrix, values[SIZE // 2] + 1e-6)
    value, vector = eigen.find_lowest(matrix, 1e-6)
    assert values[0] * (1 + 1e-6) <= value <= values[0] * (1 - eigen.NEAR)
    assert vector @ vector == pytest.approx(1.0)
    assert vector @ (matrix @ vector) == pytest.approx(value, rel=1e-6)


@pytest.mark.usefixtures("forbid_dense_matrix")
def test_low_rank_term_makes_an_indefinite_matrix_definite():
    """A free chain minus μ: eigenvalues 4sin²(jπ/2n) - μ.

    With w g gᵀ, g the rigid translation, the first is w - μ instead of -μ.
    """
    low, mu = 4 * np.sin(np.pi / (2 * SIZE)) ** 2, 1e-5
    ends = np.r_[1.0, 2 * np.ones(SIZE - 2), 1.0] - mu
    chain = diags_array([-np.ones(SIZE - 1), ends, -np.ones(SIZE - 1)], offsets=[-1, 0, 1]).tocsc()
    g = np.full((SIZE, 1), 1 / np.sqrt(SIZE))
    assert not eigen.all_eigenvalues_exceed(chain, 1e-9)
    for weight in (0.5e-5, 2e-5, 1.0, 1e3, 1e9):
        matrix, exact = SparsePlusLowRank(chain, np.array([weight]), g), min(weight, low) - mu
        assert eigen.all_eigenvalues_exceed(matrix, 1e-9) == (weight > mu)
        assert eigen.all_eigenvalues_exceed(matrix, exact - 1e-8)
        assert not eigen.all_eigenvalues_exceed(matrix, exact + 1e-8)


@pytest.mark.usefixtures("forbid_dense_matrix")
def test_negative_weight_makes_a_definite_matrix_indefinite():
    """The identity minus 2 g gᵀ, |g| = 1: one eigenvalue -1, along g; all others stay 1."""
    g = np.zeros((SIZE, 1))
    g[100:, 0] = 1 / np.sqrt(300)
    matrix = SparsePlusLowRank(diags_array(np.ones(SIZE)).tocsc(), np.array([-2.0]), g)
    value, vector = eigen.find_lowest(matrix, 1e-9)
    assert value == pytest.approx(-1.0, rel=0.01)
    assert abs(vector @ g[:, 0]) >= 0.99
    found = eigen.find_smallest(matrix, 3, 1e-12)
    assert found.values == pytest.approx([-1.0, 1.0, 1.0], abs=1e-12)
    assert found.negative == 1


def test_small_empty_and_zero_matrices():
    nothing = SparsePlusLowRank(csc_array((0, 0)), np.array([1.0]), np.empty((0, 1)))
    assert eigen.all_eigenvalues_exceed(nothing, 0.0)
    assert eigen.count_below(nothing, 0.0, 1e-9) == 0
    g = np.array([[1.0], [2.0], [2.0]])
    small = SparsePlusLowRank(csc_array((3, 3)), np.array([1.0]), g)
    found = eigen.find_smallest(small, 3, 1e-12)
    assert found.values == pytest.approx([0.0, 0.0, 9.0], abs=1e-12)
    assert found.zero == 2
    assert eigen.count_below(small, 0.5, 1e-9) == 2
    assert low_rank.max_abs_entry(small) == 4.0


def test_strongly_indefinite_matrix_is_proven_by_a_vector(monkeypatch):
    """No factorisation represents the matrix. Without a proving vector, the full matrix decides.

    A matrix too large for that raises.
    """
    matrix, _, values, _ = make_matrix((3.0,), -0.3)
    monkeypatch.setattr(eigen, "_represents", lambda *_: False)
    with monkeypatch.context() as refused:
        refused.setattr(SparsePlusLowRank, "toarray", None)
        assert not eigen.all_eigenvalues_exceed(matrix, values[0] + 0.1)
    assert eigen.all_eigenvalues_exceed(matrix, values[0] - 1e-3)
    monkeypatch.setattr(low_rank, "MAX_PROOF_STEPS", 1)
    assert not eigen.all_eigenvalues_exceed(matrix, values[0] + 1e-3)
    monkeypatch.setattr(eigen, "DENSE_AT_MOST", SIZE - 1)
    with pytest.raises(eigen.EigenError, match="without pivoting"):
        eigen.all_eigenvalues_exceed(matrix, values[0] + 1e-3)


def test_unknown_definiteness_does_not_stop_the_descent(monkeypatch):
    """A mass on a spring hangs mg/k below its rest length, found by proximal stages alone.

    To their tolerance, 1e-8 of the weight.
    """

    def unknown(*_):
        raise eigen.EigenError("unknown")

    monkeypatch.setattr(proximal, "all_curvatures_exceed", unknown)
    body = taut.System(
        [[0, 0, 0], [0, -1, 0]],
        mass=2.0,
        fixed=[0],
        energies=[laws.spring([[0, 1]], k=50.0), laws.gravity()],
    )
    assert taut.equilibrium(body).state.q[1, 1] == pytest.approx(
        -1 - 2 * 9.81 / 50, abs=2e-8 * 2 * 9.81 / 50
    )


def test_reduction_to_free_coordinates():
    """PᵀKP with lines, planes and fixed particles, and a scale for each coordinate.

    A low-rank term on held particles alone vanishes.
    """
    ball = taut.mesh.sphere(2)
    held = [on_line([1], (1, 2, 3)), on_plane([2, 3], (1, -1, 2))]
    energies = [laws.spring(ball.edges, k=9.0), laws.gas(ball.triangles, p=300.0)]
    body = taut.System(ball.points, mass=1.0, fixed=[0], energies=energies, constraints=held)
    free, stiffness = (
        Reduction.of(body._projector),
        workspace_for(body).stiffness(body.initial_state(), project=False),
    )
    basis = free.basis.toarray()
    full = basis.T @ stiffness.to_scipy().toarray() @ basis
    matrix = free.matrix(stiffness)
    assert isinstance(matrix, SparsePlusLowRank)
    np.testing.assert_allclose(matrix.toarray(), full, rtol=0, atol=1e-14 * np.abs(full).max())
    scale = np.random.default_rng(0).uniform(0.1, 10.0, free.size)
    scaled = free.matrix(stiffness, scale).toarray()
    np.testing.assert_allclose(
        scaled, scale[:, None] * full * scale, rtol=0, atol=1e-14 * np.abs(scaled).max()
    )
    at_rest = np.zeros_like(ball.points)
    at_rest[0] = 1.0
    for rank in (RankOne(5.0, at_rest), RankOne(0.0, ball.points)):
        plain = free.matrix(BlockMatrix(stiffness.pattern, stiffness.data, (rank,)))
        assert (plain != matrix.sparse).nnz == 0


def test_shift_without_a_factorisation_still_gives_the_scale(monkeypatch):
    """A free body of springs.

    High in its spectrum LDLᵀ fails, but only the distance to the shift is needed there.
    """
    ball = taut.mesh.sphere(6)
    body = taut.System(ball.points, mass=1.0, energies=[laws.spring(ball.edges, k=200.0)])
    matrix = Reduction.of(body._projector).matrix(
        workspace_for(body).stiffness(body.initial_state(), project=False)
    )
    exact = np.linalg.eigvalsh(matrix.toarray())[:8]
    monkeypatch.setattr(eigen, "DENSE_AT_MOST", 0)
    found = eigen.find_smallest(matrix, 8, 1e-10)
    assert found.zero == 6
    assert found.values == pytest.approx(exact, abs=1e-10)
