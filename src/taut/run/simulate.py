"""Step a system through time, in memory.

The number of steps between two times is

    steps = (until - t) / h,

and, if that is not a whole number, one more step that is shorter. It is decided once, at the start,
and the length of a step follows from its index, so that a resumed run takes the same steps.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from taut.arrays import describe
from taut.errors import ModelError
from taut.run.ledger import Ledger
from taut.run.summary import Summary
from taut.step.integrator import Integrator, seconds
from taut.step.report import Report
from taut.system.state import State, require_state
from taut.system.system import System

MAX_STEPS = 2**53  # beyond this a float cannot count them
_MIN_LAST_STEP = 1e-6  # relative to h: a shorter remainder is rounding, not a step


@dataclass(frozen=True)
class TimeSteps:
    """The steps of a run: `steps` of `h` seconds, the last one of `last` seconds.

    >>> TimeSteps.between(0.0, 0.3, 1.0).steps, round(TimeSteps.between(0.0, 0.3, 1.0).last, 9)
    (4, 0.1)
    """

    steps: int
    h: float
    last: float

    @staticmethod
    def between(t: float, h: float, until: float) -> TimeSteps:
        """Divide the time from t to until [s] into steps of h [s]; none if until is not later."""
        if not h > 0.0 or not math.isfinite((until - t) / h) or (until - t) / h > MAX_STEPS:
            raise ModelError(
                f"h must be positive, and reach the end time in at most 2^53 steps, got {h!r}"
            )
        count = (until - t) / h
        whole = round(count)
        # adding h to t `whole` times loses up to whole²·eps steps; the factor 4 is a margin
        slack = _MIN_LAST_STEP + 4.0 * np.finfo(np.float64).eps * whole * whole
        if count <= slack:
            return TimeSteps(0, h, h)
        if abs(count - whole) <= slack:
            return TimeSteps(whole, h, h)
        floor = math.floor(count)
        return TimeSteps(floor + 1, h, (count - floor) * h)

    def length(self, index: int) -> float:
        """Return the length of the step with this index, from 0 [s].

        >>> TimeSteps.between(0.0, 0.5, 1.25).length(2)
        0.25
        """
        return self.last if index == self.steps - 1 else self.h


class Simulation(Iterator[tuple[State, Report]]):
    """The steps of a run; each is taken when the iterator advances.

    summary : totals so far (see `taut.run.summary.Summary`)
    ledger : the energy ledger, or None
    """

    def __init__(
        self,
        system: System,
        integrator: Integrator,
        time_steps: TimeSteps,
        state: State,
        ledger: Ledger | None,
    ) -> None:
        self.system = system
        self.integrator = integrator
        self.summary = Summary()
        self.ledger = ledger
        self._plan = (time_steps, state)
        self._steps = self._iterate(time_steps, state)

    def __reduce__(self) -> str:
        raise ModelError(
            "a simulation under way cannot be copied or pickled: send system, integrator and state "
            "instead, and continue with taut.simulate(…, state=state)"
        )

    @property
    def plan(self) -> tuple[TimeSteps, State]:
        """The steps and the first state of a simulation that has not begun."""
        if self.summary.steps:
            raise ModelError(
                f"the simulation must not have begun, but {self.summary.steps} steps are taken"
            )
        return self._plan

    def __next__(self) -> tuple[State, Report]:
        return next(self._steps)

    def _iterate(self, time_steps: TimeSteps, state: State) -> Iterator[tuple[State, Report]]:
        for index in range(time_steps.steps):
            state, report = self._step(state, time_steps.length(index))
            yield state, report

    def _step(self, state: State, h: float) -> tuple[State, Report]:
        done = self.integrator.advance(self.system, state, h)
        if self.ledger is not None:
            self.ledger.book(self.system, done)
        self.integrator.warn(done)
        self.summary.add(done.report)
        return done.state, done.report


def simulate(
    system: System,
    integrator: Integrator,
    h: float,
    until: float,
    *,
    state: State | None = None,
    ledger: Ledger | None = None,
) -> Simulation:
    """Yield the state and the report after each step.

    h : step [s]
    until : end time [s]; if the span is not a whole number of steps, the last one is shorter
    state : where to begin (default: the system's initial state)
    ledger : a `taut.Ledger` to which every step adds its energy balance

    The returned iterator has a `summary` of all steps so far, to print at the end.

    >>> import taut
    >>> from taut import laws
    >>> ball = taut.System([[0, 10, 0]], mass=1.0, energies=[laws.gravity()])
    >>> run = taut.simulate(ball, taut.ImplicitEuler(), h=0.1, until=1.0)
    >>> for state, report in run:
    ...     pass
    >>> round(state.t, 9), round(float(state.v[0, 1]), 9), report.outcome, run.summary.steps
    (1.0, -9.81, 'converged', 10)
    """
    if ledger is not None and not isinstance(ledger, Ledger):
        raise ModelError(f"ledger must be a taut.Ledger, got {ledger!r}")
    check_arguments("simulate", system, integrator, state)
    start = system.initial_state() if state is None else state
    time_steps = TimeSteps.between(start.t, seconds("step h", h), seconds("end time", until))
    return Simulation(system, integrator, time_steps, start, ledger)


def check_arguments(
    function: str, system: System, integrator: Integrator, state: State | None
) -> None:
    """Raise ModelError if an argument of a function has the wrong type."""
    if not isinstance(system, System):
        raise ModelError(
            f"the first argument of {function} must be a taut.System, got {describe(system)}"
        )
    if isinstance(integrator, type):
        name = integrator.__name__
        raise ModelError(
            f"the integrator of {function} must be an instance: {name}(), not the class {name}"
        )
    if not isinstance(integrator, Integrator):
        hint = ""
        if hasattr(integrator, "step") or hasattr(integrator, "advance"):
            parts = ("step", "advance", "check", "warn", "order", "stability", "needs")
            missing = ", ".join(part for part in parts if not hasattr(integrator, part))
            hint = (
                f", which has no {missing or 'base class'}; "
                "derive it from taut.step.Explicit, Implicit or Integrator"
            )
        raise ModelError(
            f"the integrator of {function} must be one such as taut.ImplicitEuler(), "
            f"got {integrator!r}{hint}"
        )
    if state is not None:
        require_state(state, function)
