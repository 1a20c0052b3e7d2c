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
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from taut.errors import ModelError, NotConverged, SingularState
from taut.step.advance import Advance, Stage
from taut.step.fastest import fastest
from taut.step.integrator import Integrator, Kind
from taut.step.prediction import require_finite
from taut.step.report import Report
from taut.system.state import State
from taut.system.system import System

Float = NDArray[np.float64]
Acceleration = Callable[[float, Any, Any], Any]
LOOK_EVERY = 100  # steps between two looks at the fastest oscillation
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
        if fast == 0.0:
            return float("inf")
        w = np.repeat([omega / fast, 0.0], len(SHARES))
        d = np.tile(rate / fast * SHARES, 2)
        low, high = 0.0, LONGEST
        for h in np.linspace(0.0, high, 401)[1:]:  # the first exit from the unit circle
            if cls._grows(w, d, float(h)):
                high = float(h)
                break
            low = float(h)
        while high - low > 1e-12 * high:
            middle = 0.5 * (low + high)
            low, high = (low, middle) if cls._grows(w, d, middle) else (middle, high)
        return low / fast

    @classmethod
    def _grows(cls, omega: Float, rate: Float, h: float) -> bool:
        """Whether one of these oscillations, ω and d each of shape (k,), grows over a step."""

        def a(t: float, x: Float, v: Float) -> Float:
            return -(omega[:, None] ** 2) * x - rate[:, None] * v

        one = np.ones((len(omega), 1))
        matrices = np.stack(cls.formula(a, 0.0, one * [1.0, 0.0], one * [0.0, 1.0], h), axis=1)
        return bool(np.abs(np.linalg.eigvals(matrices)).max() > 1.0 + ROUNDING)

    def move(self, system: System, state: State, h: float) -> Advance:
        begun = time.perf_counter()
        self.check(system, state, h)
        hold, assembling, note = system.hold, 0.0, ""
        stages: list[Stage] = []

        def a(t: float, q: Float, v: Float) -> Float:
            nonlocal assembling
            v = hold.project(v) + hold.velocities(state.t, h, (t - state.t) / h)
            at = state.with_(t=t, q=hold.place(q, t), v=v)
            stages.append(Stage(self.weights[len(stages)], t, np.array(at.q), v, at))
            mark = time.perf_counter()
            force = system.f(at)
            assembling += time.perf_counter() - mark
            return hold.project(force) / system.mass[:, None]

        t_end = state.t + h
        q, v = np.array(state.q), np.array(state.v)
        try:
            note = self._watch(system, state, h)
            with np.errstate(over="ignore", invalid="ignore"):
                q_end, v_end = self.formula(_finite(a), state.t, q, v, h)
                require_finite(q_end, v_end)
        except SingularState as error:
            made = Report(type(self).__name__, t_end, h, "not converged", evaluations=len(stages), note=note)
            raise NotConverged(
                f"{made.integrator} at t = {t_end:g} s: {error}; {note or 'take a shorter step'}", made, state
            ) from error
        v_end = hold.project(v_end) + hold.velocities(state.t, h, 1.0)
        new = State(t_end, hold.place(q_end, t_end), v_end, state.active)
        made = Report(
            type(self).__name__, t_end, h, "explicit", evaluations=len(stages), seconds=time.perf_counter() - begun,
            assembling=assembling, note=note,
        )  # fmt: skip
        moved = hold.place(q_end, t_end) - q if hold.constrained.any() else q_end - q
        inertia = system.mass[:, None] * hold.project(v_end - v) / h
        return Advance(state, new, made, moved, inertia, np.zeros_like(q), tuple(stages))

    def _watch(self, system: System, state: State, h: float) -> str:
        """Look at the fastest oscillation now and then; what to say if h is beyond the limit."""
        active = tuple((name, mask.tobytes()) for name, mask in sorted(state.active.items()))
        known = self._looked
        if known is None or known.system is not system or known.active != active or known.since >= LOOK_EVERY:
            if known is None or known.system is not system:
                self._warned = False
            try:
                longest = self.limit(*fastest(system, state))
            except SingularState as error:
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


def _finite(a: Acceleration) -> Acceleration:
    def checked(t: float, q: Float, v: Float) -> Float:
        require_finite(q, v)
        return a(t, q, v)

    return checked
