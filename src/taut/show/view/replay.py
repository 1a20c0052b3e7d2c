"""A run that was recorded, played back in a thread of its own: frames at the pace of their own time."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from taut.errors import ModelError, RunError
from taut.run.frames import Frame
from taut.run.opening import Columns, Run, open_run
from taut.show.subject import Subject
from taut.show.torn import Tearing
from taut.show.view.curves import curves_of_run
from taut.show.view.snapshot import Snapshot
from taut.show.view.source import Source, checked_speed
from taut.step.report import Report

NONE = np.empty(0, np.int64)
LOOK, TICK = 1.0, 0.01  # seconds between looks at a run that is still being written, and at the clock while it plays
PATIENCE = 5.0  # seconds that it waits at the end for more of a run that is being written, or was killed: nobody can tell
SHARE = 0.1  # of the time at most is spent on what is read anew as such a run grows


@dataclass(frozen=True)
class _Wish:
    playing: bool = False
    speed: float = 1.0
    frame: int = 0
    orders: int = 0  # how often a frame was asked for


class Replay(Source):
    """The frames of a run folder.

    folder : of the run, which may still be being written; subject : what there is to see of it
    curves : the plots of the whole run (see `taut.show.view.curves`)

    >>> import tempfile, taut
    >>> from taut.run.record import record
    >>> from taut.show.subject import of_system
    >>> ball = taut.System([[0, 10, 0]], mass=1.0, energies=[taut.laws.gravity()])
    >>> folder = tempfile.mkdtemp()
    >>> _ = record(folder, ball, taut.ImplicitEuler(), h=0.1, until=1.0, every=5)
    >>> replay = Replay(folder, of_system(ball))
    >>> replay.start()
    >>> replay.seek(2)
    >>> now = replay.wait(lambda now: now.frame == 2)
    >>> now.step, round(now.t, 9), now.frames
    (10, 1.0, 3)
    >>> replay.close()
    """

    def __init__(self, folder: str | Path, subject: Subject) -> None:
        self.folder = folder
        self._wish = self._first = _Wish()
        self._came = 0.0  # when there was something new to show
        self._subject, self._tearing = subject, Tearing(subject)
        with open_run(folder) as run:
            self.h = run.h * run.every
            self._refresh(run)
            first = run.frames[0]
            super().__init__("taut replay", Snapshot(0, 0, first.step, first.t, self.h, first.q, NONE, frames=len(run.frames)))
            self._newest = self.at(first)

    def _refresh(self, run: Run) -> None:
        """Read what is known of the whole run: reports, plots and what is torn."""
        begun = time.perf_counter()
        self._known = len(run.frames)
        self._reports: Columns = run.reports
        self.curves = curves_of_run(run.ledger, self._reports)
        self._torn = self._tearing.look(run)
        now = time.perf_counter()
        self._due = now + max(LOOK, (now - begun) / SHARE)

    def at(self, frame: Frame) -> Snapshot:
        """The snapshot of a frame, in place of the newest."""
        held, active = self._subject.held[self._subject.held_at(frame.t)], self._torn.active(frame.step)
        report = self._report(frame.step)
        seconds = 0.0 if report is None else report.seconds
        return replace(
            self._newest, step=frame.step, t=frame.t, q=frame.q, held=held, active=active, report=report, note="", seconds=seconds
        )

    def _order(self, **changes: Any) -> None:
        with self._lock:
            self._wish = replace(self._wish, **changes, orders=self._wish.orders + 1)
        self._changed.set()

    def play(self) -> None:
        """Go on by itself; from the beginning, if it is at the end."""
        now = self._newest
        at_end = now.frame >= now.frames - 1
        self._order(playing=True, frame=0 if at_end else now.frame)

    def pause(self) -> None:
        """Stay at the frame that is shown."""
        self._order(playing=False, frame=self._newest.frame)

    def step(self) -> None:
        """The next frame, and pause."""
        self._order(playing=False, frame=self._newest.frame + 1)

    def reset(self) -> None:
        """Back to the first frame, paused."""
        self._order(playing=False, frame=0)

    def seek(self, frame: int) -> None:
        """Show a frame; it plays on from there if it was playing."""
        if frame < 0:
            raise ModelError(f"there is no frame {frame}")
        self._order(frame=frame)

    def pace(self, speed: float) -> None:
        """Seconds of the run in a second of ours."""
        self._order(speed=checked_speed(speed), frame=self._newest.frame)

    def _run(self) -> None:
        with open_run(self.folder) as run:  # one of this thread's own
            begun, since, done = time.perf_counter(), self._newest.t, self._first
            while not self._ended:
                self._changed.clear()
                wish = self._wish
                try:
                    if wish is not done:
                        self._show(run, wish.frame, wish.playing)
                        begun, since, done = time.perf_counter(), self._newest.t, wish
                    elif wish.playing:
                        self._go_on(run, since + (time.perf_counter() - begun) * wish.speed)
                    elif len(run.frames) != self._newest.frames:
                        self._show(run, self._newest.frame, wish.playing)
                    if len(run.frames) != self._known and time.perf_counter() > self._due:
                        self._refresh(run)
                        self._show(run, self._newest.frame, wish.playing)
                except RunError as error:
                    done = wish
                    self._newest = replace(self._newest, number=self._newest.number + 1, note=str(error))
                if self._wish is wish:
                    self._changed.wait(min(TICK, self.h / wish.speed) if wish.playing else LOOK)

    def _go_on(self, run: Run, until: float) -> None:
        """Show the last frame that is not after `until` [s]; pause at the end."""
        now = self._newest
        frame = now.frame + max(0, int((until - now.t) / self.h + 1e-9)) if self.h > 0.0 else now.frame + 1
        frames = len(run.frames)
        if min(frame, frames - 1) > now.frame:
            self._show(run, frame, True)
        elif now.frame >= frames - 1 and (run.status != "running" or time.perf_counter() - self._came > PATIENCE):
            with self._lock:
                self._wish = replace(self._wish, playing=False, frame=now.frame)

    def _show(self, run: Run, frame: int, playing: bool) -> None:
        frames, now = len(run.frames), self._newest
        which = min(frame, frames - 1)
        self._came = time.perf_counter()
        now = replace(now, number=now.number + 1, frame=which, frames=frames, playing=playing)
        try:
            found = self.at(run.frames[which])
        except RunError as error:  # the others can be looked at
            self._newest = replace(now, note=str(error))
            return
        self._newest = replace(found, number=now.number, frame=which, frames=frames, playing=playing)

    def _report(self, step: int) -> Report | None:
        """What was reported of a step, or None if that is not known."""
        row = int(np.searchsorted(self._reports["step"], step))
        if row >= len(self._reports["step"]) or self._reports["step"][row] != step:
            return None
        return Report(**{name: column[row].item() for name, column in self._reports.items() if name != "step"})
