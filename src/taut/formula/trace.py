"""Run a law's Python function on symbols and collect the expression that it computes.

Whatever goes wrong inside the function becomes a `LawError` that names the law, the file, the line
and the formula there. The forms of a law at the end derive from a traced expression what is
evaluated for each element.
"""

from __future__ import annotations

import inspect
import re
import sys
import traceback
from collections.abc import Callable, Mapping
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from taut.errors import LawError
from taut.formula import vocabulary
from taut.formula._array import Array, as_array
from taut.formula.differentiate import gradient
from taut.formula.expression import Expr, reachable, substitute, symbols
from taut.formula.graph import Graph

_PACKAGE = str(Path(__file__).resolve().parents[1])
_LIBRARIES = {"numpy", "scipy", *sys.stdlib_module_names}
# A call such as np.linalg.norm(…), with the name of the function alone as second group.
_FOREIGN_CALL = re.compile(r"\b((?:np|numpy|math|scipy)(?:\.\w+)*\.(\w+))\(")
_OTHER_NAMES = {"arccos": "acos", "arcsin": "asin", "arctan2": "atan2", "hypot": "norm",
                "fmax": "maximum", "fmin": "minimum"}  # fmt: skip
Shapes = Mapping[str, tuple[int, ...]]  # of each parameter: () is a scalar, (3,) a vector


def trace(name: str, formula: Callable[..., Any], particles: int, shapes: Shapes) -> Expr:
    """Return the scalar that a formula computes for elements of `particles` particles."""
    graph = Graph()
    result = _run(name, formula, graph, particles, _parameter_symbols(graph, shapes))
    place = _locate(name, formula)
    if isinstance(result, Array):
        raise LawError(f"{place} must return one scalar, got an array of shape {result.shape}")
    if not isinstance(result, Expr) or result.is_boolean:
        got = repr(result)
        if isinstance(result, Expr):
            got = "a comparison"
        elif result is None:
            got = "nothing (is `return` missing?)"
        raise LawError(f"{place} must return one scalar that depends on the positions, got {got}")
    if result.graph is not graph:
        raise LawError(f"{place} returns a quantity of another formula")
    if not symbols(result, "x"):
        raise LawError(f"{place} does not depend on the positions of its particles")
    unused = set(range(particles)) - {s.value[1] for s in symbols(result, "x")}
    if unused:
        raise LawError(
            f"{place} never uses x[{min(unused)}], but its elements have {particles} particles "
            "each: elements have the shape (m, s)"
        )
    return result


def trace_load(
    name: str, formula: Callable[..., Any], particles: int, shapes: Shapes
) -> list[Expr]:
    """Return the components of the forces of a load, three for each particle in turn."""
    graph = Graph()
    arguments = {"v": _vectors(graph, "v", particles), **_parameter_symbols(graph, shapes)}
    result = _run(name, formula, graph, particles, arguments)
    place = _locate(name, formula)
    if any(n.op == "rate" for n in graph.nodes):
        raise LawError(f"{place} uses rate(…); a load has the velocities v")
    if any(n.op == "total" for n in graph.nodes):
        raise LawError(f"{place} uses total(…), which has no meaning in a load")
    expected = f"{place} must return a force for each of its particles, shape ({particles}, 3)"
    try:
        forces = as_array(result)
    except LawError as error:
        raise LawError(f"{expected}, got {result!r}") from error
    if forces.shape != (particles, 3):
        raise LawError(f"{expected}, got shape {forces.shape}")
    return [graph.as_node(item) for item in forces.items]


def trace_measure(
    name: str, formula: Callable[..., Any], particles: int, shapes: Shapes | None = None
) -> tuple[list[Expr], tuple[int, ...]]:
    """Return the components of a rest value, a function of x, row by row, and its shape.

    shapes : of the parameters of the law, if the function may have some of them as arguments
    """
    graph = Graph()
    own = inspect.signature(formula).parameters
    symbols = _parameter_symbols(graph, shapes or {})
    arguments = {parameter: symbols[parameter] for parameter in symbols if parameter in own}
    result = _run(name, formula, graph, particles, arguments)
    place = _locate(name, formula)
    if any(n.op == "rate" for n in graph.nodes):
        raise LawError(f"{place} uses rate(…); a rest value is measured where nothing moves")
    if isinstance(result, (Array, list, tuple, np.ndarray)):
        array = as_array(result)
        return [graph.as_node(item) for item in array.items], array.shape
    is_comparison = isinstance(result, Expr) and result.is_boolean
    if is_comparison or not isinstance(result, (Expr, int, float)):
        raise LawError(f"{place} must return a scalar, a vector or a matrix, got {result!r}")
    return [graph.as_node(result)], ()


def _parameter_symbols(graph: Graph, shapes: Shapes) -> dict[str, Any]:
    """Return a symbol, or a vector or matrix of symbols, for each parameter."""
    arguments: dict[str, Any] = {}
    column = 0
    for name, shape in shapes.items():
        components = [graph.symbol("p", name, j, column + j) for j in range(prod(shape))]
        arguments[name] = Array(components, shape) if shape else components[0]
        column += len(components)
    return arguments


class _Particles(Array):
    """Vectors of an element's particles, with an error of its own if there are too few of them."""

    def __getitem__(self, index: Any) -> Any:
        if hasattr(type(index), "__index__") and not -len(self) <= int(index) < len(self):
            each = "1 particle" if len(self) == 1 else f"{len(self)} particles"
            raise LawError(
                f"the formula uses x[{index}], but its elements have {each} each: "
                "elements have the shape (m, s)"
            )
        return super().__getitem__(index)


