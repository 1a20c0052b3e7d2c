"""A recorded run, played back in its own thread: frames are shown at their recorded times.

The run may still be written. Then frames are added as they come, and what is derived from the whole
run (reports, plots) is read again from time to time.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from taut.errors import ModelError, RunError
from taut.run.open_run import Columns, Frame, Run, open_run
from taut.show.view._plots import tabulate_run
from taut.show.view._snapshot import Snapshot, Source, check_speed
from taut.show.visual_model import VisualModel
from taut.step.report import Report

_NO_PARTICLES = np.empty(0, np.int64)
_POLL_SECONDS = 1.0  # between two checks of a run that may still be written
_TICK_SECONDS = 0.01  # between two checks of the clock while it plays
# How long to wait for more frames at the end of a run that is being written or was killed (the two
# cannot be distinguished), before pausing.
_END_SECONDS = 5.0
_MAX_REFRESH_SHARE = 0.1  # of the time, for reading reports and plots again


@dataclass(frozen=True)
class _Commands:
    """Commands for a replay; number : grows with every command, so that each acts once."""

    playing: bool = False
    speed: float = 1.0
    frame: int = 0
    number: int = 0


class Replay(Source):
    """Playback of a run folder.

    folder : of the run, which may still be written; model : what is drawn of it
    table : rows of the plots for the whole run, (k, 10), see `_plots`

    >>> import tempfile, taut
    >>> from taut.run.record import record
    >>> from taut.show.visual_model import model_from_system
    >>> ball = taut.System([[0, 10, 0]], mass=1.0, energies=[taut.laws.gravity()])
    >>> folder = tempfile.mkdtemp()
    >>> _ = record(folder, ball, taut.ImplicitEuler(), h=0.1, until=1.0, every=5)
    >>> replay = Replay(folder, model_from_system(ball))
    >>> replay.start()
    >>> replay.seek(2)
    >>> now = replay.wait(lambda now: now.frame == 2)
    >>> now.step, round(now.t, 9), now.frames
    (10, 1.0, 3)
    >>> replay.close()
    """

    def __init__(self, folder: str | Path, model: VisualModel) -> None:
        self.folder = folder
        self._commands = self._initial_commands = _Commands()
        self._last_shown = 0.0  # time of the last new frame, by the clock [s]
        self._model = model
        with open_run(folder) as run:
            self.h = run.h * run.every
            self._refresh(run)
            first, frames = run.frames[0], len(run.frames)
            snapshot = Snapshot(
                0, 0, first.step, first.t, self.h, first.q, _NO_PARTICLES, frames=frames
            )
            super().__init__("taut replay", snapshot)
            self._newest = self.make_snapshot(first)

    def _refresh(self, run: Run) -> None:
        """Read what is derived from the whole run: reports and plots."""
        started = time.perf_counter()
        self._frames_read = len(run.frames)
        self._reports: Columns = run.reports
        self.table = tabulate_run(run.ledger, self._reports)
        now = time.perf_counter()
        self._refresh_due = now + max(_POLL_SECONDS, (now - started) / _MAX_REFRESH_SHARE)

    def make_snapshot(self, frame: Frame) -> Snapshot:
        """Return the newest snapshot with the state of a frame."""
        report = self._find_report(frame.step)
        return replace(
            self._newest,
            step=frame.step,
            t=frame.t,
            q=frame.q,
            held=self._model.held[self._model.held_at(frame.t)],
            active=self._model.active_masks(frame),
            report=report,
            error="",
            seconds=0.0 if report is None else report.seconds,
        )

    def _find_report(self, step: int) -> Report | None:
        """Return the report of a step, or None if there is none."""
        steps = self._reports["step"]
        row = int(np.searchsorted(steps, step))
        if row >= len(steps) or steps[row] != step:
            return None
        values = {name: column[row].item() for name, column in self._reports.items()}
        del values["step"]
        return Report(**values)

    def _update(self, **changes: Any) -> None:
        with self._lock:
            number = self._commands.number + 1
            self._commands = replace(self._commands, **changes, number=number)
        self._changed.set()

    def play(self) -> None:
        """Play until the end or `pause`; from the start, if it is at the end."""
        now = self._newest
        is_at_end = now.frame >= now.frames - 1
        self._update(playing=True, frame=0 if is_at_end else now.frame)

    def pause(self) -> None:
        """Stop at the current frame."""
        self._update(playing=False, frame=self._newest.frame)

    def step(self) -> None:
        """Show the next frame and pause."""
        self._update(playing=False, frame=self._newest.frame + 1)

    def reset(self) -> None:
        """Return to the first frame, paused."""
        self._update(playing=False, frame=0)

    def seek(self, frame: int) -> None:
        """Show a frame; a replay that plays goes on from there. Past the end: the last frame."""
        if frame < 0:
            raise ModelError(f"frame must not be negative, got {frame}")
        self._update(frame=frame)

    def set_speed(self, speed: float) -> None:
        """Set the speed, in simulated seconds per second."""
        self._update(speed=check_speed(speed), frame=self._newest.frame)

    def _run(self) -> None:
        with open_run(self.folder) as run:  # a database connection belongs to one thread
            started, start_t, executed = time.perf_counter(), self._newest.t, self._initial_commands
            while not self._is_closing:
                self._changed.clear()
                commands = self._commands
                try:
                    if commands is not executed:
                        self._show(run, commands.frame, commands.playing)
                        started, start_t = time.perf_counter(), self._newest.t
                        executed = commands
                    elif commands.playing:
                        elapsed = time.perf_counter() - started
                        self._show_time(run, start_t + elapsed * commands.speed)
                    elif len(run.frames) != self._newest.frames:
                        self._show(run, self._newest.frame, commands.playing)
                    if (
                        len(run.frames) != self._frames_read
                        and time.perf_counter() > self._refresh_due
                    ):
                        self._refresh(run)
                        self._show(run, self._newest.frame, commands.playing)
                except RunError as error:
                    executed = commands
                    number = self._newest.number + 1
                    self._newest = replace(self._newest, number=number, error=str(error))
                if self._commands is commands:
                    seconds = _POLL_SECONDS
                    if commands.playing:
                        seconds = min(_TICK_SECONDS, self.h / commands.speed)
                    self._changed.wait(seconds)

    def _show_time(self, run: Run, t: float) -> None:
        """Show the last frame that is not after t [s]; pause at the end."""
        now = self._newest
        frame = now.frame + 1
        if self.h > 0.0:
            frame = now.frame + max(0, int((t - now.t) / self.h + 1e-9))
        frames = len(run.frames)
        if min(frame, frames - 1) > now.frame:
            self._show(run, frame, True)
        elif now.frame >= frames - 1:
            is_waiting = time.perf_counter() - self._last_shown <= _END_SECONDS
            if run.status != "running" or not is_waiting:
                with self._lock:
                    self._commands = replace(self._commands, playing=False, frame=now.frame)

    def _show(self, run: Run, frame: int, playing: bool) -> None:
        """Publish a frame, or the last one if there are fewer."""
        frames, number = len(run.frames), self._newest.number + 1
        frame = min(frame, frames - 1)
        self._last_shown = time.perf_counter()
        try:
            snapshot = self.make_snapshot(run.frames[frame])
        except RunError as error:  # a damaged frame; the others can still be shown
            snapshot = replace(self._newest, error=str(error))
        self._newest = replace(snapshot, number=number, frame=frame, frames=frames, playing=playing)
