"""The text of a scene file made into tables, within bounds: a file can be refused, but not make us work for ever."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from taut.errors import MeshError, SceneError, did_you_mean
from taut.mesh.files.source import load
from taut.scene.bounds import MOST_BYTES, MOST_DOTTED, MOST_NESTED
from taut.scene.places import Place

# possessive, and only where a name begins: a megabyte of letters is looked at once
_PART = r"""(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+"""
_LONG_KEY = re.compile(rf"(?<![\w-])(?:{_PART}\.[ \t]*+){{{MOST_DOTTED}}}")
_NAMES = re.compile(r"""\"[^\"]*\"|'[^']*'|[^.]+""")  # of a dotted path


def text_of(path: Path) -> str:
    """What stands in a scene file."""
    try:
        if path.is_file() and path.stat().st_size > MOST_BYTES:
            raise SceneError([f"the file has {path.stat().st_size:,} bytes; the most are {MOST_BYTES:,}"], path=path)
        return load(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise SceneError([f"byte {error.start}: it is no text in UTF-8"], path=path) from None
    except MeshError as error:
        raise SceneError([error.message.replace("mesh", "scene")], path=path) from None
    except (OSError, ValueError) as error:
        raise SceneError([f"it cannot be read: {error}"], path=path) from None


def tables_of(text: str, path: Any = None) -> dict[str, Any]:
    """The tables of a TOML text.

    >>> tables_of("[time]\\nh = 0.1")
    {'time': {'h': 0.1}}
    >>> tables_of("h = = 3")
    Traceback (most recent call last):
    taut.errors.SceneError: a problem:
      line 1: Invalid value (column 5)
    """
    if len(text) > MOST_BYTES:
        raise SceneError([f"the text has {len(text):,} characters; the most are {MOST_BYTES:,}"], path=path)
    if long := _LONG_KEY.search(text):
        line = text.count("\n", 0, long.start()) + 1
        raise SceneError([f"line {line}: more than {MOST_DOTTED} names joined by dots"], path=path)
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SceneError([_told(error)], path=path) from None
    except RecursionError:
        raise SceneError([f"tables and lists are nested more than {MOST_NESTED} deep"], path=path) from None
    except ValueError as error:  # a whole number of thousands of digits, a date that does not exist
        raise SceneError([str(error)], path=path) from None
    if _depth(data) > MOST_NESTED:
        raise SceneError([f"tables and lists are nested more than {MOST_NESTED} deep"], path=path)
    return data


def _told(error: tomllib.TOMLDecodeError) -> str:
    found = re.fullmatch(r"(.*) \(at line (\d+), column (\d+)\)", str(error), re.DOTALL)
    return f"line {found[2]}: {found[1]} (column {found[3]})" if found else str(error)


def _depth(data: Any) -> int:
    """How many tables and lists are in one another, counted level by level."""
    depth, level = 0, [data]
    while level:
        depth += 1
        below = [v for entry in level for v in (entry.values() if isinstance(entry, dict) else entry)]
        level = [v for v in below if isinstance(v, (dict, list))]
        if depth > MOST_NESTED:
            break
    return depth


def override(text: str) -> tuple[str, Any]:
    """A change written as "a.b=value": the value as in TOML, or a text if it is none.

    >>> override("time.h=0.005"), override("body.cloth.mesh.nx=20"), override("integrator.method=RK4")
    (('time.h', 0.005), ('body.cloth.mesh.nx', 20), ('integrator.method', 'RK4'))
    """
    name, sign, value = text.partition("=")
    if not sign or not name.strip():
        raise SceneError([f"a change reads a.b=value, not '{text[:60]}'"])
    try:
        found = tables_of(f"value = {value}")
    except SceneError:
        return name.strip(), value.strip()
    return name.strip(), found["value"] if set(found) == {"value"} else value.strip()


def change(data: dict[str, Any], overrides: Iterable[tuple[str, Any]]) -> list[Place]:
    """Change some values in the tables; the places that were changed.

    Entries of lists are named by number or by their name; a name with a dot in it stands in quotes.

    >>> tables = {"body": [{"name": "cloth", "density": 1.0}]}
    >>> change(tables, [("body.cloth.density", 2.0)]), tables
    ([('body', 0, 'density')], {'body': [{'name': 'cloth', 'density': 2.0}]})
    """
    problems, places = [], []
    for path, value in overrides:
        try:
            places.append(_set(data, path, value))
        except SceneError as error:
            problems += [f"{path}: {text}" for text in error.problems]
    if problems:
        raise SceneError(problems)
    return places


def _set(data: dict[str, Any], path: str, value: Any) -> Place:
    at: Any = data
    parts = [part[1:-1] if part[0] in "\"'" else part for part in _NAMES.findall(path)]
    place: Place = ()
    for i, part in enumerate(parts):
        last = i == len(parts) - 1
        if isinstance(at, list):
            index = _entry(at, part)
            if last:
                at[index] = value
            at, place = at[index], (*place, index)
        elif isinstance(at, dict):
            if last:
                at[part] = value
            at, place = at.setdefault(part, {}), (*place, part)
        else:
            raise SceneError([f"there is nothing below '{'.'.join(parts[:i])}'"])
    return place


def _entry(several: list[Any], name: str) -> int:
    names = [e.get("name", e.get("law")) if isinstance(e, dict) else None for e in several]
    if name in names:
        return names.index(name)
    if name.isdecimal() and int(name) < len(several):
        return int(name)
    known = [n for n in names if isinstance(n, str)]
    raise SceneError([f"there is no entry '{name}'{did_you_mean(name, known)}; there are {len(several)}: {', '.join(known)}"])