def _vectors(graph: Graph, kind: str, particles: int) -> _Particles:
    components = [graph.symbol(kind, p, k) for p in range(particles) for k in range(3)]
    return _Particles(components, (particles, 3))


def _run(
    name: str,
    formula: Callable[..., Any],
    graph: Graph,
    particles: int,
    arguments: Mapping[str, Any],
) -> Any:
    try:
        return formula(_vectors(graph, "x", particles), **arguments)
    except Exception as error:  # the formula is the user's, and may raise anything
        what = str(error) if isinstance(error, LawError) else _explain(error)
        frame = _find_frame(error)
        place = f"{_locate(name, formula)}{_describe_frame(frame)}"
        raise LawError(f"{place}: {what}{_suggest(frame, what)}") from error


def _explain(error: Exception) -> str:
    """Return what an error of Python or numpy means in a formula."""
    if isinstance(error, NameError):
        return f"{error}: it is neither a parameter nor a function of taut.formula"
    if isinstance(error, TypeError) and ("ufunc" in str(error) or "loop of ufunc" in str(error)):
        return "numpy's functions cannot take part in a formula: use those of taut.formula"
    return f"{type(error).__name__}: {error}"


def _locate(name: str, formula: Callable[..., Any]) -> str:
    """Return the law, file and line of a formula in words."""
    code = inspect.unwrap(formula).__code__
    return f"the formula of {name} ({code.co_filename}:{code.co_firstlineno})"


def _find_frame(error: Exception) -> traceback.FrameSummary | None:
    """Return the innermost line of the user's code that an error passed through.

    That is neither in taut nor in numpy, whose functions fail several calls below the formula.
    """
    found = None
    for frame, line in traceback.walk_tb(error.__traceback__):
        code = frame.f_code
        library = str(frame.f_globals.get("__name__", "")).partition(".")[0]
        is_ours = str(Path(code.co_filename).resolve()).startswith(_PACKAGE)
        if not is_ours and library not in _LIBRARIES:
            found = traceback.FrameSummary(code.co_filename, line, code.co_name)
    return found


def _describe_frame(frame: traceback.FrameSummary | None) -> str:
    """Return the line of a frame in words, to append to the name of a formula."""
    if frame is None:
        return ""
    return f", line {frame.lineno} `{frame.line}`" if frame.line else f", line {frame.lineno}"


def _suggest(frame: traceback.FrameSummary | None, what: str) -> str:
    """Return which functions of taut.formula replace those of numpy or math on a line."""
    if frame is None or "taut.formula" not in what:
        return ""
    advice = {}
    for call, function in _FOREIGN_CALL.findall(frame.line or ""):
        name = _OTHER_NAMES.get(function, function)
        if callable(getattr(vocabulary, name, None)):
            advice[call] = f"taut.formula.{name} instead of {call}"
    return f" ({', '.join(advice.values())})" if advice else ""


def energy_form(root: Expr) -> Expr:
    """Return what is evaluated for each element: the energy, or the element's part of a total."""
    if any(n.op == "rate" for n in reachable([root])):
        raise LawError("rate(…) has no meaning in an energy: write a @taut.dissipation")
    totals = find_totals(root)
    return totals[0].args[0] if totals else root


def reject_frozen(root: Expr) -> None:
    """Raise if a formula uses frozen(…): its force would not be the derivative of its energy."""
    if any(n.op == "frozen" for n in reachable([root])):
        raise LawError("frozen(…) has a meaning only in the metric of a law")


def find_totals(root: Expr) -> list[Expr]:
    """Return the nodes total(…) of an expression."""
    return [n for n in reachable([root]) if n.op == "total"]


def rate_form(root: Expr) -> Expr:
    """Return a dissipation as a function of velocities (symbols x) at frozen positions (y)."""
    g = root.graph
    x = symbols(root, "x")
    frozen = {s: g.symbol("y", *s.value[1:]) for s in x}
    replacements = dict(frozen)
    for node in _find_rates(root):
        slopes = gradient(node.args[0], x)
        total = g.const(0.0)
        for velocity, slope in zip(x, slopes, strict=True):
            total = g.add(total, g.mul(substitute(slope, frozen), velocity))
        replacements[node] = total
    return substitute(root, replacements)


def increment_form(root: Expr) -> Expr:
    """Return what a dissipation adds to the objective of an implicit step.

    That is h·Ψ with rate(m) = (m(x) - m(y))/h. x are the new positions, y the old; positions
    outside of rate(…) are the old ones.
    """
    g = root.graph
    h = g.symbol("h")
    frozen = {s: g.symbol("y", *s.value[1:]) for s in symbols(root, "x")}
    replacements = dict(frozen)
    for node in _find_rates(root):
        measure = node.args[0]
        replacements[node] = g.div(g.sub(measure, substitute(measure, frozen)), h)
    return g.mul(h, substitute(root, replacements))


def _find_rates(root: Expr) -> list[Expr]:
    if find_totals(root):
        raise LawError("total(…) has no meaning in a dissipation")
    rates = [n for n in reachable([root]) if n.op == "rate"]
    if not rates:
        raise LawError("a dissipation must depend on at least one rate(…) of the positions")
    for node in rates:
        if any(n.op == "rate" for n in reachable(node.args)):
            raise LawError("rate(…) cannot be nested")
    return rates
