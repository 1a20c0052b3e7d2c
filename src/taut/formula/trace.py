"""Run a law's Python function on symbols and collect what it computes.

Whatever goes wrong inside the function becomes a `LawError` that names the law, the file, the line and the formula there.
"""

from __future__ import annotations

import inspect
import linecache
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from taut.errors import LawError
from taut.formula.array import Array, as_array
from taut.formula.differentiate import gradient
from taut.formula.expression import Expr, reachable, symbols
from taut.formula.graph import Graph

PACKAGE = str(Path(__file__).resolve().parents[1])


def trace(name: str, formula: Callable[..., Any], particles: int, widths: Mapping[str, int | None]) -> Expr:
    """The scalar expression a formula returns for `particles` particles.

    A width of None makes a parameter a scalar, a number makes it a vector of that many components.
    """
    graph = Graph()
    result = _run(name, formula, graph, particles, _parameters(graph, widths))
    if isinstance(result, Array):
        raise LawError(f"{_whose(name, formula)} returns an array of shape {result.shape}; an energy is one scalar")
    if not isinstance(result, Expr) or result.is_boolean:
        kind = "a comparison" if isinstance(result, Expr) else "nothing (is `return` missing?)" if result is None else repr(result)
        raise LawError(f"{_whose(name, formula)} returns {kind}; an energy is one scalar that depends on the positions")
    if result.graph is not graph:
        raise LawError(f"{_whose(name, formula)} returns a quantity of another formula")
    if not symbols(result, "x"):
        raise LawError(f"{_whose(name, formula)} does not depend on the positions of its particles")
    unused = set(range(particles)) - {s.value[1] for s in symbols(result, "x")}
    if unused:
        raise LawError(
            f"{_whose(name, formula)} never uses x[{min(unused)}], but its elements have {particles} particles each: "
            "elements have shape (m, s)"
        )
    return result


def trace_load(name: str, formula: Callable[..., Any], particles: int, widths: Mapping[str, int | None]) -> list[Expr]:
    """The components of the forces that a load's formula returns, three for each particle in turn."""
    graph = Graph()
    arguments = {"v": _vectors(graph, "v", particles), **_parameters(graph, widths)}
    result = _run(name, formula, graph, particles, arguments)
    if any(n.op == "rate" for n in graph.nodes):
        raise LawError(f"{_whose(name, formula)} uses rate(…); a load has the velocities v")
    if any(n.op == "total" for n in graph.nodes):
        raise LawError(f"{_whose(name, formula)} uses total(…), which has no meaning in a load")
    try:
        forces = as_array(result)
    except LawError as error:
        raise LawError(f"{_whose(name, formula)} returns {result!r}; a load is a force for each of its particles") from error
    if forces.shape != (particles, 3):
        raise LawError(
            f"{_whose(name, formula)} returns an array of shape {forces.shape}; a load is a force for each of its particles, "
            f"shape ({particles}, 3)"
        )
    return [graph.lift(item) for item in forces.items]


def _parameters(graph: Graph, widths: Mapping[str, int | None]) -> dict[str, Any]:
    """Symbols for parameters, scalars or vectors."""
    arguments: dict[str, Any] = {}
    column = 0
    for p, w in widths.items():
        components = [graph.symbol("p", p, j, column + j) for j in range(w or 1)]
        arguments[p] = components[0] if w is None else Array(components, (w,))
        column += len(components)
    return arguments


def trace_measure(name: str, formula: Callable[..., Any], particles: int) -> tuple[list[Expr], bool]:
    """The components of a rest measure (a function of x alone) and whether it is a vector."""
    graph = Graph()
    result = _run(name, formula, graph, particles, {})
    if any(n.op == "rate" for n in graph.nodes):
        raise LawError(f"{_whose(name, formula)} uses rate(…); a rest value is measured where nothing moves")
    if isinstance(result, (Array, list, tuple, np.ndarray)):
        vector = as_array(result)
        if len(vector.shape) != 1:
            raise LawError(
                f"{_whose(name, formula)} returns an array of shape {vector.shape}; a rest value is a scalar or a vector"
            )
        return [graph.lift(item) for item in vector.items], True
    if not isinstance(result, (Expr, int, float)) or (isinstance(result, Expr) and result.is_boolean):
        raise LawError(f"{_whose(name, formula)} returns {result!r}; a rest value is a scalar or a vector")
    return [graph.lift(result)], False


