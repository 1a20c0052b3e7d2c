"""The frames of a run folder as a tape: steps between two frames are taken again.

A method that remembers earlier steps cannot continue from a frame, which has positions and
velocities only: its run is then taken again from the first frame.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from taut.errors import ModelError, RunError
from taut.inverse._tape import Recorder, TakenStep, Tape, record_step, require_same
from taut.run.open_run import Frame, Run
from taut.run.run_folder import SCENE, check_inputs_unchanged
from taut.run.simulate import TimeSteps
from taut.scene import read_text
from taut.step.adaptive import Adaptive
from taut.step.integrator import Integrator
from taut.system.state import State
from taut.system.system import System


class RunTape:
    """The steps of a run folder."""

    def __init__(self, run: Run, system: System, integrator: Integrator, lengths: object) -> None:
        self.system, self.integrator = system, integrator
        self._run, self._lengths = run, np.asarray(lengths)
        self.start = _to_state(run.frames[0])

    @property
    def segments(self) -> int:
        """How many segments there are: one for each frame but the first."""
        return max(0, len(self._run.frames) - 1)

    def segment(self, index: int) -> Sequence[TakenStep]:
        """Return the steps between two frames, taken again."""
        first, last = self._run.frames[index], self._run.frames[index + 1]
        state, steps = _to_state(first), []
        for k in range(first.step, last.step):
            result = self.integrator.advance(self.system, state, float(self._lengths[k]))
            steps.append(record_step(self.integrator, result))
            state = steps[-1].end
        require_same(state, _to_state(last))
        return steps


def _to_state(frame: Frame) -> State:
    return State(frame.t, np.array(frame.q), np.array(frame.v), dict(frame.active))


def open_tape(
    run: Run, system: System | None, integrator: Integrator | None, memory: float
) -> Tape:
    """Return the tape of a run.

    system, integrator : what was recorded; None: read from the scene of the run
    """
    if system is None or integrator is None:
        if not run.scene:
            raise ModelError(
                "the run was recorded without a scene: give its system and its integrator"
            )
        check_inputs_unchanged(run.folder, run.inputs)
        built = read_text(run.scene, folder=run.folder, path=run.folder / SCENE).build()
        system, integrator = system or built.system, integrator or built.integrator
    if system.n != run.n:
        raise ModelError(f"the system must have {run.n} particles as the run, got {system.n}")
    lengths = run.reports["h"]
    if not len(lengths):
        raise RunError(f"{run.folder}: the run has no steps")
    remembers = isinstance(integrator, Adaptive) or "the previous step" in integrator.needs
    if not remembers:
        return RunTape(run, system, integrator, lengths)
    steps = TimeSteps(len(lengths), float(lengths[0]), float(lengths[-1]))
    return Recorder(system, integrator, _to_state(run.frames[0]), steps, memory)
