"""Symbolic derivatives and generated source, against SymPy."""

from collections.abc import Callable

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from taut.formula import (
    acos,
    asin,
    atan2,
    cos,
    cross,
    det,
    dot,
    exp,
    log,
    norm,
    sin,
    sqrt,
    tan,
    tanh,
    unit,
    where,
)
from taut.formula._array import Array
from taut.formula._emit import print_body
from taut.formula.differentiate import gradient
from taut.formula.expression import FUNCTIONS, Expr, reachable
from taut.formula.graph import TINY, Graph
from taut.jit.runtime import TINY as RUNTIME_TINY


def to_sympy(root: Expr, symbols: dict[Expr, sympy.Symbol]) -> sympy.Expr:
    done: dict[Expr, sympy.Expr] = dict(symbols)
    rules: dict[str, Callable[..., sympy.Expr]] = {
        "add": lambda a, b: a + b,
        "sub": lambda a, b: a - b,
        "mul": lambda a, b: a * b,
        "div": lambda a, b: a / b,
        "pow": lambda a, b: a**b,
        "neg": lambda a: -a,
        "norm": lambda *a: sympy.sqrt(sum(c**2 for c in a)),
        "inv0": lambda a: 1 / a,
        "atan2": sympy.atan2,
        "lt": lambda a, b: a < b,
        "where": lambda c, a, b: sympy.Piecewise((a, c), (b, True)),
        **{name: getattr(sympy, name) for name in FUNCTIONS},
    }
    for node in reachable([root]):
        if node.op == "const":
            done[node] = sympy.Float(node.value, 30)
        elif node not in done:
            done[node] = rules[node.op](*(done[a] for a in node.args))
    return done[root]


def run(outputs: list[Expr], values: dict[Expr, float]) -> list[float]:
    """Execute the generated source."""
    import math

    names = {s: f"s{s.id}" for s in values}
    lines = print_body([(f"out{i}", e) for i, e in enumerate(outputs)], lambda n: names[n])
    space = {f: getattr(math, f) for f in [*FUNCTIONS, "atan2"]}
    space["root"] = lambda s: math.sqrt(s) if s > TINY**2 else 0.0
    space["inv0"] = lambda a: 1 / a if abs(a) > TINY**2 else 0.0
    space.update({names[s]: v for s, v in values.items()})
    exec("\n".join(lines), space)
    return [space[f"out{i}"] for i in range(len(outputs))]


FORMULAS = {
    "spring": lambda x: (norm(x[1] - x[0]) - 0.7) ** 2,
    "hinge": lambda x: 1 - dot(unit(x[1] - x[0]), unit(x[2] - x[1])),
    "dihedral": lambda x: (
        atan2(
            dot(
                cross(cross(x[0] - x[2], x[0] - x[3]), cross(x[1] - x[3], x[1] - x[2])),
                unit(x[3] - x[2]),
            ),
            dot(cross(x[0] - x[2], x[0] - x[3]), cross(x[1] - x[3], x[1] - x[2])),
        )
        ** 2
    ),
    "volume": lambda x: log(det([x[1] - x[0], x[2] - x[0], x[3] - x[0]]) ** 2) ** 2,
    "functions": lambda x: (
        exp(sin(x[0][0])) * tanh(x[0][1])
        + cos(x[0][2]) * tan(0.3 * x[1][0])
        + sqrt(1 + x[1][1] ** 2)
        + asin(0.1 * x[1][2]) * acos(0.1 * x[2][0])
        + (2 + x[2][1] ** 2) ** 1.7 / (3 + x[2][2]) ** 3
    ),
    "branches": lambda x: where(
        x[0][0] < x[1][0],
        exp(x[0][1]) * x[1][1],
        where(x[0][2] < 0, x[2][0] ** 3, x[2][1] * x[0][0] ** 2),
    ),
    "matrix": lambda x: dot(Array(x.items[:9], (3, 3)) @ x[3], Array(x.items[:9], (3, 3)).T @ x[2]),
    "powers": lambda x: (
        x[0][0] ** 5 / x[0][1] ** -2 + 2.0 ** x[0][2] + (1 + x[1][0] ** 2) ** x[1][1]
    ),
}


