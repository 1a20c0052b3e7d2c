"""Expressions as a graph in which equal subexpressions are one node.

A `Graph` belongs to one trace of one formula. Nodes are appended in the order they are made, so a node's `id` is also a
topological order: arguments come before their users. The constructors below simplify only what is exact in floating point
(x + 0, 1·x, constants folded), so the printed source still reads like the formula. A factor of where(c, a, 0) moves into the
branch, where(c, a·b, 0): b is then not evaluated where it would not count.

Besides arithmetic there are three safe primitives, which give singular states a finite answer:
`norm` counts a length below TINY as zero; `inv0(a)` is 1/a, and 0 where |a| ≤ TINY²; `ratio(a, n, limit)` is a/n, and
`limit` where n = 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

from numpy import ndarray

from taut.errors import LawError
from taut.formula.expression import COMPARISONS, Expr, is_const, reachable

TINY = 1e-80  # lengths [m] below this count as zero: small enough for any physics, large enough that TINY⁻³ is finite

SPREAD = 8  # branches into which a factor moves at most
LARGEST = 200_000  # terms of a formula with its derivatives

COMMUTATIVE = frozenset({"add", "mul", "and", "or", "eq"})
FUNCTIONS = {
    "sqrt": math.sqrt, "exp": math.exp, "log": math.log, "sin": math.sin, "cos": math.cos, "tan": math.tan,
    "asin": math.asin, "acos": math.acos, "tanh": math.tanh,
}  # fmt: skip


class Graph:
    """The nodes of one trace, each distinct expression once."""

    def __init__(self) -> None:
        self.nodes: list[Expr] = []
        self._table: dict[tuple[Any, ...], Expr] = {}
        self._branching: dict[Expr, int] = {}

    def _guarded(self, e: Expr) -> bool:
        """Whether an expression is zero outside of a few branches: where(c, a, 0), and sums of such."""
        return 0 < self._branches(e) <= SPREAD

    def _branches(self, e: Expr) -> int:
        """In how many branches an expression is not zero; 0 for one that is not made of where(c, a, 0) alone."""
        if e not in self._branching:
            count = 0
            if e.op == "where" and (is_const(e.args[1], 0.0) or is_const(e.args[2], 0.0)):
                count = max(1, *(self._branches(side) for side in e.args[1:]))
            elif e.op in ("add", "sub"):
                parts = [self._branches(side) for side in e.args]
                count = sum(parts) if all(parts) else 0
            self._branching[e] = count
        return self._branching[e]

    def node(self, op: str, args: tuple[Expr, ...] = (), value: Any = None) -> Expr:
        key = (op, repr(value), *(a.id for a in args))
        found = self._table.get(key)
        if found is None:
            if len(self.nodes) == LARGEST:
                raise LawError(
                    f"the formula and its derivatives have more than {LARGEST} terms: it is too large, or its branches multiply"
                )
            found = Expr(self, len(self.nodes), op, args, value)
            self.nodes.append(found)
            self._table[key] = found
        return found

    def symbol(self, *name: Any) -> Expr:
        """A leaf such as ("x", particle, component) or ("p", parameter, component)."""
        return self.node("symbol", value=name)

    def flag(self, name: str) -> Expr:
        """A boolean leaf, an argument of the kernel."""
        return self.node("flag", value=name)

    def const(self, value: float) -> Expr:
        return self.node("const", value=float(value) + 0.0)  # -0.0 and 0.0 are one constant

    def lift(self, value: Any) -> Expr:
        """An operand as a node of this graph."""
        if isinstance(value, Expr):
            if value.graph is not self:
                raise LawError("the formula depends on a quantity of another formula, which is not among its parameters")
            return value
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            if getattr(value, "shape", None) == () and hasattr(value, "__float__"):
                value = float(value)  # a numpy scalar
            else:
                raise LawError(f"a {type(value).__name__} cannot be combined with a scalar of the formula")
        if not math.isfinite(value):
            raise LawError(f"the constant {value} in the formula is not finite")
        return self.const(value)

    def number(self, value: Any) -> Expr:
        """An operand that must be a number, not a comparison."""
        node = self.lift(value)
        if node.is_boolean:
            raise LawError("a comparison was used as a number: use where(condition, a, b)")
        return node

    def combine(self, op: str, a: Any, b: Any) -> Any:
        for operand, other in ((a, b), (b, a)):
            if not isinstance(operand, (Expr, int, float)) and getattr(operand, "shape", None) != ():
                if isinstance(operand, ndarray) and op not in COMPARISONS:  # a constant vector: it knows how to combine
                    from taut.formula.array import as_array

                    word = {"add": "add", "sub": "sub", "mul": "mul", "div": "truediv", "pow": "pow"}[op]
                    return getattr(as_array(operand), f"__{word}__" if operand is a else f"__r{word}__")(other)
                return NotImplemented
        a, b = self.number(a), self.number(b)
        if op in COMPARISONS:
            return self.node(op, self._ordered(op, (a, b)))
        return getattr(self, op)(a, b)

    def logic(self, op: str, *args: Any) -> Expr:
        if not all(isinstance(a, Expr) and a.is_boolean for a in args):
            raise LawError("&, | and ~ join comparisons only")
        return self.node(op, self._ordered(op, args))

    def _ordered(self, op: str, args: tuple[Expr, ...]) -> tuple[Expr, ...]:
        return tuple(sorted(args, key=lambda a: a.id)) if op in COMMUTATIVE else args

    def add(self, a: Expr, b: Expr) -> Expr:
        if is_const(a, 0.0):
            return b
        if is_const(b, 0.0):
            return a
        if a.op == b.op == "const":
            return self.const(a.value + b.value)
        if b.op == "neg":
            return self.sub(a, b.args[0])
        if a.op == "neg":
            return self.sub(b, a.args[0])
        if a is b:
            return self.mul(self.const(2.0), a)
        if a.op == b.op == "where" and a.args[0] is b.args[0] and self._guarded(a) and self._guarded(b):
            return self.where(a.args[0], self.add(a.args[1], b.args[1]), self.add(a.args[2], b.args[2]))
        return self.node("add", self._ordered("add", (a, b)))

    def sub(self, a: Expr, b: Expr) -> Expr:
        if is_const(b, 0.0):
            return a
        if is_const(a, 0.0):
            return self.neg(b)
        if a.op == b.op == "const":
            return self.const(a.value - b.value)
        if a is b:
            return self.const(0.0)
        if b.op == "neg":
            return self.add(a, b.args[0])
        return self.node("sub", (a, b))

    def neg(self, a: Expr) -> Expr:
        if a.op == "const":
            return self.const(-a.value)
        if a.op == "neg":
            return a.args[0]
        if a.op == "sub":
            return self.sub(a.args[1], a.args[0])
        if self._guarded(a):
            return self._within(a, self.neg)
        return self.node("neg", (a,))

    def mul(self, a: Expr, b: Expr) -> Expr:
        for one, other in ((a, b), (b, a)):
            if one.op == "const":
                if other.op == "const":
                    return self.const(one.value * other.value)
                if one.value == 0.0:
                    return one
                if one.value == 1.0:
                    return other
                if one.value == -1.0:
                    return self.neg(other)
        if a.op == "neg":
            return self.neg(self.mul(a.args[0], b))
        if b.op == "neg":
            return self.neg(self.mul(a, b.args[0]))
        if a is b and a.op == "where" and self._guarded(a):
            return self._within(a, lambda side: self.mul(side, side))
        if a is not b and self._guarded(a):
            return self._within(a, lambda side: self.mul(side, b))
        if a is not b and self._guarded(b):
            return self._within(b, lambda side: self.mul(side, a))
        return self.node("mul", self._ordered("mul", (a, b)))

    def _within(self, guarded: Expr, operation: Callable[[Expr], Expr]) -> Expr:
        """Apply what maps zero to zero to each side of a branch, so that the other operand is needed only where it counts."""
        if guarded.op == "where":
            condition, yes, no = guarded.args
            return self.where(condition, *(s if is_const(s, 0.0) else operation(s) for s in (yes, no)))
        combine = self.add if guarded.op == "add" else self.sub
        return combine(*(self._within(s, operation) for s in guarded.args))

    def div(self, a: Expr, b: Expr) -> Expr:
        if is_const(b, 0.0):
            raise LawError("the formula divides by the constant zero")
        if is_const(a, 0.0) or is_const(b, 1.0):
            return a
        if a.op == b.op == "const":
            return self.const(a.value / b.value)
        if a.op == "neg":
            return self.neg(self.div(a.args[0], b))
        return self.node("div", (a, b))

    def pow(self, a: Expr, b: Expr) -> Expr:
        if a.op == b.op == "const":
            return self.lift(float(a.value) ** b.value)
        if b.op != "const":
            return self.call("exp", self.mul(b, self.call("log", a)))
        if b.value == 0.5:
            return self.call("sqrt", a)
        if b.value == int(b.value) and abs(b.value) <= 8:
            return self._integer_power(a, int(b.value))
        return self.node("pow", (a, b))

    def _integer_power(self, a: Expr, n: int) -> Expr:
        if n < 0:
            return self.div(self.const(1.0), self._integer_power(a, -n))
        if n == 0:
            return self.const(1.0)
        half = self._integer_power(a, n // 2)
        square = self.mul(half, half)
        return self.mul(square, a) if n % 2 else square

    def call(self, name: str, a: Expr) -> Expr:
        if a.op == "const":
            try:
                return self.lift(FUNCTIONS[name](a.value))
            except (ValueError, OverflowError) as error:
                raise LawError(f"{name}({a.value}) has no value") from error
        return self.node(name, (a,))

    def atan2(self, y: Expr, x: Expr) -> Expr:
        if x.op == y.op == "const":
            return self.const(math.atan2(y.value, x.value))
        return self.node("atan2", (y, x))

    def norm(self, parts: Iterable[Expr]) -> Expr:
        kept = tuple(p for p in parts if not is_const(p, 0.0))
        if all(p.op == "const" for p in kept):
            return self.const(math.hypot(*(p.value for p in kept)))
        return self.node("norm", kept)

    def inv0(self, a: Expr) -> Expr:
        if a.op == "const":
            return self.const(1.0 / a.value if abs(a.value) > TINY**2 else 0.0)
        return self.node("inv0", (a,))

    def ratio(self, a: Expr, n: Expr, limit: Expr) -> Expr:
        if is_const(a, 0.0) and is_const(limit, 0.0):
            return a
        return self.node("ratio", (a, n, limit, self.node("lt", (self.const(0.0), n))))

    def where(self, condition: Expr, a: Expr, b: Expr) -> Expr:
        if not (isinstance(condition, Expr) and condition.is_boolean):
            raise LawError("where(condition, a, b) needs a comparison as its condition")
        a = a.args[1] if a.op == "where" and a.args[0] is condition else a
        b = b.args[2] if b.op == "where" and b.args[0] is condition else b
        return a if a is b else self.node("where", (condition, a, b))

    def substitute(self, root: Expr, replace: dict[Expr, Expr]) -> Expr:
        """`root` with some nodes replaced, rebuilt through the simplifying constructors."""
        done = dict(replace)
        for node in reachable([root], stop=replace.keys()):
            if node not in done:
                done[node] = self.rebuild(node, tuple(done[a] for a in node.args))
        return done[root]

    def rebuild(self, node: Expr, args: tuple[Expr, ...]) -> Expr:
        """The node's operation on other arguments."""
        if all(a is b for a, b in zip(args, node.args, strict=True)):
            return node
        if node.op in FUNCTIONS:
            return self.call(node.op, args[0])
        if node.op == "ratio":
            return self.ratio(*args[:3])
        if node.op == "norm":
            return self.norm(args)
        if node.op in ("add", "sub", "mul", "div", "pow", "neg", "atan2", "inv0", "where"):
            result: Expr = getattr(self, node.op)(*args)
            return result
        return self.node(node.op, self._ordered(node.op, args), node.value)


def transplanted(root: Expr) -> Expr:
    """The same expression in a graph of its own: what is derived from it does not depend on what was derived before."""
    graph, made = Graph(), dict[Expr, Expr]()
    for n in reachable([root]):
        made[n] = graph.node(n.op, tuple(made[a] for a in n.args), n.value)
    return made[root]
