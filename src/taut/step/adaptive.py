"""Steps that shorten themselves: after a failure, or to keep the error in time below a bound."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from taut.errors import ModelError, NotConverged, SingularState
from taut.step.advance import Advance
from taut.step.integrator import Integrator
from taut.step.pace import ErrorControl, Halving
from taut.step.report import Report, combined, with_work_of, without_work
from taut.system.state import State
from taut.system.system import System

Float = NDArray[np.float64]
HALVINGS = 16  # of h, before a step is given up
GROW, GROW_WITH_MEMORY = 2.0, 1.15  # by which a substep may grow at once; a method that remembers the last step bears less
HELD = 5 / 3  # the error of two half steps under a held load by their difference from a whole one: 5h³f'/48 by h³f'/16
LENGTH = "adaptive h"  # in State.history: the length of the next substep [s]


class Adaptive(Integrator):
    """Steps of another integrator, each made of as many shorter ones as it takes.

    integrator : what takes the steps
    error : the error in positions [m] that a substep may make, as estimated from one step against two of half the length; the two
        are kept. None: substeps are shortened only when one fails
    halvings : a substep shorter than h/2^halvings is given up, and its error raised

    A substep that does not converge, or ends outside the finite numbers, is rolled back and tried again at half the length; after
    two that succeed a longer one is tried, up to h. The length is kept in `State.history`, so a resumed run goes on in the same
    steps; the `Report` says how many substeps and retries there were.

    >>> import taut
    >>> steps = taut.Adaptive(taut.TRBDF2(), error=1e-5)
    >>> steps.order
    2
    """

    def __init__(self, integrator: Integrator, *, error: float | None = None, halvings: int = HALVINGS) -> None:
        if not isinstance(integrator, Integrator) or isinstance(integrator, Adaptive):
            raise ModelError(f"Adaptive needs an integrator such as taut.ImplicitEuler(), not {integrator!r}")
        if error is not None and not (isinstance(error, (int, float)) and 0.0 < error < float("inf")):
            raise ModelError(f"the error of an adaptive step is {error!r}; it must be a positive, finite length in metres")
        if not (isinstance(halvings, int) and 0 <= halvings <= 60):
            raise ModelError(f"halvings is {halvings!r}; it must be a whole number from 0 to 60")
        self.integrator, self.error, self.halvings = integrator, error, halvings
        self.order, self.stability = integrator.order, integrator.stability  # type: ignore[misc]
        self.needs, self.descends = integrator.needs, integrator.descends  # type: ignore[misc]
        self._note = ""  # what the integrator had to say in the last step

    def _pace(self, system: System, h: float, length: float) -> Halving | ErrorControl:
        if self.error is None:
            return Halving(h, length, self.halvings)
        grow = GROW_WITH_MEMORY if "the previous step" in self.needs else GROW
        order = 1 if system.loads else self.order
        return ErrorControl(h, length, self.halvings, bound=self.error, order=order, grow=grow)

    def advance(self, system: System, state: State, h: float) -> Advance:
        return self.move(system, state, h)  # each substep takes the loads, and lets break what breaks

    def move(self, system: System, state: State, h: float) -> Advance:
        begun = time.perf_counter()
        self.check(system.during(state.t, h), state, h)
        pace = self._pace(system, h, min(h, _remembered(state, h)))
        parts: list[Advance] = []
        spent: list[Report] = []  # on attempts that were given up, and on whole steps that only served to estimate an error
        now, end, retries, error, shortest = state, state.t + h, 0, 0.0, h
        while True:
            left = h if now is state else end - now.t  # exactly h: what depends on it alone need not be worked out again
            substep = pace.next(left)
            failure: NotConverged | SingularState | None = None
            done: list[Advance] = []
            try:
                made = self._substep(system, now, substep, done, spent)
            except (NotConverged, SingularState) as caught:
                failure = caught
            if failure is not None or not pace.succeeded(substep, made):
                retries += 1
                spent += [part.report for part in done]
                spent += [r for r in [getattr(failure, "report", None)] if r is not None]
                if not (pace.failed() if failure is not None else pace.length >= h * 0.5**self.halvings):
                    raise self._given_up(failure, state, h, retries, spent) from failure
                continue
            error, shortest = max(error, made), min(shortest, substep)
            parts += done
            now = done[-1].state
            if substep == left:
                break
        history = {**now.history, LENGTH: np.array(pace.length)} if pace.length < h else now.history
        new = replace(now, t=end, history=history)
        made_of = with_work_of(combined([p.report for p in parts], end, h, time.perf_counter() - begun), spent)
        self._note = next((p.report.note for p in parts if p.report.note), "")
        notes = [self._note] if self._note else []
        if retries:
            notes.append(f"shortened to {shortest:.3g} s")
        certificate = replace(
            made_of, integrator=self._name, substeps=len(parts), retries=retries, error=error, note="; ".join(notes)
        )  # fmt: skip
        return Advance(state, new, certificate, parts=tuple(parts))

    @property
    def _name(self) -> str:
        return f"Adaptive {type(self.integrator).__name__}"

    def warn(self, report: Report) -> None:
        self.integrator.warn(replace(report, note=self._note))

    def _substep(self, system: System, state: State, h: float, done: list[Advance], spent: list[Report]) -> float:
        """One substep into `done`, as the ledger will see it, and its estimated error [m]."""
        if self.error is None:
            done.append(self.integrator.advance(system, state, h))
            system.V(done[0].state)  # an end without energy is a failure: the next step could not begin there
            return 0.0
        whole = self.integrator.advance(system, state, h)
        spent.append(whole.report)
        done.append(self.integrator.advance(system, state, h / 2))
        done.append(self.integrator.advance(system, done[0].state, h / 2))
        system.V(done[1].state)
        gap = whole.state.q - done[1].state.q
        doubling = max(self.integrator.doubling, HELD) if system.loads else self.integrator.doubling
        return doubling * float(np.sqrt(np.einsum("ij,ij->i", gap, gap).max()))

    def _given_up(
        self, failure: NotConverged | SingularState | None, state: State, h: float, retries: int, spent: list[Report]
    ) -> NotConverged:
        reason = f"the error of a substep stays above {self.error:g} m" if failure is None else str(failure)
        known: Report | None = getattr(failure, "report", None)
        report = known if known is not None else Report(self._name, state.t + h, h, "not converged")
        report = with_work_of(without_work(replace(report, outcome="not converged")), spent)
        report = replace(report, integrator=self._name, h=h, retries=retries, note=f"given up after {retries} attempts")
        return NotConverged(f"{self._name}, given up after {retries} attempts: {reason}", report, state)


def _remembered(state: State, h: float) -> float:
    """The length of substep that the state asks for [s]."""
    length = state.history.get(LENGTH, np.array(h))
    if length.shape != () or not 0.0 < float(length) < float("inf"):
        raise ModelError(f"the state's history has '{LENGTH}' = {length}; it must be a positive number of seconds")
    return float(length)
