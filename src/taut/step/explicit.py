"""Explicit integrators: forces at a few stages, constraints at each, a warning beyond the limit.

An explicit method is a `formula` of the accelerations a(t, q, v). The same formula, applied to
x'' = -ω²x - d x', gives its longest stable step: the largest h for which no eigenvalue of its 2×2
matrix leaves the unit circle.
"""

from __future__ import annotations

import logging
import time
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, ClassVar
from weakref import ref

import numpy as np

from taut.arrays import Float, Mask
from taut.errors import EigenError, ModelError, NotConverged, SingularState
from taut.step._combination import Combination, StageSums
from taut.step._highest_frequency import highest_frequency
from taut.step.integrator import Integrator, Kind, conclude
from taut.step.report import Report
from taut.step.step_result import Stage, StepResult
from taut.system.projector import ConstraintProjector
from taut.system.state import State
from taut.system.system import System
from taut.system.workspace import Workspace, workspace_for

Acceleration = Callable[[float, Any, Any], Any]
# Steps between two estimates of the highest frequency: an estimate costs as much as many steps.
_STEPS_PER_ESTIMATE = 1000
# Part by which parameters may change before the highest frequency is estimated again.
_SAME_LIMIT = 0.1
_MAX_STEP = 8.0  # h·max(ω, d) at which every explicit method here is unstable
# Shares of the largest damping rate: the fastest oscillation may have any of them.
_DAMPING_SHARES = np.linspace(0.0, 1.0, 33)
_ROUNDING = 1e-9  # by which the modulus of an eigenvalue on the unit circle may exceed 1
log = logging.getLogger("taut")


@dataclass
class _Estimate:
    """The last estimate of the highest frequency."""

    active: tuple[tuple[str, bytes], ...]  # the masks of active elements at the time
    omega: float  # the highest frequency [rad/s]
    max_step: float  # the longest stable step [s]
    age: int  # in steps
    parameters: dict[str, Float]  # of all laws, packed, at the time
    system: ref[System]  # the last whose parameters were compared with these

    def holds_for(self, system: System) -> bool:
        """Whether the parameters of a system are within a tenth of those at the time.

        A change of parameters would else cost an estimate, as much as many steps; a frequency
        changes by a twentieth where all stiffnesses change by a tenth.
        """
        if self.system() is not system:
            for name, now in _pack_parameters(system).items():
                then = self.parameters.get(name)
                if then is now:
                    continue
                if then is None or (np.abs(now - then) > _SAME_LIMIT * np.abs(then)).any():
                    return False
            self.system = ref(system)
        return True


class _Memory:
    """What an explicit integrator keeps between the steps of one system."""

    def __init__(self, system: System, stages: int) -> None:
        self.scale = -1.0 / system.mass  # [1/kg], (n,)
        # Accelerations [m/s²]: new memory at each step costs more than what is written to it.
        self.accelerations = np.empty((stages, system.n, 3))
        self.estimate: _Estimate | None = None
        self.last: tuple[State, float] | None = None  # where the last step ended, its length [s]

    def carry_over(self) -> _Memory:
        """Return what is kept for other values of parameters: everything."""
        return self

    def is_continued_by(self, state: State, h: float) -> bool:
        """Whether a step of h from the state continues the last one with the same length."""
        return self.last is not None and self.last[0] is state and self.last[1] == h


