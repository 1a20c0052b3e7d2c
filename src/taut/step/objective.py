"""The objective of an implicit step.

    Φ(q) = ½|q - q̃|²_M/h² + V(q, t+h) + Σ h·Ψ((measures(q) - measures(q_n))/h) + |q - q_n|²_D/(2h)

with q̃ = q_n + h v_n and D Rayleigh's matrix, frozen at q_n. Its gradient is the unbalanced force, its Hessian M/h² + K + D/h.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from taut.solve.newton import Point
from taut.system.assembly import Inputs
from taut.system.blocks import BlockMatrix
from taut.system.state import State
from taut.system.system import System

Float = NDArray[np.float64]


class ImplicitObjective:
    """Φ for one step of length h from a state."""

    def __init__(self, system: System, state: State, h: float) -> None:
        self.system, self.h, self.t = system, h, state.t + h
        self.old = np.array(state.q)
        self.target = system.hold.place(state.q + h * state.v, self.t)
        self.inertia = system.mass / h**2
        self.assembly = system.assembly("increments", state)
        self.rayleigh = system.rayleigh_matrix(state) if system.rayleigh is not None else None
        self._free = ~system.hold.held

    def _inputs(self, x: Float) -> list[Inputs]:
        return [Inputs(x, self.old if term.form == "increment" else x, self.h, self.t) for term in self.assembly.terms]

    def evaluate(self, x: Float) -> Point:
        value, gradient, gross = self.assembly.gradient(self._inputs(x))
        pull = self.inertia[:, None] * (x - self.target)
        kinetic = 0.5 * float(np.vdot(pull, x - self.target))
        total = gradient + pull
        gross = gross + np.abs(pull).sum(axis=1)
        if self.rayleigh is not None:
            drag = self.rayleigh.times(x - self.old) / self.h
            total += drag
            gross += np.abs(drag).sum(axis=1)
            kinetic += 0.5 * float(np.vdot(drag, x - self.old))
        magnitude = self.assembly.magnitude() + kinetic
        return Point(x, value + kinetic, self.system.hold.project(total), gross * self._free, magnitude)

    def hessian(self, x: Float, *, project: bool) -> tuple[BlockMatrix, Float]:
        self.assembly.hessian(self._inputs(x), self.inertia, project=project)
        matrix = self.assembly.matrix
        if self.rayleigh is not None:
            slots = self.system.union([matrix.pattern, self.rayleigh.pattern]).slots[1]
            matrix.data[slots] += self.rayleigh.data / self.h
        stiffness = matrix.diagonal_trace() * self._free
        self.system.hold.constrain(matrix)
        return matrix, stiffness
