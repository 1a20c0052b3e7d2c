"""What the explicit integrators share: stages of forces, constraints at each, and a warning before they blow up.

An explicit method is a `formula` of the accelerations a(t, q, v). The same formula, applied to x'' = -ω²x - d x', tells how long a
step may be: the largest h for which no eigenvalue of its 2×2 matrix leaves the unit circle.
"""

from __future__ import annotations

import logging
import time
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from taut.errors import EigenError, ModelError, NotConverged, SingularState
from taut.step.advance import Advance, Stage
from taut.step.combination import Combination, Course
from taut.step.fastest import fastest
from taut.step.integrator import Integrator, Kind
from taut.step.report import Report
from taut.system.hold import Constraints
from taut.system.slopes import scaled_slopes
from taut.system.state import State
from taut.system.system import System

Float = NDArray[np.float64]
Acceleration = Callable[[float, Any, Any], Any]
LOOK_EVERY = 1000  # steps between two looks at the fastest oscillation
LONGEST = 8.0  # h·max(ω, d) at which every explicit method is unstable
SHARES = np.linspace(0.0, 1.0, 33)  # of the damping rate: the fastest oscillation may have any of them
ROUNDING = 1e-9  # by which an eigenvalue of modulus 1 may be missed
log = logging.getLogger("taut")


@dataclass
class _Look:
    """The last look at the fastest oscillation: at what, the longest step it allows [s], and how many steps ago."""

    system: System
    active: tuple[tuple[str, bytes], ...]
    longest: float
    since: int


class Explicit(Integrator):
    """Integrators that only evaluate forces: nothing is solved, a step is cheap, and h is limited by the fastest oscillation."""

    stability: ClassVar[Kind] = "conditional"
    needs: ClassVar[tuple[str, ...]] = ("forces",)
    weights: ClassVar[tuple[float, ...]]
    """Of the accelerations, in the order in which the formula asks for them, in (v' - v)/h."""

    def __init__(self) -> None:
        self._looked: _Look | None = None
        self._warned = False
        self._scale: tuple[System, Float] | None = None  # -1/m [1/kg], (n,), of the system of the last step
        self._rooms = np.empty((0, 0, 3))  # for accelerations
        self._ended: tuple[System, State, float] | None = None  # the last step: of what, where it ended, its length [s]

    @staticmethod
    @abstractmethod
    def formula(a: Acceleration, t: float, q: Any, v: Any, h: float) -> tuple[Any, Any]:
        """q' and v' after h seconds."""

    @classmethod
    def limit(cls, omega: float, rate: float = 0.0) -> float:
        """The longest step [s] for oscillations up to ω [rad/s] and damping up to a rate [1/s]; infinite if there are none.

        >>> import taut
        >>> round(taut.SymplecticEuler.limit(100.0), 6), round(taut.RK4.limit(1.0), 6)
        (0.02, 2.828427)
        """
        for what, value in (("omega", omega), ("rate", rate)):
            if not 0.0 <= value < float("inf"):
                raise ModelError(f"limit: {what} is {value!r}; it must be finite and not negative")
        fast = max(omega, rate)
        return _longest(cls, omega / fast, rate / fast) / fast if fast else float("inf")

    @classmethod
    def grows(cls, omega: Float, rate: Float, h: Any) -> NDArray[np.bool_]:
        """Which oscillations, ω and d each of shape (k,), grow over a step of h, a number or (k,)."""
        w, d, one = omega[:, None] ** 2, rate[:, None], np.ones((len(omega), 1))

        def a(t: Any, x: Float, v: Float) -> Float:
            return -w * x - d * v

        step: Any = np.reshape(h, (-1, 1))
        matrices = np.stack(cls.formula(a, 0.0, one * [1.0, 0.0], one * [0.0, 1.0], step), axis=1)
        found: NDArray[np.bool_] = np.abs(np.linalg.eigvals(matrices)).max(axis=1) > 1.0 + ROUNDING
        return found

    def move(self, system: System, state: State, h: float) -> Advance:
        begun = time.perf_counter()
        last = self._ended
        goes_on = last is not None and last[0] is system and last[1] is state and last[2] == h
        if not goes_on:
            self.check(system, state, h)
        hold, assembling, note = system.hold, 0.0, ""
        stages: list[Stage] = []
        if self._rooms.shape[1] != system.n:
            self._rooms = np.empty((len(self.weights), system.n, 3))  # kept: new memory costs more than what is written to it
        course = Course(state.q, state.v, self._rooms)
        if self._scale is None or self._scale[0] is not system:
            self._scale = (system, -1.0 / system.mass)
        scale = self._scale[1]

        def moment(t: float, q: Combination, v: Combination) -> State:
            """The state at a time within the step, with constrained particles where they belong."""
            where, speed = course.at(q, v)
            if goes_on and hold.at_rest and where is state.q and t == state.t:  # placed there by the last step
                return state
            return _constrained(hold, state, h, t, where, speed)

        def a(t: float, q: Combination, v: Combination) -> Combination:
            nonlocal assembling
            at = moment(t, q, v)
            stages.append(Stage(self.weights[len(stages)], t, at.q, at.v, at))
            mark = time.perf_counter()
            found = course.room
            scaled_slopes(system, at, scale, found)
            found[hold.among] = hold.projected(found[hold.among])
            assembling += time.perf_counter() - mark
            return course.acceleration()

        t_end = state.t + h
        try:
            note = self._watch(system, state, h)
            new = moment(t_end, *self.formula(a, state.t, *course.start, h))
        except SingularState as error:
            made = Report(type(self).__name__, t_end, h, "not converged", evaluations=len(stages), note=note)
            raise NotConverged(
                f"{made.integrator} at t = {t_end:g} s: {error}; {note or 'take a shorter step'}", made, state
            ) from error
        self._ended = (system, new, h)
        made = Report(
            type(self).__name__, t_end, h, "explicit", evaluations=len(stages), seconds=time.perf_counter() - begun,
            assembling=assembling, note=note,
        )  # fmt: skip
        return Advance(
            state, new, made,
            moved=lambda: new.q - state.q,
            inertia=lambda: system.mass[:, None] * hold.project(new.v - state.v) / h,
            residual=lambda: np.zeros((system.n, 3)),
            stages=tuple(stages),
        )  # fmt: skip

    def _watch(self, system: System, state: State, h: float) -> str:
        """Look at the fastest oscillation now and then; what to say if h is beyond the limit."""
        active = tuple((name, mask.tobytes()) for name, mask in sorted(state.active.items()))
        known = self._looked
        if known is None or known.system is not system or known.active != active or known.since >= LOOK_EVERY:
            if known is None or known.system is not system:
                self._warned = False
            try:
                longest = self.limit(*fastest(system, state))
            except (SingularState, EigenError) as error:
                return f"the limit of {type(self).__name__} could not be found: {error}"
            self._looked = known = _Look(system, active, longest, 0)
        known.since += 1
        if h <= known.longest:
            return ""
        return f"h = {h:g} s is beyond the limit of {type(self).__name__} for this system; h ≤ {known.longest:.3g} s would do"

    def warn(self, report: Report) -> None:
        if report.note and not self._warned:
            self._warned = True
            log.warning(report.note)


