"""Values of parameters, and the designs that are made of them."""

import numpy as np
import pytest
from scipy.stats import kstest

from taut.errors import SceneError
from taut.study.samples import make_design, read_samples
from taut.study.values import Choice, Interval, read_values


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("1,2,4", (1, 2, 4)),
        ("1.5", (1.5,)),
        ("a.obj, b.obj", ("a.obj", "b.obj")),
        ("[0, 1, 0], [0, 2, 0]", ([0, 1, 0], [0, 2, 0])),
        ("true,false", (True, False)),
        ("1..4", (1, 2, 3, 4)),
        ("-1:1:3", (-1.0, 0.0, 1.0)),
        ("1:1000:4:log", (1.0, 10.0, 100.0, 1000.0)),
    ],
)
def test_lists(text, values):
    assert read_values("k", text) == Choice(values)


def test_values_of_numpy_become_plain():
    assert read_values("k", list(np.array([1.0, 2.0]))) == Choice((1.0, 2.0))
    assert type(read_values("k", [np.float64(1.0)]).values[0]) is float


def test_ranges_without_a_number():
    assert read_values("k", "1:10") == Interval(1.0, 10.0)
    assert read_values("k", "1e-3:10:log") == Interval(1e-3, 10.0, log=True)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("10:1", "must go up"),
        ("5..1", "must go up"),
        ("0:10:log", "begin above 0"),
        ("1:10:1", "2 to"),
        ("1,,2", "must be values"),
        ("", "must be values"),
    ],
)
def test_invalid_text(text, message):
    with pytest.raises(SceneError, match=message):
        read_values("k", text)


@pytest.mark.parametrize("given", [[], 3, [object()], [float("nan")]])
def test_invalid_values(given):
    with pytest.raises(SceneError, match=r"^1 error:\n  k: "):
        read_values("k", given)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("sobol:100", "power of 2, such as 64 or 128"),
        ("soboll:64", "did you mean 'sobol'"),
        ("grid:5", "no number"),
        ("lhs", "N from 1"),
        ("lhs:9999999", "N from 1"),
    ],
)
def test_invalid_samples(text, message):
    with pytest.raises(SceneError, match=message):
        read_samples(text)


def test_a_grid_needs_numbers_of_values():
    with pytest.raises(SceneError, match="1:10:5"):
        make_design(read_samples("grid"), {"k": Interval(1.0, 10.0)}, 0)


def test_a_study_has_a_bounded_number_of_runs():
    values = Choice(tuple(range(1001)))
    with pytest.raises(SceneError, match="at most 1,000,000 runs, got 1,002,001"):
        make_design(read_samples("grid"), {"a": values, "b": values}, 0)


@pytest.mark.parametrize("samples", ["lhs:256", "sobol:256", "saltelli:64"])
def test_samples_follow_their_distribution_and_their_seed(samples):
    """Logarithms of a logarithmic range are uniform, and a list has equal shares."""
    parameters = {"k": Interval(1.0, 100.0, log=True), "m": Choice(("a", "b"))}
    rows = make_design(read_samples(samples), parameters, 3)
    assert len(rows) == 256
    assert kstest(np.log([k for k, _ in rows]) / np.log(100.0), "uniform").pvalue > 0.05
    assert 110 <= sum(m == "a" for _, m in rows) <= 146
    assert rows == make_design(read_samples(samples), parameters, 3)
    assert rows != make_design(read_samples(samples), parameters, 4)


def test_a_saltelli_design_replaces_one_column_at_a_time():
    interval = Interval(0.0, 1.0)
    rows = make_design(read_samples("saltelli:16"), {"a": interval, "b": interval}, 0)
    a, b, first, second = np.array(rows).reshape(4, 16, 2)
    assert (first[:, 0] == b[:, 0]).all()
    assert (first[:, 1] == a[:, 1]).all()
    assert (second[:, 0] == a[:, 0]).all()
    assert (second[:, 1] == b[:, 1]).all()
