"""Progress of long work on standard error: a bar on a terminal, lines elsewhere."""

from __future__ import annotations

import math
import sys
import time
from typing import TextIO

_BAR_WIDTH = 24  # characters
_CLEAR_LINE = "\r\x1b[2K"  # carriage return, then the ANSI sequence that erases the line


class Progress:
    """The progress of tasks that run one after another.

    label : begins each line where the stream is not a terminal
    every : seconds between lines of one task there; None: one line when it starts, one when it ends
    stream : where to print; default: standard error

    >>> p = Progress("taut bench", stream=sys.stdout)
    >>> p.start("symplectic", 2)
    taut bench: symplectic …
    >>> p.update(2, "residual ratio 1e-3")  # prints on a terminal, or after `every` seconds
    """

    def __init__(
        self, label: str, *, every: float | None = None, stream: TextIO | None = None
    ) -> None:
        self.label = label
        self.every = every
        self.stream = sys.stderr if stream is None else stream
        self._is_terminal = self.stream.isatty()
        self._is_running = False
        self._task = ""
        self._total = 0
        self._started = 0.0
        self._last_line = 0.0

    def start(self, task: str, total: int = 0) -> None:
        """Start a task of `total` steps (0: the number is not known yet)."""
        self._is_running = True
        self._task = task
        self._total = total
        self._started = self._last_line = time.perf_counter()
        if self._is_terminal:
            self.update(0, "")
        else:
            self._print_line(f"{task} …")

    def update(
        self, step: int, text: str, *, total: int | None = None, left: float | None = None
    ) -> None:
        """Show that `step` steps of the task are done.

        total : number of steps, if `start` did not know it
        left : remaining time [s]; default: extrapolated from the steps so far; nan: not shown
        """
        now = time.perf_counter()
        self._total = total or self._total
        if self._total and step and left is None:
            left = (now - self._started) / step * (self._total - step)
        words = []
        if self._total:
            words.append(f"{step}/{self._total}")
        if left is not None and not math.isnan(left):
            words.append(f"{_format_duration(left)} left")
        if text:
            words.append(text)
        if self._is_terminal:
            if self._total:
                full = _BAR_WIDTH * step // self._total
                words.insert(0, f"[{'█' * full}{'·' * (_BAR_WIDTH - full)}]")
            line = f"{_CLEAR_LINE}{self._task}  {'  '.join(words)}"
            print(line, end="", file=self.stream, flush=True)
        elif self.every is not None and now - self._last_line >= self.every:
            self._last_line = now
            self._print_line(f"{self._task}: {', '.join(words)}")

    def finish(self) -> None:
        """End the task: remove the bar, or print the time it took. Without a task, do nothing."""
        if not self._is_running:
            return
        self._is_running = False
        if self._is_terminal:
            print(_CLEAR_LINE, end="", file=self.stream, flush=True)
        else:
            self._print_line(f"{self._task}: {time.perf_counter() - self._started:.1f} s")

    def _print_line(self, text: str) -> None:
        print(f"{self.label}: {text}", file=self.stream, flush=True)


def _format_duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"
