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

from taut.arrays import Float
from taut.errors import ModelError
from taut.inverse._moment import Moment, StagePoint
from taut.inverse._stage_points import (
    LinearPoint,
    Vectors,
    evaluate_point,
    predict,
    solution_point,
)
from taut.inverse._sums import Sum
from taut.inverse.tableaux import HISTORY, Evaluation, Solution, Tableau, find_tableau
from taut.run.simulate import TimeSteps
from taut.step.adaptive import Adaptive
from taut.step.integrator import Integrator
from taut.step.step_result import StepResult
from taut.system.state import State
from taut.system.system import System
from taut.system.workspace import workspace_for

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


class Polished:
    """A tape whose stages are solved once more from those of another, by one Newton iteration.

    With residuals r on the first, those here are of the order of r²: the difference of two
    gradients is what the residuals did to the first.
    """

    def __init__(self, tape: Tape, accuracy: float) -> None:
        self._tape, self._accuracy = tape, accuracy
        self.system, self.integrator, self.start = tape.system, tape.integrator, tape.start
        self._starts = [tape.start]
        self._only: list[TakenStep] | None = None
        for index in range(tape.segments):
            polished = self._polish(index)
            if index + 1 < tape.segments:
                self._starts.append(polished[-1].end)
            elif index == 0:
                self._only = polished

    @property
    def segments(self) -> int:
        """How many segments there are."""
        return self._tape.segments

    def segment(self, index: int) -> Sequence[TakenStep]:
        """Return the steps of a segment."""
        return self._polish(index) if self._only is None else self._only

    def _polish(self, index: int) -> list[TakenStep]:
        state, steps = self._starts[index], []
        for taken in self._tape.segment(index):
            records = []
            for record in taken.records:
                records.append(polish_record(self, record, state, self._accuracy))
                state = records[-1].end
            steps.append(TakenStep(tuple(records), state))
        return steps


def polish_record(tape: Tape, record: Record, start: State, accuracy: float) -> Record:
    """Return a step from another start, each stage solved by one Newton iteration."""
    start = State(record.start.t, start.q, start.v, record.start.active, start.history)
    workspace = workspace_for(tape.system)
    inner = tape.integrator
    if isinstance(inner, Adaptive):
        inner = inner.integrator
    moment = Moment(workspace, inner, start, record.h, accuracy)
    old_moment = Moment(workspace, inner, record.start, record.h, accuracy)
    old = record.vectors()
    for stage in record.tableau.stages:
        if isinstance(stage, Evaluation):
            evaluate_point(old_moment, stage, old)
    new = Record(start, record.end, record.h, {}, record.tableau).vectors()
    for stage in record.tableau.stages:
        name = stage.name
        if isinstance(stage, Evaluation):
            evaluate_point(moment, stage, new)
            continue
        if isinstance(stage, Solution):
            gamma = stage.gamma.value
            _, old_v, _ = predict(old_moment, stage, old)
            y = gamma * old_moment.project(old[f"v {name}"] - old_v)
            q, v, _ = predict(moment, stage, new)
            y = y + _correct(
                moment, stage, new | {f"q {name}": q + y, f"v {name}": v + y / gamma}, y
            )
        else:
            gamma = stage.gamma.value
            linear = LinearPoint(moment, stage, new | {f"v {name}": new["v"]})
            q, v = linear.predicted_q, linear.predicted_v
            y = moment.prepare(linear.matrix)(linear.right(moment))
        new |= {f"q {name}": q + y, f"v {name}": v + y / gamma}
    end = _end_state(moment, record, new)
    solutions = {key: value for key, value in new.items() if key in record.solutions}
    return Record(start, end, record.h, solutions, record.tableau, record.torn)


def _correct(moment: Moment, stage: Solution, vectors: Vectors, y: Float) -> Float:
    """Return the Newton correction of y [m], (n, 3), of an implicit stage."""
    point: StagePoint = solution_point(moment, stage, vectors)
    residual = moment.residual(point, y)
    return -moment.prepare(moment.stage_matrix(point))(residual)


def _end_state(moment: Moment, record: Record, vectors: Vectors) -> State:
    """Return the state at the end of a step, from its vectors."""
    end = record.tableau.end
    if isinstance(end, str):
        q, v = vectors[f"q {end}"], vectors[f"v {end}"]
    else:
        q = moment.constrain(end[0].evaluate(vectors), moment.state.t + moment.h)
        v = moment.project(end[1].evaluate(vectors)) + moment.path_velocities(1.0)
    history = dict(record.end.history)
    for key, name in HISTORY.items():
        total: Sum | None = record.tableau.history.get(name)
        if total is not None:
            history[key] = total.evaluate(vectors)
    return State(record.end.t, q, v, record.end.active, history)
