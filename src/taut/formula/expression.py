"""Scalars of a formula: nodes of an expression graph, and walks over them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NoReturn

from taut.errors import LawError

if TYPE_CHECKING:
    from taut.formula.graph import Graph

COMPARISONS = frozenset({"lt", "le", "eq"})
BOOLEAN = COMPARISONS | {"and", "or", "not", "flag"}


class Expr:
    """A scalar in a formula. Made by tracing; supports + - * / ** and comparisons, and nothing that needs a number."""

    __slots__ = ("args", "graph", "id", "op", "value")
    __array_ufunc__ = None  # numpy hands arithmetic over to us and refuses its own functions

    def __init__(self, graph: Graph, id: int, op: str, args: tuple[Expr, ...], value: Any) -> None:
        self.graph, self.id, self.op, self.args, self.value = graph, id, op, args, value

    @property
    def is_boolean(self) -> bool:
        return self.op in BOOLEAN

    def __repr__(self) -> str:
        inside = ", ".join([repr(self.value)] * (self.value is not None) + [a.op for a in self.args])
        return f"<{self.op} {inside}>"

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
        raise LawError("a formula cannot branch in Python (if, and, or, not, max, min): use where, minimum, maximum, &, |, ~")

    def __float__(self) -> NoReturn:
        raise LawError("a formula has no number yet (math.sin and the like): use the functions of taut.formula")

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
        raise LawError(f"unknown function or attribute '{name}' on a scalar of the formula: use the functions of taut.formula")


def is_const(e: Expr, value: float) -> bool:
    return e.op == "const" and e.value == value


def reachable(roots: Iterable[Expr], stop: Iterable[Expr] = ()) -> list[Expr]:
    """Every node the roots need, arguments before users; the arguments of nodes in `stop` are not followed."""
    halt = set(stop)
    seen: set[Expr] = set()
    stack = list(roots)
    while stack:
        node = stack.pop()
        if node not in seen:
            seen.add(node)
            if node not in halt:
                stack.extend(node.args)
    return sorted(seen, key=lambda n: n.id)


def symbols(root: Expr, kind: str) -> list[Expr]:
    """The leaves of one kind (first entry of their name) on which an expression depends."""
    return [n for n in reachable([root]) if n.op == "symbol" and n.value[0] == kind]


def fingerprint(root: Expr) -> str:
    """A digest of the expression itself, independent of how and where it was written."""
    order = {node: i for i, node in enumerate(reachable([root]))}
    lines = [f"{n.op} {n.value!r} {[order[a] for a in n.args]}" for n in order]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()
