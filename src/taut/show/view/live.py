"""A simulation in a thread of its own, at its own pace, that others look at and steer.

The thread alone touches system, state and book. Orders reach it as one `Wish`, which it reads between two steps; what there is to
see leaves it as one `Snapshot`, by swapping a reference. Neither waits for anybody. A step that fails pauses the simulation with
the state as it was, and says why.
"""

from __future__ import annotations

import math
import time
from collections.abc import Hashable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from taut.errors import ModelError, TautError, did_you_mean
from taut.run.entry import Entry
from taut.run.ledger import entry_of
from taut.show.view.hand import Hand
from taut.show.view.holding import held_otherwise
from taut.show.view.knobs import Tuning
from taut.show.view.snapshot import Snapshot
from taut.show.view.source import Source, checked_speed
from taut.show.view.wish import Wish
from taut.step.integrator import Integrator
from taut.step.report import Report
from taut.system.state import State
from taut.system.system import System

Float = NDArray[np.float64]
Int = NDArray[np.int64]
MOST_PULLS = 64  # hands at a time


class Live(Source):
    """A system that is stepped as long as it plays.

    system, integrator : what is stepped, and how; h : step [s]; state : where it begins (default: the system's initial state)
    triangles : of the surface, (m, 3), on which the wind slider blows if the system has no wind
    until : how long the scene lasts [s], for sliders of what begins later (see `Tuning`); it goes on after that

    >>> import taut
    >>> ball = taut.System([[0, 10, 0]], mass=1.0, energies=[taut.laws.gravity()])
    >>> live = Live(ball, taut.ImplicitEuler(), 0.1)
    >>> live.turn(gravity=1.0)
    >>> live.step()
    >>> live.start()
    >>> live.wait(lambda now: now.step == 1).q.round(3).tolist()
    [[0.0, 9.99, 0.0]]
    >>> live.close()
    """

    def __init__(
        self, system: System, integrator: Integrator, h: float, *, state: State | None = None, triangles: Int | None = None,
        until: float | None = None,
    ) -> None:  # fmt: skip
        self.integrator = integrator
        self.tuning = Tuning(system, h, triangles, until)
        self.start_state = system.initial_state() if state is None else state
        self.publishing, self.working = 0.0, 0.0  # seconds that the thread has spent on snapshots, and on everything
        self._hand = Hand(system)
        self._wish = self._obeyed = Wish(self.tuning.start)
        self._pinned: dict[int, Float] = {}  # where the pinned particles are
        self._released: frozenset[int] = frozenset()  # particles that the scene has held still, until they were clicked
        self._held_of: tuple[System, Int] | None = None  # the particles that are not free, of which system
        self._steps_done = 0  # of the single steps asked for
        self._state, self._step, self._report, self._total, self._note = self.start_state, 0, *self._fresh()
        self._seconds = self._slept = 0.0
        self._system, self._pulled_system = self._made(self._wish)
        super().__init__("taut live", Snapshot(0, 0, 0, self._state.t, h, self._state.q, self._held(), self._state.active))

    @staticmethod
    def _fresh() -> tuple[Report | None, Entry | None, str]:
        return None, None, ""

    def _order(self, **changes: Any) -> None:
        with self._lock:
            self._wish = replace(self._wish, **changes)
        self._changed.set()

    def play(self) -> None:
        """Go on by itself."""
        self._order(playing=True)

    def pause(self) -> None:
        """Stop after the step at hand."""
        self._order(playing=False)

    def step(self) -> None:
        """One step, and pause."""
        with self._lock:
            self._wish = replace(self._wish, playing=False, steps=self._wish.steps + 1)
        self._changed.set()

    def reset(self) -> None:
        """Back to the beginning, paused; nothing is pulled or pinned any more, the sliders stay."""
        with self._lock:
            self._wish = replace(self._wish, playing=False, resets=self._wish.resets + 1, pulls={}, clicks={})
        self._changed.set()

    def pace(self, speed: float) -> None:
        """Seconds of simulated time in a second of ours, at most: a step takes as long as it takes."""
        self._order(speed=checked_speed(speed))

    def turn(self, **knobs: float) -> None:
        """Turn knobs (see `Knobs`); they act from the next step on."""
        with self._lock:
            now = self._wish.knobs
            for name, value in knobs.items():
                if not hasattr(now, name):
                    raise ModelError(f"there is no knob '{name}'{did_you_mean(name, vars(now))}")
                if not (math.isfinite(value) and value >= 0.0 and (value > 0.0 or name != "h")):
                    raise ModelError(f"the knob '{name}' cannot be turned to {value!r}")
            self._wish = replace(self._wish, knobs=replace(now, **knobs))
        self._changed.set()

    def pull(self, who: Hashable, particle: int, to: ArrayLike) -> None:
        """Pull a particle towards a point [m], (3,), until `let_go`; of one who pulls already, elsewhere."""
        point = np.array(to, dtype=np.float64)
        if point.shape != (3,) or not np.isfinite(point).all() or not 0 <= particle < self._system.n:
            raise ModelError(f"particle {particle} cannot be pulled to {to!r}")
        if self._system.flat:
            point[2] = 0.0
        with self._lock:
            if who in self._wish.pulls or len(self._wish.pulls) < MOST_PULLS:
                self._wish = replace(self._wish, pulls={**self._wish.pulls, who: (particle, point)})
        self._changed.set()

    def let_go(self, who: Hashable) -> None:
        """Pull no more."""
        with self._lock:
            self._wish = replace(self._wish, pulls={w: pull for w, pull in self._wish.pulls.items() if w != who})
        self._changed.set()

    def flip(self, particle: int) -> None:
        """Pin a particle where it is; take the pin off one that was pinned so; or release one that the scene holds still.

        With the pin off, what the scene asks of the particle applies again, such as a line on which it slides.
        """
        if not 0 <= particle < self._system.n:
            raise ModelError(f"there is no particle {particle}")
        with self._lock:
            clicks = self._wish.clicks
            self._wish = replace(self._wish, clicks={**clicks, particle: clicks.get(particle, 0) + 1})
        self._changed.set()

    def _run(self) -> None:
        try:
            self._go()
        finally:
            if not self._ended:  # an error that is not one of ours: Python prints it, and whoever looks is told
                self._note = "the simulation has broken off: see the terminal"
                self._publish(replace(self._wish, playing=False))

    def _go(self) -> None:
        begun = due = time.perf_counter()
        while not self._ended:
            self._changed.clear()  # before the wish is read: what comes later sets it again
            wish = self._wish
            self._obey(wish)
            if wish.playing or wish.steps > self._steps_done:
                self._advance(wish)
                due += wish.knobs.h / wish.speed
                ahead = due - time.perf_counter()
                if ahead > 0.0 and wish.playing:
                    self._sleep(ahead)
                else:
                    due = time.perf_counter()  # what is late stays late: no burst afterwards
            else:
                self._sleep(None)
                due = time.perf_counter()
            self.working = time.perf_counter() - begun - self._slept

    def _sleep(self, seconds: float | None) -> None:
        begun = time.perf_counter()
        self._changed.wait(seconds)
        self._slept += time.perf_counter() - begun

    def _obey(self, wish: Wish) -> None:
        """Do what has to be done between steps."""
        before = self._obeyed
        if wish is before:
            return
        self._obeyed = wish
        anew = wish.resets != before.resets
        if anew:
            self._state, self._step = self.start_state, 0
            self._report, self._total, self._note = self._fresh()
            self._steps_done, self._hand = wish.steps, Hand(self.tuning.system)
            self._pinned, self._released = {}, frozenset()
        clicked = [i for i, count in wish.clicks.items() if (count - (0 if anew else before.clicks.get(i, 0))) % 2]
        if anew or clicked or wish.knobs != before.knobs:
            self._rebuild(wish, clicked)
        if wish.knobs != before.knobs or wish.steps != self._steps_done or (wish.playing and not before.playing):
            self._note = ""  # it is tried again, or otherwise
        self._publish(wish)

    def _rebuild(self, wish: Wish, clicked: list[int]) -> None:
        """Make the system anew; what was clicked loses our pin, or the hold of the scene, or is pinned where it is."""
        was = (self._pinned, self._released, self._state)
        held = np.asarray(self._system.during(self._state.t, wish.knobs.h).hold.held)
        loose = [i for i in clicked if not held[i]]
        kept = {i: place for i, place in self._pinned.items() if i not in clicked}
        self._pinned = kept | {i: np.array(self._state.q[i]) for i in loose}
        self._released = self._released | {i for i in clicked if held[i] and i not in was[0]}
        if loose:
            v = np.array(self._state.v)
            v[loose] = 0.0  # a point that is pinned stands still; the book says what was lost between the steps
            self._state = self._state.with_(v=v)
        try:
            self._system, self._pulled_system = self._made(wish)
        except TautError as error:
            self._pinned, self._released, self._state = was
            self._note = str(error)
            self._order(playing=False)

    def _made(self, wish: Wish) -> tuple[System, System]:
        """The system under the knobs, with what is pinned and released; and the same with the hand, for steps in which it pulls."""
        base = self.tuning.system
        known = getattr(self, "_system", base)
        released = np.array(sorted(self._released), dtype=np.int64)
        plain = known.with_(**self.tuning.laws(wish.knobs), **held_otherwise(base, self._pinned, released))
        return plain, plain.with_(energies=[*plain.energies, self._hand.energy])

    def _held(self) -> Int:
        now = self._system.during(self._state.t, self._obeyed.knobs.h)
        if self._held_of is None or self._held_of[0] is not now:
            self._held_of = (now, np.flatnonzero(now.hold.held if now.flat else now.hold.constrained))
        return self._held_of[1]

    def _advance(self, wish: Wish) -> None:
        begun = time.perf_counter()
        h = wish.knobs.h
        single = wish.steps > self._steps_done
        self._steps_done += single
        self._hand.aim(self._state, h, dict(wish.pulls.values()))
        system = self._system if self._hand.idle else self._pulled_system
        try:
            done = self.integrator.advance(system, self._state, h)
            entry = entry_of(system, done)
        except TautError as error:
            self._note, self._report = str(error), getattr(error, "report", None) or self._report
            self._hand = Hand(self.tuning.system)  # its parameters at the time of the failed step may be remembered
            with self._lock:
                self._wish = replace(self._wish, playing=False, steps=self._steps_done)
            self._system, self._pulled_system = self._made(wish)
        else:
            self._state, self._report, self._note = done.state, done.report, ""
            self._total = entry if self._total is None else self._total.and_then(entry)
            self._step += 1
        self._seconds = time.perf_counter() - begun
        self._publish(self._wish)

    def _publish(self, wish: Wish) -> None:
        begun = time.perf_counter()
        self._newest = Snapshot(
            self._newest.number + 1, self._obeyed.resets, self._step, self._state.t, wish.knobs.h, self._state.q, self._held(),
            self._state.active, self._report, self._total, self._seconds, wish.playing, self._note, tuple(wish.pulls.values()),
        )  # fmt: skip
        self.publishing += time.perf_counter() - begun
