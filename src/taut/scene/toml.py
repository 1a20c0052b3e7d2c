"""TOML text to tables and back, and overrides of single values.

The size of the text, the nesting and the length of dotted keys are limited, so that a hostile file
is rejected quickly.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from taut.errors import MeshError, SceneError, did_you_mean
from taut.regular_file import read_regular_file
from taut.scene._limits import MAX_DOTTED_NAMES, MAX_FILE_BYTES, MAX_NESTING
from taut.scene._source_lines import KeyPath

# Possessive quantifiers, and a match only where a name begins: a megabyte of letters is scanned
# once instead of once from each letter.
_NAME = r"""(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+"""
_LONG_KEY = re.compile(rf"(?<![\w-])(?:{_NAME}\.[ \t]*+){{{MAX_DOTTED_NAMES}}}")
_OVERRIDE_NAMES = re.compile(r"""\"[^\"]*\"|'[^']*'|[^.]+""")
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_ESCAPES = {
    '"': '\\"',
    "\\": "\\\\",
    "\n": "\\n",
    "\t": "\\t",
    "\r": "\\r",
    "\b": "\\b",
    "\f": "\\f",
}


def read_file(path: Path) -> str:
    """Return the text of a scene file."""
    try:
        if path.is_file() and path.stat().st_size > MAX_FILE_BYTES:
            size = path.stat().st_size
            raise SceneError(
                [f"the file has {size:,} bytes; the limit is {MAX_FILE_BYTES:,}"], path=path
            )
        return read_regular_file(path, "scene").decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise SceneError([f"byte {error.start}: the file is not UTF-8 text"], path=path) from None
    except MeshError as error:
        raise SceneError([error.message], path=path) from None
    except (OSError, ValueError) as error:
        raise SceneError([f"the file cannot be read: {error}"], path=path) from None


def parse(text: str, path: Any = None) -> dict[str, Any]:
    """Parse a TOML text into tables.

    path : the file, for error messages

    >>> parse("[time]\\nh = 0.1")
    {'time': {'h': 0.1}}
    >>> parse("h = = 3")
    Traceback (most recent call last):
    taut.errors.SceneError: 1 error:
      line 1: Invalid value (column 5)
    """
    if len(text) > MAX_FILE_BYTES:
        raise SceneError(
            [f"the text has {len(text):,} characters; the limit is {MAX_FILE_BYTES:,}"], path=path
        )
    long_key = _LONG_KEY.search(text)
    if long_key is not None:
        line = text.count("\n", 0, long_key.start()) + 1
        raise SceneError(
            [f"line {line}: a key joins more than {MAX_DOTTED_NAMES} names by dots"], path=path
        )
    too_deep = f"tables and lists are nested more than {MAX_NESTING} deep"
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SceneError([_put_line_first(error)], path=path) from None
    except RecursionError:
        raise SceneError([too_deep], path=path) from None
    except ValueError as error:  # an integer of thousands of digits, or an impossible date
        raise SceneError([str(error)], path=path) from None
    if _is_nested_too_deep(tables):
        raise SceneError([too_deep], path=path)
    return tables


def _put_line_first(error: tomllib.TOMLDecodeError) -> str:
    match = re.fullmatch(r"(.*) \(at line (\d+), column (\d+)\)", str(error), re.DOTALL)
    if match is None:
        return str(error)
    return f"line {match[2]}: {match[1]} (column {match[3]})"


def _is_nested_too_deep(tables: Any) -> bool:
    """Count the nesting level by level: recursion could overflow the stack."""
    level = [tables]
    for _ in range(MAX_NESTING):
        below: list[Any] = []
        for container in level:
            below += container.values() if isinstance(container, dict) else container
        level = [value for value in below if isinstance(value, (dict, list))]
    return bool(level)


def override(text: str) -> tuple[str, Any]:
    """Parse an override written as "a.b=value"; a value that is not TOML is taken as a string.

    >>> override("time.h=0.005"), override("integrator.method=RK4")
    (('time.h', 0.005), ('integrator.method', 'RK4'))
    """
    name, sign, value = text.partition("=")
    if not sign or not name.strip():
        raise SceneError([f"an override must have the form a.b=value, got '{text[:60]}'"])
    try:
        tables = parse(f"value = {value}")
    except SceneError:
        return name.strip(), value.strip()
    # A value with a line break could add further keys: then it is a string too.
    if set(tables) != {"value"}:
        return name.strip(), value.strip()
    return name.strip(), tables["value"]


