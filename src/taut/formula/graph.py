"""Expressions as a graph in which equal subexpressions are one node.

A `Graph` belongs to one trace of one formula. Nodes are appended in the order in which they are
made, so that their `id` is also a topological order: operands come before their users. The
constructors simplify only what is exact in floating point (x + 0, 1·x, operations on constants), so
that the generated source still reads like the formula. A factor of where(c, a, 0) moves into the
branch, where(c, a·b, 0): b is then not evaluated where the product is zero.

Besides arithmetic there are three safe primitives, which give singular states a finite answer:
`norm` counts a length below TINY as zero; `inv0(a)` is 1/a, and 0 where |a| ≤ TINY²; `ratio(a, n,
limit)` is a/n, and `limit` where n = 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

from numpy import ndarray

from taut.errors import LawError
from taut.formula.expression import COMPARISONS, FUNCTIONS, Expr, is_const

# Lengths [m] below this count as zero: far below any physical length, and TINY⁻³ is still finite.
TINY = 1e-80

# A factor is distributed over at most this many branches: each gets a copy of the product.
_MAX_GUARDED_BRANCHES = 8
# Nodes of a formula with its derivatives. Without a bound, nested branches could fill the memory.
_MAX_NODES = 200_000
_MAX_UNROLLED_POWER = 8  # integer powers up to this become multiplications

_COMMUTATIVE = frozenset({"add", "mul", "and", "or", "eq"})
_OPERATORS = {"add": "add", "sub": "sub", "mul": "mul", "div": "truediv", "pow": "pow"}


def solve_stretch_sum(a: float, b: float, j: float) -> float:
    """Return the largest root s of (s² - a)² = 4b + 8js; `taut.jit.runtime` has the same loop.

    With singular values σ₁ ≥ σ₂ ≥ |σ₃| of F, the sign of σ₃ that of det F, the roots are
    σ₁ + σ₂ + σ₃ and those with two signs changed, all real. √(3a) is never below the largest, and
    Newton's method descends from there without passing it. It stops at rounding, or where two
    roots meet, σ₃ = -σ₂, after as many bisections as a number has bits.

    >>> solve_stretch_sum(1.0 + 4.0 + 9.0, 4.0 + 9.0 + 36.0, 6.0)
    6.0
    """
    s = math.sqrt(3.0 * a)
    for _ in range(60):
        slope = 4.0 * (s * (s * s - a) - 2.0 * j)
        if not slope > 0.0:
            break
        change = ((s * s - a) ** 2 - 4.0 * b - 8.0 * j * s) / slope
        s -= change
        if not change > 1e-16 * s:
            break
    return s


class Graph:
    """The nodes of one trace, each distinct expression once."""

    def __init__(self) -> None:
        self.nodes: list[Expr] = []
        self._known: dict[tuple[Any, ...], Expr] = {}
        self._branch_counts: dict[Expr, int] = {}

    def node(self, op: str, args: tuple[Expr, ...] = (), value: Any = None) -> Expr:
        """Return the node of an operation on operands, without simplifying it."""
        key = (op, repr(value), *(a.id for a in args))
        node = self._known.get(key)
        if node is None:
            if len(self.nodes) == _MAX_NODES:
                raise LawError(
                    f"the formula with its derivatives must have at most {_MAX_NODES} terms: "
                    "it is too large, or its branches multiply"
                )
            node = Expr(self, len(self.nodes), op, args, value)
            self.nodes.append(node)
            self._known[key] = node
        return node

    def symbol(self, *name: Any) -> Expr:
        """Return a leaf such as ("x", particle, component) or ("p", parameter, component)."""
        return self.node("symbol", value=name)

    def flag(self, name: str) -> Expr:
        """Return a boolean leaf, an argument of the kernel."""
        return self.node("flag", value=name)

    def const(self, value: float) -> Expr:
        """Return a constant."""
        return self.node("const", value=float(value) + 0.0)  # so that -0.0 and 0.0 are one node

    def as_node(self, value: Any) -> Expr:
        """Return an operand, an expression or a number, as a node of this graph."""
        if isinstance(value, Expr):
            if value.graph is not self:
                raise LawError(
                    "the formula depends on a quantity of another formula, "
                    "which is not among its parameters"
                )
            return value
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            is_numpy_scalar = getattr(value, "shape", None) == () and hasattr(value, "__float__")
            if not is_numpy_scalar:
                raise LawError(
                    f"a {type(value).__name__} cannot be combined with a scalar of the formula"
                )
            value = float(value)
        if not math.isfinite(value):
            raise LawError(f"a constant in the formula must be finite, got {value}")
        return self.const(value)

    def as_number(self, value: Any) -> Expr:
        """Return an operand as a node that is a number, not a comparison."""
        node = self.as_node(value)
        if node.is_boolean:
            raise LawError("a comparison was used as a number: use where(condition, a, b)")
        return node

    def combine(self, op: str, a: Any, b: Any) -> Any:
        """Apply a binary operator of Python to operands of which one is an expression."""
        for operand, other in ((a, b), (b, a)):
            if isinstance(operand, (Expr, int, float)) or getattr(operand, "shape", None) == ():
                continue
            if isinstance(operand, ndarray) and op not in COMPARISONS:
                from taut.formula._array import as_array

                # A constant vector: its own operator combines it component by component.
                side = "" if operand is a else "r"
                return getattr(as_array(operand), f"__{side}{_OPERATORS[op]}__")(other)
            return NotImplemented  # Python then asks the other operand
        a, b = self.as_number(a), self.as_number(b)
        if op in COMPARISONS:
            return self.node(op, self.sort_operands(op, (a, b)))
        return getattr(self, op)(a, b)

    def logic(self, op: str, *args: Any) -> Expr:
        """Apply "and", "or" or "not" to comparisons."""
        if not all(isinstance(a, Expr) and a.is_boolean for a in args):
            raise LawError("&, | and ~ must join comparisons")
        return self.node(op, self.sort_operands(op, args))

    def sort_operands(self, op: str, args: tuple[Expr, ...]) -> tuple[Expr, ...]:
        """Give a + b and b + a the same order, so that they are one node."""
        return tuple(sorted(args, key=lambda a: a.id)) if op in _COMMUTATIVE else args

    def _is_guarded(self, e: Expr) -> bool:
        """Whether an expression is zero outside of a few branches: sums of where(c, a, 0)."""
        return 0 < self._count_branches(e) <= _MAX_GUARDED_BRANCHES

    def _count_branches(self, e: Expr) -> int:
        """Count branches in which an expression is not zero; 0 if it is not zero outside."""
        if e not in self._branch_counts:
            count = 0
            if e.op == "where" and (is_const(e.args[1], 0.0) or is_const(e.args[2], 0.0)):
                count = max(1, *(self._count_branches(side) for side in e.args[1:]))
            elif e.op in ("add", "sub"):
                parts = [self._count_branches(side) for side in e.args]
                count = sum(parts) if all(parts) else 0
            self._branch_counts[e] = count
        return self._branch_counts[e]

    def _apply_in_branches(self, guarded: Expr, operation: Callable[[Expr], Expr]) -> Expr:
        """Apply an operation that maps zero to zero to each branch of a guarded expression."""
        if guarded.op == "where":
            condition, yes, no = guarded.args
            sides = [s if is_const(s, 0.0) else operation(s) for s in (yes, no)]
            return self.where(condition, *sides)
        combine = self.add if guarded.op == "add" else self.sub
        return combine(*(self._apply_in_branches(s, operation) for s in guarded.args))

    def add(self, a: Expr, b: Expr) -> Expr:
        """a + b."""
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
        same_condition = a.op == b.op == "where" and a.args[0] is b.args[0]
        if same_condition and self._is_guarded(a) and self._is_guarded(b):
            (condition, a_yes, a_no), (_, b_yes, b_no) = a.args, b.args
            return self.where(condition, self.add(a_yes, b_yes), self.add(a_no, b_no))
        return self.node("add", self.sort_operands("add", (a, b)))

    def sub(self, a: Expr, b: Expr) -> Expr:
        """a - b."""
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
        """-a."""
        if a.op == "const":
            return self.const(-a.value)
        if a.op == "neg":
            return a.args[0]
        if a.op == "sub":
            return self.sub(a.args[1], a.args[0])
        if self._is_guarded(a):
            return self._apply_in_branches(a, self.neg)
        return self.node("neg", (a,))

    def mul(self, a: Expr, b: Expr) -> Expr:
        """a·b."""
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
        if a is b and a.op == "where" and self._is_guarded(a):
            return self._apply_in_branches(a, lambda side: self.mul(side, side))
        if a is not b and self._is_guarded(a):
            return self._apply_in_branches(a, lambda side: self.mul(side, b))
        if a is not b and self._is_guarded(b):
            return self._apply_in_branches(b, lambda side: self.mul(side, a))
        return self.node("mul", self.sort_operands("mul", (a, b)))

    def div(self, a: Expr, b: Expr) -> Expr:
        """a/b."""
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
        """a to the power b; small integer powers by multiplication, of an expression by exp."""
        if a.op == b.op == "const":
            return self.as_node(float(a.value) ** b.value)
        if b.op != "const":
            return self.call("exp", self.mul(b, self.call("log", a)))
        if b.value == 0.5:
            return self.call("sqrt", a)
        if b.value == int(b.value) and abs(b.value) <= _MAX_UNROLLED_POWER:
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
        """Apply one of FUNCTIONS."""
        if a.op == "const":
            try:
                return self.as_node(FUNCTIONS[name](a.value))
            except (ValueError, OverflowError) as error:
                raise LawError(f"{name}({a.value}) has no value") from error
        return self.node(name, (a,))

    def atan2(self, y: Expr, x: Expr) -> Expr:
        """The angle of the point (x, y)."""
        if x.op == y.op == "const":
            return self.const(math.atan2(y.value, x.value))
        return self.node("atan2", (y, x))

    def norm(self, parts: Iterable[Expr]) -> Expr:
        """√(Σ parts²), safe at zero."""
        kept = tuple(p for p in parts if not is_const(p, 0.0))
        if all(p.op == "const" for p in kept):
            return self.const(math.hypot(*(p.value for p in kept)))
        return self.node("norm", kept)

    def inv0(self, a: Expr) -> Expr:
        """1/a, and 0 where |a| ≤ TINY²."""
        if a.op == "const":
            return self.const(1.0 / a.value if abs(a.value) > TINY**2 else 0.0)
        return self.node("inv0", (a,))

    def stretch_sum(self, a: Expr, b: Expr, j: Expr) -> Expr:
        """The sum of the principal stretches, from the invariants |F|², |cof F|² and det F."""
        if a.op == b.op == j.op == "const":
            return self.const(solve_stretch_sum(a.value, b.value, j.value))
        return self.node("stretch_sum", (a, b, j))

    def ratio(self, a: Expr, n: Expr, limit: Expr) -> Expr:
        """a/n, and `limit` where n = 0."""
        if is_const(a, 0.0) and is_const(limit, 0.0):
            return a
        return self.node("ratio", (a, n, limit, self.node("lt", (self.const(0.0), n))))

    def magnitude(self, a: Expr) -> Expr:
        """|a|; of an expression that is zero outside of branches, the sum of their magnitudes."""
        if a.op == "const":
            return self.const(abs(a.value))
        if self._is_guarded(a) and a.op == "where":
            return self._apply_in_branches(a, self.magnitude)
        if self._is_guarded(a):
            return self.add(*map(self.magnitude, a.args))
        return self.where(self.node("lt", (a, self.const(0.0))), self.neg(a), a)

    def positive_part(self, a: Expr) -> Expr:
        """a where it is positive, else 0.

        As (a + |a|)/2, which is exact. Factors would move into a branch where(a < 0, 0, a), and
        loops with long branches have no vector instructions.
        """
        return self.mul(self.const(0.5), self.add(a, self.magnitude(a)))

    def where(self, condition: Expr, a: Expr, b: Expr) -> Expr:
        """a where the condition holds, else b."""
        if not (isinstance(condition, Expr) and condition.is_boolean):
            raise LawError("the condition of where(condition, a, b) must be a comparison")
        if a.op == "where" and a.args[0] is condition:
            a = a.args[1]
        if b.op == "where" and b.args[0] is condition:
            b = b.args[2]
        return a if a is b else self.node("where", (condition, a, b))
