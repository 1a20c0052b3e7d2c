"""The one family of errors: everything taut raises on purpose is a `TautError`."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any

__all__ = [  # `taut.TautError` and `taut.NotConverged` are named at the top
    "CacheError", "EigenError", "LawError", "MeshError", "MissingExtra", "ModelError", "RunError", "SceneError", "SingularState",
]  # fmt: skip


def plain(text: str) -> str:
    """Text in which nothing steers a terminal: names from files may hold anything.

    >>> plain("red \\x1b[31m")
    'red \\\\x1b[31m'
    """
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


class TautError(Exception):
    """Base of every error that taut raises on purpose."""


class LawError(TautError):
    """A formula that cannot become a law, or a law bound to elements or parameters that do not fit it."""


class ModelError(TautError):
    """A System, State or constraint that makes no sense: it names the particle or the keyword."""


class MeshError(TautError):
    """A mesh or mesh file that cannot be used: it names the file, the line and the element, as far as there are any.

    `path`, `line` and `element` hold them for programs.
    """

    def __init__(self, message: str, *, path: Any = None, line: int | None = None, element: str | None = None) -> None:
        self.path, self.line, self.element = path, line, element
        where = [None if path is None else str(path), None if line is None else f"line {line}", element]
        place = ", ".join(part for part in where if part)
        self.message = message
        super().__init__(f"{place}: {message}" if place else message)

    def at(self, path: Any) -> MeshError:
        """The same with its file, if it names none yet."""
        return self if self.path is not None else MeshError(self.message, path=path, line=self.line, element=self.element)


class SceneError(TautError):
    """A scene that cannot be used: every problem at once, each with its place in the file.

    `problems` holds them one by one for programs; `path` is the file. The message has the first fifty.
    """

    SHOWN = 50

    def __init__(self, problems: Iterable[str], *, path: Any = None) -> None:
        self.problems, self.path = tuple(problems), path
        count = "a problem" if len(self.problems) == 1 else f"{len(self.problems)} problems"
        head = count if path is None else f"{path}: {count}"
        more = [f"and {len(self.problems) - self.SHOWN} more"] if len(self.problems) > self.SHOWN else []
        super().__init__("\n  ".join([f"{head}:", *self.problems[: self.SHOWN], *more]))


class RunError(TautError):
    """A run folder that cannot be written, read or trusted: it names the folder, and the frame or checkpoint."""


class SingularState(TautError):
    """An element whose energy or derivatives are not finite where they were needed: it names law and element."""


class CacheError(TautError):
    """The kernel cache cannot be trusted or written."""


class EigenError(TautError):
    """Eigenvalues that could not be found, counted or verified."""


class MissingExtra(TautError):
    """Something that needs a package which is not installed: it names the command that installs it."""


class NotConverged(TautError):
    """A step, an equilibrium or a form that missed its tolerance.

    `report` is a `taut.Report` and says how far it came: of the step, or of the last descent towards an equilibrium or a form.
    `state` is the untouched state that a step began from, or where the descent ended.
    """

    def __init__(self, message: str, report: Any = None, state: Any = None) -> None:
        super().__init__(message)
        self.report = report
        self.state = state


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """A hint to append to an error about an unknown name; empty when nothing is close."""
    close = get_close_matches(word, list(known), n=1, cutoff=0.5)
    return f"; did you mean '{close[0]}'?" if close else ""