class Explicit(Integrator):
    """Integrators that only evaluate forces: cheap steps, limited by the fastest oscillation.

    A class of your own declares `order` and `weights` and defines `formula`, which calls the
    acceleration once for each weight:

    >>> from taut.step import Explicit
    >>> class Leapfrog(Explicit):
    ...     order, weights = 2, (1.0,)
    ...
    ...     @staticmethod
    ...     def formula(a, t, q, v, h):
    ...         middle = q + h / 2 * v
    ...         v = v + h * a(t + h / 2, middle, v)
    ...         return middle + h / 2 * v, v
    >>> round(Leapfrog.limit(100.0), 6)
    0.02
    """

    stability: ClassVar[Kind] = "conditional"
    needs: ClassVar[tuple[str, ...]] = ("forces",)
    weights: ClassVar[tuple[float, ...]]
    """Weights of the accelerations in (v' - v)/h, in the order of their evaluation."""

    _declared: ClassVar[tuple[str, ...]] = (*Integrator._declared, "weights")
    _has_warned = False

    @staticmethod
    @abstractmethod
    def formula(a: Acceleration, t: float, q: Any, v: Any, h: float) -> tuple[Any, Any]:
        """Return q' and v' after h seconds."""

    @classmethod
    def limit(cls, omega: float, rate: float = 0.0) -> float:
        """Return the longest stable step [s]; infinite if nothing oscillates and nothing is damped.

        omega : the highest frequency [rad/s]; rate : the largest damping rate [1/s]

        >>> import taut
        >>> round(taut.SymplecticEuler.limit(100.0), 6), round(taut.RK4.limit(1.0), 6)
        (0.02, 2.828427)
        """
        for what, value in (("omega", omega), ("rate", rate)):
            if not 0.0 <= value < float("inf"):
                raise ModelError(f"limit: {what} must be finite and not negative, got {value!r}")
        fast = max(omega, rate)
        if not fast:
            return float("inf")
        return _scaled_limit(cls, omega / fast, rate / fast) / fast

    @classmethod
    def grows(cls, omega: Float, rate: Float, h: Any) -> Mask:
        """Return which oscillations grow over a step, (k,).

        omega, rate : ω and d of each, (k,); h : the step, a number or (k,)
        """
        growing: Mask = cls.amplification(omega, rate, h) > 1.0 + _ROUNDING
        return growing

    @classmethod
    def amplification(cls, omega: Float, rate: Float, h: Any) -> Float:
        """Return the largest modulus of the eigenvalues of a step on each oscillation, (k,).

        omega, rate, h : see `grows`
        """
        w, d, one = omega[:, None] ** 2, rate[:, None], np.ones((len(omega), 1))

        def a(t: Any, x: Float, v: Float) -> Float:
            return -w * x - d * v

        step: Any = np.reshape(h, (-1, 1))
        matrices = np.stack(cls.formula(a, 0.0, one * [1.0, 0.0], one * [0.0, 1.0], step), axis=1)
        largest: Float = np.abs(np.linalg.eigvals(matrices)).max(axis=1)
        return largest

    def advance(self, system: System, state: State, h: float) -> StepResult:
        """Take a step of h seconds: evaluate the formula with constraints at each stage."""
        started = time.perf_counter()
        workspace = workspace_for(system).without_ended_constraints(state.t, h)
        loads = workspace.system.load_forces(state)
        result = self._evaluate_formula(workspace.with_held_loads(loads), state, h, started)
        if loads:
            result = replace(result, loads=loads)
        return conclude(workspace, result)

    def _evaluate_formula(
        self, workspace: Workspace, state: State, h: float, started: float
    ) -> StepResult:
        """Return the step before elements break; started : when it began, of perf_counter [s]."""
        system, projector = workspace.system, workspace.system._projector
        memory = workspace.memory(self, lambda: _Memory(system, len(self.weights)))
        # A step that continues from the end of the last one needs no check.
        continues = memory.is_continued_by(state, h)
        if not continues:
            self.check(system, state, h)
        stages: list[Stage] = []
        sums = StageSums(state.q, state.v, memory.accelerations)
        assembling, note, t_end = 0.0, "", state.t + h

        def state_at(t: float, q: Combination, v: Combination) -> State:
            """The state at a time within the step, with constraints applied."""
            positions, velocities = sums.evaluate(q, v)
            # The end of the last step already satisfies static constraints.
            if continues and projector.is_static and positions is state.q and t == state.t:
                return state
            return _apply_constraints(projector, state, h, t, positions, velocities)

        def acceleration(t: float, q: Combination, v: Combination) -> Combination:
            nonlocal assembling
            if len(stages) == len(self.weights):
                raise self._make_unequal_weights("more")
            at = state_at(t, q, v)
            stages.append(Stage(self.weights[len(stages)], t, at.q, at.v, at))
            clock = time.perf_counter()
            a = sums.next_acceleration
            workspace.scaled_gradients(at, memory.scale, a)
            c = projector.constrained_particles
            a[c] = projector.project_constrained(a[c])
            assembling += time.perf_counter() - clock
            return sums.add_acceleration()

        try:
            note = self._check_limit(workspace, memory, state, h)
            new = state_at(t_end, *self.formula(acceleration, state.t, *sums.start, h))
        except SingularState as error:
            raise self._make_not_converged(state, h, len(stages), note, error) from error
        if len(stages) < len(self.weights):
            raise self._make_unequal_weights("fewer")
        memory.last = (new, h)
        report = Report(
            type(self).__name__,
            t_end,
            h,
            "explicit",
            evaluations=len(stages),
            seconds=time.perf_counter() - started,
            assembling=assembling,
            note=note,
        )
        return StepResult(
            state,
            new,
            report,
            displacement=lambda: new.q - state.q,
            inertia=lambda: system.mass[:, None] * projector.project(new.v - state.v) / h,
            residual=lambda: np.zeros((system.n, 3)),
            stages=tuple(stages),
        )

    def _make_unequal_weights(self, count: str) -> ModelError:
        return ModelError(
            f"the formula of {type(self).__name__} evaluates {count} accelerations than it has "
            f"weights, {len(self.weights)}"
        )

    def _make_not_converged(
        self, state: State, h: float, evaluations: int, note: str, error: SingularState
    ) -> NotConverged:
        """Return the error of a step that met a singular state."""
        name, t_end = type(self).__name__, state.t + h
        report = Report(name, t_end, h, "not converged", evaluations=evaluations, note=note)
        hint = note or "take a shorter step"
        return NotConverged(f"{name} at t = {t_end:g} s: {error}; {hint}", report, state)

    def _check_limit(self, workspace: Workspace, memory: _Memory, state: State, h: float) -> str:
        """Return a warning if h is beyond the longest stable step, or an empty text."""
        name = type(self).__name__
        active = tuple((law, mask.tobytes()) for law, mask in sorted(state.active.items()))
        known = memory.estimate
        is_outdated = (
            known is None
            or known.active != active
            or known.age >= _STEPS_PER_ESTIMATE
            or not known.holds_for(workspace.system)
        )
        if known is None or is_outdated:
            if known is None:
                self._has_warned = False
            try:
                omega, rate = highest_frequency(workspace, state)
            except (SingularState, EigenError) as error:
                return f"the limit of {name} could not be found: {error}"
            system = workspace.system
            max_step, packed = self.limit(omega, rate), _pack_parameters(system)
            memory.estimate = known = _Estimate(active, omega, max_step, 0, packed, ref(system))
        known.age += 1
        if h <= known.max_step:
            return ""
        if not known.max_step:
            [growth] = self.amplification(np.array([known.omega]), np.zeros(1), h)
            return (
                f"{name} lets undamped oscillations grow, however short the step: h = {h:g} s "
                f"multiplies the fastest one of this system by 1 + {growth - 1.0:.3g} each time, "
                "if nothing damps it"
            )
        return (
            f"h = {h:g} s is beyond the limit of {name} for this system; "
            f"use h ≤ {known.max_step:.3g} s"
        )

    def warn(self, result: StepResult) -> None:
        if result.report.note and not self._has_warned:
            self._has_warned = True
            log.warning(result.report.note)