class _Positions(Array):
    """The positions of an element's particles, which says what to do if there are too few of them."""

    def __getitem__(self, index: Any) -> Any:
        if hasattr(type(index), "__index__") and not -len(self) <= int(index) < len(self):
            each = "1 particle" if len(self) == 1 else f"{len(self)} particles"
            raise LawError(f"the formula uses x[{index}], but its elements have {each} each: elements have shape (m, s)")
        return super().__getitem__(index)


def _vectors(graph: Graph, kind: str, particles: int) -> _Positions:
    return _Positions([graph.symbol(kind, p, k) for p in range(particles) for k in range(3)], (particles, 3))


def _run(name: str, formula: Callable[..., Any], graph: Graph, particles: int, arguments: Mapping[str, Any]) -> Any:
    try:
        return formula(_vectors(graph, "x", particles), **arguments)
    except Exception as error:
        what = str(error) if isinstance(error, LawError) else _explain(error)
        raise LawError(f"{_whose(name, formula)}{_at(error)}: {what}") from error


def _explain(error: Exception) -> str:
    if isinstance(error, NameError):
        return f"{error}: it is neither a parameter nor a function of taut.formula"
    if isinstance(error, TypeError) and ("ufunc" in str(error) or "loop of ufunc" in str(error)):
        return "numpy's functions cannot take part in a formula: use those of taut.formula"
    return f"{type(error).__name__}: {error}"


def _at(error: Exception) -> str:
    """The innermost line outside taut that the error passed through."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if not str(Path(f.filename).resolve()).startswith(PACKAGE)]
    if not frames:
        return ""
    line = frames[-1].line or linecache.getline(frames[-1].filename, frames[-1].lineno or 0).strip()
    return f", line {frames[-1].lineno} `{line}`" if line else f", line {frames[-1].lineno}"


def _whose(name: str, formula: Callable[..., Any]) -> str:
    code = inspect.unwrap(formula).__code__
    return f"the formula of {name} ({code.co_filename}:{code.co_firstlineno})"


def energy_form(root: Expr) -> Expr:
    """What is evaluated for each element: an energy as it stands, or the share of a total."""
    if any(n.op == "rate" for n in reachable([root])):
        raise LawError("rate(…) has no meaning in an energy: write a @taut.dissipation")
    totals = totalled(root)
    return totals[0].args[0] if totals else root


def totalled(root: Expr) -> list[Expr]:
    """The nodes total(…) of an expression."""
    return [n for n in reachable([root]) if n.op == "total"]


def rate_form(root: Expr) -> Expr:
    """A dissipation as a function of the velocity (symbols x) at frozen positions (symbols y)."""
    g = root.graph
    x = symbols(root, "x")
    back = {s: g.symbol("y", *s.value[1:]) for s in x}
    replace = dict(back)
    for node in _rates(root):
        slopes = gradient(node.args[0], x)
        total = g.const(0.0)
        for velocity, slope in zip(x, slopes, strict=True):
            total = g.add(total, g.mul(g.substitute(slope, back), velocity))
        replace[node] = total
    return g.substitute(root, replace)


def increment_form(root: Expr) -> Expr:
    """A dissipation as what it adds to the objective of an implicit step: h·Ψ with rate(m) = (m(x) - m(y))/h.

    x are the new positions, y the old; positions outside of rate(…) are frozen at the old ones.
    """
    g = root.graph
    h = g.symbol("h")
    back = {s: g.symbol("y", *s.value[1:]) for s in symbols(root, "x")}
    replace = dict(back)
    for node in _rates(root):
        measure = node.args[0]
        replace[node] = g.div(g.sub(measure, g.substitute(measure, back)), h)
    return g.mul(h, g.substitute(root, replace))


def _rates(root: Expr) -> list[Expr]:
    if totalled(root):
        raise LawError("total(…) has no meaning in a dissipation")
    found = [n for n in reachable([root]) if n.op == "rate"]
    if not found:
        raise LawError("a dissipation depends on at least one rate(…) of the positions")
    for node in found:
        if any(n.op == "rate" for n in reachable(node.args)):
            raise LawError("rate(…) cannot be nested")
    return found
