"""The steps of a trajectory, to be gone through backward: kept, or computed again.

All steps are kept if they fit into a bound of memory. Otherwise the states at √N of the N steps are
kept, and the steps between two of them are taken again when they are needed: one more run forward.
A step taken again must end with the same bits; if it does not, an error is raised.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from taut.errors import ModelError
from taut.inverse._stage_points import Vectors
from taut.inverse.tableaux import HISTORY, Evaluation, Solution, Tableau, find_tableau
from taut.run.simulate import TimeSteps
from taut.step.adaptive import Adaptive
from taut.step.integrator import Integrator
from taut.step.step_result import StepResult
from taut.system.state import State
from taut.system.system import System

_VECTOR_BYTES = 24  # of three doubles


@dataclass(frozen=True, eq=False)
class Record:
    """One step as it was taken, without substeps.

    start, end : states; h : length [s]
    solutions : "q k" and "v k" of its implicit stages
    tableau : of its integrator
    torn : (law, element) of what broke at its end
    """

    start: State
    end: State
    h: float
    solutions: Vectors
    tableau: Tableau
    torn: tuple[tuple[str, int], ...] = ()

    def vectors(self) -> Vectors:
        """Return the vectors of the step by name, those of evaluations not included."""
        vectors: Vectors = {"q": np.array(self.start.q), "v": np.array(self.start.v)}
        for key, name in HISTORY.items():
            if key in self.start.history:
                vectors[name] = np.array(self.start.history[key])
        return vectors | self.solutions

    @property
    def bytes(self) -> int:
        """The memory that it takes, without what it shares with its neighbours."""
        return _VECTOR_BYTES * len(self.start.q) * (2 + len(self.solutions))


@dataclass(frozen=True, eq=False)
class TakenStep:
    """One step of a run: its records, more than one if it has substeps, and the state after it."""

    records: tuple[Record, ...]
    end: State


def record_step(integrator: Integrator, result: StepResult) -> TakenStep:
    """Return the records of a step."""
    inner = integrator.integrator if isinstance(integrator, Adaptive) else integrator
    records = tuple(_record(inner, part) for part in _flatten(result))
    return TakenStep(records, result.state)


def _flatten(result: StepResult) -> Iterator[StepResult]:
    if not result.substeps:
        yield result
    for part in result.substeps:
        yield from _flatten(part)


def _record(integrator: Integrator, result: StepResult) -> Record:
    tableau = find_tableau(integrator, result)
    solutions: Vectors = {}
    for stage in tableau.stages:
        if isinstance(stage, Evaluation):
            continue
        source = stage.source if isinstance(stage, Solution) else None
        at = result.state if source is None else result.stages[source]
        solutions |= {f"q {stage.name}": at.q, f"v {stage.name}": at.v}
    if result.state_before_flow is not None:
        raise ModelError(
            f"gradients do not pass through rest values that flow, as at t = {result.state.t:g} s"
        )
    torn = []
    if result.state_before_breaking is not None:
        before = result.state_before_breaking.active
        for law, mask in result.state.active.items():
            broken = ~mask & before.get(law, np.ones_like(mask))
            torn += [(law, int(element)) for element in np.flatnonzero(broken)]
    return Record(result.start, result.state, result.h, solutions, tableau, tuple(torn))


class Tape(Protocol):
    """Steps in segments, each of which can be had again."""

    system: System
    integrator: Integrator
    start: State

    @property
    def segments(self) -> int:
        """How many segments there are."""

    def segment(self, index: int) -> Sequence[TakenStep]:
        """Return the steps of a segment."""


class Recorder:
    """A tape of steps that are taken here.

    memory : bytes that records may take
    """

    def __init__(
        self,
        system: System,
        integrator: Integrator,
        start: State,
        time_steps: TimeSteps,
        memory: float,
    ) -> None:
        self.system, self.integrator, self.start = system, integrator, start
        self._times, self.iterations = time_steps, 0
        self._length = max(1, time_steps.steps)  # of a segment, in steps
        self._starts = [start]
        self._last: list[TakenStep] = []
        state = start
        for index in range(time_steps.steps):
            if index == 1:
                size = sum(record.bytes for record in self._last[0].records)
                if size * time_steps.steps > memory:
                    self._length = math.ceil(math.sqrt(time_steps.steps))
            if index and index % self._length == 0:
                self._starts.append(state)
                self._last = []
            taken = self._take(state, index)
            self._last.append(taken)
            state = taken.end
        self.end = state

    def _take(self, state: State, index: int) -> TakenStep:
        result = self.integrator.advance(self.system, state, self._times.length(index))
        self.integrator.warn(result)
        return record_step(self.integrator, result)

    @property
    def segments(self) -> int:
        """How many segments there are."""
        return len(self._starts)

    def segment(self, index: int) -> Sequence[TakenStep]:
        """Return the steps of a segment; all but the last one are taken again."""
        if index == len(self._starts) - 1:
            return self._last
        state, steps = self._starts[index], []
        for k in range(index * self._length, (index + 1) * self._length):
            steps.append(self._take(state, k))
            state = steps[-1].end
        require_same(state, self._starts[index + 1])
        return steps


def require_same(again: State, before: State) -> None:
    """Raise ModelError unless steps taken again ended with the same bits."""
    if not (np.array_equal(again.q, before.q) and np.array_equal(again.v, before.v)):
        raise ModelError(
            f"the steps to t = {before.t:g} s, taken again, ended elsewhere: a law, load or path "
            "must be a function of its arguments alone"
        )
