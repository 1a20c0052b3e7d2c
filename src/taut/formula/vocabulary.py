"""The words a formula may use besides ordinary arithmetic.

Each function takes scalars or arrays of the formula (or plain numbers) and gives the same. Singular states have a defined,
finite answer where the table says so; anywhere else a value that is not finite becomes a `SingularState` error that names the
element.

=====================  =====================================================================================
norm(v) at v = 0       0; its gradient is 0. The Hessian of f(norm(v)) is f''(0)·I there: exact where f is smooth
                       in v (f'(0) = 0), a convention where it has a cusp (a Hookean spring of zero length: k·I)
unit(v) at v = 0       the zero vector
atan2(0, 0)            0, with zero derivatives
sqrt(0), acos(±1)…     no finite derivative: SingularState. Write norm(v), not sqrt(dot(v, v))
=====================  =====================================================================================
"""

from __future__ import annotations

from typing import Annotated, Any

from taut.errors import LawError
from taut.formula.array import Array, add_up, as_array, is_scalar
from taut.formula.expression import Expr
from taut.formula.graph import Graph

Vector = Annotated[Any, "three components"]
"""Annotation for a parameter with three components: `def force(x, f: Vector)`."""


def _graph(*values: Any) -> Graph | None:
    for value in values:
        if isinstance(value, Expr):
            return value.graph
        if isinstance(value, (Array, list, tuple)):
            found = _graph(*(value.items if isinstance(value, Array) else value))
            if found is not None:
                return found
    return None


def _scalars(name: str, *values: Any) -> tuple[Graph, list[Expr]]:
    """The values as nodes; plain numbers alone get a graph of their own, so that constants fold to a number."""
    for value in values:
        if not is_scalar(value):
            raise LawError(f"{name} takes scalars, not {type(value).__name__}: apply it to each component")
    graph = _graph(*values) or Graph()
    return graph, [graph.number(v) for v in values]


def _plain(node: Expr) -> Any:
    return node.value if node.op == "const" else node


def _call(name: str, a: Any) -> Any:
    graph, (node,) = _scalars(name, a)
    return _plain(graph.call(name, node))


def sqrt(a: Any) -> Any:
    """Square root. Its derivative at zero is infinite: for a length use `norm`."""
    return _call("sqrt", a)


def exp(a: Any) -> Any:
    """Exponential function."""
    return _call("exp", a)


def log(a: Any) -> Any:
    """Natural logarithm."""
    return _call("log", a)


def sin(a: Any) -> Any:
    """Sine of an angle [rad]."""
    return _call("sin", a)


def cos(a: Any) -> Any:
    """Cosine of an angle [rad]."""
    return _call("cos", a)


def tan(a: Any) -> Any:
    """Tangent of an angle [rad]."""
    return _call("tan", a)


def asin(a: Any) -> Any:
    """Arc sine [rad]. Its derivative at ±1 is infinite: prefer `atan2`."""
    return _call("asin", a)


def acos(a: Any) -> Any:
    """Arc cosine [rad]. Its derivative at ±1 is infinite: prefer `atan2`."""
    return _call("acos", a)


def tanh(a: Any) -> Any:
    """Hyperbolic tangent."""
    return _call("tanh", a)


def atan2(y: Any, x: Any) -> Any:
    """The angle [rad] of the point (x, y), in (-π, π]."""
    graph, (b, a) = _scalars("atan2", y, x)
    return _plain(graph.atan2(b, a))


def where(condition: Any, a: Any, b: Any) -> Any:
    """`a` where the condition holds, else `b`. The side not taken is never evaluated.

    The condition is a comparison, or several joined with & | ~. `a` and `b` are scalars, arrays of one shape, or one of each.
    """
    graph = _graph(condition, a, b)
    if graph is None or not isinstance(condition, Expr):
        raise LawError("where(condition, a, b) needs a comparison of the formula as its condition")
    if is_scalar(a) and is_scalar(b):
        return _plain(graph.where(condition, graph.number(a), graph.number(b)))
    if is_scalar(a):
        return as_array(b)._with(a, lambda q, p: where(condition, p, q))
    return as_array(a)._with(b, lambda p, q: where(condition, p, q))


