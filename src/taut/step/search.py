"""The search for a stable equilibrium at one load factor after another: down to the next equilibrium, and away from saddles."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from taut.errors import NotConverged, SingularState
from taut.solve.eigen import count_below
from taut.solve.linear import LinearSolver
from taut.solve.minimum import Minimum
from taut.solve.tolerance import Tolerance, lengths
from taut.step.settling import settle
from taut.step.stability import Stability, rounding_of, stability
from taut.step.static_objective import StaticObjective
from taut.system.reduction import Reduction
from taut.system.state import State
from taut.system.system import System

Float = NDArray[np.float64]
FINEST = 2.0**-8  # part of a load step below which it is not divided further


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
        while True:
            record = settle(self.objective, self.q, self.solver, self.tolerance, self.free)
            self.iterations += record.iterations
            self.q = self.system.hold.place(record.point.y, self.begin.t)
            if record.outcome == "not converged":
                raise NotConverged(f"no equilibrium at load factor {factor:g}: {record.reason}", record, self.state())
            found = stability(self.system, self.state(), 1) if self._unstable() else None
            if found is None or not found.negative or not self._left(found):
                return record
            self.left_saddles += 1

    def _unstable(self) -> bool:
        """Whether K has a negative eigenvalue in the free directions."""
        stiffness = self.objective.stiffness(self.q)
        tol = rounding_of(stiffness, self.q, np.ones(len(self.q)))
        return tol > 0.0 and count_below(self.free.matrix(stiffness), -tol, tol) > 0

    def _left(self, found: Stability) -> bool:
        """Go from a saddle along its lowest eigenvector as far as the energy falls; False if it does not fall visibly."""
        self.objective.hold_back(0.0, self.q)
        here = self.objective.evaluate(self.q)
        way = found.mechanisms[0].shape / lengths(found.mechanisms[0].shape).max()
        extent = float(np.ptp(self.q, axis=0).max()) or 1.0
        best = None
        for step in extent * 2.0 ** np.arange(-20.0, 0.0):
            try:
                trials = [self.objective.evaluate(self.q + sign * step * way) for sign in (1.0, -1.0)]
            except SingularState:
                break
            lowest = min(trials, key=lambda trial: trial.value)
            if best is not None and lowest.value >= best.value:
                break
            if lowest.value < here.value - here.noise_to(lowest):
                best = lowest
        if best is None:
            return False
        self.q = best.y
        return True
