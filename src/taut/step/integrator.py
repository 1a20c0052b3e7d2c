"""The base of all integrators: a step from one state to the next, and what a method declares.

`Implicit.advance` in `taut.step.implicit` shows a whole step on one page.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import replace
from numbers import Real
from typing import Any, ClassVar, Literal, Self

from taut.arrays import describe
from taut.errors import ModelError, NotConverged
from taut.step.report import Report
from taut.step.step_result import StepResult
from taut.system.inversion import count_inverted
from taut.system.plasticity import flow_rest_values
from taut.system.state import State
from taut.system.system import System
from taut.system.tearing import find_unbroken_elements
from taut.system.workspace import Workspace


def seconds(what: str, value: object) -> float:
    """Return a time as a number [s], or raise an error that names it.

    >>> seconds("step h", 1)
    1.0
    """
    if not isinstance(value, Real) or isinstance(value, bool) or not math.isfinite(value):
        raise ModelError(f"the {what} must be a finite number of seconds, got {value!r}")
    return float(value)


Kind = Literal["unstable", "conditional", "A", "L"]
# Bounds of a step [s]: h² and 1/h² neither overflow nor underflow.
_MIN_STEP, _MAX_STEP = 1e-150, 1e150


class Integrator(ABC):
    """The base of all integrators: a step from one state to the next, as `advance` takes it.

    A class of your own declares `order`, `stability` and `needs` and defines `advance`; most are
    simpler as an `Explicit` or an `Implicit`. One that lacks something raises an error:

    >>> class Unfinished(Integrator):
    ...     order, needs = 1, ("forces",)
    >>> Unfinished()
    Traceback (most recent call last):
    taut.errors.ModelError: the integrator Unfinished must define advance(), stability
    """

    order: ClassVar[int]
    """Order of accuracy in h."""

    stability: ClassVar[Kind]
    """For undamped linear oscillations: "unstable" (with every h), "conditional" (stable up to some
    h·ω), "A" (stable with every h) or "L" (and fast ones decay)."""

    needs: ClassVar[tuple[str, ...]]
    """What a step uses: "forces", "stiffness", "the previous step"."""

    _declared: ClassVar[tuple[str, ...]] = ("order", "stability", "needs")  # by every class

    descends: ClassVar[bool] = False
    """Whether a step in which nothing depends on time ends with V' + ½|Δv|²_M ≤ V + ½|v|²_M."""

    def __new__(cls, *_: Any, **__: Any) -> Self:
        """Raise ModelError, which names it, if a method or attribute of the class is missing."""
        missing = [f"{name}()" for name in sorted(cls.__abstractmethods__)]
        missing += [name for name in cls._declared if not hasattr(cls, name)]
        if missing:
            raise ModelError(f"the integrator {cls.__name__} must define {', '.join(missing)}")
        return super().__new__(cls)

    def __init__(self) -> None:
        """Take no options; a method that has some defines its own. `object` would ignore them."""
        super().__init__()

    @property
    def doubling(self) -> float:
        """The error of two half steps, as a part of their difference from one whole step."""
        return 1.0 / (2**self.order - 1)

    def step(self, system: System, state: State, h: float) -> tuple[State, Report]:
        """Return the state h seconds later, and the report.

        Raises NotConverged if the tolerance is missed.
        """
        if not isinstance(system, System):
            raise ModelError(
                f"the first argument of step must be a taut.System, got {describe(system)}"
            )
        system._check(state)
        result = self.advance(system, state, h)
        self.warn(result)
        return result.state, result.report

    @abstractmethod
    def advance(self, system: System, state: State, h: float) -> StepResult:
        """Take a step, with what the ledger needs.

        Constraints that have ended no longer act, loads are held as they are at the start, and
        elements that break leave at the end.
        """

    def warn(self, result: StepResult) -> None:
        """Log, once, what the user of a step should know; most methods have nothing to say."""
        return

    def check(self, system: System, state: State, h: float) -> None:
        """Raise ModelError unless state and h fit the system."""
        if not _MIN_STEP < seconds("step h", h) < _MAX_STEP:
            raise ModelError(f"the step h must be positive and finite [s], got {h!r}")
        if state.t + h == state.t:
            raise ModelError(
                f"the step h = {h:g} s must be large enough to change the time t = {state.t:g} s"
            )
        system._check(state)
        system._projector.check(state.q, state.t)
        self.check_contact(system)

    def check_contact(self, system: System) -> None:
        """Raise ModelError if the system has contact and steps do not test their way for it."""
        if system.contact is not None and not self._tests_way:
            raise ModelError(
                f"{self._describe_method()} cannot step a system with contact; use an implicit "
                "integrator with Newton's method, such as ImplicitEuler(), which tests the way "
                "of every iteration for collisions"
            )

    @property
    def _tests_way(self) -> bool:
        """Whether steps test the way that particles take for collisions."""
        return False

    def _describe_method(self) -> str:
        return type(self).__name__


def raise_unless_converged(report: Report, state: State, reason: str) -> None:
    """Raise NotConverged unless the report says that the step was solved.

    state : the one before the step; reason : why it was not solved
    """
    if report.outcome == "not converged" or not math.isfinite(report.residual):
        raise NotConverged(
            f"{report.integrator} at {report}: {reason or 'the tolerance was not met'}",
            report,
            state,
        )


def conclude(workspace: Workspace, result: StepResult) -> StepResult:
    """Let rest values flow, remove the elements that broke, and count those inside out."""
    changed = flow_rest_values(workspace, result.state, result.h)
    if changed:
        flowed = replace(result.state, rest={**result.state.rest, **changed})
        result = replace(result, state=flowed, state_before_flow=result.state)
        workspace.use_rest_values(flowed)
    active, count = find_unbroken_elements(workspace, result.state)
    inverted = count_inverted(workspace.solid_elements, result.state)
    if inverted:
        result = replace(result, report=replace(result.report, inverted=inverted))
    if not count:
        return result
    return replace(
        result,
        state=replace(result.state, active=active),
        report=replace(result.report, torn=count),
        state_before_breaking=result.state,
    )
