"""The search for a stable equilibrium at one load factor after another: down to the next equilibrium, and away from saddles."""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import NDArray

from taut.errors import ModelError, NotConverged, SingularState
from taut.solve.eigen import lowest, positive
from taut.solve.linear import LinearSolver
from taut.solve.minimum import Minimum
from taut.solve.tolerance import EPS, FLOOR, Tolerance
from taut.step.report import of_descent
from taut.step.settling import settle
from taut.step.stability import Stability, judged, zero_below
from taut.step.static_objective import StaticObjective
from taut.system.blocks import dot, lengths
from taut.system.members import Members
from taut.system.reduction import Reduction
from taut.system.state import State
from taut.system.system import System

Float = NDArray[np.float64]
FINEST = 2.0**-8  # part of a load step below which it is not divided further
TIPS = tuple(2.0**-k for k in range(40, 10, -6))  # of the size of the system: from how near the tip of a cone is looked for
CONSTANT = 0.5  # by which the jump of a slope may change from one distance to the next, and still be one
NEAREST = 2.0**-20  # of the size of the system: the shortest step away from a saddle


class Search:
    """Where the search is: positions, and the work done so far."""

    def __init__(self, system: System, state: State, solver: LinearSolver, tolerance: Tolerance) -> None:
        self.system, self.begin, self.solver, self.tolerance = system, state, solver, tolerance
        self.objective = StaticObjective(system, state)
        self.free = Reduction.of(system.hold)
        self.q = system.hold.place(np.array(state.q), state.t)
        self.iterations = self.left_saddles = 0

    def state(self) -> State:
        """The present positions, at rest."""
        return self.begin.with_(q=self.q, v=np.zeros_like(self.q))

    def to(self, reached: float, factor: float) -> Minimum:
        """The equilibrium at a load factor, with as many steps between as it takes."""
        goals, least = [factor], FINEST * abs(factor - reached)
        while True:
            before = self.q, self.left_saddles
            try:
                record = self._stable(goals[-1])
            except NotConverged:
                between = (reached + goals[-1]) / 2
                if not self.objective.load.terms or not abs(between - reached) >= least > 0.0:
                    raise
                self.q, self.left_saddles = before
                goals.append(between)
                continue
            reached = goals.pop()
            if not goals:
                return record

    def _stable(self, factor: float) -> Minimum:
        """The equilibrium at a load factor from where the search is, past all saddles."""
        self.objective.factor = factor
        saddles: list[Float] = []
        while True:
            begun = time.perf_counter()
            record = settle(self.objective, self.q, self.solver, self.tolerance, self.free)
            seconds = time.perf_counter() - begun
            self.iterations += record.iterations
            self.q = self.system.hold.place(record.point.y, self.begin.t)
            if record.outcome == "not converged":
                raise self._failed(f"no equilibrium at load factor {factor:g}: {record.reason}", record, seconds)
            way = self._falling()
            extent = float(np.ptp(self.q, axis=0).max()) or 1.0
            if way is None:
                _refuse_met_ends(self.system.members(self.state()))
                beside = self._beside(extent)
                if beside is None:
                    return record
            back = any(np.abs(self.q - saddle).max() < NEAREST * extent for saddle in saddles)
            saddles.append(self.q)
            if back or (way is not None and not self._left(way, extent)):
                raise self._failed(
                    f"the equilibrium at load factor {factor:g} is unstable, and the search {'comes back' if back else 'stays'}: "
                    "the energy does not fall visibly along the way that leads out",
                    record,
                    seconds,
                )
            if way is None and beside is not None:
                self.q = beside
            self.left_saddles += 1

    def _failed(self, why: str, record: Minimum, seconds: float) -> NotConverged:
        """The error, with a report on the last descent: forces that balance at a saddle are no equilibrium found."""
        report = of_descent(
            record, self.solver, integrator="equilibrium", t=self.begin.t, h=0.0, outcome="not converged", seconds=seconds, note=why
        )
        return NotConverged(why, report, self.state())

    def stability(self) -> Stability:
        """Of the present positions at the present load factor."""
        _, gradient, gross, _ = self.objective.gradient(self.q)
        return judged(self.system, self.q, self.objective.stiffness(self.q), gradient, gross)

    def _falling(self) -> Float | None:
        """A direction (n, 3) of negative curvature, its largest displacement 1; None if K has none in the free directions."""
        stiffness = self.objective.stiffness(self.q)
        _, gradient, gross, _ = self.objective.gradient(self.q)
        tol = zero_below(self.system.hold, self.q, gradient, gross, stiffness, np.ones(len(self.q)))
        matrix = self.free.matrix(stiffness)
        if tol == 0.0 or positive(matrix, -tol):
            return None
        value, vector = lowest(matrix, tol)
        if value >= -tol:
            return None
        shape = self.free.expand(vector)
        return shape / lengths(shape).max()

    def _beside(self, extent: float) -> Float | None:
        """Positions just beside the present ones if these are the tip of a cone of the energy, else None.

        At a tip, such as a curved rod pressed exactly straight, K knows nothing of the forces that drive away on all sides. The
        slope d·∇V then jumps down by the same amount however near the two places are between which it is taken, where a smooth
        energy changes it by 2ε d·Kd.
        """
        self.objective.hold_back(0.0, self.q)
        here = self.objective.evaluate(self.q)
        way = self.system.hold.project(np.cos(1.0 + np.arange(self.q.size)).reshape(-1, 3))
        noise = float(np.einsum("i,i->", self.objective.floors(here), lengths(way)))
        bend = abs(dot(way, self.objective.stiffness(self.q).times(way)))
        jumps: list[float] = []
        beside = None
        for near in (extent * part for part in TIPS):
            try:
                there, back = (self.objective.evaluate(self.q + step * way) for step in (near, -near))
            except SingularState:
                break
            ahead, behind = dot(way, there.gradient), -dot(way, back.gradient)
            if not ahead + behind < -4.0 * (noise + near * bend) or (jumps and not ahead + behind < CONSTANT * jumps[0]):
                break
            jumps.append(ahead + behind)
            beside = there.y if ahead <= behind else back.y
        return beside if len(jumps) > 1 else None

    def _left(self, way: Float, extent: float) -> bool:
        """Go from a saddle along a direction as far as the force on the way drives it on; False if it does nowhere.

        The force tells, not the energy: near a shallow saddle the energy falls by less than its rounding.
        """
        self.objective.hold_back(0.0, self.q)
        here = self.objective.evaluate(self.q)
        noise = FLOOR * EPS * float(np.einsum("i,i->", here.gross, lengths(way)))
        best, reach = None, 0.0
        for sign in (1.0, -1.0):
            driven = False
            for step in extent * 2.0 ** np.arange(np.log2(NEAREST), 0.0):
                try:
                    trial = self.objective.evaluate(self.q + sign * step * way)
                except SingularState:
                    break
                if sign * dot(trial.gradient, way) >= -noise or trial.value > here.value + here.noise_to(trial):
                    if driven:
                        break
                    continue
                driven = True
                if best is None or (step >= reach and trial.value <= best.value + trial.noise_to(best)):
                    best, reach = trial, step
        if best is None:
            return False
        self.q = best.y
        return True


def _refuse_met_ends(table: Members) -> None:
    """Ends that push each other apart but meet: no direction, no force, and no equilibrium."""
    met = np.flatnonzero(np.isnan(table.force))
    if len(met):
        m = met[0]
        raise ModelError(
            f"equilibrium: element {table.element[m]} of '{table.law[m]}' (particles {table.i[m]} and {table.j[m]}) has length 0 "
            f"and rest length {table.rest_length[m]:g} m: it pushes in no direction; begin with its ends apart"
        )
