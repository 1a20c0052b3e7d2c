"""Where in a TOML text each value stands: path → line, for error messages. The text is known to be TOML."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable

_SPACE = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_KEY = re.compile(r"""[ \t]*(?:"((?:[^"\\\n]|\\.)*)"|'([^'\n]*)'|([A-Za-z0-9_-]+))[ \t]*""")
_STRING = re.compile(r'"""(?:[^\\]|\\.)*?"""+|\'\'\'.*?\'\'\'+|"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'', re.DOTALL)
_PLAIN = re.compile(r"[^,\]}\n#]*")
_BLANK = re.compile(r"[ \t]*")
_NUMBERS = re.compile(r"(?:(?:[-+\d.eE_]++|\[[-+\d.eE_,\s]*+\])\s*+,\s*+)++")
FOLLOWED = 100  # entries of a list whose lines are kept one by one, before runs of numbers and rows are skipped

Place = tuple[str | int, ...]


class Places:
    """The lines of the values of a scene file, counted from 1.

    >>> Places('a = 1\\n[[body]]\\nmesh = { nx = 3 }\\n').line(("body", 0, "mesh", "nx"))
    3
    """

    def __init__(self, text: str, changed: Iterable[Place] = ()) -> None:
        self.changed = frozenset(changed)  # places of values that are not those of the text
        self.text, self.at = text.replace("\r\n", "\n"), 0
        self.lines: dict[Place, int] = {}
        self._newlines = [i for i, c in enumerate(self.text) if c == "\n"]
        self._counts: dict[Place, int] = {}
        self._all()

    def line(self, place: Place) -> int | None:
        """The line of a value, or of the nearest table around it that was written."""
        for end in range(len(place), 0, -1):
            if place[:end] in self.lines:
                return self.lines[place[:end]]
        return None

    def was_changed(self, place: Place) -> bool:
        """Whether the value is not that of the text."""
        return any(place[:end] in self.changed for end in range(1, len(place) + 1))

    def _note(self, place: Place, at: int) -> None:
        for end in range(len(place), 0, -1):
            if place[:end] in self.lines:
                return
            self.lines[place[:end]] = bisect_left(self._newlines, at) + 1

    def _all(self) -> None:
        table: Place = ()
        while True:
            self._skip(_SPACE)
            if self.at >= len(self.text):
                return
            start = self.at
            if self.text[self.at] == "[":
                several = self.text.startswith("[[", self.at)
                self.at += 2 if several else 1
                table = self._resolved(self._keys(), several=several)
                self._note(table, start)
                self.at = self._end_of_line()
            else:
                self._pair(table)

    def _resolved(self, names: list[str], *, several: bool) -> Place:
        """The path of a header: names of lists of tables mean their last entry."""
        place: Place = ()
        for i, name in enumerate(names):
            place = (*place, name)
            if several and i == len(names) - 1:
                self._counts[place] = self._counts.get(place, -1) + 1
            if place in self._counts:
                place = (*place, self._counts[place])
        return place

    def _pair(self, table: Place) -> None:
        start = self.at
        place = (*table, *self._keys())
        self._note(place, start)
        self.at += 1  # the sign =
        self._value(place)

    def _keys(self) -> list[str]:
        found = []
        while match := _KEY.match(self.text, self.at):
            found.append(next(group for group in match.groups() if group is not None))
            self.at = match.end()
            if not self.text.startswith(".", self.at):
                break
            self.at += 1
        return found

    def _value(self, place: Place) -> None:
        self._skip(_BLANK)
        c = self.text[self.at : self.at + 1]
        if c in ("[", "{"):
            self.at += 1
            self._several(place, "]" if c == "[" else "}")
        elif c in ('"', "'"):
            self._skip(_STRING)
        else:
            self._skip(_PLAIN)

    def _several(self, place: Place, end: str) -> None:
        count = 0
        while True:
            self._skip(_SPACE)
            c = self.text[self.at : self.at + 1]
            if c in (end, ""):
                self.at += 1
                return
            if c == ",":
                self.at += 1
            elif end == "}":
                self._pair(place)
            elif count >= FOLLOWED and (run := _NUMBERS.match(self.text, self.at)):
                self.at = run.end()
            else:
                self._note((*place, count), self.at)
                self._value((*place, count))
                count += 1

    def _skip(self, what: re.Pattern[str]) -> None:
        match = what.match(self.text, self.at)
        self.at = match.end() if match else self.at + 1

    def _end_of_line(self) -> int:
        end = self.text.find("\n", self.at)
        return len(self.text) if end < 0 else end
