"""What pydantic found, in our words: each problem with its place in the file, its line, and a hint."""

from __future__ import annotations

import typing
from typing import Any

from pydantic import BaseModel, ValidationError

from taut.errors import did_you_mean, plain
from taut.scene.laws_model import LAWS
from taut.scene.meshes_model import MESHES
from taut.scene.model import SceneFile
from taut.scene.places import Place, Places

TAGGED: dict[str, type[BaseModel]] = {**LAWS, **MESHES}
_WORDS = {
    "missing": "it is missing",
    "float_type": "it must be a number",
    "int_type": "it must be a whole number",
    "string_type": "it must be a text in quotes",
    "bool_type": "it must be true or false",
    "list_type": "it must be a list",
    "dict_type": "it must be a table",
    "model_type": "it must be a table",
    "finite_number": "it must be a finite number",
}


def dotted(place: Place) -> str:
    """A place as it is written: body[0].mesh.nx.

    >>> dotted(("body", 0, "mesh", "nx"))
    'body[0].mesh.nx'
    """
    text = ""
    for part in place:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return text


def told(place: Place, message: str, places: Places | None) -> str:
    """A problem on one line."""
    where = [dotted(place)] if place else []
    if places is not None and place:
        line = places.line(place)
        where += ["as changed"] if places.was_changed(place) else [f"line {line}"] if line is not None else []
    shown = plain(message)
    return f"{', '.join(where)}: {shown}" if where else shown


def problems(error: ValidationError) -> list[tuple[Place, str]]:
    """All of them, each with its place."""
    return [_message(entry, *_place(entry["loc"])) for entry in error.errors(include_url=False)]


def _place(loc: tuple[Any, ...]) -> tuple[Place, type[BaseModel] | None]:
    """The place without the tags of unions, and the model that the last key would belong to."""
    model: type[BaseModel] | None = SceneFile
    place: list[str | int] = []
    for i, part in enumerate(loc):
        if part in TAGGED:
            model = TAGGED[part]
            continue
        if part == "[key]":  # of a dictionary: the key itself stands before
            continue
        place.append(part)
        if i < len(loc) - 1 and isinstance(part, str) and model is not None:
            field = model.model_fields.get(part)
            model = None if field is None else _inner(field.annotation)
    return tuple(place), model


def _inner(annotation: Any) -> type[BaseModel] | None:
    """The model in an annotation, if there is one alone."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    found = [model for model in map(_inner, typing.get_args(annotation)) if model is not None]
    return found[0] if len(found) == 1 else None


def _message(entry: Any, place: Place, model: type[BaseModel] | None) -> tuple[Place, str]:
    kind, context = entry["type"], entry.get("ctx", {})
    if kind == "extra_forbidden":
        known = [] if model is None else list(model.model_fields)
        return place, f"there is no such key here{did_you_mean(str(place[-1]), known)}"
    if kind == "union_tag_not_found":
        if not isinstance(entry["input"], dict):
            return place, "it must be a table"
        return place, "it has none of shape, file and points" if place[-1:] == ("mesh",) else "the name of the law is missing"
    if kind == "union_tag_invalid":
        word, _, name = str(context["tag"]).partition(":")
        known = [tag.partition(":")[2] for tag in (MESHES if word == "mesh" else LAWS)]
        what, where = ("generator", "shape") if word == "mesh" else ("law", "law")
        return (*place, where), f"there is no {what} '{name[:60]}'{did_you_mean(name[:60], known)}"
    if kind == "value_error":
        return place, str(context["error"])
    if kind == "literal_error":
        expected = str(context["expected"])
        given = entry["input"] if isinstance(entry["input"], str) else ""
        known = expected.replace("'", "").replace(" or ", ", ").split(", ")
        return place, f"it is one of {expected}{did_you_mean(given[:60], known)}"
    text = str(entry["msg"])
    return place, _WORDS.get(kind, f"{text[:1].lower()}{text[1:]}".replace("input should", "it should"))
