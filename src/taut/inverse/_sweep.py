"""The backward sweep over a tape: from the loss of every state to the gradient by everything."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from taut.arrays import Float, describe
from taut.errors import ModelError
from taut.inverse._collect import SweepResult
from taut.inverse._forces import Forces
from taut.inverse._kinks import find_kinks
from taut.inverse._moment import Moment, PathSums
from taut.inverse._part import Sums
from taut.inverse._stage_points import evaluate_point, solution_point
from taut.inverse._stages import Accumulator, pull_step
from taut.inverse._sums import Bars
from taut.inverse._tape import Record, TakenStep, Tape
from taut.inverse.tableaux import HISTORY, Evaluation, Solution
from taut.step.adaptive import Adaptive
from taut.system.state import State
from taut.system.workspace import workspace_for

Loss = Callable[[State], Any]
# Relative distance of a comparison in a formula from equality: nearer, rounding of the positions
# decides which branch is taken.
KINK_MARGIN = 1e-9


class Sweep:
    """A backward sweep.

    accuracy : of the linear solves, relative
    times : whether functions of time are differentiated, for the gradient by h
    """

    def __init__(self, tape: Tape, loss: Loss, accuracy: float, *, times: bool) -> None:
        self._tape, self._loss, self._accuracy = tape, loss, accuracy
        system = tape.system
        self._n = system.n
        self._into = Accumulator(Sums.of(system, times=times), PathSums(system))
        self._value, self._solves = 0.0, 0.0
        self._bars = Bars(system.n)
        self._clock_t = 0.0  # the gradient by the time at which the next step starts
        self._from_last = 0.0  # by the length of the step before the one just pulled
        self._steps: list[float] = []
        self.torn: list[tuple[float, str, int]] = []
        self.kinks: list[tuple[float, str, int]] = []

    @property
    def worst_solve(self) -> float:
        """The largest relative residual of the linear solves."""
        return self._solves

    def run(self) -> SweepResult:
        """Go through all steps, the last one first."""
        tape = self._tape
        for index in reversed(range(tape.segments)):
            for taken in reversed(tape.segment(index)):
                self._pull_taken(taken)
        self._add_loss(tape.start)
        start = tape.system.initial_state()
        same = np.array_equal(start.q, tape.start.q) and np.array_equal(start.v, tape.start.v)
        return SweepResult(
            self._value,
            self._into.sums,
            self._into.paths,
            self._bars.get("q end"),
            self._bars.get("v end"),
            np.array(self._steps[::-1]),
            same and tape.start.t == 0.0,
        )

    def _pull_taken(self, taken: TakenStep) -> None:
        self._add_loss(taken.end)
        by_length = 0.0
        for record in reversed(taken.records):
            # All substeps grow in proportion if the step does.
            by_length += self._pull_record(record) * record.h
        whole = sum(record.h for record in taken.records)
        self._steps.append(by_length / whole)

    def _add_loss(self, state: State) -> None:
        value, q, v = read_loss(self._loss(state), self._n, state.t)
        self._value += value
        if q is not None:
            self._bars.add("q end", q)
        if v is not None:
            self._bars.add("v end", v)

    def _pull_record(self, record: Record) -> float:
        """Pull one step; return the gradient by its length."""
        inner = self._tape.integrator
        if isinstance(inner, Adaptive):
            inner = inner.integrator
        workspace = workspace_for(self._tape.system)
        moment = Moment(workspace, inner, record.start, record.h, self._accuracy)
        vectors = record.vectors()
        for stage in record.tableau.stages:
            if isinstance(stage, Evaluation):
                evaluate_point(moment, stage, vectors)
        bars = self._bars
        clock = pull_step(moment, record.tableau, vectors, bars, self._into)
        self._solves = max(self._solves, moment.worst_solve)
        self._note(record, moment, vectors)
        self._bars = Bars(self._n)
        for name in ("q", "v", *HISTORY.values()):
            self._bars.add(f"{name} end", bars.get(name))
        # The end of this step is the start of the next one: its time moves with this length.
        by_length = clock.h + self._clock_t + self._from_last
        self._clock_t += clock.t
        self._from_last = clock.last
        return by_length

    def _note(self, record: Record, moment: Moment, vectors: dict[str, Float]) -> None:
        t = record.start.t + record.h
        self.torn += [(t, law, element) for law, element in record.torn]
        forces: Forces = moment.forces
        for stage in record.tableau.stages:
            if isinstance(stage, Solution):
                point = solution_point(moment, stage, vectors)
                q, time = point.q, point.t
            elif isinstance(stage, Evaluation):
                q, time = vectors[f"q {stage.name}"], record.start.t + stage.t.value
            else:
                q, time = vectors["q"], record.start.t + record.h
            found = find_kinks(forces.parts_of_energy, q, q, 0.0, time, KINK_MARGIN)
            self.kinks += [(time, law, element) for law, element in found]


def read_loss(found: Any, n: int, t: float) -> tuple[float, Float | None, Float | None]:
    """Return value and gradients by q and v of what a loss has returned for a state."""
    if found is None:
        return 0.0, None, None
    if not isinstance(found, tuple) or len(found) not in (2, 3):
        raise ModelError(
            "the loss must return (value, gradient by q), (value, gradient by q, gradient by v) or "
            f"None for a state, got {describe(found)} at t = {t:g} s"
        )
    try:
        value = float(found[0])
    except (TypeError, ValueError) as error:
        raise ModelError(
            f"the value of the loss at t = {t:g} s must be a number, got {found[0]!r}"
        ) from error
    gradients: list[Float | None] = [None, None]
    for k, (what, given) in enumerate(zip("qv", found[1:], strict=False)):
        if given is None:
            continue
        array = np.asarray(given, dtype=np.float64)
        if array.shape != (n, 3):
            raise ModelError(
                f"the gradient of the loss by {what} at t = {t:g} s must have the shape ({n}, 3), "
                f"got {array.shape}"
            )
        gradients[k] = array
    for array_or_none in (np.array([value]), *gradients):
        if array_or_none is not None and not np.isfinite(array_or_none).all():
            raise ModelError(f"the loss at t = {t:g} s must be finite, with a finite gradient")
    return value, gradients[0], gradients[1]
