"""A simulation in its own thread, which viewers watch and control while it runs.

Only this thread touches system, state and energy ledger. Commands reach it as one `Commands`
record, which it reads between two steps; it publishes its state as one `Snapshot`. Both are
exchanged by replacing a reference, so no thread waits for another. A step that fails pauses the
simulation in the state before it, lets go of what is dragged, and the snapshot carries the error.
With contact it is first divided into shorter ones. While a step takes long, snapshots say so; a
drag that makes it take too long is let go of, and the step is taken again without it. Closing ends
a long step.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Hashable
from contextlib import suppress
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from taut.arrays import Float, Int
from taut.errors import ModelError, TautError
from taut.run.energy_balance import balance_energy
from taut.run.ledger_entry import LedgerEntry
from taut.show.view._commands import Commands
from taut.show.view._drag_and_pin import DragEnergy, pin_and_release
from taut.show.view._sliders import Sliders
from taut.show.view._snapshot import Snapshot, Source, check_speed
from taut.step.adaptive import Adaptive
from taut.step.integrator import Integrator
from taut.step.report import Report
from taut.system.state import State
from taut.system.system import System
from taut.system.workspace import workspace_for
from taut.watch import Work, watching

# A hand can fold bodies in ways that a step does not solve: h/64 is still some tenths of a
# millisecond, and seven attempts are as long as a user may wait.
_MAX_HALVINGS = 6


_LONG_STEP = 0.5  # seconds after which snapshots tell of the step under way
_WORK_INTERVAL = 0.2  # seconds between two of these
_LONGEST_DRAG = 2.0  # seconds of a step after which a drag is let go of
_PACE_SECONDS = 1.0  # over which the pace is measured


_EARTH_GRAVITY = 9.81  # [m/s²], also where a scene has none


class _Closed(Exception):
    """Ends a step when the simulation is closed."""


class _DragTooHard(Exception):
    """Ends a step that a drag makes too long."""


class Live(Source):
    """A live simulation.

    system, integrator : what is stepped, and how; h : step [s]
    state : initial state (default: that of the system)
    triangles : surface for the wind slider if the system has no wind, (m, 3)
    until : duration of the scene [s], for the range of the sliders (see `_sliders`); the simulation
        does not end there

    >>> import taut
    >>> ball = taut.System([[0, 10, 0]], mass=1.0, energies=[taut.laws.gravity()])
    >>> live = Live(ball, taut.ImplicitEuler(), 0.1)
    >>> live.set_sliders(gravity=1.0)
    >>> live.step()
    >>> live.start()
    >>> live.wait(lambda now: now.step == 1).q.round(3).tolist()
    [[0.0, 9.99, 0.0]]
    >>> live.close()
    """

    def __init__(
        self,
        system: System,
        integrator: Integrator,
        h: float,
        *,
        state: State | None = None,
        triangles: Int | None = None,
        until: float | None = None,
    ) -> None:
        if system.contact is not None and not isinstance(integrator, Adaptive):
            integrator = Adaptive(integrator, halvings=_MAX_HALVINGS)
        self.integrator = integrator
        self.sliders = Sliders(system, h, triangles, until)
        self.initial_state = system.initial_state() if state is None else state
        free = np.logical_not(system._projector.is_fixed)
        self._weight = _EARTH_GRAVITY * float(system.mass[free].sum())  # [N]
        # Seconds that the thread has spent on snapshots, and on everything but sleeping.
        self.publishing, self.working = 0.0, 0.0
        self._commands = self._executed = Commands(self.sliders.initial)
        self._clear()
        self._single_steps_done = 0
        self._step_seconds = self._slept = 0.0
        self._step_started = self._told = 0.0
        self._paces: deque[tuple[float, float]] = deque()  # (clock, t) while it plays [s]
        self._held_cache: tuple[System, Int] | None = None
        self._system = system
        self._system, self._dragged_system = self._make_systems(self._commands)
        t, q, active = self._state.t, self._state.q, self._state.active
        super().__init__("taut live", Snapshot(0, 0, 0, t, h, q, self._find_held(), active))

    def _clear(self) -> None:
        """Return to the initial state, with nothing pinned, released or dragged."""
        self._state, self._step = self.initial_state, 0
        self._report: Report | None = None
        self._total: LedgerEntry | None = None
        self._error = ""
        self._drag = DragEnergy(self.sliders.system)
        self._pinned: dict[int, Float] = {}  # particle → its position [m]
        self._released: frozenset[int] = frozenset()  # particles that the scene had held

    def _update(self, change: Callable[[Commands], Commands]) -> None:
        with self._lock:
            self._commands = change(self._commands)
        self._changed.set()

    def play(self) -> None:
        """Advance until `pause`."""
        self._update(lambda commands: replace(commands, playing=True))

    def pause(self) -> None:
        """Stop after the current step."""
        self._update(lambda commands: replace(commands, playing=False))

    def step(self) -> None:
        """Take one step and pause."""
        self._update(Commands.add_step)

    def reset(self) -> None:
        """Return to the initial state, paused, with nothing dragged or pinned; keep the sliders."""
        self._update(Commands.add_reset)

    def set_speed(self, speed: float) -> None:
        """Set the greatest speed, in simulated seconds per second; slow steps may not reach it."""
        speed = check_speed(speed)
        self._update(lambda commands: replace(commands, speed=speed))

    def set_sliders(self, **values: float) -> None:
        """Set sliders (see `_sliders.SliderValues`) from the next step on."""
        self._update(lambda commands: commands.set_sliders(values))

    def drag(self, client: Hashable, particle: int, target: ArrayLike) -> None:
        """Drag a particle towards a point [m], (3,), until `end_drag`.

        client : who drags; each client drags one particle at a time
        """
        point = np.array(target, dtype=np.float64)
        if point.shape != (3,) or not np.isfinite(point).all():
            raise ModelError(f"the target of a drag must be three finite numbers, got {target!r}")
        self._check_particle(particle)
        if self._system.flat:
            point[2] = 0.0
        self._update(lambda commands: commands.set_drag(client, particle, point))

    def end_drag(self, client: Hashable) -> None:
        """Let go of what a client drags."""
        self._update(lambda commands: commands.end_drag(client))

    def toggle_pin(self, particle: int) -> None:
        """Pin a particle where it is, remove such a pin, or release a particle the scene holds.

        Without the pin, the constraints of the scene apply again, such as a line it slides on.
        """
        self._check_particle(particle)
        self._update(lambda commands: commands.add_click(particle))

    def _check_particle(self, particle: int) -> None:
        if not 0 <= particle < self._system.n:
            raise ModelError(f"particle must be from 0 to {self._system.n - 1}, got {particle}")

    def _run(self) -> None:
        try:
            with suppress(_Closed):
                self._loop()
        finally:
            # An error that is not a TautError: Python prints it in the terminal; the viewers show
            # that the simulation has ended.
            if not self._is_closing:
                self._error = "the simulation has crashed: see the terminal"
                self._publish(replace(self._commands, playing=False))

    def _loop(self) -> None:
        started = due = time.perf_counter()
        while not self._is_closing:
            # Cleared before the commands are read: any later one sets it again.
            self._changed.clear()
            commands = self._commands
            self._execute(commands)
            if commands.playing or commands.steps > self._single_steps_done:
                self._advance(commands)
                due += commands.sliders.h / commands.speed
                early = due - time.perf_counter()
                if early > 0.0 and commands.playing:
                    self._sleep(early)
                else:
                    due = time.perf_counter()  # do not catch up on lost time in a burst
            else:
                self._sleep(None)
                due = time.perf_counter()
            self.working = time.perf_counter() - started - self._slept

    def _sleep(self, seconds: float | None) -> None:
        """Sleep until the next command, for at most `seconds`."""
        started = time.perf_counter()
        self._changed.wait(seconds)
        self._slept += time.perf_counter() - started

    def _execute(self, commands: Commands) -> None:
        """Execute what has changed in the commands, between two steps."""
        before = self._executed
        if commands is before:
            return
        self._executed = commands
        is_reset = commands.resets != before.resets
        counted = {} if is_reset else before.clicks
        if is_reset:
            self._clear()
            self._single_steps_done = commands.steps
        # Two clicks on a particle since the last step cancel out.
        clicked = [
            particle
            for particle, count in commands.clicks.items()
            if (count - counted.get(particle, 0)) % 2
        ]
        has_new_sliders = commands.sliders != before.sliders
        if is_reset or clicked or has_new_sliders:
            self._rebuild(commands, clicked)
        is_resumed = commands.playing and not before.playing
        if has_new_sliders or commands.steps != self._single_steps_done or is_resumed:
            self._error = ""  # the failed step is tried again, or under other conditions
        self._publish(commands)

    def _rebuild(self, commands: Commands, clicked: list[int]) -> None:
        """Rebuild the system; each clicked particle loses its pin, is released, or is pinned."""
        before = (self._pinned, self._released, self._state)
        held = np.asarray(
            workspace_for(self._system)
            .without_ended_constraints(self._state.t, commands.sliders.h)
            .system._projector.is_fixed
        )
        free = [i for i in clicked if not held[i]]
        kept = {i: x for i, x in self._pinned.items() if i not in clicked}
        held_by_scene = {i for i in clicked if held[i] and i not in self._pinned}
        self._pinned = kept | {i: np.array(self._state.q[i]) for i in free}
        self._released = self._released | held_by_scene
        if free:
            # A pinned particle stands still; the ledger books the lost energy between the steps.
            v = np.array(self._state.v)
            v[free] = 0.0
            self._state = self._state.with_(v=v)
        try:
            self._system, self._dragged_system = self._make_systems(commands)
        except TautError as error:
            self._pinned, self._released, self._state = before
            self._error = str(error)
            self.pause()

    def _make_systems(self, commands: Commands) -> tuple[System, System]:
        """Make the system under the commands, without and with the energy of the drags.

        Two, because a step without a drag must not pay for an energy that is zero.
        """
        released = np.array(sorted(self._released), dtype=np.int64)
        laws = self.sliders.scale_laws(commands.sliders)
        constraints = pin_and_release(self.sliders.system, self._pinned, released)
        plain = self._system.with_(**laws, **constraints)
        return plain, plain.with_(energies=[*plain.energies, self._drag.energy])

    def _find_held(self) -> Int:
        """Return the particles that are not free, (k,)."""
        system = (
            workspace_for(self._system)
            .without_ended_constraints(self._state.t, self._executed.sliders.h)
            .system
        )
        if self._held_cache is None or self._held_cache[0] is not system:
            # In a flat system all particles are constrained to the plane.
            mask = system._projector.is_fixed if system.flat else system._projector.is_constrained
            self._held_cache = (system, np.flatnonzero(mask))
        return self._held_cache[1]

    def _advance(self, commands: Commands) -> None:
        """Take one step and publish it; on failure keep the state, pause, and publish the error."""
        self._step_started = self._told = started = time.perf_counter()
        h = commands.sliders.h
        if commands.steps > self._single_steps_done:
            self._single_steps_done += 1
        largest = commands.sliders.pull * self._weight
        self._drag.set_targets(self._state, h, dict(commands.drags.values()), largest)
        system = self._system if self._drag.is_idle else self._dragged_system
        try:
            with watching(self._watch):
                done = self.integrator.advance(system, self._state, h)
            entry = balance_energy(system, done)
        except _DragTooHard:
            self._error = (
                f"let go: with this pull, a step took longer than {_LONGEST_DRAG:g} s; "
                "try a smaller pull"
            )
            self._let_go(commands, playing=commands.playing)
        except TautError as error:
            self._error = str(error)
            self._report = getattr(error, "report", None) or self._report
            self._let_go(commands, playing=False)
        else:
            self._state, self._report = done.state, done.report
            if commands.drags or not self._error.startswith("let go"):
                self._error = ""
            self._total = entry if self._total is None else self._total.and_then(entry)
            self._step += 1
        self._step_seconds = time.perf_counter() - started
        self._publish(self._commands)

    def _let_go(self, commands: Commands, *, playing: bool) -> None:
        """End all drags: the pull that made a step fail would do so again."""
        # A new energy: the system may have cached its parameters at the times of this step.
        self._drag = DragEnergy(self.sliders.system)
        with self._lock:
            self._commands = replace(
                self._commands, playing=playing, steps=self._single_steps_done, drags={}
            )
        self._system, self._dragged_system = self._make_systems(commands)

    def _watch(self, work: Work) -> None:
        """Be called within a step: end it if nobody waits for it, and tell of it if it is long."""
        if self._is_closing:
            raise _Closed
        now = time.perf_counter()
        seconds = now - self._step_started
        if seconds > _LONGEST_DRAG and not self._drag.is_idle:
            raise _DragTooHard
        if seconds > _LONG_STEP and now - self._told > _WORK_INTERVAL:
            self._told = now
            self._publish(self._commands, f"this step has taken {seconds:.1f} s: {work}")

    def _measure_pace(self, playing: bool) -> float:
        """Return simulated seconds per second while it plays, else 0."""
        if not playing:
            self._paces.clear()
            return 0.0
        now, paces = time.perf_counter(), self._paces
        if paces and self._state.t < paces[-1][1]:  # it was reset
            paces.clear()
        paces.append((now, self._state.t))
        while len(paces) > 2 and now - paces[1][0] > _PACE_SECONDS:
            paces.popleft()
        span = now - paces[0][0]
        return (self._state.t - paces[0][1]) / span if span > 0.0 else 0.0

    def _publish(self, commands: Commands, work: str = "") -> None:
        started = time.perf_counter()
        self._newest = Snapshot(
            number=self._newest.number + 1,
            epoch=self._executed.resets,
            step=self._step,
            t=self._state.t,
            h=commands.sliders.h,
            q=self._state.q,
            held=self._find_held(),
            active=self._state.active,
            report=self._report,
            total=self._total,
            seconds=self._step_seconds,
            pace=self._measure_pace(commands.playing),
            work=work,
            playing=commands.playing,
            error=self._error,
            drags=tuple(commands.drags.values()),
        )
        self.publishing += time.perf_counter() - started
