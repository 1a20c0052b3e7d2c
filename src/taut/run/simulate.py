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
    if not (np.isfinite(h) and h > 0.0):
        raise ModelError(f"the step h is {h}; it must be positive and finite")
    if not np.isfinite(until):
        raise ModelError(f"the end time is {until}; it must be finite")
    return _steps(system, integrator, h, until, system.initial_state() if state is None else state)


def _steps(system: System, integrator: Integrator, h: float, until: float, state: State) -> Iterator[tuple[State, Report]]:
    slack = 1e-6 * h  # a remainder below this is rounding of t, not a step
    while until - state.t > slack:
        left = until - state.t
        state, report = integrator.step(system, state, h if left > h - slack else left)
        yield state, report
