"""Scalars of a formula: nodes of an expression graph, with searches and substitutions in it.

`taut.formula.graph` has the operations that make and simplify nodes.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NoReturn

from taut.errors import LawError

if TYPE_CHECKING:
    from taut.formula.graph import Graph

COMPARISONS = frozenset({"lt", "le", "eq"})
_BOOLEAN = COMPARISONS | {"and", "or", "not", "flag"}
FUNCTIONS = {
    "sqrt": math.sqrt,
    "exp": math.exp,
    "log": math.log,
    "sin": math.sin,
    "cos": math.cos,
    "tan": math.tan,
    "asin": math.asin,
    "acos": math.acos,
    "tanh": math.tanh,
}


# Operations that a method of Graph of the same name makes, and simplifies.
_METHODS = frozenset(
    {"add", "sub", "mul", "div", "pow", "neg", "atan2", "inv0", "where", "stretch_sum"}
)


class Expr:
    """A scalar in a formula: the result of an operation on other scalars, or a leaf.

    op : the operation, such as "add", or the kind of leaf: "symbol", "const" or "flag"
    args : its operands
    value : of a constant the number, of a symbol or flag its name, else None
    id : its number in the graph; operands have smaller ones

    It supports + - * / ** and comparisons. Anything that needs a number raises an error.
    """

    __slots__ = ("args", "graph", "id", "op", "value")
    # numpy then leaves arithmetic with an Expr to the methods below, and refuses its own functions
    __array_ufunc__ = None

    def __init__(self, graph: Graph, id: int, op: str, args: tuple[Expr, ...], value: Any) -> None:
        self.graph, self.id, self.op, self.args, self.value = graph, id, op, args, value

    @property
    def is_boolean(self) -> bool:
        """Whether it is a comparison, or comparisons joined by & | ~."""
        return self.op in _BOOLEAN

    def __repr__(self) -> str:
        parts = [a.op for a in self.args]
        if self.value is not None:
            parts.insert(0, repr(self.value))
        return f"<{self.op} {', '.join(parts)}>"

    def __add__(self, other: Any) -> Expr:
        return self.graph.combine("add", self, other)

    def __radd__(self, other: Any) -> Expr:
        return self.graph.combine("add", other, self)

    def __sub__(self, other: Any) -> Expr:
        return self.graph.combine("sub", self, other)

    def __rsub__(self, other: Any) -> Expr:
        return self.graph.combine("sub", other, self)

    def __mul__(self, other: Any) -> Expr:
        return self.graph.combine("mul", self, other)

    def __rmul__(self, other: Any) -> Expr:
        return self.graph.combine("mul", other, self)

    def __truediv__(self, other: Any) -> Expr:
        return self.graph.combine("div", self, other)

    def __rtruediv__(self, other: Any) -> Expr:
        return self.graph.combine("div", other, self)

    def __pow__(self, other: Any) -> Expr:
        return self.graph.combine("pow", self, other)

    def __rpow__(self, other: Any) -> Expr:
        return self.graph.combine("pow", other, self)

    def __neg__(self) -> Expr:
        return self.graph.neg(self)

    def __pos__(self) -> Expr:
        return self

    def __abs__(self) -> Expr:
        return self.graph.where(self < 0, -self, self)

    def __lt__(self, other: Any) -> Expr:
        return self.graph.combine("lt", self, other)

    def __le__(self, other: Any) -> Expr:
        return self.graph.combine("le", self, other)

    def __gt__(self, other: Any) -> Expr:
        return self.graph.combine("lt", other, self)

    def __ge__(self, other: Any) -> Expr:
        return self.graph.combine("le", other, self)

    def __eq__(self, other: Any) -> Expr:  # type: ignore[override]
        result = self.graph.combine("eq", self, other)
        if result is NotImplemented:
            raise LawError(f"a scalar of the formula cannot be compared with {other!r}")
        return result

    def __ne__(self, other: Any) -> Expr:  # type: ignore[override]
        return self.graph.logic("not", self == other)

    __hash__ = object.__hash__

    def __and__(self, other: Any) -> Expr:
        return self.graph.logic("and", self, other)

    def __or__(self, other: Any) -> Expr:
        return self.graph.logic("or", self, other)

    def __invert__(self) -> Expr:
        return self.graph.logic("not", self)

    def __bool__(self) -> NoReturn:
        raise LawError(
            "a formula cannot branch in Python (if, and, or, not, max, min): "
            "use where, minimum, maximum, &, |, ~"
        )

    def __float__(self) -> NoReturn:
        raise LawError(
            "a scalar of a formula has no number (as math.sin needs): "
            "use the functions of taut.formula"
        )

    __int__ = __index__ = __float__

    def __iter__(self) -> NoReturn:
        raise LawError("a scalar of the formula was used as a vector")

    def __getitem__(self, _: Any) -> NoReturn:
        raise LawError("a scalar of the formula was indexed as if it were a vector")

    def __array__(self, *_: Any, **__: Any) -> NoReturn:
        raise LawError("numpy cannot take part in a formula: use the functions of taut.formula")

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        raise LawError(
            f"unknown function or attribute '{name}' on a scalar of the formula: "
            "use the functions of taut.formula"
        )


def is_const(e: Expr, value: float) -> bool:
    """Whether an expression is this constant."""
    return e.op == "const" and e.value == value


def reachable(roots: Iterable[Expr], stop: Iterable[Expr] = ()) -> list[Expr]:
    """Return every node that the roots depend on, operands before their users.

    stop : nodes whose operands are not followed
    """
    stopped = set(stop)
    seen: set[Expr] = set()
    stack = list(roots)
    while stack:
        node = stack.pop()
        if node not in seen:
            seen.add(node)
            if node not in stopped:
                stack.extend(node.args)
    return sorted(seen, key=lambda n: n.id)


def symbols(root: Expr, kind: str) -> list[Expr]:
    """Return the symbols of one kind (first entry of their name) in an expression."""
    return [n for n in reachable([root]) if n.op == "symbol" and n.value[0] == kind]


def fingerprint(root: Expr) -> str:
    """Return a digest of the expression, independent of how and where it was written."""
    order = {node: i for i, node in enumerate(reachable([root]))}
    lines = [f"{n.op} {n.value!r} {[order[a] for a in n.args]}" for n in order]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def substitute(root: Expr, replacements: dict[Expr, Expr]) -> Expr:
    """Replace some nodes of an expression, and simplify what depends on them."""
    done = dict(replacements)
    for node in reachable([root], stop=replacements.keys()):
        if node not in done:
            done[node] = rebuild(node, tuple(done[a] for a in node.args))
    return done[root]


def rebuild(node: Expr, args: tuple[Expr, ...]) -> Expr:
    """Apply a node's operation to other operands, in the same graph."""
    graph = node.graph
    if all(a is b for a, b in zip(args, node.args, strict=True)):
        return node
    if node.op in FUNCTIONS:
        return graph.call(node.op, args[0])
    if node.op == "ratio":
        return graph.ratio(*args[:3])
    if node.op == "norm":
        return graph.norm(args)
    if node.op in (
        "add",
        "sub",
        "mul",
        "div",
        "pow",
        "neg",
        "atan2",
        "inv0",
        "where",
        "stretch_sum",
    ):
        result: Expr = getattr(graph, node.op)(*args)
        return result
    return graph.node(node.op, graph.sort_operands(node.op, args), node.value)


def copy_into(graph: Graph, root: Expr) -> Expr:
    """Copy an expression to another graph, node by node.

    The order of terms in derivatives follows the ids of nodes. In a new graph it does not depend on
    what else was derived from the same trace before: the generated source is always the same.
    """
    copies: dict[Expr, Expr] = {}
    for node in reachable([root]):
        operands = tuple(copies[a] for a in node.args)
        copies[node] = graph.node(node.op, operands, node.value)
    return copies[root]
