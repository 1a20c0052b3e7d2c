"""Look at a long computation from outside, while it runs.

The minimisers report each iteration, and the linear solver reports in the middle of a long solve.
Whoever has called `watching` around the computation is then called, and may show how far it is, or
end it by raising an exception. Without a watcher a report costs nothing.

>>> from types import SimpleNamespace
>>> minimisation = SimpleNamespace(iterations=3, worst_present_residual=lambda: 12.0)
>>> with watching(lambda work: print(work)):
...     report_iteration(minimisation)
...     report_linear_iterations(400)
no iterations yet
3 iterations, residual 12 × tolerance
3 iterations, residual 12 × tolerance, linear solve at 400 iterations
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol


class Minimisation(Protocol):
    """What a minimiser shows of its work: `taut.optimise.descent.Descent`."""

    iterations: int

    def worst_present_residual(self) -> float:
        """Return the largest residual at the present point, in units of its tolerance."""


class Work:
    """The work of a computation so far.

    iterations : of all its minimisations
    linear_iterations : of the linear solve under way; 0 before its first report
    """

    def __init__(self) -> None:
        self.iterations = self.linear_iterations = 0
        self._minimisation: Minimisation | None = None
        self._counted = 0  # iterations of the present minimisation that are counted above

    @property
    def residual(self) -> float | None:
        """The worst residual in units of its tolerance; None where nothing is minimised."""
        if self._minimisation is None:
            return None
        return self._minimisation.worst_present_residual()

    def __str__(self) -> str:
        words = []
        residual = self.residual
        if residual is not None:
            words += [f"{self.iterations:,} iterations", f"residual {residual:.3g} × tolerance"]
        if self.linear_iterations:
            words.append(f"linear solve at {self.linear_iterations:,} iterations")
        return ", ".join(words) or "no iterations yet"

    def count(self, minimisation: Minimisation) -> None:
        """Count the iterations of a minimisation since it was counted last."""
        if minimisation is not self._minimisation:
            self._minimisation, self._counted = minimisation, 0
        self.iterations += minimisation.iterations - self._counted
        self._counted = minimisation.iterations
        self.linear_iterations = 0


Watcher = Callable[[Work], object]
# One for each thread: simulations in several threads have their own watchers.
_WATCHED: ContextVar[tuple[Work, Watcher] | None] = ContextVar("taut_watched", default=None)


@contextmanager
def watching(watcher: Watcher) -> Iterator[None]:
    """Call `watcher` with the `Work` so far: now, and often within the block.

    An exception that it raises ends the computation there.
    """
    work = Work()
    token = _WATCHED.set((work, watcher))
    try:
        watcher(work)
        yield
    finally:
        _WATCHED.reset(token)


def is_watched() -> bool:
    """Whether a block of `watching` is under way in this thread.

    >>> is_watched()
    False
    """
    return _WATCHED.get() is not None


def report_iteration(minimisation: Minimisation) -> None:
    """Tell the watcher, if there is one, that an iteration of a minimisation begins."""
    watched = _WATCHED.get()
    if watched is not None:
        work, watcher = watched
        work.count(minimisation)
        watcher(work)


def report_linear_iterations(iterations: int) -> None:
    """Tell the watcher, if there is one, the iterations so far of the linear solve under way."""
    watched = _WATCHED.get()
    if watched is not None:
        work, watcher = watched
        work.linear_iterations = iterations
        watcher(work)
