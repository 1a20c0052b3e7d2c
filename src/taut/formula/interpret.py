"""Evaluate expressions with numpy, over many elements at once and without compiling.

For rest values, which are measured once, loads, which are taken once a step, and products of higher
derivatives with vectors: compiling them would take longer than it saves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from taut.arrays import Float
from taut.formula.expression import Expr, reachable
from taut.formula.graph import TINY, solve_stretch_sum

_UFUNCS: dict[str, Any] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "pow": np.power,
    "neg": np.negative,
    "atan2": np.arctan2,
    "sqrt": np.sqrt,
    "exp": np.exp,
    "log": np.log,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "tanh": np.tanh,
    "lt": np.less,
    "le": np.less_equal,
    "eq": np.equal,
    "and": np.logical_and,
    "or": np.logical_or,
    "not": np.logical_not,
    "where": np.where,
    "stretch_sum": np.vectorize(solve_stretch_sum, otypes=[np.float64]),
}


def evaluate(
    roots: Sequence[Expr],
    x: Float,
    v: Float | None = None,
    parameters: Float | None = None,
    total: float = 0.0,
) -> Float:
    """Return the values of expressions, shape (m, len(roots)).

    x : positions [m], (m, particles, 3)
    v, parameters, total : velocities [m/s], (m, particles, 3), packed parameters, (m, width), and
        the total of the law, for expressions with such symbols
    """
    symbols = {"x": x, "v": v, "total": np.asarray(total)}
    value = run(reachable(roots), lambda name: _read_symbol(name, symbols, parameters), len(x))
    return np.stack([np.broadcast_to(value[r], len(x)) for r in roots], axis=1).astype(np.float64)


def run(
    nodes: Sequence[Expr],
    read_symbol: Callable[[tuple[Any, ...]], Any],
    count: int,
    flags: frozenset[str] = frozenset(),
) -> dict[Expr, Any]:
    """Return the value of each node, a number or an array (count,).

    nodes : operands before their users, as `reachable` lists them
    read_symbol : returns the values of a symbol of this name; count : of the elements
    flags : the names of those that are set
    """
    value: dict[Expr, Any] = {}
    with np.errstate(all="ignore"):  # the caller reports what is not finite, with the element
        for node in nodes:
            a = [value[arg] for arg in node.args]
            if node.op == "const":
                value[node] = np.asarray(node.value)
            elif node.op == "symbol":
                value[node] = read_symbol(node.value)
            elif node.op == "flag":
                value[node] = np.asarray(node.value in flags)
            elif node.op == "norm":
                squares = np.sum([c * c for c in np.broadcast_arrays(*a)], axis=0)
                value[node] = np.where(squares > TINY**2, np.sqrt(squares), 0.0)
            elif node.op == "total":
                value[node] = np.sum(np.broadcast_to(a[0], count))
            elif node.op == "frozen":
                value[node] = a[0]
            elif node.op == "inv0":
                value[node] = np.where(np.abs(a[0]) > TINY**2, 1.0 / a[0], 0.0)
            elif node.op == "ratio":
                value[node] = np.where(a[3], a[0] / a[1], a[2])
            else:
                value[node] = _UFUNCS[node.op](*a)
    return value


def _read_symbol(name: tuple[Any, ...], symbols: dict[str, Any], parameters: Float | None) -> Float:
    """Return the values of a coordinate of a particle, a column of the parameters or the total."""
    if name[0] == "total":
        total: Float = symbols["total"]
        return total
    if name[0] == "p":
        assert parameters is not None
        return parameters[:, name[3]]
    array: Float = symbols[name[0]][:, name[1], name[2]]
    return array
