"""What a scene may hold at most, and the numbers and texts it is made of. A file from a stranger can ask for nothing endless."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, PlainValidator, WithJsonSchema

from taut.errors import MeshError
from taut.mesh.selection.language import parse

MOST_BYTES = 500_000  # of a scene file
MOST_NESTED = 12  # tables and lists in one another
MOST_DOTTED = 16  # names in one dotted key
MOST_PARTICLES = 5_000_000
MOST_ELEMENTS = 100_000_000  # of all laws together
MOST_STEPS = 100_000_000
MOST_NUMBER = 1e20  # magnitude of any number
MOST_LISTED = 100_000  # entries of a list of numbers
MOST_TABLES = 1_000  # bodies, or laws of a body
MOST_TEXT = 1_000  # characters of an expression or a name

Number = Annotated[float, Field(ge=-MOST_NUMBER, le=MOST_NUMBER)]
Positive = Annotated[float, Field(gt=0.0, le=MOST_NUMBER)]
NotNegative = Annotated[float, Field(ge=0.0, le=MOST_NUMBER)]
Vector = Annotated[list[Number], Field(min_length=3, max_length=3)]
Text = Annotated[str, Field(max_length=MOST_TEXT)]
Name = Annotated[str, Field(min_length=1, max_length=100, pattern=r"^[^\x00-\x1f\x7f]+$")]


class Model(BaseModel):
    """A table of a scene file: nothing but what is named here, no text for a number, no infinite numbers."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False, defer_build=True)


def is_number(value: Any) -> bool:
    """Whether a value of a file is a number of a size that can be computed with."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) <= MOST_NUMBER


def expression(text: str) -> str:
    """A text of the language of selections, read but not yet applied to a mesh."""
    if len(text) > MOST_TEXT:
        raise ValueError(f"it has {len(text)} characters; the most are {MOST_TEXT}")
    try:
        parse(text)
    except MeshError as error:
        raise ValueError(str(error)) from None
    return text


def _selection(value: Any) -> Any:
    if isinstance(value, str):
        return expression(value)
    if isinstance(value, list) and len(value) <= MOST_LISTED and all(_is_index(i) for i in value):
        return value
    raise ValueError("a selection is a text such as 'y > 0.9*max' or a list of point numbers")


def _is_index(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < MOST_PARTICLES


def _elements(value: Any) -> Any:
    if isinstance(value, str) and len(value) <= MOST_TEXT:
        return value
    if isinstance(value, list) and len(value) <= MOST_LISTED and all(_row(row) for row in value):
        return value
    raise ValueError("elements are a word such as 'edges', or a list of lists of point numbers such as [[0, 1], [1, 2]]")


def _cells(value: Any) -> Any:
    if isinstance(value, list) and 0 < len(value) <= MOST_LISTED and all(_row(row) and len(row) == len(value[0]) for row in value):
        return value
    raise ValueError("cells are lists of point numbers, all of the same length, such as [[0, 1], [1, 2]]")


def _row(value: Any) -> bool:
    return isinstance(value, list) and 0 < len(value) <= 20 and all(_is_index(i) for i in value)


_INDICES = {"type": "array", "items": {"type": "integer", "minimum": 0}}
Selection = Annotated[Any, PlainValidator(_selection), WithJsonSchema({"anyOf": [{"type": "string"}, _INDICES]})]
Cells = Annotated[Any, PlainValidator(_cells), WithJsonSchema({"type": "array", "items": _INDICES})]
Elements = Annotated[
    Any, PlainValidator(_elements), WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array", "items": _INDICES}]})
]
