"""Selections and expressions: any text is valid or a MeshError; values are those of Python."""

import warnings

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

import taut
from taut.mesh.selection.language import iterate_nodes, parse
from taut.scene._parameter import check_parameter
from taut.scene.expression import Expression

RNG = np.random.default_rng(3)
MESH = taut.mesh.sheet(3, 3).with_(
    points=RNG.normal(size=(16, 3)),
    point_data={"weight": RNG.random(16), "wide": RNG.random((16, 2))},
)
WORDS = [
    "x",
    "y",
    "z",
    "t",
    "pi",
    "u",
    "v",
    "weight",
    "wide",
    "'weight'",
    '"x"',
    "min",
    "max",
    "mean",
    "abs",
    "sqrt",
    "hypot",
    "sin",
    "exp",
    "log",
    "points",
    "corners",
    "all",
    "none",
    "boundary",
    "near",
    "top",
    "and",
    "or",
    "not",
    "nan",
    "inf",
    "__class__",
    "µ",
    "布",
]
SIGNS = [
    *"()+-*/^<>,:'\"=!&|~.\\\0\n",
    "**",
    "<=",
    ">=",
    "==",
    "!=",
    " ",
    "( ",
    ")) ",
    "1e999",
    "1e308",
    "-0",
    "0",
    "1.5",
    ".5",
    "3.",
]
ENTRIES = st.lists(st.sampled_from(WORDS + SIGNS) | st.text(max_size=3), max_size=25).map(" ".join)


def attempt(work):
    """Return the result of work, or None after a MeshError; other errors and warnings propagate."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            return work()
        except taut.errors.MeshError:
            return None


@settings(max_examples=400, deadline=None)
@given(ENTRIES | st.text(max_size=60))
@example("(" * 31)
@example("-" * 5000 + "x")
@example("x" + "^2" * 3000)
@example("near(x, 1e308, 1e308)")
def test_any_text_parses_or_raises_mesh_error(text):
    tree = attempt(lambda: parse(text))
    if tree is not None:
        assert all(0 <= node.start <= node.end <= len(text) for node in iterate_nodes(tree))


@settings(max_examples=250, deadline=None)
@given(ENTRIES)
@example("points(0:1e300)")
@example("points(-1)")
@example("x < y < z < x < y")
@example("corners(top, top)")
def test_any_text_selects_points_or_is_rejected(text):
    found = attempt(lambda: MESH.select(text))
    if found is not None:
        assert found.dtype == np.int64
        assert np.array_equal(found, np.unique(found))
        assert len(found) == 0 or 0 <= found.min() <= found.max() < MESH.n


@settings(max_examples=250, deadline=None)
@given(ENTRIES, st.floats(-10.0, 10.0))
@example("log(0*t)", 0.0)
@example("x^(0-weight)^0.5", 1.0)
def test_any_expression_is_finite_or_rejected(text, t):
    found = attempt(lambda: Expression(text, MESH))
    values = None if found is None else attempt(lambda: found.evaluate(t))
    if values is not None:
        assert values.shape in ((), (MESH.n,))
        assert np.isfinite(values).all()


VALUES = st.recursive(
    st.sampled_from(["x", "y", "weight", "t", "2", "0.5", "3.25"]),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["+", "-", "*", "/", "**"]), inner).map(" ".join),
        inner.map("({})".format),
        inner.map("- {}".format),
        st.tuples(st.sampled_from(["sin", "cos", "tanh", "abs", "exp"]), inner).map(
            "{0[0]}({0[1]})".format
        ),
    ),
    max_leaves=12,
)


@settings(max_examples=300, deadline=None)
@given(VALUES, st.floats(-2.0, 2.0))
@example("- x ** 2 ** - y", 0.0)
@example("2 - 3.25 - x / y / 2", 0.0)
def test_values_match_python(text, t):
    """Precedence and associativity of the grammar are those of Python, which is the reference."""
    functions = {"sin": np.sin, "cos": np.cos, "tanh": np.tanh, "abs": np.abs, "exp": np.exp}
    x, y, _ = MESH.points.T
    with np.errstate(all="ignore"):
        names = {"x": x, "y": y, "weight": MESH.point_data["weight"], "t": np.float64(t)}
        numbers = {number: f"np.float64({number})" for number in ("0.5", "3.25", "2")}
        python = " ".join(
            numbers.get(word, word) for word in text.replace("(", " ( ").replace(")", " ) ").split()
        )
        expected = np.asarray(eval(python, {"np": np, **functions, **names}))
    if not np.isfinite(expected).all():
        return
    found = attempt(lambda: Expression(text.replace("**", "^"), MESH).evaluate(t))
    if found is not None:  # None: at t = 0 it is not finite
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-300)


CONDITIONS = st.recursive(
    st.tuples(
        st.sampled_from("xyz"),
        st.sampled_from(["<", ">", "<=", ">="]),
        st.sampled_from(["0.1", "-0.7", "1"]),
    ).map(" ".join)
    | st.tuples(
        st.sampled_from(["-1", "-0.3"]), st.sampled_from("xyz"), st.sampled_from(["0.2", "1.7"])
    ).map(" < ".join),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["and", "or"]), inner).map(" ".join),
        inner.map("not {}".format),
        inner.map("({})".format),
    ),
    max_leaves=10,
)


@settings(max_examples=200, deadline=None)
@given(CONDITIONS)
def test_conditions_match_python(text):
    """No coordinate is within 1e-9 of the numbers, the tolerance of equality."""
    expected = [
        i for i, (x, y, z) in enumerate(MESH.points) if eval(text, {"x": x, "y": y, "z": z})
    ]
    found = attempt(lambda: MESH.select(text))
    assert (
        [] if found is None else found.tolist()
    ) == expected  # a selection of nothing is an error


LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20) | ENTRIES
ANYTHING = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["file", "per", "times", "values", "x"]) | st.text(max_size=5),
            inner,
            max_size=3,
        )
    ),
    max_leaves=8,
)


@settings(max_examples=300, deadline=None)
@given(ANYTHING)
@example({"times": [0, 1], "values": [float("nan"), 1]})
@example({"times": [[0.0], [1.0]], "values": [0, 1]})
@example({"file": "a", "per": []})
@example([10**400])
def test_parameter_is_valid_or_raises_value_error(value):
    try:
        taken = check_parameter(value)
    except ValueError:
        return
    assert isinstance(taken, (int, float, str, list, dict))
    assert not isinstance(taken, bool)
