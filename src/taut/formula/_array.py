"""Vectors and matrices in a formula: small fixed-shape arrays of scalar expressions."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn

from taut.errors import LawError
from taut.formula.expression import Expr


class Array:
    """A vector (shape (d,)) or matrix (shape (r, c)) of scalars.

    It has elementwise arithmetic, `@`, `.T` and indexing.
    """

    __slots__ = ("items", "shape")
    __array_ufunc__ = None  # numpy leaves arithmetic with an Array to the methods below

    def __init__(self, items: Sequence[Any], shape: tuple[int, ...]) -> None:
        self.items: tuple[Any, ...] = tuple(items)
        self.shape = shape

    def __repr__(self) -> str:
        return f"<formula array of shape {self.shape}>"

    def __len__(self) -> int:
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, tuple) and len(index) == 2 and len(self.shape) == 2:
            return self[index[0]][index[1]]
        if isinstance(index, slice) and len(self.shape) == 1:
            items = self.items[index]
            return Array(items, (len(items),))
        if isinstance(index, bool) or not hasattr(type(index), "__index__"):
            raise LawError(
                f"an index of an array of the formula must be a whole number, got {index!r}"
            )
        index = operator.index(index)
        if not -len(self) <= index < len(self):
            raise LawError(
                f"index {index} is out of range for an array of the formula of shape {self.shape}"
            )
        index %= len(self)
        if len(self.shape) == 1:
            return self.items[index]
        width = self.shape[1]
        return Array(self.items[index * width : (index + 1) * width], (width,))

    @property
    def T(self) -> Array:
        """The transpose, (c, r) of a matrix (r, c); a vector is its own."""
        if len(self.shape) == 1:
            return self
        rows, columns = self.shape
        return Array(
            [self.items[i * columns + j] for j in range(columns) for i in range(rows)],
            (columns, rows),
        )

    def combine(self, other: Any, operation: Callable[[Any, Any], Any]) -> Any:
        """Apply an operation to each component and a scalar, or the same component of another."""
        if is_scalar(other):
            return Array([operation(a, other) for a in self.items], self.shape)
        other = as_array(other)
        if other.shape != self.shape:
            raise LawError(
                f"arrays of the formula of shapes {self.shape} and {other.shape} do not combine"
            )
        return Array(
            [operation(a, b) for a, b in zip(self.items, other.items, strict=True)], self.shape
        )

    def __add__(self, other: Any) -> Any:
        return self.combine(other, lambda a, b: a + b)

    def __radd__(self, other: Any) -> Any:
        return self.combine(other, lambda a, b: b + a)

    def __sub__(self, other: Any) -> Any:
        return self.combine(other, lambda a, b: a - b)

    def __rsub__(self, other: Any) -> Any:
        return self.combine(other, lambda a, b: b - a)

    def __mul__(self, other: Any) -> Any:
        return self.combine(other, lambda a, b: a * b)

    def __rmul__(self, other: Any) -> Any:
        return self.combine(other, lambda a, b: b * a)

    def __truediv__(self, other: Any) -> Any:
        return self.combine(other, lambda a, b: a / b)

    def __rtruediv__(self, other: Any) -> Any:
        return self.combine(other, lambda a, b: b / a)

    def __pow__(self, other: Any) -> Any:
        return self.combine(other, lambda a, b: a**b)

    def __rpow__(self, other: Any) -> Any:
        return self.combine(other, lambda a, b: b**a)

    def __pos__(self) -> Array:
        return self

    def __neg__(self) -> Array:
        return Array([-a for a in self.items], self.shape)

    def __matmul__(self, other: Any) -> Any:
        return matmul(self, as_array(other))

    def __rmatmul__(self, other: Any) -> Any:
        return matmul(as_array(other), self)

    def __bool__(self) -> NoReturn:
        raise LawError(
            "an array of the formula is neither true nor false: compare scalars and use where"
        )

    def __lt__(self, _: Any) -> NoReturn:
        raise LawError("only scalars of a formula can be compared")

    __le__ = __gt__ = __ge__ = __eq__ = __ne__ = __lt__
    __hash__ = None  # type: ignore[assignment]

    def __float__(self) -> NoReturn:
        raise LawError("a vector of the formula was used where a number is needed")

    def __array__(self, *_: Any, **__: Any) -> NoReturn:
        raise LawError("numpy cannot take part in a formula: use the functions of taut.formula")

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        raise LawError(
            f"unknown function or attribute '{name}' on an array of the formula: "
            "use the functions of taut.formula"
        )


def is_scalar(value: Any) -> bool:
    """Whether a value is a scalar of the formula, a number or a numpy scalar."""
    if isinstance(value, (Expr, int, float)):
        return True
    return not isinstance(value, Array) and getattr(value, "shape", None) == ()


def as_array(value: Any) -> Array:
    """Make a vector or matrix of an Array, a sequence of scalars or of rows, or a numpy array."""
    if isinstance(value, Array):
        return value
    if isinstance(value, Expr):
        hint = ""
        if value.op == "symbol" and value.value[0] == "p":
            name = value.value[1]
            hint = f"; a vector must be annotated in the formula, {name}: taut.formula.Vector"
        raise LawError(f"a scalar of the formula was used where a vector is needed{hint}")
    if hasattr(value, "tolist"):
        value = value.tolist()
    if not isinstance(value, (list, tuple)) or not value:
        raise LawError(f"a vector of the formula is needed, got {type(value).__name__}")
    if all(is_scalar(v) for v in value):
        return Array(value, (len(value),))
    rows = [as_array(v) for v in value]
    if len({r.shape for r in rows}) > 1 or len(rows[0].shape) != 1:
        raise LawError("the rows of a matrix must be vectors of one length")
    return Array([item for row in rows for item in row.items], (len(rows), rows[0].shape[0]))


def matmul(a: Array, b: Array) -> Any:
    """Return the product a @ b of vectors and matrices; of two vectors it is a scalar."""
    if a.shape[-1] != b.shape[0]:
        raise LawError(
            f"arrays of the formula of shapes {a.shape} and {b.shape} cannot be multiplied by @"
        )
    rows = [a] if len(a.shape) == 1 else list(a)
    columns = [b] if len(b.shape) == 1 else list(b.T)
    items = [add_up([x * y for x, y in zip(r, c, strict=True)]) for r in rows for c in columns]
    shape = a.shape[:-1] + b.shape[1:]
    return Array(items, shape) if shape else items[0]


def add_up(terms: Sequence[Any]) -> Any:
    """Add terms from left to right, without the 0 that `sum` begins with."""
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return total
