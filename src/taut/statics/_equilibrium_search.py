"""The search for stable equilibria at one load factor after another.

At each load factor the search descends to an equilibrium (`_proximal_descent`). If that is a
saddle, it is left along a direction of negative curvature; if it is the tip of a cone of the
energy, on the side where the force drives away; and the descent begins again. A load step that does
not converge is halved.
"""

from __future__ import annotations

import time

import numpy as np

from taut.arrays import EPS, Float
from taut.errors import ModelError, NotConverged, SingularState
from taut.linalg.blocks import dot, row_norms
from taut.linalg.linear import LinearSolver
from taut.optimise.descent import Descent, Point
from taut.optimise.tolerance import ROUNDING_UNITS, Tolerance
from taut.statics._curvature import find_negative_curvature
from taut.statics._proximal_descent import minimise_proximal
from taut.statics._static_objective import StaticObjective
from taut.statics.stability import Stability, analyse_stiffness, estimate_zero
from taut.step.report import report_descent
from taut.system.members import Members
from taut.system.state import State
from taut.system.system import System

_MIN_LOAD_STEP = 2.0**-8  # of the load step asked for: it is not divided further
# Distances, in sizes of the system, at which the tip of a cone is looked for, nearest first: from
# afar a smooth equilibrium looks like a tip.
_TIP_DISTANCES = tuple(2.0**-k for k in range(40, 10, -6))
_TIP_JUMP_RATIO = 0.5  # the jump of the slope at a tip stays above this part of the first one
_MIN_SADDLE_STEP = 2.0**-20  # shortest step away from a saddle, in sizes of the system


