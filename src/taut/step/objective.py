"""The objective of an implicit step, as a function of y = q - q̃ with q̃ = q_n + h v_n.

    Φ(y) = ½|y|²_M/h² + V(q, t+h) + Σ h·Ψ((measures(q) - measures(q_n))/h) + |q - q_n|²_D/(2h)

with D Rayleigh's matrix, frozen at q_n. Its gradient is the unbalanced force, its Hessian M/h² + K + D/h.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from taut.errors import SingularState
from taut.solve.newton import Point
from taut.solve.tolerance import rounding_floors
from taut.step.prediction import Prediction
from taut.system.assembly import Inputs
from taut.system.blocks import BlockMatrix
from taut.system.state import State
from taut.system.system import System

Float = NDArray[np.float64]


class ImplicitObjective:
    """Φ for one step of length h from a state."""

    def __init__(self, system: System, state: State, h: float) -> None:
        self.system, self.h = system, h
        self.start = Prediction.of(system, state, h)
        self.old = np.array(state.q)
        self.inertia = system.mass / h**2
        self.rayleigh = system.rayleigh_matrix(state) if system.rayleigh is not None else None
        self.assembly = system.assembly("increments", state)

    def _inputs(self, q: Float) -> list[Inputs]:
        t = self.start.t
        return [Inputs(q, self.old if term.form == "increment" else q, self.h, t) for term in self.assembly.terms]

    def evaluate(self, y: Float) -> Point:
        q = self.start.q + y
        value, gradient, _ = self.assembly.gradient(self._inputs(q))
        hold = self.system.hold
        gross = self.assembly.free_gross(hold)
        with np.errstate(over="ignore", invalid="ignore"):
            pull = self.inertia[:, None] * y
            kinetic = 0.5 * float(np.vdot(pull, y))
            total = gradient + pull
            gross += np.abs(hold.project(pull)).sum(axis=1)
            if self.rayleigh is not None:
                moved = self.h * self.start.v + y
                drag = self.rayleigh.times(moved) / self.h
                total += drag
                gross += np.abs(hold.project(drag)).sum(axis=1)
                kinetic += 0.5 * float(np.vdot(drag, moved))
        if not (np.isfinite(total).all() and np.isfinite(gross).all() and np.isfinite(value + kinetic)):
            raise SingularState("the forces of a step overflow")
        size = np.abs(q).max(axis=1)
        return Point(y, value + kinetic, hold.project(total), gross, self.assembly.magnitude() + kinetic, size)

    def hessian(self, y: Float, *, project: bool) -> BlockMatrix:
        matrix = self._unconstrained(y, self.inertia, project=project)
        self.system.hold.constrain(matrix)
        return matrix

    def _unconstrained(self, y: Float, shift: Float, *, project: bool) -> BlockMatrix:
        self.assembly.hessian(self._inputs(self.start.q + y), shift, project=project)
        matrix = self.assembly.matrix
        if self.rayleigh is not None:
            slots = self.system.union([matrix.pattern, self.rayleigh.pattern]).slots[1]
            matrix.data[slots] += self.rayleigh.data / self.h
        return matrix

    def floors(self, point: Point) -> Float:
        q = self.start.q + point.y
        gross = self.assembly.gradient(self._inputs(q))[2].sum(axis=1)  # held directions included: projection rounds them too
        stiffness = self._unconstrained(point.y, np.zeros_like(self.inertia), project=False)
        return rounding_floors(gross + point.gross, stiffness, q)
