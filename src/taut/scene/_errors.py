"""Errors of a scene: collect them, word them, and raise them together.

Checking the tables (pydantic) and building them find different errors. `drop_invalid` removes the
tables that failed the first check, so that the rest can be built in the same pass.
"""

from __future__ import annotations

import copy
import typing
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from pydantic import BaseModel, ValidationError

from taut.errors import SceneError, TautError, did_you_mean, escape_unprintable
from taut.scene._law import LAW_MODELS
from taut.scene._limits import LISTS_OF_TABLES, show_value
from taut.scene._mesh import MESH_MODELS
from taut.scene._obstacle import OBSTACLE_MODELS
from taut.scene._source_lines import KeyPath, SourceLines

_MODELS_BY_TAG: dict[str, type[BaseModel]] = {**LAW_MODELS, **MESH_MODELS, **OBSTACLE_MODELS}
_MESSAGES = {  # by pydantic's type of error
    "float_type": "must be a number",
    "int_type": "must be an integer",
    "string_type": "must be a string",
    "bool_type": "must be true or false",
    "list_type": "must be a list",
    "dict_type": "must be a table",
    "model_type": "must be a table",
    "model_attributes_type": "must be a table",
    "finite_number": "must be finite",
    "string_pattern_mismatch": "must not contain control characters",
}
# Placeholders for required tables that are invalid, so that the rest of the scene can be checked.
_REPLACEMENTS: dict[str, Any] = {"time": {"h": 0.01, "duration": 1.0}}
_OPTIONAL_BODY_KEYS = ("render", "pose", "velocity")

RestorePath = Callable[[KeyPath], KeyPath]


class ErrorCollector:
    """Collects errors with their places in the file, to raise them together.

    lines : of the text, or None
    path : the file
    """

    def __init__(self, lines: SourceLines | None, path: Any) -> None:
        self.lines = lines
        self.path = path
        self.errors: list[tuple[int, str]] = []  # line (0: unknown) and message
        self.restore_path: RestorePath = lambda path: path  # see `drop_invalid`

    @contextmanager
    def collect(self, *path: str | int) -> Iterator[None]:
        """Collect a TautError that the block raises, and go on after the block."""
        try:
            yield
        except SceneError as error:
            for message in error.problems:
                self.add(path, message)
        except TautError as error:
            self.add(path, str(error))

    def add(self, path: KeyPath, message: str) -> None:
        """Add an error at a path of the tables."""
        path = self.restore_path(path)
        line = None if self.lines is None else self.lines.line(path)
        self.errors.append((line or 0, format_error(path, message, self.lines)))

    def raise_errors(self) -> None:
        """Raise a SceneError with all errors in the order of their lines, if there are any."""
        if self.errors:
            in_order = sorted(self.errors, key=lambda error: error[0])
            without_repetitions = dict.fromkeys(message for _, message in in_order)
            raise SceneError(without_repetitions, path=self.path)


def format_error(path: KeyPath, message: str, lines: SourceLines | None) -> str:
    """Return an error on one line: "body[0].mesh.nx, line 10: must be an integer, got 2.5"."""
    message = escape_unprintable(message)
    if not path:
        return message
    place = format_path(path)
    if lines is not None:
        line = lines.line(path)
        if lines.is_overridden(path):
            place += ", overridden"
        elif line is not None:
            place += f", line {line}"
    return f"{place}: {message}"


def format_path(path: KeyPath) -> str:
    """Return a path as text.

    >>> format_path(("body", 0, "mesh", "nx"))
    'body[0].mesh.nx'
    """
    text = ""
    for key in path:
        if isinstance(key, int):
            text += f"[{key}]"
        else:
            text += f".{key}" if text else key
    return text


def list_errors(error: ValidationError, root: type[BaseModel]) -> list[tuple[KeyPath, str]]:
    """Return all errors of a validation, each with its path and a message.

    root : the model that was validated
    """
    errors = []
    for entry in error.errors(include_url=False):
        path, model = _find_path(entry["loc"], root)
        errors.append(_describe_error(entry, path, model))
    return errors


def _find_path(
    location: tuple[Any, ...], root: type[BaseModel]
) -> tuple[KeyPath, type[BaseModel] | None]:
    """Return pydantic's location without its tags, and the model of the innermost table."""
    model: type[BaseModel] | None = root
    path: list[str | int] = []
    for i, key in enumerate(location):
        if key in _MODELS_BY_TAG:
            model = _MODELS_BY_TAG[key]
        elif key != "[key]":  # pydantic's tag for an invalid key; the key itself comes before it
            path.append(key)
            if i < len(location) - 1 and isinstance(key, str) and model is not None:
                field = model.model_fields.get(key)
                model = None if field is None else _find_model(field.annotation)
    return tuple(path), model


