"""Adaptive steps: shortened after a failure, or to keep the error in time below a bound."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import ClassVar

import numpy as np

from taut.errors import ModelError, NotConverged, SingularState
from taut.step.implicit import Implicit
from taut.step.integrator import Integrator
from taut.step.report import Report, add_work, combine_reports, without_work
from taut.step.step_result import StepResult
from taut.system.state import State
from taut.system.system import System
from taut.system.workspace import workspace_for

# Growth of a substep at once; a method that remembers the last step tolerates less.
_GROWTH, _GROWTH_WITH_MEMORY = 2.0, 1.15
# The error of two half steps under a held load, by their difference from a whole one:
# 5h³f'/48 by h³f'/16.
_HELD_LOAD_DOUBLING = 5 / 3
_LENGTH = "adaptive h"  # key in State.history, also in run folders: the next substep's length [s]
_SAFETY, _MAX_SHRINK = 0.9, 0.2  # aim a little below the bound; never shrink by more at once
_MIN_SUCCESSES = 2  # substeps that must succeed before a longer one is tried
_MIN_ERROR = 1e-300  # [m]: in place of an estimate of 0, which would divide by zero
_MAX_ITERATIONS = 100  # Newton iterations of a stage
_TIME_ROUNDING = 1e-9  # of a substep: the remainder that rounding of the time may leave


class _Halving:
    """Substeps of h/2^k on a grid of halves.

    k grows with each failure and falls after two successes, where the grid allows it.
    """

    def __init__(self, h: float, length: float, halvings: int) -> None:
        self.h, self.halvings = h, halvings
        self.level = next(
            (k for k in range(halvings) if h * 0.5**k <= length * (1.0 + _TIME_ROUNDING)), halvings
        )
        self.position, self.successes = 0, 0  # in units of h/2^halvings

    @property
    def length(self) -> float:
        """The length of a substep [s]."""
        return self.h * 0.5**self.level

    def next_length(self, left: float) -> float:
        """Return the length of the next substep [s]; `left` is the rest of the step [s]."""
        last = self.position + 2 ** (self.halvings - self.level) == 2**self.halvings
        return left if last else self.length

    def shorten(self) -> bool:
        """Shorten the next substep; return False if the limit is reached."""
        self.successes = 0
        self.level += 1
        return self.level <= self.halvings

    def accept(self, substep: float, error: float) -> bool:
        """Set the length of the next substep; return True, since no error is estimated."""
        self.position += 2 ** (self.halvings - self.level)
        self.successes += 1
        coarser = 2 ** (self.halvings - self.level + 1)
        if self.level and self.successes >= _MIN_SUCCESSES and self.position % coarser == 0:
            self.level, self.successes = self.level - 1, 0
        return True


class _ErrorControl:
    """Substeps as long as the estimated error of each allows."""

    def __init__(
        self, h: float, length: float, halvings: int, *, bound: float, order: int, growth: float
    ) -> None:
        self.h, self.length, self.least = h, length, h * 0.5**halvings
        self.bound, self.exponent, self.growth = bound, 1.0 / (order + 1), growth
        self.tried = length

    def next_length(self, left: float) -> float:
        """Return the length of the next substep [s]; `left` is the rest of the step [s]."""
        if left <= self.length * (1.0 + _TIME_ROUNDING):
            self.tried = left
        else:
            # Two halves rather than a sliver at the end.
            self.tried = left / 2 if left < 2.0 * self.length else self.length
        return self.tried

    def shorten(self) -> bool:
        """Shorten the next substep; return False if the limit is reached."""
        self.length = 0.5 * self.tried
        return self.length >= self.least

    def accept(self, substep: float, error: float) -> bool:
        """Set the length of the next substep; return whether the error is within the bound."""
        follow = _SAFETY * (self.bound / max(error, _MIN_ERROR)) ** self.exponent
        if error > self.bound:
            self.length = max(_MAX_SHRINK, min(follow, 0.5)) * substep
            return False
        self.length = min(self.h, max(_MAX_SHRINK, min(follow, self.growth)) * substep)
        return True


class Adaptive(Integrator):
    """Steps of another integrator, each divided into as many substeps as needed.

    integrator : what takes the steps
    error : the error in positions [m] that a substep may have, estimated by comparing one step
        with two of half the length; the two are kept. None: substeps are shortened only after one
        fails
    halvings : no substep is shorter than h/2^halvings; NotConverged is raised instead

    A substep that does not converge, takes more than a hundred Newton iterations (with contact: for
    its friction alone), or ends outside the finite numbers, is rolled back and tried again at half
    the length; after two that succeed a longer one is tried, up to h. The length is kept in
    `State.history`, so a resumed run goes on in the same steps; the `Report` says how many substeps
    and retries there were.

    >>> import taut
    >>> steps = taut.Adaptive(taut.TRBDF2(), error=1e-5)
    >>> steps.order
    2
    """

    _declared: ClassVar[tuple[str, ...]] = ()  # an instance has those of its integrator

    def __init__(
        self, integrator: Integrator, *, error: float | None = None, halvings: int = 16
    ) -> None:
        if not isinstance(integrator, Integrator) or isinstance(integrator, Adaptive):
            raise ModelError(
                f"Adaptive needs an integrator such as taut.ImplicitEuler(), got {integrator!r}"
            )
        if error is not None and not (
            isinstance(error, (int, float)) and 0.0 < error < float("inf")
        ):
            raise ModelError(
                "the error of an adaptive step must be a positive, finite length in metres, "
                f"got {error!r}"
            )
        if not (isinstance(halvings, int) and 0 <= halvings <= 60):
            raise ModelError(f"halvings must be a whole number from 0 to 60, got {halvings!r}")
        self.integrator, self.error, self.halvings = integrator, error, halvings
        self.order, self.stability = integrator.order, integrator.stability  # type: ignore[misc]
        self.needs, self.descends = integrator.needs, integrator.descends  # type: ignore[misc]

    def advance(self, system: System, state: State, h: float) -> StepResult:
        """Take substeps, each of which holds the loads and breaks elements for itself."""
        started = time.perf_counter()
        self.check(workspace_for(system).without_ended_constraints(state.t, h).system, state, h)
        control = self._create_control(system, h, min(h, _read_length(state, h)))
        substeps: list[StepResult] = []
        # Reports on attempts that failed, and on steps that only served to estimate an error.
        wasted: list[Report] = []
        now, end, retries, error, shortest = state, state.t + h, 0, 0.0, h
        while True:
            # Exactly h at first: buffers and factors that depend on the length are then reused.
            left = h if now is state else end - now.t
            length = control.next_length(left)
            failure: NotConverged | SingularState | None = None
            taken: list[StepResult] = []
            try:
                with _limit_iterations(self.integrator):
                    estimate = self._take_substep(system, now, length, taken, wasted)
            except (NotConverged, SingularState) as caught:
                failure = caught
            if failure is not None or not control.accept(length, estimate):
                retries += 1
                wasted += [part.report for part in taken]
                if isinstance(failure, NotConverged) and failure.report is not None:
                    wasted.append(failure.report)
                if failure is not None:
                    may_retry = control.shorten()
                else:
                    may_retry = control.length >= h * 0.5**self.halvings
                if not may_retry:
                    raise self._give_up(failure, state, h, retries, wasted) from failure
                continue
            error, shortest = max(error, estimate), min(shortest, length)
            substeps += taken
            now = taken[-1].state
            if length == left:
                break
        history = dict(now.history)
        if control.length < h:
            history[_LENGTH] = np.array(control.length)
        note = _first_note(substeps)
        if retries:
            shortened = f"shortened to {shortest:.3g} s"
            note = f"{note}; {shortened}" if note else shortened
        seconds = time.perf_counter() - started
        report = combine_reports([part.report for part in substeps], end, h, seconds)
        report = replace(
            add_work(report, wasted),
            integrator=self._name,
            substeps=len(substeps),
            retries=retries,
            error=error,
            note=note,
        )
        new = replace(now, t=end, history=history)
        return StepResult(state, new, report, substeps=tuple(substeps))

    def _create_control(self, system: System, h: float, length: float) -> _Halving | _ErrorControl:
        if self.error is None:
            return _Halving(h, length, self.halvings)
        growth = _GROWTH_WITH_MEMORY if "the previous step" in self.needs else _GROWTH
        order = 1 if system.loads else self.order  # held loads are of first order
        return _ErrorControl(h, length, self.halvings, bound=self.error, order=order, growth=growth)

    @property
    def _tests_way(self) -> bool:
        return self.integrator._tests_way

    def _describe_method(self) -> str:
        return self.integrator._describe_method()

    @property
    def _name(self) -> str:
        return f"Adaptive {type(self.integrator).__name__}"

    def warn(self, result: StepResult) -> None:
        own = replace(result.report, note=_first_note(result.substeps))
        self.integrator.warn(replace(result, report=own))

    def _take_substep(
        self, system: System, state: State, h: float, taken: list[StepResult], wasted: list[Report]
    ) -> float:
        """Append the results of one substep to `taken`; return its estimated error [m].

        The energy at the end is evaluated: where it has no value, the next step could not begin.
        """
        if self.error is None:
            taken.append(self.integrator.advance(system, state, h))
            system.V(taken[0].state)
            return 0.0
        whole = self.integrator.advance(system, state, h)
        wasted.append(whole.report)
        taken.append(self.integrator.advance(system, state, h / 2))
        taken.append(self.integrator.advance(system, taken[0].state, h / 2))
        system.V(taken[1].state)
        gap = whole.state.q - taken[1].state.q
        doubling = self.integrator.doubling
        if system.loads:
            doubling = max(doubling, _HELD_LOAD_DOUBLING)
        return doubling * float(np.sqrt(np.einsum("ij,ij->i", gap, gap).max()))

    def _give_up(
        self,
        failure: NotConverged | SingularState | None,
        state: State,
        h: float,
        retries: int,
        wasted: list[Report],
    ) -> NotConverged:
        reason = str(failure)
        if failure is None:
            reason = f"the error of a substep stays above {self.error:g} m"
        report = getattr(failure, "report", None)
        if report is None:
            report = Report(self._name, state.t + h, h, "not converged")
        report = add_work(without_work(replace(report, outcome="not converged")), wasted)
        note = f"given up after {retries} attempts"
        report = replace(report, integrator=self._name, h=h, retries=retries, note=note)
        return NotConverged(f"{self._name}, {note}: {reason}", report, state)


@contextmanager
def _limit_iterations(integrator: Integrator) -> Iterator[None]:
    """Let stages take few iterations: a shorter step is sooner solved than one that takes more."""
    if not isinstance(integrator, Implicit):
        yield
        return
    before = integrator.max_iterations
    integrator.max_iterations = min(before or _MAX_ITERATIONS, _MAX_ITERATIONS)
    try:
        yield
    finally:
        integrator.max_iterations = before


def _first_note(substeps: Sequence[StepResult]) -> str:
    """Return what the integrator had to say in a substep."""
    return next((part.report.note for part in substeps if part.report.note), "")


def _read_length(state: State, h: float) -> float:
    """Return the length of substep that the state's history asks for [s], or h."""
    length = state.history.get(_LENGTH, np.array(h))
    if length.shape != () or not 0.0 < float(length) < float("inf"):
        raise ModelError(
            f"'{_LENGTH}' in the state's history must be a positive number of seconds, got {length}"
        )
    return float(length)
