"""Limits of a scene, and the base class and field types of its tables, which enforce them.

A scene may come from an untrusted source: whatever numbers it contains, it must not make taut run
for ever or fill the memory.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag

from taut.errors import MeshError

MAX_FILE_BYTES = 500_000  # of a scene file
MAX_TABLE_FILE_BYTES = 64_000_000  # of a file with a table of numbers
MAX_POINT_CACHE_BYTES = 2_000_000_000  # of the motion of one body
MAX_NESTING = 12  # tables and lists inside one another
MAX_DOTTED_NAMES = 16  # names in one dotted key
MAX_PARTICLES = 5_000_000
MAX_ELEMENTS = 100_000_000  # of all laws together
MAX_STEPS = 100_000_000
MAX_MAGNITUDE = 1e20  # of any number
MAX_ENTRIES = 100_000  # of a list of numbers
MAX_TABLES = 1_000  # bodies, or laws of a body
MAX_TEXT = 1_000  # characters of an expression or a title
MAX_ROW = 20  # numbers of one row, such as the points of an element

Number = Annotated[float, Field(ge=-MAX_MAGNITUDE, le=MAX_MAGNITUDE)]
Positive = Annotated[float, Field(gt=0.0, le=MAX_MAGNITUDE)]
NotNegative = Annotated[float, Field(ge=0.0, le=MAX_MAGNITUDE)]
Vector = Annotated[list[Number], Field(min_length=3, max_length=3)]
Text = Annotated[str, Field(max_length=MAX_TEXT)]
Name = Annotated[str, Field(min_length=1, max_length=100, pattern=r"^[^\x00-\x1f\x7f]+$")]

LISTS_OF_TABLES = ("body", "law", "hold", "stitch", "attach", "rest")
"""Keys whose values are lists of tables, at any depth."""


class SceneTable(BaseModel):
    """A table of a scene file: unknown keys, strings for numbers, nan and inf are errors."""

    # Strict, because pydantic would otherwise read "1" and true as numbers.
    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False, defer_build=True)


def create_tagged_union(
    models: Mapping[str, type[BaseModel]], find_tag: Callable[[Any], Any]
) -> Any:
    """Return the type of a table that has one of several models, chosen by its tag.

    models : by tag
    find_tag : returns the tag of a table, or None
    """
    union: Any = None
    for tag, model in models.items():
        option: Any = Annotated[model, Tag(tag)]
        union = option if union is None else union | option
    return Annotated[union, Discriminator(find_tag)]


def is_number(value: Any) -> bool:
    """Whether a value of a file is a finite number within `MAX_MAGNITUDE`."""
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return False
    return abs(value) <= MAX_MAGNITUDE


def show_value(value: Any) -> str:
    """Return a value of a file for an error message, shortened.

    >>> show_value(True), show_value("0.01"), show_value([1.0] * 100)
    ('true', "'0.01'", '[1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0,…')
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int) and abs(value) > MAX_MAGNITUDE:
        return f"an integer of {value.bit_length()} bits"  # it may have thousands of digits
    if isinstance(value, (list, dict)) and len(value) > MAX_ROW:
        value = list(value)[:MAX_ROW]
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:40]}…"


class PointBudget:
    """The number of points that the meshes of a scene may have, each alone and all together.

    A mesh is charged before it is generated. One that is rejected later stays charged, so that a
    short scene cannot have a thousand large meshes generated one after another.

    limit : number of particles that a scene may have

    >>> budget = PointBudget(100)
    >>> budget.charge(90), budget.charge(90)
    (None, None)
    >>> budget.charge(90)
    Traceback (most recent call last):
    taut.errors.MeshError: with this mesh the scene would generate 270 points; the limit is 200
    """

    # All meshes together may have twice as many points as the scene may have particles: a body can
    # have a second mesh, which is drawn in its place, and some meshes are rejected.
    _FACTOR = 2

    def __init__(self, limit: int = MAX_PARTICLES) -> None:
        self.limit = limit
        self._used = 0.0

    def charge(self, points: float) -> None:
        """Charge a mesh of about `points` points; raise MeshError if it exceeds the budget."""
        self.check(points)
        self._used += points
        if self._used > self._FACTOR * self.limit:
            raise MeshError(
                f"with this mesh the scene would generate {self._used:,.0f} points; "
                f"the limit is {self._FACTOR * self.limit:,}"
            )

    def check(self, points: float) -> None:
        """Raise MeshError for more points than the scene may have particles."""
        if points > self.limit:
            raise MeshError(
                f"the scene would have {points:,.0f} points; the limit is {self.limit:,}"
            )
