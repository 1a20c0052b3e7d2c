"""The functions that a formula may use besides ordinary arithmetic.

Each takes scalars or arrays of the formula, or plain numbers, and returns the same. Three singular
states have a defined, finite answer:

| state | answer |
|---|---|
| norm(v) at v = 0 | 0, with gradient 0; the Hessian of F(norm(v)) is F''(0)·I |
| unit(v) at v = 0 | the zero vector, with zero derivatives |
| atan2(0, 0) | 0, with zero derivatives |

The Hessian of the first is exact where F is smooth in v, F'(0) = 0, and a convention where it has a
cusp: a Hookean spring of zero length has k·I. Anywhere else a value that is not finite becomes a
`SingularState` error that names the element. sqrt(0) and acos(±1) have no finite derivative: write
norm(v) instead of sqrt(dot(v, v)), and an angle with atan2.
"""

from __future__ import annotations

from typing import Annotated, Any

from taut.errors import LawError
from taut.formula._array import Array, add_up, as_array, is_scalar
from taut.formula.expression import Expr
from taut.formula.graph import Graph

Vector = Annotated[Any, "three components"]
"""Annotation for a parameter with three components: `def force(x, f: Vector)`."""

Scalar = Annotated[Any, "one number"]
"""Annotation for a parameter that is one number, and for an energy; for type checkers only."""

Vectors = Annotated[Any, "one vector for each particle"]
"""Annotation for x and v, and for the forces of a load; for type checkers only."""

Matrix2 = Annotated[Any, "two rows and two columns"]
"""Annotation for a parameter that is a 2×2 matrix: `def membrane(x, Dm_inv: Matrix2)`."""

Matrix3 = Annotated[Any, "three rows and three columns"]
"""Annotation for a parameter that is a 3×3 matrix: `def solid(x, Dm_inv: Matrix3)`."""


def _find_graph(*values: Any) -> Graph | None:
    """Return the graph of the first expression among values; None if all are plain numbers."""
    for value in values:
        if isinstance(value, Expr):
            return value.graph
        if isinstance(value, (Array, list, tuple)):
            graph = _find_graph(*(value.items if isinstance(value, Array) else value))
            if graph is not None:
                return graph
    return None


def _scalars(name: str, *values: Any) -> tuple[Graph, list[Expr]]:
    """Return scalars as nodes, and their graph.

    Plain numbers alone get a graph of their own, in which operations on constants are carried out.
    """
    for value in values:
        if not is_scalar(value):
            raise LawError(
                f"{name} must be given scalars, got {type(value).__name__}: "
                "apply it to each component"
            )
    graph = _find_graph(*values) or Graph()
    return graph, [graph.as_number(v) for v in values]


def _unwrap(node: Expr) -> Any:
    """Return a constant as a plain number, any other node as it is."""
    return node.value if node.op == "const" else node


def _call(name: str, a: Any) -> Any:
    graph, (node,) = _scalars(name, a)
    return _unwrap(graph.call(name, node))


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
    return _unwrap(graph.atan2(b, a))


def where(condition: Any, a: Any, b: Any) -> Any:
    """Return `a` where the condition holds, else `b`. The side not taken is never evaluated.

    condition : a comparison, or several joined with & | ~
    a, b : scalars, arrays of one shape, or one of each

    At the border between the two sides they should agree in value and slope.
    """
    if isinstance(condition, bool) and _find_graph(a, b) is None:
        return a if condition else b  # plain numbers alone
    graph = _find_graph(condition, a, b)
    if graph is None or not isinstance(condition, Expr):
        raise LawError(
            "the condition of where(condition, a, b) must be a comparison of the formula"
        )
    if is_scalar(a) and is_scalar(b):
        return _unwrap(graph.where(condition, graph.as_number(a), graph.as_number(b)))
    if is_scalar(a):
        return as_array(b).combine(a, lambda q, p: where(condition, p, q))
    return as_array(a).combine(b, lambda p, q: where(condition, p, q))


def minimum(a: Any, b: Any) -> Any:
    """The smaller of two scalars. At a tie its derivative is that of the second."""
    graph, (p, q) = _scalars("minimum", a, b)
    if p.op == q.op == "const":
        return min(p.value, q.value)
    return _unwrap(graph.where(p < q, p, q))


def maximum(a: Any, b: Any) -> Any:
    """The larger of two scalars. At a tie its derivative is that of the second."""
    graph, (p, q) = _scalars("maximum", a, b)
    if p.op == q.op == "const":
        return max(p.value, q.value)
    return _unwrap(graph.where(q < p, p, q))


def dot(a: Any, b: Any) -> Any:
    """Scalar product of two vectors."""
    p, q = as_array(a), as_array(b)
    if p.shape != q.shape:
        raise LawError(f"dot needs two vectors of one length, got shapes {p.shape} and {q.shape}")
    return add_up([x * y for x, y in zip(p.items, q.items, strict=True)])


def cross(a: Any, b: Any) -> Array:
    """Vector product of two vectors of three components."""
    p, q = as_array(a), as_array(b)
    if p.shape != (3,) or q.shape != (3,):
        raise LawError(
            f"cross needs two vectors of three components, got shapes {p.shape} and {q.shape}"
        )
    (a0, a1, a2), (b0, b1, b2) = p.items, q.items
    return Array([a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0], (3,))


