"""Exceptions: every error that taut raises on purpose is a `TautError`."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from functools import partial
from typing import Any

__all__ = [  # `TautError` and `NotConverged` are public as `taut.TautError`, `taut.NotConverged`
    "CacheError",
    "EigenError",
    "LawError",
    "MeshError",
    "MissingExtra",
    "ModelError",
    "RunError",
    "SceneError",
    "SingularState",
]


def escape_unprintable(text: str) -> str:
    """Escape control characters: names from files must not send commands to a terminal.

    >>> escape_unprintable("red \\x1b[31m")
    'red \\\\x1b[31m'
    """
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


class TautError(Exception):
    """Base class of every error that taut raises on purpose."""


class LawError(TautError):
    """A formula that cannot become a law, or elements or parameters that do not fit a law."""


class ModelError(TautError):
    """A System, State or constraint that is not valid; the message names particle or keyword."""


class MeshError(TautError):
    """A mesh or mesh file that cannot be used.

    The message names the file, the line and the element, as far as they are known; the attributes
    `path`, `line` and `element` hold them.
    """

    def __init__(
        self, message: str, *, path: Any = None, line: int | None = None, element: str | None = None
    ) -> None:
        self.message = message
        self.path = path
        self.line = line
        self.element = element
        place = []
        if path is not None and str(path):
            place.append(str(path))
        if line is not None:
            place.append(f"line {line}")
        if element:
            place.append(element)
        super().__init__(f"{', '.join(place)}: {message}" if place else message)

    def with_path(self, path: Any) -> MeshError:
        """Return this error with a file, unless it names one already."""
        if self.path is not None:
            return self
        return MeshError(self.message, path=path, line=self.line, element=self.element)


class SceneError(TautError):
    """A scene that cannot be used: all of its errors together, each with its place in the file.

    `problems` holds them one by one; `path` is the file. The message shows the first fifty.
    """

    MAX_SHOWN = 50

    def __init__(self, problems: Iterable[str], *, path: Any = None) -> None:
        self.problems = tuple(problems)
        self.path = path
        count = len(self.problems)
        heading = "1 error:" if count == 1 else f"{count} errors:"
        if path is not None:
            heading = f"{path}: {heading}"
        lines = [heading, *self.problems[: self.MAX_SHOWN]]
        if count > self.MAX_SHOWN:
            lines.append(f"and {count - self.MAX_SHOWN} more")
        super().__init__("\n  ".join(lines))

    def __reduce__(self) -> tuple[Any, ...]:
        """For other processes: the default would take the message for the list of problems."""
        return partial(type(self), path=self.path), (self.problems,)


class RunError(TautError):
    """A run folder that cannot be written, read or trusted.

    The message names the folder, and the frame or checkpoint.
    """


class SingularState(TautError):
    """An energy or a derivative that is not finite; the message names the law and the element."""


class CacheError(TautError):
    """The kernel cache cannot be written or trusted."""


class EigenError(TautError):
    """Eigenvalues that could not be computed, counted or verified."""


class MissingExtra(TautError):
    """A package that is not installed; the message has the command that installs it."""


class NotConverged(TautError):
    """A step, an equilibrium search or a form search that missed its tolerance.

    report : the `taut.Report` of the step, or of the last minimisation of the search
    state : the unchanged state at the start of the step, or where the search ended
    """

    def __init__(self, message: str, report: Any = None, state: Any = None) -> None:
        super().__init__(message)
        self.report = report
        self.state = state


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return a hint to append to an error about an unknown name; empty if no known name is close.

    >>> did_you_mean("cloht", ["cloth", "chain"])
    "; did you mean 'cloth'?"
    """
    close = get_close_matches(word, list(known), n=1, cutoff=0.5)
    return f"; did you mean '{close[0]}'?" if close else ""
