"""Bad formulas, bad parameters, bad elements: each is a LawError that names what is wrong."""

import math

import numpy as np
import pytest

import taut
from taut import laws
from taut.binding.placed_law import place
from taut.formula import dot, norm, rate, where
from taut.formula.graph import Graph

X = np.array([[0.0, 0, 0], [1, 0, 0], [2, 0.5, 0]])
leaked = Graph().symbol("x", 0, 0)


def bind(formula, elements=((0, 1),), **parameters):
    law = taut.energy(formula)
    return place(law(np.array(elements), **parameters), X, np.ones(3)).forms["energy"]


BAD_FORMULAS = {
    "must return one scalar, got an array of shape": lambda x, k: k * (x[1] - x[0]),
    "must return one scalar that depends on the positions, got a comparison": lambda x, k: (
        norm(x[1] - x[0]) < k
    ),
    "does not depend on the positions": lambda x, k: k * k,
    r"must return one scalar .* got nothing \(is `return` missing": lambda x, k: None,
    "use the functions of taut.formula": lambda x, k: k * math.sin(x[0][0]),
    "numpy": lambda x, k: k * np.sin(x[0][0]),
    "numpy cannot take part": lambda x, k: k * np.linalg.norm(x[0]),
    "neither a parameter nor a function": lambda x, k: k * stiffness * norm(x[0]),  # noqa: F821
    "another formula": lambda x, k: k * leaked,
    "cannot branch": lambda x, k: k if x[0][0] == 0 else norm(x[0]),
    "cannot branch in Python": lambda x, k: k if norm(x[0]) > 1 else norm(x[0]),
    r"uses x\[2\], but its elements have 2 particles each": lambda x, k: k * norm(x[2]),
    "out of range": lambda x, k: k * x[0][3],
    "do not combine": lambda x, k: k * norm(x[0] - [1, 2]),
    "apply it to each component": lambda x, k: taut.formula.sqrt(x[0]),
    "unknown function or attribute 'length'": lambda x, k: k * x[0].length(),
    "must be finite, got nan": lambda x, k: k * norm(x[0]) + float("nan"),
    "divides by the constant zero": lambda x, k: k * norm(x[0]) / 0,
    "rate": lambda x, k: k * norm(rate(x[0] - x[1])),
    "comparison": lambda x, k: k * where(norm(x[0]), 1, 2),
    "used as a number": lambda x, k: where(x[0][0] < 1, x[0][1] < 3, 2.0),
    "a comparison was used": lambda x, k: k * taut.formula.sqrt(x[0][0] < 1),
    "comparison was used as a number": lambda x, k: k * norm([x[0][0] < 1, x[0][1]]),
    "where a vector is needed": lambda x, k: k * dot(k, x[0]),
    "only scalars": lambda x, k: where(x[0] == x[1], k, norm(x[0])),
    "cannot be compared with 'a'": lambda x, k: where(k == "a", k, norm(x[0])),
    r"never uses x\[1\]": lambda x, k: k * norm(x[0]),
    "ZeroDivisionError": lambda x, k: k * norm(x[0]) * (1 / 0),
}


@pytest.mark.parametrize("message", BAD_FORMULAS)
def test_reject_bad_formulas(message):
    with pytest.raises(taut.errors.LawError, match=message) as caught:
        bind(BAD_FORMULAS[message], k=1.0)
    assert "test_errors.py" in str(caught.value)


def test_error_shows_the_offending_line():
    def several_lines(x, k):
        d = x[1] - x[0]
        e = d * math.exp(d[0])
        return k * norm(e)

    with pytest.raises(
        taut.errors.LawError,
        match=r"the formula of 'several_lines' .*line \d+ `e = d \* math.exp\(d\[0\]\)`",
    ):
        bind(several_lines, k=1.0)


BAD_PARAMETERS = [
    ({}, "needs the parameter 'k'"),
    ({"k": 1.0, "lo": 2.0}, "no parameter 'lo'; did you mean 'l0'"),
    ({"k": np.ones(3)}, r"'k' must have the shape .* for 2 elements, got \(3,\)"),
    ({"k": [1.0, np.nan]}, "'k' of element 1 must be a finite number, got nan"),
    ({"k": np.inf}, "'k' must be a finite number, got inf"),
    ({"k": "stiff"}, "'k' must be a number or an array of numbers, got 'stiff'"),
    ({"k": lambda t: np.ones(5)}, r"'k' must have the shape .*, got \(5,\)"),
    ({"k": lambda t: 1 / t}, "'k' at t = 0 s could not be evaluated: ZeroDivisionError"),
    ({"k": lambda t: np.nan}, "'k' at t = 0 s must be a finite number, got nan"),
]


@pytest.mark.parametrize(("parameters", "message"), BAD_PARAMETERS)
def test_reject_bad_parameters(parameters, message):
    with pytest.raises(taut.errors.LawError, match=message):
        taut.System(X, mass=1.0, energies=[laws.spring([[0, 1], [1, 2]], **parameters)])


BAD_ELEMENTS = [
    ([[0, 1], [1, 5]], "element 1 names particle"),
    ([[0, -1]], "element 0 names particle"),
    ([[0, 1], [2, 2]], "element 1 names a particle twice"),
    ([[0.0, 1.0]], "particle indices, got float64"),
    ([[[0, 1]]], r"shape \(m, s\)"),
    ([], r"must have the shape \(0, s\), got \(0,\)"),
    ([[0, 1, 2]], r"never uses x\[2\], but its elements have 3 particles"),
]