def apply_overrides(tables: dict[str, Any], overrides: Iterable[tuple[str, Any]]) -> list[KeyPath]:
    """Change values of tables in place, and return the paths of the changed values.

    An entry of a list is addressed by its index or its name; a name with a dot is quoted. The value
    None, which TOML does not have, removes a key.

    >>> tables = {"body": [{"name": "cloth", "density": 1.0}]}
    >>> apply_overrides(tables, [("body.cloth.density", 2.0)]), tables
    ([('body', 0, 'density')], {'body': [{'name': 'cloth', 'density': 2.0}]})
    """
    errors = []
    paths = []
    for name, value in overrides:
        try:
            paths.append(_set_value(tables, name, value))
        except SceneError as error:
            errors += [f"{name}: {text}" for text in error.problems]
    if errors:
        raise SceneError(errors)
    return paths


def _set_value(tables: dict[str, Any], dotted: str, value: Any) -> KeyPath:
    names = []
    for name in _OVERRIDE_NAMES.findall(dotted):
        names.append(name[1:-1] if name[0] in "\"'" else name)
    container: Any = tables
    path: KeyPath = ()
    for i, name in enumerate(names):
        key: Any
        if isinstance(container, list):
            key = _find_entry(container, name)
        elif isinstance(container, dict):
            key = name
            container.setdefault(key, {})
        else:
            raise SceneError([f"'{'.'.join(names[:i])}' is not a table or list"])
        if i == len(names) - 1:
            if value is None:
                container.pop(key)
                return (*path, key)
            container[key] = value
        container = container[key]
        path = (*path, key)
    return path


def _find_entry(entries: list[Any], name: str) -> int:
    """Return the index of the entry with this name, law or number."""
    names = [e.get("name", e.get("law")) if isinstance(e, dict) else None for e in entries]
    if name in names:
        return names.index(name)
    if name.isdecimal() and int(name) < len(entries):
        return int(name)
    known = [n for n in names if isinstance(n, str)]
    raise SceneError(
        [
            f"there is no entry '{name}'{did_you_mean(name, known)}; "
            f"the list has {len(entries)}: {', '.join(known)}"
        ]
    )


def format_toml(tables: dict[str, Any]) -> str:
    """Return TOML text that `tomllib` reads back to the same values.

    Tables of the first level become [table], lists of tables [[table]], deeper ones are inline.

    >>> law = {"k": 1.0, "on": [[0, 1]]}
    >>> print(format_toml({"time": {"h": 0.01}, "body": [{"name": "a", "law": [law]}]}))
    [time]
    h = 0.01
    <BLANKLINE>
    [[body]]
    name = "a"
    <BLANKLINE>
    [[body.law]]
    k = 1.0
    on = [[0, 1]]
    <BLANKLINE>
    """
    return "\n".join(_format_table(tables, "")).lstrip("\n") + "\n"


def _format_table(table: dict[str, Any], path: str) -> list[str]:
    """Format the plain values of a table first, then the tables with headers of their own."""
    lines = []
    for name, value in table.items():
        if not _has_header(value, path):
            lines.append(f"{_format_key(name)} = {format_value(value)}")
    for name, value in table.items():
        if not _has_header(value, path):
            continue
        header = f"{path}.{_format_key(name)}" if path else _format_key(name)
        if isinstance(value, list):
            for entry in value:
                lines += ["", f"[[{header}]]", *_format_table(entry, header)]
        else:
            lines += ["", f"[{header}]", *_format_table(value, header)]
    return lines


def _has_header(value: Any, path: str) -> bool:
    if isinstance(value, dict):
        return not path
    if isinstance(value, list):
        return bool(value) and all(isinstance(entry, dict) for entry in value)
    return False


def _format_key(name: str) -> str:
    return name if _BARE_KEY.fullmatch(name) else _format_string(name)


def format_value(value: Any) -> str:
    """Return a value as TOML on one line."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _format_string(value)
    if isinstance(value, list):
        return f"[{', '.join(format_value(entry) for entry in value)}]"
    if isinstance(value, dict):
        if not value:
            return "{}"
        pairs = [f"{_format_key(name)} = {format_value(entry)}" for name, entry in value.items()]
        return f"{{ {', '.join(pairs)} }}"
    return repr(value)


def _format_string(text: str) -> str:
    return f'"{"".join(map(_escape, text))}"'


def _escape(c: str) -> str:
    if c in _ESCAPES:
        return _ESCAPES[c]
    if c.isprintable():
        return c
    return f"\\u{ord(c):04x}" if ord(c) < 0x10000 else f"\\U{ord(c):08x}"
