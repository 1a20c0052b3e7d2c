"""Step many copies of one small system at once: `taut.batch`.

Each copy takes the steps that `taut.simulate` takes with it alone, with the same bits and the same
certificates, whatever the number of copies and of threads. MuJoCo's `rollout` makes the same
promise.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from taut.arrays import Float, describe
from taut.errors import ModelError, TautError
from taut.run._joined_copies import JoinedCopies, is_supported, take_copy
from taut.run.simulate import TimeSteps, check_arguments
from taut.step.integrator import Integrator, seconds
from taut.step.report import Report
from taut.system.copies import reject_uncopyable, vary_parameters
from taut.system.state import State, require_state
from taut.system.system import System


class BatchStep:
    """All copies after a step.

    t : time [s]
    q : positions [m], v : velocities [m/s], both (copies, n, 3), read-only; of a copy that has
        failed, those at the end of its last step
    """

    def __init__(self, t: float, q: Float, v: Float, places: dict[int, tuple[Any, ...]]) -> None:
        self.t, self.q, self.v = t, q, v
        q.setflags(write=False)
        v.setflags(write=False)
        # Of each copy that has taken the step: its certificates, its row there, the joined state.
        self._places = places

    def report(self, i: int) -> Report:
        """Return the certificate of a copy, as a step of it alone has it, but for its times."""
        certificates, row, state = self._find(i)
        report: Report = certificates.report(row, state)
        return report

    def state(self, i: int) -> State:
        """Return the state of a copy, from which `taut.simulate` continues with the same bits."""
        _, row, joined = self._find(i)
        return take_copy(joined, row, self.q.shape[1])

    def _find(self, i: int) -> tuple[Any, ...]:
        if i not in self._places:
            raise ModelError(f"copy {i} has not taken this step: see `errors` of the batch")
        return self._places[i]


class Batch(Iterator[BatchStep]):
    """The steps of many copies; each is taken when the iterator advances.

    copies : how many there are
    errors : the errors of copies that have failed, by their index; the others go on
    systems : the system of each copy
    """

    def __init__(
        self,
        systems: Sequence[System],
        integrator: Integrator,
        time_steps: TimeSteps,
        states: Sequence[State],
    ) -> None:
        self.copies, self.systems = len(systems), tuple(systems)
        self.errors: dict[int, TautError] = {}
        self._integrator, self._time_steps = integrator, time_steps
        self._index = 0
        self._running = list(range(self.copies))  # copies that have not failed
        self._joined = JoinedCopies(systems, states, integrator, time_steps.h)
        self._q = np.array([state.q for state in states])
        self._v = np.array([state.v for state in states])

    def __next__(self) -> BatchStep:
        if self._index == self._time_steps.steps or not self._running:
            raise StopIteration
        h = self._time_steps.length(self._index)
        self._index += 1
        places: dict[int, tuple[Any, ...]] = {}
        try:
            certificates = self._joined.advance(h)
        except TautError:
            places = self._advance_one_by_one(h)
        else:
            for row, i in enumerate(self._running):
                places[i] = (certificates, row, self._joined.state)
        q, v = self._q.copy(), self._v.copy()
        if self._running:
            q[self._running] = self._joined.state.q.reshape(len(self._running), -1, 3)
            v[self._running] = self._joined.state.v.reshape(len(self._running), -1, 3)
        self._q, self._v = q, v
        return BatchStep(self._joined.state.t, q, v, places)

    def _advance_one_by_one(self, h: float) -> dict[int, tuple[Any, ...]]:
        """Take a step that some copy cannot take: each alone, and leave those that fail."""
        before, places, states = self._joined, {}, []
        running = []
        for row, i in enumerate(self._running):
            alone = JoinedCopies(
                [self.systems[i]], [before.state_of(row)], self._integrator, self._time_steps.h
            )
            try:
                certificates = alone.advance(h)
            except TautError as error:
                self.errors[i] = error
                continue
            running.append(i)
            states.append(alone.state)
            places[i] = (certificates, 0, alone.state)
        self._running = running
        if running:
            systems = [self.systems[i] for i in running]
            self._joined = JoinedCopies(systems, states, self._integrator, self._time_steps.h)
        return places


def batch(
    system: System,
    integrator: Integrator,
    h: float,
    until: float,
    *,
    parameters: Mapping[str, Any] | None = None,
    states: Sequence[State] | None = None,
) -> Batch:
    """Step many copies of a system at once; yields a `BatchStep` after each step.

    h, until : step and end time [s], see `taut.simulate`
    parameters : values of parameters of laws by name, such as "spring.k", each with one entry for
        each copy: a number, or an array as the law takes it
    states : where each copy begins; all at the same time (default: the system's initial state)

    Every copy has the bits and the certificates that `taut.simulate` gives it alone. One that fails
    stays where it is, and `errors` of the returned iterator has its error. Explicit integrators and
    implicit ones with Newton's method can do it, for systems of up to 256 particles in narrow bands
    without contact; an error says before the first step what is not supported.

    >>> import taut
    >>> from taut import laws
    >>> points, edges = [[0, 0, 0], [1, 0, 0]], [[0, 1]]
    >>> energies = [laws.spring(edges, k=100.0), laws.gravity()]
    >>> pendulum = taut.System(points, mass=1.0, fixed=[0], energies=energies)
    >>> run = taut.batch(
    ...     pendulum, taut.ImplicitEuler(), 0.01, 0.1, parameters={"spring.k": [50.0, 100.0]}
    ... )
    >>> for step in run:
    ...     pass
    >>> step.q.shape, step.report(1).outcome, run.errors
    ((2, 2, 3), 'converged', {})
    """
    check_arguments("batch", system, integrator, None)
    if not is_supported(integrator):
        raise ModelError(
            f"batch: the integrator must be explicit, or implicit with stages, such as "
            f"taut.ImplicitEuler(), got {type(integrator).__name__}"
        )
    integrator.check_contact(system)
    reject_uncopyable(system)
    parameters = {} if parameters is None else parameters
    count = _count_copies(parameters, states)
    systems = vary_parameters(system, parameters, count)
    if states is None:
        starts = [own.initial_state() for own in systems]
    else:
        starts = list(states)
        _check_states(system, starts)
    step = seconds("step h", h)
    time_steps = TimeSteps.between(starts[0].t, step, seconds("end time", until))
    for i, (own, start) in enumerate(zip(systems, starts, strict=True)):
        try:
            integrator.check(own, start, step)
        except TautError as error:
            raise ModelError(f"batch: copy {i}: {error}") from error
    return Batch(systems, integrator, time_steps, starts)


def _count_copies(parameters: Mapping[str, Any], states: Sequence[State] | None) -> int:
    """Return how many copies there are; raise ModelError unless all arguments agree."""
    counts = {f"'{name}'": _length(name, values) for name, values in parameters.items()}
    if states is not None:
        counts["states"] = _length("states", states)
    if not counts:
        raise ModelError("batch: parameters or states must be given, one for each copy")
    if len(set(counts.values())) > 1:
        found = ", ".join(f"{count} of {name}" for name, count in counts.items())
        raise ModelError(f"batch: all must have one entry for each copy, got {found}")
    count = next(iter(counts.values()))
    if not count:
        raise ModelError("batch: at least one copy is needed, got none")
    return count


def _length(name: str, values: Any) -> int:
    try:
        return len(values)
    except TypeError as error:
        raise ModelError(
            f"batch: '{name}' must have one entry for each copy, got {describe(values)}"
        ) from error


def _check_states(system: System, states: Sequence[State]) -> None:
    for i, state in enumerate(states):
        require_state(state, f"batch: copy {i}")
        system._check(state)
        if state.t != states[0].t:
            raise ModelError(
                f"batch: all states must have the same time, but copy 0 is at {states[0].t:g} s "
                f"and copy {i} at {state.t:g} s"
            )
        if state.active:
            raise ModelError(f"batch: all elements must be active, but copy {i} has masks")
        if {k: np.shape(x) for k, x in state.history.items()} != {
            k: np.shape(x) for k, x in states[0].history.items()
        }:
            raise ModelError(f"batch: copy {i} must have the same history as copy 0")
