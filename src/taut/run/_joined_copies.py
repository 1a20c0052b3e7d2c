"""Steps of many copies of a system at once: those of `taut.batch`.

The copies are one system of particles side by side (`taut.system.copies`). What an integrator does
before and after it solves, and all of an explicit step, is a few operations on all particles; the
stages in between are minimised copy by copy in one compiled loop (`taut.step._stage_kernels`). A
copy that the loop gives back takes its step alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from taut.arrays import Float
from taut.errors import ModelError
from taut.jit.compile import kernels
from taut.step.compiled_stage import KERNELS, find_obstacle, make_solution
from taut.step.explicit import Explicit
from taut.step.implicit import NO_FRICTION, Implicit, SolvedStage
from taut.step.integrator import Integrator
from taut.step.report import Report, combine_reports
from taut.system.assembly import Assembly
from taut.system.copies import join_copies
from taut.system.inversion import count_inverted
from taut.system.state import State
from taut.system.system import System
from taut.system.terms import AssemblyKind
from taut.system.workspace import Workspace, workspace_for


class Certificates:
    """The certificates of a step of all copies.

    found : what the compiled loop has found in each stage, (stages, copies, numbers)
    reports : of the copies that have taken the step alone; of all of an explicit step, under -1
    """

    def __init__(self, integrator: Integrator, workspace: Workspace, t: float, h: float) -> None:
        self._integrator, self._workspace, self._t, self._h = integrator, workspace, t, h
        self.found: list[Float] = []
        self.reports: dict[int, Report] = {}
        # What the end of a step adds to the reports of its stages.
        self.note, self.added_evaluations = "", 0

    def report(self, i: int, state: State) -> Report:
        """Return the Report of a copy, as a step of it alone gives it; without wall-clock times.

        state : of all copies, at the end of the step
        """
        if i in self.reports:
            return self.reports[i]
        own = take_copy(state, i, self._workspace.system.n)
        inverted = count_inverted(self._workspace.solid_elements, own)
        if -1 in self.reports:
            return replace(self.reports[-1], inverted=inverted)
        assert isinstance(self._integrator, Implicit)
        none = np.zeros((0, 3))
        stages = [
            self._integrator.report_compiled(
                self._workspace, make_solution(none, none, found[i]), self._t, self._h
            )
            for found in self.found
        ]
        gain = self._integrator.velocity_gain
        report = combine_reports(stages, self._t, self._h, 0.0, gain)
        evaluations = report.evaluations + self.added_evaluations
        return replace(report, note=self.note, evaluations=evaluations, inverted=inverted)


class JoinedCopies:
    """Copies that differ in values of parameters, in one system; and their present state."""

    def __init__(
        self, systems: Sequence[System], states: Sequence[State], integrator: Integrator, h: float
    ) -> None:
        self.systems, self.integrator = list(systems), integrator
        self.count, self.n = len(systems), systems[0].n
        self.joined = systems[0] if self.count == 1 else join_copies(systems)
        self.state = join_states(states)
        self._single = workspace_for(systems[0])
        if isinstance(integrator, Implicit):
            self._require_compiled(integrator, states[0], h)
        # Of each kind of stage: packed parameters of all terms, and them side by side.
        self._parameters: tuple[list[Float], Float] | None = None

    def state_of(self, i: int) -> State:
        """Return the present state of a copy."""
        return take_copy(self.state, i, self.n)

    def advance(self, h: float) -> Certificates:
        """Take a step of h [s] with all copies.

        Raises the error of a copy that has none; no copy has then moved.
        """
        if isinstance(self.integrator, Implicit):
            return self._advance_implicit(self.integrator, h)
        result = self.integrator.advance(self.joined, self.state, h)
        self.integrator.warn(result)
        done = Certificates(self.integrator, self._single, self.state.t + h, h)
        done.reports[-1] = result.report
        self.state = result.state
        return done

    def _advance_implicit(self, integrator: Implicit, h: float) -> Certificates:
        state, workspace = self.state, workspace_for(self.joined)
        integrator.check(self.joined, state, h)
        loads = self.joined.load_forces(state)
        loaded = workspace.with_held_loads(loads)
        done = Certificates(integrator, self._loaded(state), state.t + h, h)
        solved: list[SolvedStage] = []
        left = np.zeros(self.count, dtype=bool)
        for _ in range(integrator.stages):
            start = integrator.predict(loaded, state, h, solved)
            frozen = self.state_of(0)
            stage = integrator.compile_stage(
                self._loaded(frozen), frozen, increments=start.increments
            )
            assert stage is not None
            y, gradient, found, given_back = stage.solve_copies(
                *(start.prediction, np.array(start.frozen.q), start.old, integrator.tolerance),
                self._pack_parameters(loaded, start.frozen, start.prediction.t, start.increments),
            )
            # Finite, until these copies have taken the step alone.
            y[given_back] = start.old.reshape(self.count, -1)[given_back]
            gradient[given_back] = 0.0
            left |= given_back
            done.found.append(found)
            each = y.reshape(-1, 3), gradient.reshape(-1, 3)
            solved.append(SolvedStage(start, *each, _no_report(integrator, h), NO_FRICTION))
        result = integrator.book(loaded.system, state, h, solved, _no_report(integrator, h))
        done.note, done.added_evaluations = result.report.note, result.report.evaluations
        alone = {
            i: integrator.advance(self.systems[i], self.state_of(i), h)
            for i in np.flatnonzero(left).tolist()
        }
        done.reports.update({i: each.report for i, each in alone.items()})
        self.state = self._replace_states(result.state, {i: r.state for i, r in alone.items()})
        return done

    def _replace_states(self, joined: State, others: dict[int, State]) -> State:
        """Return the state of all copies with those of some replaced."""
        if not others:
            return joined
        q, v = np.array(joined.q), np.array(joined.v)
        history = {name: np.array(value) for name, value in joined.history.items()}
        for i, state in others.items():
            rows = slice(self.n * i, self.n * (i + 1))
            q[rows], v[rows] = state.q, state.v
            for name, value in state.history.items():
                if value.ndim:
                    history[name][rows] = value
        return State(joined.t, q, v, history=history)

    def _loaded(self, state: State) -> Workspace:
        """Return the workspace of the first copy, with loads held."""
        if not self.systems[0].loads:
            return self._single
        return self._single.with_held_loads(self.systems[0].load_forces(self.state_of(0)))

    def _pack_parameters(
        self, loaded: Workspace, frozen: State, t: float, increments: bool
    ) -> Float:
        """Return the parameters of all copies at time t [s], (copies, width)."""
        kind: AssemblyKind = "increments" if increments else "potential"
        assembly = loaded.assembly(kind, frozen)
        assert isinstance(assembly, Assembly), "contact is refused"
        packed = [term.parameters(t) for term in assembly.terms]
        known = self._parameters
        if known is None or [id(p) for p in known[0]] != [id(p) for p in packed]:
            rows = [p.reshape(self.count, -1) for p in packed]
            flat = np.concatenate([*rows, np.zeros((self.count, 1))], axis=1)
            self._parameters = known = (packed, flat)
        return known[1]

    def _require_compiled(self, integrator: Implicit, state: State, h: float) -> None:
        """Raise ModelError unless the compiled loop can take the steps."""
        if integrator.minimiser != "newton":
            raise ModelError("batch: the minimiser must be 'newton', got 'lbfgs'")
        kernels(KERNELS)  # compiled now, if it has not been
        system, loaded = self.systems[0], self._loaded(state)
        start = integrator.predict(loaded, state, h, [])
        if system._placed_damping and not (
            start.increments and "the previous step" not in integrator.needs
        ):
            raise ModelError(
                f"batch: {type(integrator).__name__} must not have damping laws; use ImplicitEuler"
            )
        assembly = loaded.assembly("increments" if start.increments else "potential", state)
        solver = integrator.solver(loaded)
        solver.analyse(assembly.pattern)
        reason = find_obstacle(loaded.system, assembly, solver)
        if reason:
            raise ModelError(f"batch: {reason}; step such copies one by one, with taut.simulate")


def take_copy(state: State, i: int, n: int) -> State:
    """Return the state of a copy of n particles, from that of all."""
    if len(state.q) == n:
        return state
    rows = slice(n * i, n * (i + 1))
    history = {name: value[rows] if value.ndim else value for name, value in state.history.items()}
    return State(state.t, state.q[rows], state.v[rows], history=history)


def join_states(states: Sequence[State]) -> State:
    """Return the states of all copies in one; their times and steps before are the same."""
    first = states[0]
    if len(states) == 1:
        return first
    history = {
        name: np.concatenate([s.history[name] for s in states]) if value.ndim else value
        for name, value in first.history.items()
    }
    q, v = np.concatenate([s.q for s in states]), np.concatenate([s.v for s in states])
    return State(first.t, q, v, history=history)


def is_supported(integrator: Integrator) -> bool:
    """Whether an integrator can step many copies at once."""
    return isinstance(integrator, (Explicit, Implicit))


def _no_report(integrator: Integrator, h: float) -> Report:
    return Report(type(integrator).__name__, 0.0, h, "converged")
