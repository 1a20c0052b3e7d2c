"""Where in the tables of a scene files are named."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from taut.scene.places import Place


def files_of(tables: Any, place: Place = ()) -> Iterator[tuple[Place, str]]:
    """The files that tables name, each with its place.

    >>> list(files_of({"body": [{"mesh": {"file": "a.obj"}}]}))
    [(('body', 0, 'mesh', 'file'), 'a.obj')]
    """
    if isinstance(tables, dict):
        for key, value in tables.items():
            here = (*place, key)
            if key == "file" and isinstance(value, str):
                yield here, value
            elif key == "frames" and isinstance(value, list):
                yield from (((*here, i), name) for i, name in enumerate(value))
            elif key == "law" and isinstance(value, str) and ":" in value:
                yield here, value.partition(":")[0]
            else:
                yield from files_of(value, here)
    elif isinstance(tables, list):
        for i, value in enumerate(tables):
            yield from files_of(value, (*place, i))


def renamed(tables: Any, new: Callable[[str], str]) -> Any:
    """The tables with every file under another name, in place."""
    for place, name in list(files_of(tables)):
        at = tables
        for part in place[:-1]:
            at = at[part]
        at[place[-1]] = at[place[-1]].replace(name, new(name), 1)
    return tables