@pytest.mark.parametrize("name", FORMULAS)
def test_first_and_second_derivatives_agree_with_sympy(name):
    graph = Graph()
    x = [graph.symbol("x", p, k) for p in range(4) for k in range(3)]
    root = FORMULAS[name](Array(x, (4, 3)))
    first = gradient(root, x, last=False)
    rows = (0, 5, 10)
    second = [e for i in rows for e in gradient(first[i], x)]
    letters = {s: sympy.Symbol(f"a{i}", real=True) for i, s in enumerate(x)}
    oracle = [to_sympy(root, letters)]
    oracle += [sympy.diff(oracle[0], letters[s]) for s in x]
    oracle += [sympy.diff(oracle[1 + i], letters[s]) for i in rows for s in x]
    expected = sympy.lambdify([letters[s] for s in x], oracle, "math", cse=True)
    for seed in range(4):
        values = np.random.default_rng(seed).normal(size=12).tolist()
        got = run([root, *first, *second], dict(zip(x, values, strict=True)))
        np.testing.assert_allclose(got, expected(*values), rtol=1e-9, atol=1e-9)


def test_equal_subexpressions_are_one_node():
    graph = Graph()
    a, b = graph.symbol("x", 0, 0), graph.symbol("x", 0, 1)
    assert (a + b) * 2 is 2 * (b + a)
    assert a - a is graph.const(0.0)
    assert a * 1 is a
    assert a + 0 is a
    assert graph.neg(-a) is a
    assert a - (-b) is a + b


def test_constants_are_folded():
    assert norm([3.0, 4.0]) == 5.0
    assert dot([1, 2, 3], [4, 5, 6]) == 32
    assert det([[1, 2], [3, 4]]) == -2
    assert unit([0.0, 0.0, 0.0]).items == (0.0, 0.0, 0.0)


def test_zero_length_threshold_is_defined_once():
    assert TINY == RUNTIME_TINY


def _combine(g: Graph, kind: str, a: Expr, b: Expr, condition: Expr) -> Expr:
    if kind in ("sin", "cos", "tanh"):
        return g.call(kind, a)
    if kind == "where":
        return g.where(condition, a, b)
    if kind == "norm":
        return g.norm([a, b, g.const(1.0)])
    if kind == "atan2":
        return g.atan2(a, g.norm([b, g.const(1.0)]))
    return {"+": a + b, "-": a - b, "*": a * b}[kind]


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_random_expressions_match_interpreter_and_finite_differences(data):
    """Random graphs with branches.

    The generated source gives the value, and the gradient matches finite differences.
    """
    graph = Graph()
    leaves = [graph.symbol("x", 0, k) for k in range(3)]
    pool: list[Expr] = [*leaves, graph.const(0.5)]
    for _ in range(data.draw(st.integers(2, 14))):
        a, b, c, d = (data.draw(st.sampled_from(pool)) for _ in range(4))
        kind = data.draw(
            st.sampled_from(["+", "-", "*", "sin", "cos", "tanh", "where", "norm", "atan2"])
        )
        made = _combine(graph, kind, a, b, graph.node("lt", (c, d)))
        pool.append(made)
    root = pool[-1]
    point = {s: data.draw(st.floats(-1.0, 1.0)) + 1e-3 * i for i, s in enumerate(leaves)}
    slopes = gradient(root, leaves)
    value, *got = run([root, *slopes], point)
    assert value == pytest.approx(_interpret(root, point), rel=1e-13, abs=1e-13)
    step = 1e-6
    for i, s in enumerate(leaves):
        up, down = (run([root], {**point, s: point[s] + e})[0] for e in (step, -step))
        near, far = abs(up - value), abs(value - down)
        if near + far < 1e-3 and abs((up - value) - (value - down)) < 1e-10 * (
            1 + abs(value)
        ):  # not across a kink or a jump
            assert got[i] == pytest.approx((up - down) / (2 * step), rel=1e-4, abs=1e-4)


def _interpret(root: Expr, point: dict[Expr, float]) -> float:
    from taut.formula.interpret import evaluate

    x = np.array([[[point[s] for s in sorted(point, key=lambda n: n.value)]]])
    return float(evaluate([root], x)[0, 0])
