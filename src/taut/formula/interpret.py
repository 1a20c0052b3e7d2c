"""Evaluate expressions with numpy, over many elements at once and without compiling: for rest values, measured once, and loads,
taken once a step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taut.formula.expression import Expr, reachable
from taut.formula.graph import TINY

_UFUNCS: dict[str, Any] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "pow": np.power, "neg": np.negative,
    "atan2": np.arctan2, "sqrt": np.sqrt, "exp": np.exp, "log": np.log, "sin": np.sin, "cos": np.cos, "tan": np.tan,
    "asin": np.arcsin, "acos": np.arccos, "tanh": np.tanh, "lt": np.less, "le": np.less_equal, "eq": np.equal,
    "and": np.logical_and, "or": np.logical_or, "not": np.logical_not, "where": np.where,
}  # fmt: skip


def evaluate(
    roots: Sequence[Expr],
    x: NDArray[np.float64],
    v: NDArray[np.float64] | None = None,
    parameters: NDArray[np.float64] | None = None,
    total: float = 0.0,
) -> NDArray[np.float64]:
    """Values of the expressions, shape (m, len(roots)), for positions x of shape (m, particles, 3) [m].

    v : velocities [m/s], of the same shape, parameters : (m, width), and total : of the law, for expressions with such symbols
    """
    known = {"x": x, "v": v, "total": np.asarray(total)}
    value: dict[Expr, np.ndarray] = {}
    with np.errstate(all="ignore"):  # what is not finite is reported by the caller, with the element
        for node in reachable(roots):
            a = [value[arg] for arg in node.args]
            if node.op == "const":
                value[node] = np.asarray(node.value)
            elif node.op == "symbol":
                value[node] = _symbol(node.value, known, parameters)
            elif node.op == "norm":
                squares = np.sum([c * c for c in np.broadcast_arrays(*a)], axis=0)
                value[node] = np.where(squares > TINY**2, np.sqrt(squares), 0.0)
            elif node.op == "total":
                value[node] = np.sum(np.broadcast_to(a[0], len(x)))
            elif node.op == "inv0":
                value[node] = np.where(np.abs(a[0]) > TINY**2, 1.0 / a[0], 0.0)
            else:
                value[node] = _UFUNCS[node.op](*a)
    return np.stack([np.broadcast_to(value[r], len(x)) for r in roots], axis=1).astype(np.float64)


def _symbol(name: tuple[Any, ...], known: dict[str, Any], parameters: NDArray[np.float64] | None) -> NDArray[np.float64]:
    """The values of a leaf: a coordinate of a particle, a column of the parameters, or the total."""
    if name[0] == "total":
        whole: NDArray[np.float64] = known["total"]
        return whole
    if name[0] == "p":
        assert parameters is not None
        return parameters[:, name[3]]
    array: NDArray[np.float64] = known[name[0]][:, name[1], name[2]]
    return array
