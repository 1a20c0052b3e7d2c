"""Every analytic case there is, as `taut validate` runs it: one that is added is tested."""

import importlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import brentq

import taut.validate
from taut.errors import NotConverged
from taut.validate.case import Case, Curve, Found
from taut.validate.integrators import METHODS
from taut.validate.registry import GROUPS, case, cases, chosen
from tests.laws.test_integrators import OBEYS

CASES = cases()
FOLDER = Path(taut.validate.__file__).parent


@pytest.mark.parametrize("name", CASES)
def test_case(name):
    result = CASES[name].check()
    assert result.verdict == "pass", (result.error, CASES[name].tolerance, result.said)
    curve = result.curve
    assert np.shape(curve.x) == np.shape(curve.got)
    assert np.shape(curve.theory) == np.shape(curve.x if curve.at is None else curve.at)
    assert np.isfinite(np.asarray(curve.got, dtype=float)).all()


def test_every_file_that_registers_a_case_is_a_group():
    with_cases = {path.stem for path in FOLDER.glob("*.py") if "\n@case(" in (text := path.read_text()) or "    @case(" in text}
    assert with_cases == set(GROUPS)
    for group in GROUPS:
        assert importlib.import_module(f"taut.validate.{group}").__doc__


@pytest.mark.parametrize("name", CASES)
def test_a_case_says_what_it_is(name):
    found = CASES[name]
    for words in (found.what, found.formula, found.source, found.why):
        assert words.strip() == words != ""
        assert "\n" not in words
    assert found.what.endswith(".")
    assert not found.why.startswith("measured"), "a tolerance has a reason"
    assert found.group in GROUPS
    assert np.isfinite(found.expected).all()
    assert 0 < found.tolerance <= 0.05


def test_there_are_the_subjects_that_were_promised():
    assert len(CASES) >= 40
    for word in (
        "oscillator-free", "oscillator-damped", "oscillator-critical", "two-body", "chain", "dispersion", "pulse-along",
        "pulse-across", "pendulum-small", "pendulum-170", "catenary", "elastica-load", "elastica-moment", "own-weight",
        "buckling", "lattice-square-uneven", "lattice-cubic-uneven", "shell-alternating", "plate-strip", "balloon", "factor-bdf2",
        "momentum", "energy", "net-loaded", "young-irregular",
    ):  # fmt: skip
        assert chosen([word])


def test_each_integrator_has_its_factor():
    assert {type(make()) for make, *_ in METHODS.values()} == set(OBEYS)


def some(expected, got, *, scale=None, tolerance=1e-3):
    measure = lambda: Found(got, Curve([0.0], [0.0], [0.0], "", ""))  # noqa: E731
    return Case("some", "group", "", "", "", "m", np.atleast_1d(np.asarray(expected, float)), scale, tolerance, "", measure).check()


def test_errors_are_relative_to_what_is_expected_or_to_a_scale_or_have_a_unit():
    assert some(2.0, 2.001).error == pytest.approx(5e-4)
    assert some([1.0, 1e-3], [1.0, 1.1e-3]).error == pytest.approx(0.1)
    assert some([1.0, 1e-3], [1.0, 1.1e-3], scale=1.0).error == pytest.approx(1e-4)
    assert some(0.0, 5e-4).error == pytest.approx(5e-4)
    assert some([0.0, 100.0], [0.0, 100.01]).error == pytest.approx(0.01)
    assert not some([0.0, 100.0], [0.0, 0.0]).case.relative


def test_what_is_no_number_is_a_miss():
    assert some([1.0, 2.0], [1.0, np.nan]).verdict == "miss"
    assert some([1.0, 2.0], [1.0, np.nan]).worst == 1
    assert some(1.0, np.inf).verdict == "miss"


def test_an_error_of_taut_is_a_miss_that_says_so():
    def fails():
        raise NotConverged("particle 3 has not")

    result = replace(some(1.0, 1.0).case, measure=fails).check()
    assert (result.verdict, result.said) == ("miss", "particle 3 has not")
    assert result.as_json()["got"] is None


def test_arithmetic_that_fails_on_what_taut_gives_is_a_miss():
    result = replace(some(1.0, 1.0).case, measure=lambda: brentq(lambda x: 1.0, 0.0, 1.0)).check()
    assert result.verdict == "miss"
    assert "different signs" in result.said


def test_a_case_that_gives_too_few_numbers_is_refused():
    with pytest.raises(taut.errors.ModelError, match="'some' expects 2 numbers and gives 1"):
        some([1.0, 2.0], 1.0)


def test_two_cases_of_one_name_are_refused():
    with pytest.raises(taut.errors.ModelError, match="two cases 'oscillator-free'"):
        case("oscillator-free", formula="", source="", expected=0.0, tolerance=1.0, why="")(lambda: Found(0.0, None))
