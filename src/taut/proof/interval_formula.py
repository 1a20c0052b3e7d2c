"""Bounds of a formula and its derivatives over boxes of positions: interval arithmetic on a graph.

The expressions are those from which compiled loops are printed, so what is bounded is what is
simulated, in exact arithmetic. Where a comparison is not the same everywhere in a box, `where` may
be either side, and what depends on it counts as rough, unless another comparison discards it: a
hinge chooses between turning left and turning right only where it is folded flat. A result that is
rough has no bound here, so that within a box with bounds a law is smooth.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from taut.arrays import Mask
from taut.formula.expression import Expr, reachable
from taut.proof.intervals import Floating, Interval, atan2, hypot, select


@dataclass(frozen=True, eq=False)
class Truth:
    """What is known of a comparison: where it certainly holds, and where it certainly does not."""

    yes: Mask
    no: Mask


_FUNCTIONS: dict[str, Callable[[Interval], Interval]] = {
    "neg": lambda a: -a,
    "sqrt": Interval.sqrt,
    "exp": Interval.exp,
    "log": Interval.log,
    "sin": Interval.sin,
    "cos": Interval.cos,
    "tan": lambda a: a.sin() / a.cos(),
    "asin": Interval.asin,
    "acos": Interval.acos,
    "tanh": Interval.tanh,
}
_ONE = Interval.exactly(1.0)


def find_unbounded_operations(roots: Sequence[Expr]) -> list[str]:
    """Return the operations in expressions for which there are no bounds here."""
    known = {
        *("const", "symbol", "flag", "add", "sub", "mul", "div", "pow", "atan2", "norm", "inv0"),
        *("ratio", "where", "lt", "le", "eq", "and", "or", "not", "frozen"),
    }
    return sorted({n.op for n in reachable(roots)} - known - set(_FUNCTIONS))


def bound(
    roots: Sequence[Expr], read_symbol: Callable[[tuple[Any, ...]], Interval]
) -> list[Interval]:
    """Return bounds of expressions.

    read_symbol : returns the interval of a symbol with this name, of shape (m,) or ()
    """
    value: dict[Expr, Any] = {}
    rough: dict[Expr, Mask] = {}
    with np.errstate(all="ignore"):  # what has no bound is NaN, and found at the end
        for node in reachable(roots):
            a = [value[arg] for arg in node.args]
            rough[node] = _find_rough(node, a, [rough[arg] for arg in node.args])
            if node.op == "symbol":
                value[node] = read_symbol(node.value)
            elif node.op == "const":
                value[node] = Interval.exactly(node.value)
            elif node.op == "flag":  # the Hessian itself, with the true forces
                value[node] = Truth(np.asarray(False), np.asarray(True))
            else:
                value[node] = _apply(node, a)
    return [_drop(value[root], rough[root]) for root in roots]


def _find_rough(node: Expr, a: list[Any], rough: list[Mask]) -> Mask:
    """Return where an operation depends on the side that an open comparison takes."""
    if node.op == "where":
        is_open = ~(a[0].yes | a[0].no)
        # Both sides are zero throughout the box where other comparisons have discarded them.
        differs = is_open & ~(a[1].is_zero & a[2].is_zero)
        yes, no = ~a[0].no & rough[1], ~a[0].yes & rough[2]
        return np.asarray(differs | yes | no)
    # A comparison of bounds that hold for both sides is decided by itself.
    if node.is_boolean or not rough:
        return np.asarray(False)
    return np.logical_or.reduce(np.broadcast_arrays(*rough))


def _drop(found: Interval, rough: Mask) -> Interval:
    return Interval(np.where(rough, np.nan, found.lo), np.where(rough, np.nan, found.hi))


def _apply(node: Expr, a: list[Any]) -> Any:
    """Return the bounds of one operation on bounded operands."""
    match node.op:
        case "add":
            return a[0] + a[1]
        case "sub":
            return a[0] - a[1]
        case "mul":
            return a[0].square() if node.args[0] is node.args[1] else a[0] * a[1]
        case "div":
            return a[0] / a[1]
        case "pow":
            return a[0].power(node.args[1].value)
        case "atan2":
            return atan2(a[0], a[1])
        case "norm":
            return hypot(a)
        case "inv0":
            return _ONE / a[0]
        case "ratio":
            return a[0] / a[1]
        case "frozen":
            return a[0]
        case "where":
            return select(a[0].yes, a[0].no, a[1], a[2])
        case "lt":
            return Truth(a[0].hi < a[1].lo, a[0].lo >= a[1].hi)
        case "le":
            return Truth(a[0].hi <= a[1].lo, a[0].lo > a[1].hi)
        case "eq":
            same = (a[0].lo == a[0].hi) & (a[1].lo == a[1].hi) & (a[0].lo == a[1].lo)
            return Truth(same, (a[0].hi < a[1].lo) | (a[0].lo > a[1].hi))
        case "and":
            return Truth(a[0].yes & a[1].yes, a[0].no | a[1].no)
        case "or":
            return Truth(a[0].yes | a[1].yes, a[0].no & a[1].no)
        case "not":
            return Truth(a[0].no, a[0].yes)
    return _FUNCTIONS[node.op](a[0])


def as_array(bounds: Sequence[Interval], m: int) -> Interval:
    """Return bounds of several expressions as one interval, (m, len(bounds))."""
    ends: list[Floating] = []
    for end in ("lo", "hi"):
        columns = [np.broadcast_to(getattr(b, end), m) for b in bounds]
        ends.append(np.stack(columns, axis=1) if columns else np.empty((m, 0)))
    return Interval(*ends)
