"""A trajectory solved once more from another, to tell the error of a gradient by their difference.

Every stage takes one Newton iteration from where it was: what is left is of the order of the square
of the first residual.
"""

from __future__ import annotations

from collections.abc import Sequence

from taut.arrays import Float
from taut.inverse._moment import Moment, StagePoint
from taut.inverse._stage_points import (
    LinearPoint,
    Vectors,
    evaluate_point,
    predict,
    solution_point,
)
from taut.inverse._sums import Sum
from taut.inverse._tape import Record, TakenStep, Tape
from taut.inverse.tableaux import HISTORY, Evaluation, Solution
from taut.step.adaptive import Adaptive
from taut.system.state import State
from taut.system.workspace import workspace_for

# Of the corrections, relative. They are the error that is to be known, to one digit: with the
# accuracy of adjoint solves, they took a third of the time of a gradient with its bound.
_CORRECTION = 1e-4


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
    return -moment.prepare(moment.stage_matrix(point), accuracy=_CORRECTION)(residual)


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