@pytest.mark.parametrize(("elements", "message"), BAD_ELEMENTS)
def test_reject_bad_elements(elements, message):
    with pytest.raises(taut.errors.LawError, match=message):
        taut.System(X, mass=1.0, energies=[laws.spring(elements, k=1.0)])


def test_reject_bad_signatures():
    with pytest.raises(taut.errors.LawError, match=r"without \* or \*\*"):
        taut.energy(lambda x, **anything: norm(x[0]))
    with pytest.raises(taut.errors.LawError, match="cannot be called 'name'"):
        taut.energy(lambda x, name: norm(x[0]))
    with pytest.raises(taut.errors.LawError, match="unknown parameter 'lo'; did you mean 'l0'"):
        taut.energy(rest={"lo": lambda x: norm(x[0])})(lambda x, l0: l0 * norm(x[0]))
    with pytest.raises(taut.errors.LawError, match="cannot be called 'self'"):
        taut.energy(lambda x, self: norm(x[0]))
    with pytest.raises(
        taut.errors.LawError, match=r"rest value of 'l0' must be a function of x, got 2\.0"
    ):
        taut.energy(rest={"l0": 2.0})(lambda x, l0: l0 * norm(x[0]))
    with pytest.raises(taut.errors.LawError, match="invariant must be one of"):
        taut.energy(invariant="rotation")(lambda x: norm(x[0]))


def test_only_functions_make_laws():
    from functools import partial

    with pytest.raises(taut.errors.LawError, match="must be a Python function, got"):
        taut.energy(partial(lambda x, k: norm(x[0]), k=1.0))
    with pytest.raises(taut.errors.LawError, match="no source 'hesian'; did you mean 'hessian'"):
        laws.spring.compile("energy", 2, {"k": (), "l0": ()}).source("hesian")
    with pytest.raises(taut.errors.ModelError, match="no 'activ'; did you mean 'active'"):
        taut.System(X, mass=1.0).initial_state().with_(activ={})


def test_reject_rest_value_with_a_rate():
    law = taut.energy(rest={"c": lambda x: rate(x[0][1])})(lambda x, c: c * norm(x[0]))
    with pytest.raises(taut.errors.LawError, match="where nothing moves"):
        taut.System(X, mass=1.0, energies=[law([[0]])])


def test_reject_rest_value_that_is_not_finite():
    law = taut.energy(rest={"c": lambda x: 1 / x[0][1]})(lambda x, c: c * norm(x[0]))
    with pytest.raises(
        taut.errors.LawError,
        match="'c' of element 0 measured on the rest shape must be a finite number, got inf",
    ):
        taut.System(X, mass=1.0, energies=[law([[0]])])


def test_reject_dissipation_without_a_rate():
    law = taut.dissipation(lambda x, c: c * dot(x[0], x[0]))
    with pytest.raises(taut.errors.LawError, match="at least one rate"):
        taut.System(X, mass=1.0, damping=[law(c=1.0)])


def test_reject_laws_in_the_wrong_argument():
    with pytest.raises(
        taut.errors.ModelError, match=r"energies must be a list of energies, got .*damping"
    ):
        taut.System(X, mass=1.0, energies=[laws.drag(alpha=1.0)])
    with pytest.raises(taut.errors.ModelError, match="bind the law to elements first"):
        taut.System(X, mass=1.0, energies=[laws.spring])


def test_reject_parameter_that_changes_shape_in_time():
    system = taut.System(
        X,
        mass=1.0,
        energies=[laws.spring([[0, 1], [1, 2]], k=lambda t: 1.0 if t < 1 else [1.0, 2.0, 3.0])],
    )
    state = system.initial_state()
    assert system.V(state) == 0.0
    with pytest.raises(taut.errors.LawError, match=r"'k' must have the shape .*, got \(3,\)"):
        system.V(state.with_(t=2.0))


FOREIGN = {
    "np.linalg.norm": (lambda x: np.linalg.norm(x[1] - x[0]), "norm"),
    "np.dot": (lambda x: np.dot(x[0], x[1]), "dot"),
    "np.cross": (lambda x: np.cross(x[0], x[1])[0], "cross"),
    "np.sqrt": (lambda x: np.sqrt(x[0][0]), "sqrt"),
    "np.arctan2": (lambda x: np.arctan2(x[0][0], x[1][0]), "atan2"),
    "math.sin": (lambda x: math.sin(x[0][0]), "sin"),
}


@pytest.mark.parametrize("call", FOREIGN)
def test_functions_of_numpy_are_blamed_on_the_line_that_calls_them(call):
    formula, function = FOREIGN[call]
    with pytest.raises(taut.errors.LawError) as caught:
        bind(formula)
    message = str(caught.value)
    assert f"line {formula.__code__.co_firstlineno} `" in message
    assert f"taut.formula.{function} instead of {call}" in message


def test_a_vector_for_a_scalar_says_how_to_annotate():
    @taut.energy
    def push(x, d):
        return dot(d, x[0])

    for elements in ([[0]], [[0], [1], [2]]):  # with three elements it is one number for each
        with pytest.raises(
            taut.errors.LawError, match=r"must be annotated .*, d: taut\.formula\.Vector"
        ):
            taut.System(np.eye(3), mass=1.0, energies=[push(elements, d=(1, 0, 0))])
