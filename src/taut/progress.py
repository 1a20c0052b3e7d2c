"""How far long work is, on standard error: a bar on a terminal, elsewhere a line now and then."""

from __future__ import annotations

import math
import sys
import time
from typing import TextIO

WIDTH = 24


class Progress:
    """One part after the other.

    who : what begins each line where there is no terminal
    every : seconds between lines within a part there; None: one at its beginning and one at its end are enough

    >>> p = Progress("taut bench", stream=sys.stdout)
    >>> p.begin("symplectic", 2)
    taut bench: symplectic …
    >>> p.at(2, "residual ratio 1e-3")  # on a terminal, or after `every` seconds
    """

    def __init__(self, who: str, *, every: float | None = None, stream: TextIO | None = None) -> None:
        self.who, self.every = who, every
        self.stream = sys.stderr if stream is None else stream
        self._bar = self.stream.isatty()
        self._name, self._total, self._begun, self._said = "", 0, 0.0, 0.0

    def begin(self, name: str, total: int = 0) -> None:
        """Start a part of so many steps (0: not known)."""
        self._name, self._total = name, total
        self._begun = self._said = time.perf_counter()
        if self._bar:
            self.at(0, "")
        else:
            self._line(f"{name} …")

    def at(self, step: int, text: str, *, total: int | None = None, left: float | None = None) -> None:
        """A step of the part is done, of `total` if that was not known before.

        left : seconds to come (default: as so far; nan: not known)
        """
        now = time.perf_counter()
        self._total = total or self._total
        if self._total and step and left is None:
            left = (now - self._begun) / step * (self._total - step)
        count = f"{step}/{self._total}" if self._total else ""
        words = [count, "" if left is None or math.isnan(left) else f"{_duration(left)} left", text]
        if self._bar:
            full = WIDTH * step // self._total if self._total else 0
            bar = [f"[{'█' * full}{'·' * (WIDTH - full)}]"] if self._total else []
            print(f"\r\x1b[2K{self._name}  {'  '.join(filter(None, [*bar, *words]))}", end="", file=self.stream, flush=True)
        elif self.every is not None and now - self._said >= self.every:
            self._said = now
            self._line(f"{self._name}: {', '.join(filter(None, words))}")

    def done(self) -> None:
        """The part is over."""
        if self._bar:
            print("\r\x1b[2K", end="", file=self.stream, flush=True)
        else:
            self._line(f"{self._name}: {time.perf_counter() - self._begun:.1f} s")

    def _line(self, text: str) -> None:
        print(f"{self.who}: {text}", file=self.stream, flush=True)


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
