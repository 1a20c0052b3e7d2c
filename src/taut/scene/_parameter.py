"""Parameters in a scene: their forms in the file, and the numbers they become.

    k = 1000.0                                          a number
    k = [900.0, 1000.0, 1100.0]                         one number for each element
    k = "200 + 800*y/max(y)"                            an expression of the rest position [m]
    velocity = [0, 0, "4 + 2*sin(3*t)"]                 … and of the time t [s]
    p = { times = [0.0, 1.0], values = [0.0, 500.0] }   linear between times, constant beyond them
    k = { file = "k.csv", per = "elements" }            a column of a file: per "elements",
                                                        "points" or "time" (first column t)
    velocity = { mean = [4, 0, 0], rms = 1.0, sizes = [0.2, 5.0], seed = 0 }
                                                        turbulent wind (`taut.materials.Gusts`)

An expression is evaluated at the points of the mesh; an element takes the mean over its points.
`evaluate` is the function in which a key of the file becomes a number.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Annotated, Any

import numpy as np
from pydantic import PlainValidator, WithJsonSchema

from taut.arrays import Float, Int
from taut.constraints.constraint import to_path
from taut.errors import ModelError, SceneError, did_you_mean
from taut.materials import Gusts
from taut.mesh.mesh import Mesh
from taut.scene._files import SceneFolder, read_table, split_timeline
from taut.scene._limits import MAX_ENTRIES, MAX_MAGNITUDE, MAX_ROW, MAX_TEXT, is_number, show_value
from taut.scene.expression import Expression, check_expression

_PER = ("elements", "points", "time")


def check_parameter(value: Any) -> Any:
    """Return the value if it has the form of a parameter; raise ValueError if not.

    >>> check_parameter("2*x + sin(t)")
    '2*x + sin(t)'
    >>> check_parameter({"times": [0, 1], "values": [0.0, 5.0]})
    {'times': [0, 1], 'values': [0.0, 5.0]}
    """
    if isinstance(value, str):
        return check_expression(value)
    if isinstance(value, dict):
        if "mean" in value:
            _build_gusts(value)
            return value
        return _check_file(value) if "file" in value else _check_timeline(value)
    if isinstance(value, list):
        _check_list(value)
    else:
        _check_number(value)
    return value


def _check_number(value: Any) -> None:
    if is_number(value):
        return
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        raise ValueError(
            f"must be finite and at most {MAX_MAGNITUDE:g} in magnitude, got {show_value(value)}"
        )
    raise ValueError(
        "must be a number, a list, an expression in quotes, { times = […], values = […] } "
        f'or {{ file = "…" }}, got {show_value(value)}'
    )


def _check_list(values: list[Any]) -> None:
    if not 0 < len(values) <= MAX_ENTRIES:
        raise ValueError(
            f"a list must have 1 to {MAX_ENTRIES:,} entries, got {len(values):,}; "
            "put a longer one into a file"
        )
    for entry in values:
        if isinstance(entry, list) and 0 < len(entry) <= MAX_ROW:
            for component in entry:
                _check_number(component)
        elif isinstance(entry, str):
            check_expression(entry)
        else:
            _check_number(entry)


def _check_keys(table: dict[str, Any], known: tuple[str, ...]) -> None:
    for key in table:
        if key not in known:
            raise ValueError(
                f"unknown key '{key}'{did_you_mean(key, known)}; "
                f"this table has the keys {', '.join(known[:-1])} and {known[-1]}"
            )


def _build_gusts(table: dict[str, Any]) -> Gusts:
    """Return the wind of a table; raise ValueError if there is none."""
    _check_keys(table, ("mean", "rms", "sizes", "seed"))
    missing = [key for key in ("rms", "sizes") if key not in table]
    if missing:
        raise ValueError(f"a wind with a mean also needs {' and '.join(missing)}")
    try:
        return Gusts(**table)
    except ModelError as error:
        raise ValueError(str(error)) from None


def _check_file(table: dict[str, Any]) -> dict[str, Any]:
    _check_keys(table, ("file", "per"))
    file = table["file"]
    per = table.get("per", "elements")
    if not isinstance(file, str) or not 0 < len(file) <= MAX_TEXT:
        raise ValueError(
            f"file must be the name of a file in the scene's folder, got {show_value(file)}"
        )
    if per not in _PER:
        hint = did_you_mean(str(per), _PER)
        raise ValueError(f"per must be one of {', '.join(_PER)}, got {show_value(per)}{hint}")
    return {"file": file, "per": per}


def _check_timeline(table: dict[str, Any]) -> dict[str, Any]:
    _check_keys(table, ("times", "values"))
    times, values = table.get("times"), table.get("values")
    if not isinstance(times, list) or not isinstance(values, list) or len(times) != len(values):
        raise ValueError("times and values must be lists of the same length")
    _check_list(times)
    _check_list(values)
    if any(isinstance(v, str) for v in values) or not all(is_number(t) for t in times):
        raise ValueError("times must be numbers [s], and values numbers or lists of numbers")
    if any(b <= a for a, b in pairwise(times)):
        raise ValueError("times must increase")
    if len({len(v) if isinstance(v, list) else 0 for v in values}) > 1:
        raise ValueError("values must be all numbers, or all lists of the same length")
    return table


def _check_components(value: Any) -> Any:
    if not isinstance(value, list) or len(value) != 3:
        raise ValueError(
            'must be three numbers or expressions, such as [0.0, "0.1*x", 0.0], '
            f"got {show_value(value)}"
        )
    _check_list(value)
    if any(isinstance(entry, list) for entry in value):
        raise ValueError(
            f"components must be numbers or expressions, not lists, got {show_value(value)}"
        )
    return value


def _check_few_numbers(value: Any) -> Any:
    if is_number(value):
        return value
    if isinstance(value, list) and 0 < len(value) <= MAX_ROW and all(map(is_number, value)):
        return value
    raise ValueError(
        f"must be a number or a list of 1 to {MAX_ROW} numbers, "
        f"at most {MAX_MAGNITUDE:g} in magnitude, got {show_value(value)}"
    )


_NUMBER: dict[str, Any] = {"type": "number", "minimum": -MAX_MAGNITUDE, "maximum": MAX_MAGNITUDE}
_STRING = {"type": "string"}
_ENTRY = {"anyOf": [_NUMBER, _STRING, {"type": "array", "items": _NUMBER}]}
_TIMELINE = {
    "type": "object",
    "properties": {
        "times": {"type": "array", "items": _NUMBER},
        "values": {"type": "array", "items": _ENTRY},
    },
    "required": ["times", "values"],
    "additionalProperties": False,
}
_FILE = {
    "type": "object",
    "properties": {"file": _STRING, "per": {"enum": list(_PER)}},
    "required": ["file"],
    "additionalProperties": False,
}
_GUSTS = {
    "type": "object",
    "properties": {
        "mean": {"type": "array", "items": _NUMBER, "minItems": 3, "maxItems": 3},
        "rms": {"type": "number", "minimum": 0},
        "sizes": {"type": "array", "items": _NUMBER, "minItems": 2, "maxItems": 2},
        "seed": {"type": "integer", "minimum": 0},
    },
    "required": ["mean", "rms", "sizes"],
    "additionalProperties": False,
}
_PARAMETER = {
    "anyOf": [
        _NUMBER, _STRING, {"type": "array", "items": _ENTRY}, _TIMELINE, _FILE, _GUSTS,
    ]
}  # fmt: skip
_COMPONENTS = {
    "type": "array",
    "items": {"anyOf": [_NUMBER, _STRING]},
    "minItems": 3,
    "maxItems": 3,
}
_FEW_NUMBERS = {"anyOf": [_NUMBER, {"type": "array", "items": _NUMBER}]}

Parameter = Annotated[Any, PlainValidator(check_parameter), WithJsonSchema(_PARAMETER)]
Components = Annotated[Any, PlainValidator(_check_components), WithJsonSchema(_COMPONENTS)]
FewNumbers = Annotated[Any, PlainValidator(_check_few_numbers), WithJsonSchema(_FEW_NUMBERS)]


def evaluate(value: Any, mesh: Mesh, elements: Int, folder: SceneFolder, *, vector: bool) -> Any:
    """Return what a law takes: a number, an array with a row per element, or a function of time.

    value : a checked parameter
    elements : point indices, shape (m, s)
    vector : whether the law takes one vector for all elements, so that a list of three expressions
        is one vector
    """
    if isinstance(value, str):
        return _evaluate_expression(Expression(value, mesh), elements)
    if isinstance(value, dict):
        if "mean" in value:
            if not vector:
                raise SceneError(["a wind of mean and rms is a velocity; this parameter is none"])
            return _build_gusts(value)
        if "times" in value:
            return to_path((value["times"], value["values"]), "a table over time", "values")
        return _evaluate_file(value["file"], value["per"], elements, folder, mesh)
    if isinstance(value, list) and any(isinstance(entry, str) for entry in value):
        if not vector:
            raise SceneError(
                ["a list of expressions must be a vector; this parameter is one number per element"]
            )
        components = [evaluate(entry, mesh, elements, folder, vector=False) for entry in value]
        return _stack_components(components, len(elements))
    if isinstance(value, list) and len({len(v) if isinstance(v, list) else 0 for v in value}) > 1:
        raise SceneError(["the rows of the list must have the same length"])
    return value


def evaluate_at_points(value: Any, mesh: Mesh, folder: SceneFolder) -> Float:
    """Return a parameter at each point of a mesh, shape (n,); it must not depend on time."""
    values = _evaluate_constant(value, mesh, folder, vector=False)
    if values.shape not in ((), (mesh.n,)):
        raise SceneError([f"must be one number for each of {mesh.n} points, got {values.shape}"])
    return np.broadcast_to(values, mesh.n).copy()


def evaluate_vectors(value: Any, mesh: Mesh, folder: SceneFolder) -> Float:
    """Return components as a vector at each point, shape (n, 3); they must not depend on time."""
    return np.broadcast_to(_evaluate_constant(value, mesh, folder, vector=True), (mesh.n, 3))


def _evaluate_constant(value: Any, mesh: Mesh, folder: SceneFolder, *, vector: bool) -> Float:
    values = evaluate(value, mesh, np.arange(mesh.n)[:, None], folder, vector=vector)
    if callable(values):
        raise SceneError(["must not depend on time"])
    return np.asarray(values, dtype=np.float64)


def _average_over_elements(values: Float, elements: Int) -> Float:
    """Return per-vertex values (n,) as means over the points of each element, shape (m,)."""
    return values if values.ndim == 0 else values[elements].mean(axis=1)


def _evaluate_expression(expression: Expression, elements: Int) -> Any:
    if not expression.depends_on_time:
        return _average_over_elements(expression.evaluate(0.0), elements)
    return lambda t: _average_over_elements(expression.evaluate(t), elements)


def _evaluate_file(name: str, per: str, elements: Int, folder: SceneFolder, mesh: Mesh) -> Any:
    rows = read_table(folder, name)
    if per == "time":
        times, values = split_timeline(rows, name)
        return to_path((times, _drop_single_column(values)), "a table over time", "values")
    count = mesh.n if per == "points" else len(elements)
    if len(rows) != count:
        raise SceneError(
            [f"file '{name}' must have a row for each of {count} {per}, got {len(rows)}"]
        )
    if per == "points":
        rows = rows[elements].mean(axis=1)
    return _drop_single_column(rows)


def _drop_single_column(rows: Float) -> Float:
    return rows[:, 0] if rows.shape[1] == 1 else rows


def _stack_components(components: list[Any], m: int) -> Any:
    """Return components as vectors, shape (3,) or (m, 3); a function if one depends on time."""

    def stack(t: float) -> Float:
        columns = [np.asarray(c(t) if callable(c) else c, dtype=np.float64) for c in components]
        if any(column.ndim for column in columns):
            return np.stack([np.broadcast_to(column, m) for column in columns], axis=1)
        return np.array([float(column) for column in columns])

    at_time: Callable[[float], Float] = stack
    return at_time if any(callable(c) for c in components) else stack(0.0)
