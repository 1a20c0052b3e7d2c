"""Line numbers of the values of a TOML text, for error messages.

`tomllib` does not report where a value was written. This scanner does; it relies on the text being
valid TOML, which `tomllib` has already checked.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable

KeyPath = tuple[str | int, ...]
"""Where a value is in the tables, such as ("body", 0, "mesh", "nx")."""

_SPACE = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_KEY = re.compile(r"""[ \t]*(?:"((?:[^"\\\n]|\\.)*)"|'([^'\n]*)'|([A-Za-z0-9_-]+))[ \t]*""")
_STRING = re.compile(
    r'"""(?:[^\\]|\\.)*?"""+|\'\'\'.*?\'\'\'+|"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'', re.DOTALL
)
_PLAIN_VALUE = re.compile(r"[^,\]}\n#]*")
_BLANK = re.compile(r"[ \t]*")
_NUMBERS = re.compile(r"(?:(?:[-+\d.eE_]++|\[[-+\d.eE_,\s]*+\])\s*+,\s*+)++")
# Lists of numbers may have 100,000 entries. The lines of the first hundred entries are recorded one
# by one; later ones are skipped by one regular expression, because a Python loop over them would
# dominate the time to read a scene.
_RECORDED_ENTRIES = 100


class SourceLines:
    """The line of each value of a scene file, counted from 1.

    overridden : paths of values that were changed after the text was read

    >>> SourceLines('a = 1\\n[[body]]\\nmesh = { nx = 3 }\\n').line(("body", 0, "mesh", "nx"))
    3
    """

    def __init__(self, text: str, overridden: Iterable[KeyPath] = ()) -> None:
        self.overridden = frozenset(overridden)
        self.text = text.replace("\r\n", "\n")
        self.lines: dict[KeyPath, int] = {}
        self._position = 0  # of the scanner in the text
        self._newlines = [i for i, c in enumerate(self.text) if c == "\n"]
        self._last_index: dict[KeyPath, int] = {}  # of each list of tables, [[name]]
        self._scan()

    def line(self, path: KeyPath) -> int | None:
        """Return the line of a value, or of the nearest enclosing table that was written."""
        for end in range(len(path), 0, -1):
            if path[:end] in self.lines:
                return self.lines[path[:end]]
        return None

    def is_overridden(self, path: KeyPath) -> bool:
        """Whether the value, or a table around it, was changed after the text was read."""
        return any(path[:end] in self.overridden for end in range(1, len(path) + 1))

    def _record(self, path: KeyPath, position: int) -> None:
        """Record the line of a path, and of the tables around it that dotted keys create."""
        for end in range(len(path), 0, -1):
            if path[:end] in self.lines:
                return
            self.lines[path[:end]] = bisect_left(self._newlines, position) + 1

    def _scan(self) -> None:
        table: KeyPath = ()
        while True:
            self._skip(_SPACE)
            if self._position >= len(self.text):
                return
            start = self._position
            if self.text[start] == "[":
                is_list = self.text.startswith("[[", start)
                self._position += 2 if is_list else 1
                table = self._resolve_header(self._scan_key(), is_list=is_list)
                self._record(table, start)
                self._skip_line()
            else:
                self._scan_pair(table)

    def _resolve_header(self, names: list[str], *, is_list: bool) -> KeyPath:
        """Return the path of a header; a name of a list of tables stands for its last entry."""
        path: KeyPath = ()
        for i, name in enumerate(names):
            path = (*path, name)
            if is_list and i == len(names) - 1:
                self._last_index[path] = self._last_index.get(path, -1) + 1
            if path in self._last_index:
                path = (*path, self._last_index[path])
        return path

    def _scan_pair(self, table: KeyPath) -> None:
        start = self._position
        path = (*table, *self._scan_key())
        self._record(path, start)
        self._position += 1  # the equals sign
        self._scan_value(path)

    def _scan_key(self) -> list[str]:
        names = []
        while match := _KEY.match(self.text, self._position):
            names.append(next(group for group in match.groups() if group is not None))
            self._position = match.end()
            if not self.text.startswith(".", self._position):
                break
            self._position += 1
        return names

    def _scan_value(self, path: KeyPath) -> None:
        self._skip(_BLANK)
        first = self.text[self._position : self._position + 1]
        if first == "[":
            self._position += 1
            self._scan_entries(path, "]")
        elif first == "{":
            self._position += 1
            self._scan_entries(path, "}")
        elif first in ('"', "'"):
            self._skip(_STRING)
        else:
            self._skip(_PLAIN_VALUE)

    def _scan_entries(self, path: KeyPath, closing: str) -> None:
        """Scan a list or an inline table up to its closing bracket."""
        count = 0
        while True:
            self._skip(_SPACE)
            c = self.text[self._position : self._position + 1]
            if c in (closing, ""):
                self._position += 1
                return
            if c == ",":
                self._position += 1
            elif closing == "}":
                self._scan_pair(path)
            elif count >= _RECORDED_ENTRIES and (
                numbers := _NUMBERS.match(self.text, self._position)
            ):
                self._position = numbers.end()
            else:
                self._record((*path, count), self._position)
                self._scan_value((*path, count))
                count += 1

    def _skip(self, pattern: re.Pattern[str]) -> None:
        match = pattern.match(self.text, self._position)
        self._position = match.end() if match else self._position + 1

    def _skip_line(self) -> None:
        end = self.text.find("\n", self._position)
        self._position = len(self.text) if end < 0 else end