class EquilibriumSearch:
    """The present positions of the search, and the work done so far.

    q : positions [m], (n, 3)
    iterations : of Newton's method in total
    left_saddles : how many unstable equilibria were left
    """

    def __init__(
        self, system: System, state: State, solver: LinearSolver, tolerance: Tolerance
    ) -> None:
        self.objective = StaticObjective(system, state)
        self.q = system._projector.project_positions(np.array(state.q), state.t)
        self.iterations = 0
        self.left_saddles = 0
        self._system, self._start = system, state
        self._solver, self._tolerance = solver, tolerance

    def state(self) -> State:
        """Return the present positions as a state at rest."""
        return self._start.with_(q=self.q, v=np.zeros_like(self.q))

    def stability(self) -> Stability:
        """Return the stability of the present positions at the present load factor."""
        potential = self.objective.potential(self.q)
        stiffness = self.objective.stiffness(self.q)
        return analyse_stiffness(
            self._system, self.q, stiffness, potential.gradient, potential.gross
        )

    def advance(self, reached: float, factor: float) -> Descent:
        """Go from one load factor to another, in as many load steps as it takes."""
        goals = [factor]  # a stack: the last one is tried next
        least = _MIN_LOAD_STEP * abs(factor - reached)
        while True:
            q, left_saddles = self.q, self.left_saddles
            try:
                descent = self._find_stable(goals[-1])
            except NotConverged:
                between = (reached + goals[-1]) / 2
                can_divide = abs(between - reached) >= least > 0.0
                if not self.objective.load.terms or not can_divide:
                    raise
                self.q, self.left_saddles = q, left_saddles
                goals.append(between)
                continue
            reached = goals.pop()
            if not goals:
                return descent

    def _find_stable(self, factor: float) -> Descent:
        """Find a stable equilibrium at a load factor, past all saddles."""
        self.objective.load_factor = factor
        saddles: list[Float] = []
        while True:
            started = time.perf_counter()
            descent = minimise_proximal(self.objective, self.q, self._solver, self._tolerance)
            seconds = time.perf_counter() - started
            self.iterations += descent.iterations
            self.q = self._system._projector.project_positions(descent.point.y, self._start.t)
            if descent.outcome == "not converged":
                reason = f"no equilibrium at load factor {factor:g}: {descent.reason}"
                raise self._error(reason, descent, seconds)
            extent = float(np.ptp(self.q, axis=0).max()) or 1.0
            direction = self._find_negative_curvature()
            nearby = None
            if direction is None:
                _reject_coincident_ends(self._system.members(self.state()))
                nearby = self._find_point_near_tip(extent)
                if nearby is None:
                    return descent
            returns = any(
                np.abs(self.q - saddle).max() < _MIN_SADDLE_STEP * extent for saddle in saddles
            )
            saddles.append(self.q)
            if direction is not None and not returns:
                nearby = self._find_point_near_saddle(direction, extent)
            if returns or nearby is None:
                fate = "returns to it" if returns else "cannot leave it"
                reason = (
                    f"the equilibrium at load factor {factor:g} is unstable, and the search "
                    f"{fate}: the energy does not fall visibly along the way that leads out"
                )
                raise self._error(reason, descent, seconds)
            self.q = nearby
            self.left_saddles += 1

    def _error(self, reason: str, descent: Descent, seconds: float) -> NotConverged:
        """Return an error with a report on the last descent.

        Its outcome is "not converged" even where the forces balance: a saddle is no result.
        """
        report = report_descent(
            descent,
            self._solver,
            integrator="equilibrium",
            t=self._start.t,
            h=0.0,
            outcome="not converged",
            seconds=seconds,
            note=reason,
        )
        return NotConverged(reason, report, self.state())

    def _find_negative_curvature(self) -> Float | None:
        """Return a direction (n, 3) of negative curvature, its largest displacement 1, or None."""
        stiffness = self.objective.stiffness(self.q)
        potential = self.objective.potential(self.q)
        zero = estimate_zero(
            self._system._projector,
            self.q,
            potential.gradient,
            potential.gross,
            stiffness,
            np.ones(len(self.q)),
        )
        if zero == 0.0:
            return None
        shape = find_negative_curvature(self._system._projector, stiffness, zero)
        return None if shape is None else shape / row_norms(shape).max()

    def _touches(self, move: Float) -> bool:
        """Whether a contact is in the way of a move (n, 3) [m]."""
        return self.objective.free_part(self.q, move) < 1.0

    def _find_point_near_tip(self, extent: float) -> Float | None:
        """Return positions (n, 3) near the present ones if these are the tip of a cone, or None.

        At a tip, such as a curved rod pressed exactly straight, K does not see the forces that
        drive away on all sides. The slope d·∇V then jumps down by the same amount however close
        the two points are between which it is taken, where a smooth energy changes it by 2ε d·Kd.
        """
        self.objective.set_proximal_term(0.0, self.q)
        here = self.objective.evaluate(self.q)
        # One direction without symmetry: a symmetric one may miss the way out.
        probe = self._system._projector.project(np.cos(1.0 + np.arange(self.q.size)).reshape(-1, 3))
        floors = self.objective.estimate_rounding(here)
        noise = float(np.einsum("i,i->", floors, row_norms(probe)))
        curvature = abs(dot(probe, self.objective.stiffness(self.q).multiply(probe)))
        jumps: list[float] = []
        nearby = None
        for part in _TIP_DISTANCES:
            distance = extent * part
            if self._touches(distance * probe) or self._touches(-distance * probe):
                break
            try:
                ahead = self.objective.evaluate(self.q + distance * probe)
                behind = self.objective.evaluate(self.q - distance * probe)
            except SingularState:
                break
            slope_ahead, slope_behind = dot(probe, ahead.gradient), -dot(probe, behind.gradient)
            jump = slope_ahead + slope_behind
            if not jump < -4.0 * (noise + distance * curvature):
                break
            if jumps and not jump < _TIP_JUMP_RATIO * jumps[0]:
                break
            jumps.append(jump)
            nearby = ahead.y if slope_ahead <= slope_behind else behind.y
        return nearby if len(jumps) > 1 else None

    def _find_point_near_saddle(self, direction: Float, extent: float) -> Float | None:
        """Return positions as far from a saddle as the force along a direction drives, or None.

        The force decides, not the energy: near a shallow saddle the energy falls by less than its
        rounding.
        """
        self.objective.set_proximal_term(0.0, self.q)
        here = self.objective.evaluate(self.q)
        noise = ROUNDING_UNITS * EPS * float(np.einsum("i,i->", here.gross, row_norms(direction)))
        best: Point | None = None
        longest = 0.0
        for sign in (1.0, -1.0):
            driven = False
            for length in extent * 2.0 ** np.arange(np.log2(_MIN_SADDLE_STEP), 0.0):
                if self._touches(sign * length * direction):
                    break
                try:
                    trial = self.objective.evaluate(self.q + sign * length * direction)
                except SingularState:
                    break
                pushes_back = sign * dot(trial.gradient, direction) >= -noise
                if pushes_back or trial.value > here.value + here.noise_against(trial):
                    if driven:
                        break
                    continue
                driven = True
                if best is None or (
                    length >= longest and trial.value <= best.value + trial.noise_against(best)
                ):
                    best, longest = trial, length
        return None if best is None else best.y


def _reject_coincident_ends(members: Members) -> None:
    """Raise if ends that push each other apart coincide: the force has no direction there."""
    coincident = np.flatnonzero(np.isnan(members.force))
    if len(coincident):
        m = coincident[0]
        raise ModelError(
            f"equilibrium: element {members.element[m]} of '{members.law[m]}' "
            f"(particles {members.i[m]} and {members.j[m]}) has length 0 "
            f"and rest length {members.rest_length[m]:g} m: it pushes in no direction; "
            "start with its ends apart"
        )
