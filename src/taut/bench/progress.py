"""How far a long run is, on standard error: a bar on a terminal, elsewhere a line at the beginning and end of each part."""

from __future__ import annotations

import sys
import time
from typing import TextIO

WIDTH = 24


class Progress:
    """One part after the other.

    >>> p = Progress(sys.stdout)
    >>> p.begin("symplectic", 2)
    taut bench: symplectic …
    >>> p.at(2, "residual ratio 1e-3")
    >>> p.done = lambda: None  # its line has the seconds it took
    """

    def __init__(self, stream: TextIO | None = None) -> None:
        self.stream = sys.stderr if stream is None else stream
        self._bar = self.stream.isatty()
        self._name, self._total, self._begun = "", 0, 0.0

    def begin(self, name: str, total: int = 0) -> None:
        """Start a part of so many steps (0: not known)."""
        self._name, self._total, self._begun = name, total, time.perf_counter()
        if self._bar:
            self.at(0, "")
        else:
            print(f"taut bench: {name} …", file=self.stream, flush=True)

    def at(self, step: int, text: str) -> None:
        """A step of the part is done."""
        if not self._bar:
            return
        spent = time.perf_counter() - self._begun
        if self._total:
            full = WIDTH * step // self._total
            left = f"{spent / step * (self._total - step):.0f} s left" if step else ""
            text = f"[{'█' * full}{'·' * (WIDTH - full)}] {step}/{self._total} {left} {text}"
        print(f"\r\x1b[2K{self._name}  {text}", end="", file=self.stream, flush=True)

    def done(self) -> None:
        """The part is over."""
        if self._bar:
            print("\r\x1b[2K", end="", file=self.stream, flush=True)
        else:
            print(f"taut bench: {self._name}: {time.perf_counter() - self._begun:.1f} s", file=self.stream, flush=True)
