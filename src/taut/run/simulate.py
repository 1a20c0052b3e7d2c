"""Step a system through time."""

from __future__ import annotations

from collections.abc import Iterator

from taut.errors import ModelError
from taut.run.ledger import Ledger
from taut.run.plan import Plan
from taut.run.summary import Summary
from taut.step.integrator import Integrator, seconds
from taut.step.report import Report
from taut.system.state import State
from taut.system.system import System


class Simulation(Iterator[tuple[State, Report]]):
    """The steps of a run, one after the other as they are asked for.

    summary : totals so far (see `taut.run.summary.Summary`); ledger : the energy book, if one was given
    """

    def __init__(self, system: System, integrator: Integrator, plan: Plan, state: State, ledger: Ledger | None) -> None:
        self.system, self.integrator, self.summary, self.ledger = system, integrator, Summary(), ledger
        self._steps = self._all(plan, state)

    def __next__(self) -> tuple[State, Report]:
        return next(self._steps)

    def _all(self, plan: Plan, state: State) -> Iterator[tuple[State, Report]]:
        for index in range(plan.steps):
            state, report = self._step(state, plan.length(index))
            yield state, report

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
    if ledger is not None and not isinstance(ledger, Ledger):
        raise ModelError(f"ledger is a taut.Ledger, not {ledger!r}")
    plan, start = planned("simulate", system, integrator, h, until, state)
    return Simulation(system, integrator, plan, start, ledger)


def planned(who: str, system: System, integrator: Integrator, h: float, until: float, state: State | None) -> tuple[Plan, State]:
    """The steps to take and the state to begin from, if what `who` was called with can be meant."""
    if not isinstance(system, System):
        raise ModelError(f"{who} takes a taut.System first, not {system!r}")
    if not isinstance(integrator, Integrator):
        hint = "; it wants its brackets" if isinstance(integrator, type) else ""
        raise ModelError(f"{who} takes an integrator such as taut.ImplicitEuler(), not {integrator!r}{hint}")
    if state is not None and not isinstance(state, State):
        raise ModelError(f"state is a taut.State, not {state!r}")
    step, end = seconds("step h", h), seconds("end time", until)
    start = system.initial_state() if state is None else state
    return Plan.of(start.t, step, end), start