def minimum(a: Any, b: Any) -> Any:
    """The smaller of two scalars."""
    graph, (p, q) = _scalars("minimum", a, b)
    return min(p.value, q.value) if p.op == q.op == "const" else _plain(graph.where(p < q, p, q))


def maximum(a: Any, b: Any) -> Any:
    """The larger of two scalars."""
    graph, (p, q) = _scalars("maximum", a, b)
    return max(p.value, q.value) if p.op == q.op == "const" else _plain(graph.where(q < p, p, q))


def dot(a: Any, b: Any) -> Any:
    """Scalar product of two vectors."""
    p, q = as_array(a), as_array(b)
    if p.shape != q.shape:
        raise LawError(f"dot of arrays with shapes {p.shape} and {q.shape}")
    return add_up([x * y for x, y in zip(p.items, q.items, strict=True)])


def cross(a: Any, b: Any) -> Array:
    """Vector product of two vectors of three components."""
    p, q = as_array(a), as_array(b)
    if p.shape != (3,) or q.shape != (3,):
        raise LawError(f"cross needs two vectors of three components, not shapes {p.shape} and {q.shape}")
    (a0, a1, a2), (b0, b1, b2) = p.items, q.items
    return Array([a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0], (3,))


def norm(v: Any) -> Any:
    """Length of a vector (of a matrix: the Frobenius norm), safe at zero: see the table in this module."""
    parts = as_array(v).items
    graph = _graph(*parts) or Graph()
    return _plain(graph.norm([graph.number(p) for p in parts]))


def unit(v: Any) -> Array:
    """The vector divided by its length; the zero vector stays zero."""
    array = as_array(v)
    graph = _graph(array) or Graph()
    scale = graph.inv0(graph.lift(norm(array)))
    return Array([_plain(graph.mul(graph.lift(p), scale)) for p in array.items], array.shape)


def det(m: Any) -> Any:
    """Determinant of a 2×2 or 3×3 matrix, given as an array or as a sequence of its rows."""
    matrix = as_array(m)
    if matrix.shape == (2, 2):
        a, b, c, d = matrix.items
        return a * d - b * c
    if matrix.shape == (3, 3):
        return dot(matrix[0], cross(matrix[1], matrix[2]))
    raise LawError(f"det needs a 2×2 or 3×3 matrix, not shape {matrix.shape}")


def total(quantity: Any) -> Any:
    """The sum of a quantity over all elements of the law; only in a `@taut.energy`, once, and in rest values.

    An energy of a total is one for all elements together, such as that of the gas in a closed surface: outside of `total(…)` it
    has no positions, and its parameters there are the same for all elements.
    """
    if not isinstance(quantity, Expr) or quantity.is_boolean:
        raise LawError(f"total takes a scalar of the positions, not {quantity!r}")
    return quantity.graph.node("total", (quantity,))


def rate(quantity: Any) -> Any:
    """Rate of change of a quantity of the positions [per second]; only in a `@taut.dissipation`.

    `rate(x[0])` is a velocity, `rate(norm(x[1] - x[0]))` how fast a spring lengthens. Where only the present state is known it
    is the exact derivative along the velocity; in an implicit step it is (new - old)/h, so that a damping written on an
    invariant of rigid motion keeps momentum and angular momentum exactly.
    """
    if not is_scalar(quantity):
        array = as_array(quantity)
        return Array([rate(item) for item in array.items], array.shape)
    if not isinstance(quantity, Expr):
        return 0.0
    if quantity.is_boolean:
        raise LawError("rate takes a quantity, not a comparison")
    return quantity.graph.node("rate", (quantity,))
