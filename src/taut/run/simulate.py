"""Step a system through time."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from taut.errors import ModelError
from taut.run.ledger import Ledger
from taut.run.summary import Summary
from taut.step.integrator import Integrator, seconds
from taut.step.report import Report
from taut.system.state import State
from taut.system.system import System


class Simulation(Iterator[tuple[State, Report]]):
    """The steps of a run, one after the other as they are asked for.

    summary : totals so far (see `taut.run.summary.Summary`); ledger : the energy book, if one was given
    """

    def __init__(self, system: System, integrator: Integrator, h: float, until: float, state: State, ledger: Ledger | None) -> None:
        self.system, self.integrator, self.summary, self.ledger = system, integrator, Summary(), ledger
        self._steps = self._all(h, until, state)

    def __next__(self) -> tuple[State, Report]:
        return next(self._steps)

    def _all(self, h: float, until: float, state: State) -> Iterator[tuple[State, Report]]:
        count = (until - state.t) / h
        whole = round(count)
        slack = 1e-6 + 4.0 * np.finfo(np.float64).eps * whole * whole  # of a step: what adding up t so many times can lose
        if count <= slack:
            return
        rest = 0.0 if abs(count - whole) <= slack else count - np.floor(count)
        for _ in range(whole if rest == 0.0 else int(np.floor(count))):
            state, report = self._step(state, h)
            yield state, report
        if rest:
            yield self._step(state, rest * h)

    def _step(self, state: State, h: float) -> tuple[State, Report]:
        done = self.integrator.advance(self.system, state, h)
        if self.ledger is not None:
            self.ledger.book(self.system, done)
        self.integrator.warn(done.report)
        self.summary.add(done.report)
        return done.state, done.report


def simulate(
    system: System, integrator: Integrator, h: float, until: float, *, state: State | None = None, ledger: Ledger | None = None
) -> Simulation:
    """Yield the state and the report after each step.

    h : step [s]; until : end time [s]. If the span is not a whole number of steps, the last one is shorter.
    state : where to begin (default: the system's initial state)
    ledger : a `taut.Ledger` in which every step books its energy

    What is returned also has a `summary` of all steps so far, to print at the end.

    >>> import taut
    >>> from taut import laws
    >>> ball = taut.System([[0, 10, 0]], mass=1.0, energies=[laws.gravity()])
    >>> run = taut.simulate(ball, taut.ImplicitEuler(), h=0.1, until=1.0)
    >>> for state, report in run:
    ...     pass
    >>> round(state.t, 9), round(float(state.v[0, 1]), 9), report.outcome, run.summary.steps
    (1.0, -9.81, 'converged', 10)
    """
    if not isinstance(system, System):
        raise ModelError(f"simulate takes a taut.System first, not {system!r}")
    if not isinstance(integrator, Integrator):
        hint = "; it wants its brackets" if isinstance(integrator, type) else ""
        raise ModelError(f"simulate takes an integrator such as taut.ImplicitEuler(), not {integrator!r}{hint}")
    for what, value, kind in (("state", state, State), ("ledger", ledger, Ledger)):
        if value is not None and not isinstance(value, kind):
            raise ModelError(f"{what} is a taut.{kind.__name__}, not {value!r}")
    step, end = seconds("step h", h), seconds("end time", until)
    start = system.initial_state() if state is None else state
    if not step > 0.0 or not math.isfinite((end - start.t) / step):
        raise ModelError(f"the step h is {h!r}; it must be a positive number of seconds, and reach the end time in finitely many")
    return Simulation(system, integrator, step, end, start, ledger)