def norm(v: Any) -> Any:
    """Length of a vector, or Frobenius norm of a matrix; safe at zero, where its gradient is 0."""
    parts = as_array(v).items
    graph = _find_graph(*parts) or Graph()
    return _unwrap(graph.norm([graph.as_number(p) for p in parts]))


def unit(v: Any) -> Array:
    """A vector divided by its length; the zero vector stays zero, with zero derivatives."""
    array = as_array(v)
    graph = _find_graph(array) or Graph()
    scale = graph.inv0(graph.as_node(norm(array)))
    return Array([_unwrap(graph.mul(graph.as_node(p), scale)) for p in array.items], array.shape)


def det(m: Any) -> Any:
    """Determinant of a 2×2 or 3×3 matrix, given as an array or as a sequence of its rows."""
    matrix = as_array(m)
    if matrix.shape == (2, 2):
        a, b, c, d = matrix.items
        return a * d - b * c
    if matrix.shape == (3, 3):
        return dot(matrix[0], cross(matrix[1], matrix[2]))
    raise LawError(f"det needs a 2×2 or 3×3 matrix, got shape {matrix.shape}")


def tr(m: Any) -> Any:
    """Trace of a square matrix, the sum of its diagonal.

    >>> tr([[1.0, 2.0], [3.0, 4.0]])
    5.0
    """
    matrix = as_array(m)
    if len(matrix.shape) != 2 or matrix.shape[0] != matrix.shape[1]:
        raise LawError(f"tr needs a square matrix, got shape {matrix.shape}")
    return add_up([matrix[i, i] for i in range(len(matrix))])


def columns(*vectors: Any) -> Array:
    """Matrix with these vectors as its columns: `columns(x[1] - x[0], x[2] - x[0])` is 3×2.

    >>> columns([1.0, 2.0, 3.0], [4.0, 5.0, 6.0])[1].items
    (2.0, 5.0)
    """
    rows = [as_array(v) for v in vectors]
    if not rows or any(len(row.shape) != 1 or row.shape != rows[0].shape for row in rows):
        shapes = ", ".join(str(row.shape) for row in rows) or "nothing"
        raise LawError(f"columns needs vectors of one length, got {shapes}")
    return as_array(rows).T


def inverse(m: Any) -> Array:
    """Inverse of a 2×2 or 3×3 matrix; not finite where its determinant is zero.

    >>> inverse([[2.0, 0.0], [0.0, 4.0]]).items
    (0.5, -0.0, -0.0, 0.25)
    """
    matrix = as_array(m)
    determinant = det(matrix)
    if matrix.shape == (2, 2):
        a, b, c, d = matrix.items
        return Array([d, -b, -c, a], (2, 2)) / determinant
    a, b, c = matrix.T
    return as_array([cross(b, c), cross(c, a), cross(a, b)]) / determinant


def stretch_sum(m: Any) -> Any:
    """Sum of the principal stretches of a 3×3 deformation gradient F: the trace of U in F = R U.

    R is the nearest rotation and U symmetric, so that |F - R|² = |F|² - 2 stretch_sum(F) + 3, and
    the derivative by F is R. Where det F < 0, the smallest of the three counts as negative. It has
    no derivative where that one has the magnitude of the next: there R is not unique.

    >>> stretch_sum([[0.0, -2.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 3.0]])
    6.0
    """
    f = as_array(m)
    if f.shape != (3, 3):
        raise LawError(f"stretch_sum needs a 3×3 matrix, got shape {f.shape}")
    cofactors = [cross(f[1], f[2]), cross(f[2], f[0]), cross(f[0], f[1])]
    squares = add_up([dot(row, row) for row in cofactors])
    invariants = (dot(f, f), squares, dot(f[0], cofactors[0]))
    graph, (a, b, j) = _scalars("stretch_sum", *invariants)
    return _unwrap(graph.stretch_sum(a, b, j))


def frozen(a: Any) -> Any:
    """A scalar or array whose derivatives count as zero; only in the metric of a law.

    A metric is the Hessian of a function in which some factors are constants: see `metric` of
    `taut.energy`.
    """
    if not is_scalar(a):
        array = as_array(a)
        return Array([frozen(item) for item in array.items], array.shape)
    return a.graph.node("frozen", (a,)) if isinstance(a, Expr) else a


def total(quantity: Any) -> Any:
    """Sum of a quantity over all elements of the law.

    It may occur once in the formula of a `@taut.energy`, and in rest values. An energy of a total
    is one number for all elements together, such as that of the gas in a closed surface: outside of
    `total(…)` there are no positions, and parameters are the same for all elements.
    """
    if not isinstance(quantity, Expr) or quantity.is_boolean:
        raise LawError(f"total needs a scalar of the positions, got {quantity!r}")
    return quantity.graph.node("total", (quantity,))


def rate(quantity: Any) -> Any:
    """Rate of change of a quantity of the positions [per second]; only in a `@taut.dissipation`.

    `rate(x[0])` is a velocity, `rate(norm(x[1] - x[0]))` the speed at which a spring lengthens. In
    an implicit step it is (new - old)/h, so that a damping of quantities that rigid motion leaves
    unchanged conserves momentum and angular momentum exactly. Elsewhere it is the exact derivative
    along the velocity.
    """
    if not is_scalar(quantity):
        array = as_array(quantity)
        return Array([rate(item) for item in array.items], array.shape)
    if not isinstance(quantity, Expr):
        return 0.0
    if quantity.is_boolean:
        raise LawError("rate needs a quantity, got a comparison")
    return quantity.graph.node("rate", (quantity,))