@cache
def _longest(method: type[Explicit], omega: float, rate: float) -> float:
    """The longest step of a method for oscillations up to ω and damping up to a rate, the larger of which is 1."""
    w, d = np.unique([(o, rate * share) for o in (omega, 0.0) for share in SHARES], axis=0).T
    steps = np.linspace(0.0, LONGEST, 401)
    grown = method.grows(np.tile(w, len(steps)), np.tile(d, len(steps)), np.repeat(steps, len(w))).reshape(len(steps), -1)
    out = np.append(np.flatnonzero(grown[1:].sum(axis=1)), len(steps) - 1)
    first = int(out[0]) + 1  # the first exit from the unit circle
    low, high = float(steps[first - 1]), float(steps[min(first, len(steps) - 1)])
    while high - low > 1e-12 * high:
        middle = 0.5 * (low + high)
        low, high = (low, middle) if method.grows(w, d, middle).any() else (middle, high)
    return low


def _constrained(hold: Constraints, start: State, h: float, t: float, q: Float, v: Float) -> State:
    """The state at time t of a step of h from `start`, from positions and velocities in which constraints are not yet heeded."""
    if not len(hold.among):
        return start if q is start.q and t == start.t else State.of_step(t, q, v, start)
    c = hold.among
    where, speed = hold.placed(q[c], t), hold.projected(v[c])
    if hold.scripts:
        speed += hold.velocities(start.t, h, (t - start.t) / h)[c]
    if q is start.q:
        if t == start.t and np.array_equal(where, q[c]) and np.array_equal(speed, v[c]):
            return start
        q, v = q.copy(), v.copy()
    q[c], v[c] = where, speed
    return State.of_step(t, q, v, start)
