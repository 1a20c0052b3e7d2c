"""Parameters in a scene: a number, a list of numbers, an expression of the place and of time, or a table.

    k = 1000.0                                              a number
    k = [900.0, 1000.0, 1100.0]                             one for each element
    k = "200 + 800*y/max(y)"                                of the place at rest: x, y, z [m], u, v of the texture, maps of the mesh
    velocity = [0, 0, "4 + 2*sin(3*t)"]                     and of time t [s]
    p = { times = [0.0, 1.0], values = [0.0, 500.0] }       over time, joined by straight lines and held at the ends
    k = { file = "k.csv", per = "elements" }                a column of a file: per "elements", "points" or "time" (first column t)

An expression is evaluated at the points; an element has the mean of its points.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated, Any

from pydantic import PlainValidator, WithJsonSchema

from taut.errors import did_you_mean
from taut.scene.bounds import MOST_LISTED, MOST_NUMBER, MOST_TEXT, expression, is_number

PER = ("elements", "points", "time")
_FORMS = 'a number, a list, an expression in quotes, { times = […], values = […] } or { file = "…" }'


def parameter(value: Any) -> Any:
    """The value of a parameter, refused with a ValueError if it is none; nothing is looked up yet.

    >>> parameter("2*x + sin(t)")
    '2*x + sin(t)'
    >>> parameter({"times": [0, 1], "values": [0.0, 5.0]})
    {'times': [0, 1], 'values': [0.0, 5.0]}
    """
    if isinstance(value, str):
        return expression(value)
    if isinstance(value, dict):
        return _table(value)
    if isinstance(value, list):
        _listed(value)
        return value
    return _number(value)


def _number(value: Any) -> Any:
    if is_number(value):
        return value
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        raise ValueError(f"it must be a finite number, in magnitude at most {MOST_NUMBER:g}")
    raise ValueError(f"it is {_FORMS}")


def _listed(value: list[Any]) -> None:
    if not 0 < len(value) <= MOST_LISTED:
        raise ValueError(f"a list has 1 to {MOST_LISTED:,} entries, not {len(value):,}; longer ones stand in a file")
    for entry in value:
        if isinstance(entry, list) and 0 < len(entry) <= 20:
            for component in entry:
                _number(component)
        elif isinstance(entry, str):
            expression(entry)
        else:
            _number(entry)


def _table(value: dict[str, Any]) -> dict[str, Any]:
    known = ("file", "per") if "file" in value else ("times", "values")
    for key in value:
        if key not in known:
            raise ValueError(f"a table here has {' and '.join(known)}, not '{key}'{did_you_mean(key, known)}")
    if "file" in value:
        file, per = value["file"], value.get("per", "elements")
        if not isinstance(file, str) or not 0 < len(file) <= MOST_TEXT:
            raise ValueError("file is the name of a file in the scene's folder")
        if per not in PER:
            raise ValueError(f"per is one of {', '.join(PER)}{did_you_mean(str(per), PER)}")
        return {"file": file, "per": per}
    times, values = value.get("times"), value.get("values")
    if not isinstance(times, list) or not isinstance(values, list) or len(times) != len(values):
        raise ValueError("times and values are lists of the same length")
    for several in (times, values):
        _listed(several)
    if any(isinstance(v, str) for v in values) or not all(is_number(t) for t in times):
        raise ValueError("times are numbers [s], and values numbers or lists of numbers")
    if any(b <= a for a, b in pairwise(times)):
        raise ValueError("times must increase")
    if len({len(v) if isinstance(v, list) else 0 for v in values}) > 1:
        raise ValueError("values are all numbers, or all lists of the same length")
    return value


def _components(value: Any) -> Any:
    """Three numbers or expressions."""
    if not isinstance(value, list) or len(value) != 3:
        raise ValueError('it is three numbers or expressions, such as [0.0, "0.1*x", 0.0]')
    _listed(value)
    if any(isinstance(entry, list) for entry in value):
        raise ValueError("its components are numbers or expressions, not lists")
    return value


def _extent(value: Any) -> Any:
    """An argument of a generator that is one number or several."""
    if is_number(value) or (isinstance(value, list) and 0 < len(value) <= 20 and all(is_number(v) for v in value)):
        return value
    raise ValueError(f"it is a number or a short list of numbers, in magnitude at most {MOST_NUMBER:g}")


_NUMBER: dict[str, Any] = {"type": "number", "minimum": -MOST_NUMBER, "maximum": MOST_NUMBER}
_ENTRY: dict[str, Any] = {"anyOf": [_NUMBER, {"type": "string"}, {"type": "array", "items": _NUMBER}]}
_TIMELINE = {
    "type": "object",
    "properties": {"times": {"type": "array", "items": _NUMBER}, "values": {"type": "array", "items": _ENTRY}},
    "required": ["times", "values"],
    "additionalProperties": False,
}
_FILE = {
    "type": "object",
    "properties": {"file": {"type": "string"}, "per": {"enum": list(PER)}},
    "required": ["file"],
    "additionalProperties": False,
}
Parameter = Annotated[
    Any,
    PlainValidator(parameter),
    WithJsonSchema({"anyOf": [_NUMBER, {"type": "string"}, {"type": "array", "items": _ENTRY}, _TIMELINE, _FILE]}),
]
Components = Annotated[
    Any,
    PlainValidator(_components),
    WithJsonSchema({"type": "array", "items": {"anyOf": [_NUMBER, {"type": "string"}]}, "minItems": 3, "maxItems": 3}),
]
Extent = Annotated[Any, PlainValidator(_extent), WithJsonSchema({"anyOf": [_NUMBER, {"type": "array", "items": _NUMBER}]})]
