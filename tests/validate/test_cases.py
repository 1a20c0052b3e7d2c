"""Run every registered analytic case, as `taut validate` does."""

import importlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import brentq

import taut.validate
from taut.errors import NotConverged
from taut.validate._integrators import METHODS
from taut.validate.cases import GROUPS, Case, Curve, Measurement, case, load_cases, select_cases
from tests.laws.test_integrators import OBEYS, Unprojected

CASES = load_cases()
FOLDER = Path(taut.validate.__file__).parent


@pytest.mark.parametrize("name", CASES)
def test_case(name):
    result = CASES[name].check()
    assert result.verdict == "pass", (result.error, CASES[name].tolerance, result.message)
    curve = result.curve
    assert np.shape(curve.x) == np.shape(curve.got)
    assert np.shape(curve.theory) == np.shape(curve.x if curve.theory_x is None else curve.theory_x)
    assert np.isfinite(np.asarray(curve.got, dtype=float)).all()


def test_every_file_that_registers_a_case_is_a_group():
    with_cases = {
        path.stem.lstrip("_")
        for path in FOLDER.glob("*.py")
        if "\n@case(" in (text := path.read_text()) or "    @case(" in text
    }
    assert with_cases == set(GROUPS)
    for group in GROUPS:
        assert importlib.import_module(f"taut.validate._{group}").__doc__


@pytest.mark.parametrize("name", CASES)
def test_a_case_is_documented(name):
    found = CASES[name]
    for words in (found.description, found.formula, found.source, found.reason):
        assert words.strip() == words != ""
        assert "\n" not in words
    assert found.description.endswith(".")
    assert not found.reason.startswith("measured"), "every tolerance must have a reason"
    assert found.group in GROUPS
    assert np.isfinite(found.expected).all()
    assert 0 < found.tolerance <= 0.05


def test_all_subjects_have_cases():
    assert len(CASES) >= 40
    for word in (
        "oscillator-free",
        "oscillator-damped",
        "oscillator-critical",
        "two-body",
        "chain",
        "dispersion",
        "pulse-along",
        "pulse-across",
        "pendulum-small",
        "pendulum-170",
        "catenary",
        "elastica-load",
        "elastica-moment",
        "own-weight",
        "buckling",
        "lattice-square-uneven",
        "lattice-cubic-uneven",
        "shell-alternating",
        "plate-strip",
        "balloon",
        "factor-bdf2",
        "momentum",
        "energy",
        "net-loaded",
        "young-irregular",
    ):
        assert select_cases([word])


def test_each_integrator_has_an_amplification_factor():
    assert {type(make()) for make, *_ in METHODS.values()} == {*OBEYS} - {Unprojected}


def check_case(expected, got, *, scale=None, tolerance=1e-3):
    def measure():
        return Measurement(got, Curve([0.0], [0.0], [0.0], "", ""))

    numbers = np.atleast_1d(np.asarray(expected, float))
    case = Case("some", "group", "", "", "", "m", numbers, scale, tolerance, "", measure)
    return case.check()


def test_errors_are_relative_to_expected_or_to_a_scale_or_absolute():
    assert check_case(2.0, 2.001).error == pytest.approx(5e-4)
    assert check_case([1.0, 1e-3], [1.0, 1.1e-3]).error == pytest.approx(0.1)
    assert check_case([1.0, 1e-3], [1.0, 1.1e-3], scale=1.0).error == pytest.approx(1e-4)
    assert check_case(0.0, 5e-4).error == pytest.approx(5e-4)
    assert check_case([0.0, 100.0], [0.0, 100.01]).error == pytest.approx(0.01)
    assert not check_case([0.0, 100.0], [0.0, 0.0]).case.is_relative


def test_nan_and_infinity_are_misses():
    assert check_case([1.0, 2.0], [1.0, np.nan]).verdict == "miss"
    assert check_case([1.0, 2.0], [1.0, np.nan]).worst == 1
    assert check_case(1.0, np.inf).verdict == "miss"


def test_a_taut_error_is_a_miss_with_its_message():
    def fails():
        raise NotConverged("particle 3 has not")

    result = replace(check_case(1.0, 1.0).case, measure=fails).check()
    assert (result.verdict, result.message) == ("miss", "particle 3 has not")
    assert result.to_json()["got"] is None


def test_an_arithmetic_error_is_a_miss():
    result = replace(
        check_case(1.0, 1.0).case, measure=lambda: brentq(lambda x: 1.0, 0.0, 1.0)
    ).check()
    assert result.verdict == "miss"
    assert "different signs" in result.message


def test_too_few_numbers_raise():
    with pytest.raises(taut.errors.ModelError, match="'some' must give 2 numbers, got 1"):
        check_case([1.0, 2.0], 1.0)


def test_duplicate_names_raise():
    with pytest.raises(taut.errors.ModelError, match="two cases 'oscillator-free'"):
        case("oscillator-free", formula="", source="", expected=0.0, tolerance=1.0, reason="")(
            lambda: Measurement(0.0, None)
        )
