"""Step a system through time."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from taut.errors import ModelError
from taut.step.integrator import Integrator
from taut.step.report import Report
from taut.system.state import State
from taut.system.system import System


def simulate(
    system: System, integrator: Integrator, h: float, until: float, *, state: State | None = None
) -> Iterator[tuple[State, Report]]:
    """Yield the state and the report after each step.

    h : step [s]; until : end time [s]. If the span is not a whole number of steps, the last one is shorter.
    state : where to begin (default: the system's initial state)

    >>> import taut
    >>> from taut import laws
    >>> ball = taut.System([[0, 10, 0]], mass=1.0, energies=[laws.gravity()])
    >>> for state, report in taut.simulate(ball, taut.ImplicitEuler(), h=0.1, until=1.0):
    ...     pass
    >>> round(state.t, 9), round(float(state.v[0, 1]), 9), report.outcome
    (1.0, -9.81, 'converged')
    """
    if not (isinstance(h, (int, float)) and np.isfinite(h) and h > 0.0):
        raise ModelError(f"the step h is {h!r}; it must be a positive, finite number of seconds")
    if not (isinstance(until, (int, float)) and np.isfinite(until)):
        raise ModelError(f"the end time is {until!r}; it must be a finite number of seconds")
    start = system.initial_state() if state is None else state
    return _steps(system, integrator, h, until, start)


def _steps(system: System, integrator: Integrator, h: float, until: float, state: State) -> Iterator[tuple[State, Report]]:
    count = (until - state.t) / h
    whole = round(count)
    slack = 1e-6 + 4.0 * np.finfo(np.float64).eps * whole * whole  # of a step: what adding up t so many times can lose
    if count <= slack:
        return
    rest = 0.0 if abs(count - whole) <= slack else count - np.floor(count)
    for _ in range(whole if rest == 0.0 else int(np.floor(count))):
        state, report = integrator.step(system, state, h)
        yield state, report
    if rest:
        yield integrator.step(system, state, rest * h)
