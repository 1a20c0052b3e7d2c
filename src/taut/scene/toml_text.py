"""TOML out: what a scene holds, as text that `tomllib` reads back to the same values.

Tables of the first level are written as [table], lists of tables as [[table]], whatever is deeper as an inline table.
"""

from __future__ import annotations

import re
from typing import Any

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r", "\b": "\\b", "\f": "\\f"}


def toml(data: dict[str, Any]) -> str:
    """The text of a table.

    >>> print(toml({"title": "One", "time": {"h": 0.01}, "body": [{"name": "a", "law": [{"k": 1.0, "on": [[0, 1]]}]}]}))
    title = "One"
    <BLANKLINE>
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
    return "\n".join(_table(data, "")).lstrip("\n") + "\n"


def _table(data: dict[str, Any], path: str) -> list[str]:
    out = [f"{key(name)} = {value(v)}" for name, v in data.items() if not _own(v, path)]
    for name, v in data.items():
        if _own(v, path):
            below = f"{path}.{key(name)}" if path else key(name)
            for entry in v if isinstance(v, list) else [v]:
                out += ["", f"[[{below}]]" if isinstance(v, list) else f"[{below}]", *_table(entry, below)]
    return out


def _own(v: Any, path: str) -> bool:
    """Whether a value has a header of its own."""
    return (isinstance(v, dict) and not path) or (isinstance(v, list) and bool(v) and all(isinstance(entry, dict) for entry in v))


def key(name: str) -> str:
    """A key, quoted where it must be."""
    return name if _BARE.fullmatch(name) else string(name)


def value(v: Any) -> str:
    """A value on one line."""
    if isinstance(v, bool):
        return "true" if v else "false"
    if isinstance(v, str):
        return string(v)
    if isinstance(v, (int, float)):
        return repr(v)
    if isinstance(v, list):
        return f"[{', '.join(value(entry) for entry in v)}]"
    return f"{{ {', '.join(f'{key(name)} = {value(entry)}' for name, entry in v.items())} }}" if v else "{}"


def string(text: str) -> str:
    """A text in quotes, on one line."""
    return f'"{"".join(_ESCAPES.get(c) or (c if c.isprintable() else _escaped(c)) for c in text)}"'


def _escaped(c: str) -> str:
    return f"\\u{ord(c):04x}" if ord(c) < 0x10000 else f"\\U{ord(c):08x}"
