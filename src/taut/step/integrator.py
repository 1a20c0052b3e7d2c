"""What every integrator is: a step from one state to the next, a declared order, stability and needs."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import replace
from numbers import Real
from typing import ClassVar, Literal

from taut.errors import ModelError, NotConverged
from taut.step.advance import Advance
from taut.step.report import Report
from taut.step.tearing import torn
from taut.system.state import State
from taut.system.system import System


def seconds(what: str, value: object) -> float:
    """A time as a number [s].

    >>> seconds("step h", 1)
    1.0
    """
    if not isinstance(value, Real) or isinstance(value, bool) or not math.isfinite(value):
        raise ModelError(f"the {what} is {value!r}; it must be a finite number of seconds")
    return float(value)


Kind = Literal["conditional", "A", "L"]
SHORTEST, LONGEST = 1e-150, 1e150  # of a step [s]: h² and 1/h² are numbers


class Integrator(ABC):
    """Base of all integrators. What a class declares here, the tests of the integrators measure."""

    order: ClassVar[int]
    """Order of accuracy in h."""

    stability: ClassVar[Kind]
    """For linear oscillations: "conditional" (up to some h·ω), "A" (for every h) or "L" (and fast ones die out)."""

    needs: ClassVar[tuple[str, ...]]
    """What a step works with: "forces", "stiffness", "the previous step"."""

    descends: ClassVar[bool] = False
    """Whether a step in which nothing depends on time ends with V' + ½|Δv|²_M ≤ V + ½|v|²_M."""

    @property
    def doubling(self) -> float:
        """The error of two steps of half the length, as a part of their difference from one whole step."""
        return 1.0 / (2**self.order - 1)

    def step(self, system: System, state: State, h: float) -> tuple[State, Report]:
        """The state h seconds later, and the report; NotConverged if the tolerance is missed."""
        done = self.advance(system, state, h)
        self.warn(done.report)
        return done.state, done.report

    def advance(self, system: System, state: State, h: float) -> Advance:
        """The same, with what the ledger needs: constraints that have ended are gone, loads are held as they
        are at the start, and what has broken leaves at the end."""
        system = system.during(state.t, h)
        if not system.placed_loads:
            return torn(system, self.move(system, state, h))
        loads = system.forces_of_loads(state)
        return torn(system, replace(self.move(system.under(loads), state, h), loads=loads))

    @abstractmethod
    def move(self, system: System, state: State, h: float) -> Advance:
        """A step in which nothing breaks, of a system without loads."""

    def warn(self, report: Report) -> None:
        """Say on the log, once, what the user of a step should know; nothing unless a method has something to say."""
        return

    def check(self, system: System, state: State, h: float) -> None:
        """Refuse a step that cannot be meant."""
        if not SHORTEST < seconds("step h", h) < LONGEST:
            raise ModelError(f"the step h is {h!r}; it must be a positive, finite number of seconds")
        if state.t + h == state.t:
            raise ModelError(f"the step h = {h:g} s vanishes beside the time t = {state.t:g} s")
        system.check(state)
        system.hold.check(state.q, state.t)

    def certify(self, report: Report, state: State, reason: str) -> None:
        """Raise NotConverged unless the report says that the step was solved."""
        if report.outcome == "not converged" or not math.isfinite(report.residual):
            raise NotConverged(f"{report.integrator} at {report}: {reason or 'the tolerance was not met'}", report, state)