def _pack_parameters(system: System) -> dict[str, Float]:
    """Return the parameters of all energies and damping laws that do not depend on time, packed."""
    placed = {**system._placed_energies, **system._placed_damping}
    return {
        name: law.parameters.pack(0.0)
        for name, law in placed.items()
        if not law.parameters.time_dependent
    }


@cache
def _scaled_limit(method: type[Explicit], omega: float, rate: float) -> float:
    """Return the longest stable step if the larger of ω and the damping rate is 1."""
    w, d = np.unique(
        [(o, rate * share) for o in (omega, 0.0) for share in _DAMPING_SHARES], axis=0
    ).T
    steps = np.linspace(0.0, _MAX_STEP, 401)
    grown = method.grows(
        np.tile(w, len(steps)), np.tile(d, len(steps)), np.repeat(steps, len(w))
    ).reshape(len(steps), -1)
    unstable = np.append(np.flatnonzero(grown[1:].sum(axis=1)), len(steps) - 1)
    first = int(unstable[0]) + 1  # the first exit from the unit circle
    low, high = float(steps[first - 1]), float(steps[min(first, len(steps) - 1)])
    while high - low > 1e-12 * high:
        middle = 0.5 * (low + high)
        if method.grows(w, d, middle).any():
            high = middle
        else:
            low = middle
    return low


def _apply_constraints(
    projector: ConstraintProjector, start: State, h: float, t: float, q: Float, v: Float
) -> State:
    """Return the state at time t of a step of h from `start`, from unconstrained q and v.

    It is `start` itself where nothing changes: no array is copied then.
    """
    c = projector.constrained_particles
    if not len(c):
        return start if q is start.q and t == start.t else State.after_step(t, q, v, start)
    positions = projector.project_constrained_positions(q[c], t)
    velocities = projector.project_constrained(v[c])
    if projector.scripts:
        velocities += projector.prescribed_velocities(start.t, h, (t - start.t) / h)[c]
    if q is start.q:
        same = np.array_equal(positions, q[c]) and np.array_equal(velocities, v[c])
        if t == start.t and same:
            return start
        q, v = q.copy(), v.copy()
    q[c], v[c] = positions, velocities
    return State.after_step(t, q, v, start)