def _find_model(annotation: Any) -> type[BaseModel] | None:
    """Return the model in the type of a field, if there is exactly one."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    models = [_find_model(argument) for argument in typing.get_args(annotation)]
    models = [model for model in models if model is not None]
    return models[0] if len(models) == 1 else None


def _describe_error(
    entry: Any, path: KeyPath, model: type[BaseModel] | None
) -> tuple[KeyPath, str]:
    """Return the path and message of one error of pydantic."""
    kind, context, value = entry["type"], entry.get("ctx", {}), entry["input"]
    if kind == "missing":
        return path, "required key is missing"
    if kind == "extra_forbidden":
        known = [] if model is None else list(model.model_fields)
        return path, f"unknown key{did_you_mean(str(path[-1]), known)}"
    if kind == "union_tag_not_found":
        if not isinstance(value, dict):
            return path, f"must be a table, got {show_value(value)}"
        if path[-1:] == ("mesh",) or path[-1:] == ("render",):
            return path, "one of shape, file, points is required"
        if path[-1:] == ("obstacle",):
            return path, "the name of the shape is required: shape = …"
        return path, "the name of the law is required: law = …"
    if kind == "union_tag_invalid":
        table, _, name = str(context["tag"]).partition(":")
        known = [tag.removeprefix(f"{table}:") for tag in _MODELS_BY_TAG if tag.startswith(table)]
        hint = did_you_mean(name[:60], known)
        if table == "mesh":
            return (*path, "shape"), f"unknown generator '{name[:60]}'{hint}"
        if table == "obstacle":
            return (*path, "shape"), f"unknown shape '{name[:60]}'{hint}"
        return (*path, "law"), f"unknown law '{name[:60]}'{hint}"
    if kind == "value_error":
        return path, str(context["error"])
    if kind == "literal_error":
        expected = str(context["expected"])
        known = expected.replace("'", "").replace(" or ", ", ").split(", ")
        hint = did_you_mean(value[:60], known) if isinstance(value, str) else ""
        return path, f"must be {expected}, got {show_value(value)}{hint}"
    if kind == "too_long":
        return (
            path,
            f"must have at most {context['max_length']} items, got {context['actual_length']}",
        )
    if kind == "too_short":
        return (
            path,
            f"must have at least {context['min_length']} items, got {context['actual_length']}",
        )
    text = _MESSAGES.get(kind)
    if text is None:  # pydantic's own wording, such as "Input should be greater than 0"
        text = str(entry["msg"]).replace("Input should", "must").replace("String should", "must")
        text = f"{text[:1].lower()}{text[1:]}"
    return path, f"{text}, got {show_value(value)}"


def drop_invalid(
    tables: dict[str, Any], invalid: Iterable[KeyPath]
) -> tuple[dict[str, Any], RestorePath]:
    """Return a copy of the tables without invalid ones, and a function for paths in the copy.

    An error removes the innermost entry of a list of tables around it (a law, a hold, a body…), or
    an optional table. With a body, its joints and the laws of all bodies are removed too, because
    they may need its elements. The function turns a path in the copy into that of the file.

    >>> tables = {"body": [{"hold": [{"where": 1}, {"where": "top"}]}]}
    >>> rest, restore = drop_invalid(tables, [("body", 0, "hold", 0, "where")])
    >>> rest, restore(("body", 0, "hold", 0))
    ({'body': [{'hold': [{'where': 'top'}]}]}, ('body', 0, 'hold', 1))
    """
    dropped = {_find_droppable(path) for path in invalid}
    bodies: list[KeyPath] = [path for path in dropped if path[:1] == ("body",) and len(path) == 2]
    if bodies:
        dropped = {path for path in dropped if path[0] != "law"} | {("law",)}
        dropped |= _find_joints(tables, bodies)
    rest = copy.deepcopy(tables)
    indices: dict[KeyPath, list[int]] = {}  # of shortened lists: the indices of what is left
    # Deeper paths first, so that the paths that follow stay valid.
    for path in sorted(dropped, key=lambda path: (len(path), repr(path)), reverse=True):
        last = path[-1]
        if isinstance(last, int):
            entries = _get_container(rest, path[:-1])
            left = indices.setdefault(path[:-1], list(range(len(entries))))
            position = left.index(last)
            del entries[position], left[position]
        elif len(path) == 1 and last in _REPLACEMENTS:
            rest[last] = _REPLACEMENTS[last]
        else:
            _get_container(rest, path[:-1]).pop(last, None)
    return rest, lambda path: _restore_indices(path, indices)


def _find_droppable(path: KeyPath) -> KeyPath:
    """Return the path of what to drop for an error at a path."""
    for end in range(len(path), 1, -1):
        if isinstance(path[end - 1], int) and path[end - 2] in LISTS_OF_TABLES:
            key = path[end] if end < len(path) else None
            if path[end - 2] == "body" and key in _OPTIONAL_BODY_KEYS:
                return path[: end + 1]
            return path[:end]
    return path[:1]


def _find_joints(tables: dict[str, Any], bodies: list[KeyPath]) -> set[KeyPath]:
    """Return the paths of stitches and attachments of some bodies."""
    names = set()
    for path in bodies:
        body = _get_container(tables, path)
        if isinstance(body, dict):
            names.add(str(body.get("name")))
    joints: set[KeyPath] = set()
    for key in ("stitch", "attach"):
        entries = tables.get(key)
        for i, entry in enumerate(entries if isinstance(entries, list) else []):
            joined = entry.get("bodies") if isinstance(entry, dict) else None
            if isinstance(joined, list) and names & set(map(str, joined)):
                joints.add((key, i))
    return joints


def _get_container(tables: Any, path: KeyPath) -> Any:
    """Return the table or list at a path; an empty table if something else is there."""
    for key in path:
        tables = tables[key]
    return tables if isinstance(tables, (dict, list)) else {}


def _restore_indices(path: KeyPath, indices: dict[KeyPath, list[int]]) -> KeyPath:
    restored: KeyPath = ()
    for key in path:
        if isinstance(key, int) and restored in indices:
            key = indices[restored][key]
        restored = (*restored, key)
    return restored
