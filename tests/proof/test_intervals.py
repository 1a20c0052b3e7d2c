"""Intervals contain what they must: exact fractions, and functions of fifty digits."""

import operator
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from mpmath import mp, mpf

from taut.proof.intervals import Interval, add_up, atan2, hypot, select

PRECISIONS = pytest.mark.parametrize("precision", [np.float64, np.longdouble])


def numbers(rng, count, precision):
    """Numbers of all sizes and signs, some of them zero, one or equal."""
    x = rng.normal(size=count) * 10.0 ** rng.integers(-12, 12, count)
    x[::17], x[::19] = 0.0, 1.0
    return x.astype(precision) / 3  # with all digits of the precision


def fraction(x):
    """A number of any precision as an exact fraction."""
    high = float(x)
    return Fraction(high) + Fraction(float(x - x.dtype.type(high)))


def interval(rng, count, precision):
    a, b = numbers(rng, count, precision), numbers(rng, count, precision)
    thin = rng.random(count) < 0.5
    return Interval(np.where(thin, a, np.minimum(a, b)), np.where(thin, a, np.maximum(a, b)))


@PRECISIONS
@pytest.mark.parametrize("operation", [operator.add, operator.sub, operator.mul, operator.truediv])
def test_arithmetic_contains_exact_results(operation, precision):
    rng = np.random.default_rng(1)
    a, b = interval(rng, 400, precision), interval(rng, 400, precision)
    with np.errstate(all="ignore"):
        c = operation(a, b)
    bounded = 0
    for k in range(400):
        if np.isnan(c.lo[k]):
            assert operation is operator.truediv
            assert b.lo[k] <= 0 <= b.hi[k]
            continue
        bounded += 1
        for x in (a.lo[k], a.hi[k]):
            for y in (b.lo[k], b.hi[k]):
                exact = operation(fraction(x), fraction(y))
                assert fraction(c.lo[k]) <= exact <= fraction(c.hi[k])
        # No wider than two neighbours at each end where both operands are numbers.
        if a.lo[k] == a.hi[k] and b.lo[k] == b.hi[k]:
            assert c.hi[k] - c.lo[k] <= 4 * np.spacing(np.abs(c.hi[k]))
    assert bounded > 200


@PRECISIONS
def test_squares_roots_and_norms(precision):
    rng = np.random.default_rng(2)
    a, b = interval(rng, 200, precision), interval(rng, 200, precision)
    square, norm = a.square(), hypot([a, b])
    root = Interval(np.abs(a.lo), np.abs(a.lo)).sqrt()
    assert (square.lo >= 0).all()
    mp.dps = 50
    for k in range(200):
        for x in (a.lo[k], a.hi[k]):
            assert fraction(square.lo[k]) <= fraction(x) ** 2 <= fraction(square.hi[k])
            for y in (b.lo[k], b.hi[k]):
                total = fraction(x) ** 2 + fraction(y) ** 2
                exact = mpmath.sqrt(mpf(total.numerator) / total.denominator)
                assert to_mp(norm.lo[k]) <= exact <= to_mp(norm.hi[k])
        if a.lo[k] <= 0 <= a.hi[k]:
            assert square.lo[k] == 0
        exact = mpmath.sqrt(abs(to_mp(a.lo[k])))
        assert to_mp(root.lo[k]) <= exact <= to_mp(root.hi[k])


def to_mp(x):
    exact = fraction(x)
    return mpf(exact.numerator) / exact.denominator


@PRECISIONS
@pytest.mark.parametrize(
    ("name", "low", "high"),
    [
        ("exp", -20, 20),
        ("log", 1e-3, 1e3),
        ("sin", -20, 20),
        ("cos", -20, 20),
        ("tanh", -3, 3),
        ("asin", -1, 1),
        ("acos", -1, 1),
    ],
)
def test_functions_contain_their_values_within(name, low, high, precision):
    rng = np.random.default_rng(3)
    ends = np.sort(rng.uniform(low, high, (2, 60)), axis=0).astype(precision)
    ends[1, ::3] = ends[0, ::3]
    found = getattr(Interval(*ends), name)()
    mp.dps = 50
    exact = getattr(mpmath, name)
    for k in range(60):
        for part in (0.0, 0.3, 0.7, 1.0):
            x = to_mp(ends[0, k]) + mpf(part) * (to_mp(ends[1, k]) - to_mp(ends[0, k]))
            assert to_mp(found.lo[k]) <= exact(x) <= to_mp(found.hi[k])


def test_extrema_of_sine_and_cosine_within():
    around = Interval(np.array([1.5, 4.7, -0.1, 3.1]), np.array([1.6, 4.8, 0.1, 3.2]))
    sine, cosine = around.sin(), around.cos()
    assert sine.hi[0] == 1.0
    assert sine.lo[1] == -1.0
    assert cosine.hi[2] == 1.0
    assert cosine.lo[3] == -1.0
    assert sine.lo[0] > 0.99
    assert cosine.lo[2] > 0.99


def test_angles_of_rectangles():
    rng = np.random.default_rng(4)
    y = np.sort(rng.normal(size=(2, 300)), axis=0)
    x = np.sort(rng.normal(size=(2, 300)), axis=0)
    found = atan2(Interval(*y), Interval(*x))
    undecided = np.isnan(found.lo)
    for k in range(300):
        around_origin = y[0, k] <= 0 <= y[1, k] and x[0, k] <= 0
        assert undecided[k] == around_origin
        if undecided[k]:
            continue
        for part in rng.random((5, 2)):
            at = np.arctan2(
                y[0, k] + part[0] * (y[1, k] - y[0, k]), x[0, k] + part[1] * (x[1, k] - x[0, k])
            )
            assert found.lo[k] <= at <= found.hi[k]
    assert 0 < undecided.sum() < 150


def test_what_has_no_bound_is_not_a_number():
    zero = Interval(np.array([-1.0]), np.array([1.0]))
    one = Interval.exactly(np.array([1.0]))
    with np.errstate(all="ignore"):
        assert np.isnan((one / zero).lo).all()
        assert np.isnan(zero.sqrt().lo).all()
        assert np.isnan(zero.log().lo).all()
        assert np.isnan((one / zero + one).hi).all()
        assert np.isnan((one / zero * one).lo).all()


def test_an_open_choice_may_be_either_side():
    one, two = Interval.exactly(np.array([1.0])), Interval.exactly(np.array([2.0]))
    yes, no = np.array([True]), np.array([False])
    assert select(yes, no, one, two).hi == 1.0
    assert select(no, yes, one, two).lo == 2.0
    both = select(no, no, one, two)
    assert (both.lo, both.hi) == (1.0, 2.0)


@PRECISIONS
def test_sums_by_target_contain_exact_sums(precision):
    rng = np.random.default_rng(5)
    terms = interval(rng, 600, precision)
    at = rng.integers(0, 20, 600)
    found = add_up(at, terms, 21)
    for i in range(21):
        low = sum((fraction(x) for x in terms.lo[at == i]), Fraction(0))
        high = sum((fraction(x) for x in terms.hi[at == i]), Fraction(0))
        assert fraction(found.lo[i]) <= low
        assert high <= fraction(found.hi[i])


def test_conversion_to_doubles_widens():
    third = np.longdouble(1) / 3
    found = Interval.exactly(np.array([third, -third, np.longdouble(0.5)])).as_doubles()
    assert (found.lo <= [third, -third, 0.5]).all()
    assert (found.hi >= [third, -third, 0.5]).all()
    assert found.lo[2] == found.hi[2] == 0.5
