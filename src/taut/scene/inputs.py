"""Where in the tables of a scene files are named, and the names under which copies of them are kept."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from hashlib import sha256
from pathlib import PurePosixPath
from typing import Any

from taut.scene.places import Place

INPUTS = "inputs"  # the folder of the copies


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
            elif key == "groups":
                continue  # names of the user's own
            elif key == "frames" and place[-1:] == ("follow",):
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


def kept_names(names: Iterable[str]) -> dict[str, str]:
    """The name of the copy of each file: in the folder "inputs", no two of them the same. Names of copies stay what they are.

    >>> kept_names(["a.obj", "b/c.csv", "inputs/d.obj"])
    {'a.obj': 'inputs/a.obj', 'b/c.csv': 'inputs/b/c.csv', 'inputs/d.obj': 'inputs/d.obj'}
    """
    paths = {name: PurePosixPath(name) for name in names}
    plain = {name: not path.is_absolute() and ".." not in path.parts and "~" not in name for name, path in paths.items()}
    copies = {name for name, path in paths.items() if plain[name] and path.parts[:1] == (INPUTS,)}
    taken = {paths[name].with_suffix("") for name in copies}
    found = {}
    for name, path in paths.items():
        kept = path if name in copies else PurePosixPath(INPUTS) / path
        if not plain[name] or (name not in copies and kept.with_suffix("") in taken):
            kept = PurePosixPath(INPUTS) / f"{sha256(str(path.parent).encode()).hexdigest()[:8]}-{path.name}"
        found[name] = str(kept)
    return found
