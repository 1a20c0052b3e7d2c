"""Parameters that are matrices: measured, given, checked, and differentiated by."""

import numpy as np
import pytest

import taut
from taut.binding.placed_law import place
from taut.errors import LawError
from taut.formula import Matrix2, Matrix3, columns, det, dot, inverse, stretch_sum, tr

POINTS = np.array([[0.0, 0, 0], [2, 0, 0], [0, 1, 0], [3, 1, 1]])
TRIANGLES = np.array([[0, 1, 2], [1, 3, 2]])


@taut.energy
def quadratic(x, A: Matrix3):
    """V = ½ x·A x."""
    return dot(x[0], A @ x[0]) / 2


@taut.energy(rest={"B": lambda x: columns(x[1] - x[0], x[2] - x[0])})
def measured(x, B, k=1.0):
    """V = ½ k |edges - B|², B the edges at rest, 3×2."""
    change = columns(x[1] - x[0], x[2] - x[0]) - B
    return k / 2 * dot(change, change)


def values(law, x=POINTS):
    return place(law, x, np.ones(len(x))).values(x)


def test_one_matrix_for_all_elements_or_one_each():
    A = np.arange(9.0).reshape(3, 3)
    expected = np.einsum("ni,ij,nj->n", POINTS, A, POINTS) / 2
    np.testing.assert_allclose(values(quadratic(A=A)), expected)
    np.testing.assert_allclose(values(quadratic(A=A.tolist())), expected)
    each = np.random.default_rng(1).normal(size=(4, 3, 3))
    expected = np.einsum("ni,nij,nj->n", POINTS, each, POINTS) / 2
    np.testing.assert_allclose(values(quadratic(A=each)), expected)
    moving = place(quadratic(A=lambda t: (1 + t) * A), POINTS, np.ones(4))
    np.testing.assert_allclose(moving.values(POINTS, 1.0), 2 * moving.values(POINTS, 0.0))


def test_matrices_are_measured_on_the_rest_shape():
    placed = place(measured(TRIANGLES), POINTS, np.ones(4))
    assert placed.parameters.shapes == {"B": (3, 2), "k": ()}
    corners = POINTS[TRIANGLES]
    expected = np.stack([corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]], axis=2)
    np.testing.assert_array_equal(placed.parameters.constant["B"], expected)
    assert placed.values(POINTS).tolist() == [0, 0]


def test_derivatives_by_matrices():
    """∂V/∂A = ½ x xᵀ and ∂²V/∂x∂A of the quadratic; -k (edges - B) of the other."""
    placed = place(quadratic(A=np.eye(3)), POINTS, np.ones(4))
    outer = POINTS[:, :, None] * POINTS[:, None, :] / 2
    np.testing.assert_allclose(placed.parameter_derivative("A", POINTS), outer)
    mixed = placed.mixed_derivative("A", POINTS)
    assert mixed.shape == (4, 1, 3, 3, 3)
    eye = np.eye(3)
    expected = np.einsum("ki,nj->nkij", eye, POINTS) + np.einsum("ni,kj->nkij", POINTS, eye)
    np.testing.assert_allclose(mixed[:, 0], expected / 2)
    q = POINTS * [1.5, 2, 3]
    by_B = place(measured(TRIANGLES, k=4.0), POINTS, np.ones(4)).parameter_derivative("B", q)
    edges = [np.stack([c[1] - c[0], c[2] - c[0]], 1) for c in (q - POINTS)[TRIANGLES]]
    np.testing.assert_allclose(by_B, -4 * np.array(edges))


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (1.0, r"'A' must have the shape \(3, 3\) or \(4, 3, 3\) for 4 elements, got \(\)"),
        (np.ones((2, 2)), r"must have the shape \(3, 3\) or \(4, 3, 3\).*got \(2, 2\)"),
        (np.ones((5, 3, 3)), r"must have the shape \(3, 3\) or \(4, 3, 3\).*got \(5, 3, 3\)"),
        (np.diag([1, np.nan, 1]), "parameter 'A' of component 1, 1 must be a finite number"),
        (np.full((4, 3, 3), np.inf), "parameter 'A' of element 0 must be a finite number"),
        ([[1, 2, 3], [4, 5]], "must be a number or an array of numbers"),
    ],
)
def test_wrong_matrices(value, message):
    with pytest.raises(LawError, match=message):
        values(quadratic(A=value))


def test_limits_bound_the_norm():
    @taut.energy(limits={"A": "<= 2"})
    def bounded(x, A: Matrix2):
        return tr(A) * dot(x[0], x[0])

    values(bounded(A=np.eye(2)))
    with pytest.raises(LawError, match=r"the norm of parameter 'A' must be at most 2, got 2\.82"):
        values(bounded(A=2 * np.eye(2)))


def test_functions_of_matrices():
    """Against numpy, on plain numbers."""
    rng = np.random.default_rng(2)
    for n in (2, 3):
        m = rng.normal(size=(n, n))
        np.testing.assert_allclose(det(m), np.linalg.det(m))
        np.testing.assert_allclose(tr(m), np.trace(m))
        inverted = np.reshape(inverse(m).items, (n, n))
        np.testing.assert_allclose(inverted, np.linalg.inv(m))
    s = np.linalg.svd(m, compute_uv=False)
    s[2] *= np.sign(np.linalg.det(m))
    assert stretch_sum(m) == pytest.approx(s.sum(), rel=1e-13)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: tr(np.ones((2, 3))), "tr needs a square matrix, got shape"),
        (lambda: inverse(np.ones((2, 3))), "det needs a 2×2 or 3×3 matrix"),
        (lambda: columns([1.0, 2], [1.0]), "columns needs vectors of one length"),
        (lambda: columns(), "columns needs vectors of one length, got nothing"),
        (lambda: stretch_sum(np.ones((2, 2))), "stretch_sum needs a 3×3 matrix"),
    ],
)
def test_wrong_shapes(wrong, message):
    with pytest.raises(LawError, match=message):
        wrong()


def test_frozen_is_for_metrics_only():
    from taut.formula import frozen

    @taut.energy
    def careless(x, k):
        return k * frozen(x[0][0]) * x[0][1]

    with pytest.raises(LawError, match=r"'careless' .*frozen\(…\) has a meaning only in"):
        values(careless(k=1.0))


def test_no_elements():
    @taut.energy(rest={"d": lambda x: x[1] - x[0]}, limits={"d": "> 0"})
    def directed(x, d):
        return dot(d, x[1] - x[0])

    assert values(directed(np.zeros((0, 2), dtype=int))).shape == (0,)
    placed = place(measured(np.zeros((0, 3), dtype=int)), POINTS, np.ones(4))
    assert placed.parameter_derivative("B", POINTS).shape == (0, 3, 2)


def test_a_total_has_no_metric_of_its_own():
    from taut.formula import total

    @taut.energy(metric=lambda x, k: k * dot(x[0], x[0]))
    def summed(x, k):
        return k * total(dot(x[0], x[0])) ** 2

    with pytest.raises(LawError, match="an energy of a total has no metric of its own"):
        values(summed(k=1.0))
