"""Edges through triangles: the exact test against linear programming in rational numbers."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from taut.collision.intersections import find_intersections
from taut.errors import ModelError

EDGES, TRIANGLES = np.array([[0, 1]]), np.array([[2, 3, 4]])


def have_common_point(x):
    """Whether a segment and a triangle, rows of x (5, 3), have a point in common.

    Weights λ ≥ 0 of the corners with Σλ = 1 on each side and equal places: five equations for five
    unknowns, whose set of solutions, if there is one, has a corner with a regular system of columns
    (linear programming). All choices of columns are tried, in exact numbers.
    """
    rows = [[Fraction(int(c)) for c in p] for p in x]
    matrix = [[rows[0][k], rows[1][k], -rows[2][k], -rows[3][k], -rows[4][k]] for k in range(3)]
    matrix += [[Fraction(v) for v in (1, 1, 0, 0, 0)], [Fraction(v) for v in (0, 0, 1, 1, 1)]]
    right = [Fraction(v) for v in (0, 0, 0, 1, 1)]
    for count in range(2, 6):
        for columns in combinations(range(5), count):
            found = _solve([[row[c] for c in columns] for row in matrix], right)
            if found is not None and min(found) >= 0:
                return True
    return False


def _solve(matrix, right):
    """The only solution of a system, or None if there is none or more than one."""
    rows = [[*row, b] for row, b in zip(matrix, right, strict=True)]
    n = len(matrix[0])
    for i in range(n):
        pivot = next((j for j in range(i, len(rows)) if rows[j][i] != 0), None)
        if pivot is None:
            return None
        rows[i], rows[pivot] = rows[pivot], rows[i]
        for j in range(len(rows)):
            if j != i and rows[j][i] != 0:
                part = rows[j][i] / rows[i][i]
                rows[j] = [u - part * v for u, v in zip(rows[j], rows[i], strict=True)]
    if any(row[n] != 0 for row in rows[n:]):
        return None
    return [rows[i][n] / rows[i][i] for i in range(n)]


@pytest.mark.parametrize("size", [1, 2, 5])
def test_small_integers(size):
    """Many are coplanar, collinear, touching or points."""
    rng = np.random.default_rng(size)
    answers = []
    for _ in range(250):
        x = rng.integers(-size, size + 1, (5, 3))
        found = len(find_intersections(x.astype(float), EDGES, TRIANGLES)) == 1
        assert found == have_common_point(x), x.tolist()
        answers.append(found)
    assert 0 < sum(answers) < 250


def test_scaled_and_shifted_integers_have_the_same_answer():
    """By powers of two, far below what floating point can decide by a determinant."""
    rng = np.random.default_rng(9)
    for _ in range(100):
        x = rng.integers(-2, 3, (5, 3))
        expected = have_common_point(x)
        for scale, shift in ((2.0**-300, 0.0), (2.0**200, 0.0), (2.0**-40, 1.0), (1.0, 2.0**50)):
            places = x * scale + shift
            assert (len(find_intersections(places, EDGES, TRIANGLES)) == 1) == expected


def test_one_unit_in_the_last_place_decides():
    x = np.array([[0.3, 0.3, -1.0], [0.3, 0.3, 0.0], [0, 0, 0], [1, 0, 0], [0, 1, 0]])
    assert len(find_intersections(x, EDGES, TRIANGLES)) == 1
    x[1, 2] = -5e-324
    assert len(find_intersections(x, EDGES, TRIANGLES)) == 0
    x[:, 2] = [-1.0, 1.0, 0.0, 0.0, 0.0]
    x[:2, 0] = 0.7
    assert len(find_intersections(x, EDGES, TRIANGLES)) == 1  # 0.7 + 0.3 = 1 - 2⁻⁵⁴ and less
    x[:2, 0] = np.nextafter(0.7, 1.0)
    assert len(find_intersections(x, EDGES, TRIANGLES)) == (Fraction(x[0, 0]) + Fraction(0.3) <= 1)


def test_of_many_the_pairs_are_sorted_and_neighbours_are_left_out():
    rng = np.random.default_rng(10)
    x = rng.integers(-4, 5, (60, 3)).astype(float)
    edges = np.array([rng.choice(60, 2, replace=False) for _ in range(40)])
    triangles = np.array([rng.choice(60, 3, replace=False) for _ in range(20)])
    expected = [
        [i, j]
        for i, edge in enumerate(edges)
        for j, triangle in enumerate(triangles)
        if not set(edge) & set(triangle) and have_common_point(x[[*edge, *triangle]])
    ]
    assert find_intersections(x, edges, triangles).tolist() == expected
    assert len(expected) > 20


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e200])
def test_positions_must_be_numbers(bad):
    x = np.zeros((5, 3))
    x[4, 2] = bad
    with pytest.raises(ModelError, match=r"positions must be finite, .* of particle 4"):
        find_intersections(x, EDGES, TRIANGLES)


def test_nothing_intersects_nothing():
    none = np.empty((0, 2), dtype=int), np.empty((0, 3), dtype=int)
    assert find_intersections(np.zeros((0, 3)), *none).shape == (0, 2)
    assert find_intersections(np.zeros((5, 3)), EDGES, none[1]).shape == (0, 2)
    assert find_intersections(np.zeros((5, 3)), none[0], TRIANGLES).shape == (0, 2)
