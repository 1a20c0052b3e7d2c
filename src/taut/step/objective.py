"""The objective of an implicit stage, as a function of y = q - q̃ with q̃ = q̄ + γ v̄ and the velocity v(y) = ṽ + y/γ.

    Φ(y) = ½|y|²_M/γ² + V(q, t') + dissipation + γ/2 |v(y)|²_D

with D Rayleigh's matrix, frozen. The dissipation of a law Ψ is one of two:

    γ·Ψ((measures(q) - measures(q_n))/γ)      as increments since the old positions q_n (implicit Euler);
    γ·Ψ(v(y)), with the geometry frozen at q̂   as rates, q̂ a prediction good to second order (the other methods).

Both keep linear momentum and add to Φ what is never negative; the first keeps the angular momentum law of implicit Euler too, the
second does not spoil second order. The gradient of Φ is the unbalanced force, its Hessian M/γ² + K + D/γ.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from taut.errors import SingularState
from taut.formula.compile import kernels
from taut.solve.minimum import Point
from taut.solve.tolerance import EPS, rounding_floors
from taut.step.prediction import Prediction
from taut.system.blocks import BlockMatrix, Pattern, Union, dot, magnitudes
from taut.system.state import State
from taut.system.system import System
from taut.system.terms import Inputs

Float = NDArray[np.float64]


class ImplicitObjective:
    """Φ for one stage. `frozen` : the state whose geometry damping uses; `increments` : which of the two dissipations."""

    def __init__(self, system: System, start: Prediction, frozen: State, *, increments: bool) -> None:
        self.system, self.start, self.h = system, start, start.h
        self.frozen = np.array(frozen.q)
        self.inertia = system.mass / start.h**2
        self.rayleigh = system.rayleigh_matrix(frozen) if system.rayleigh is not None else None
        self.assembly = system.assembly("increments" if increments else "potential", frozen)
        self.rates = None if increments or not system.placed_damping else system.assembly("damping", frozen)

    def _inputs(self, q: Float) -> list[Inputs]:
        t = self.start.t
        return [Inputs(q, self.frozen if term.form == "increment" else q, self.h, t) for term in self.assembly.terms]

    def _rate_inputs(self, y: Float) -> list[Inputs]:
        assert self.rates is not None
        return [Inputs(self.start.velocities(y), self.frozen, 0.0, self.start.t)] * len(self.rates.terms)

    def evaluate(self, y: Float) -> Point:
        y = self.system.hold.project(y)  # what a solver leaks across a constraint does not count
        q = self.start.positions(y)
        value, total, _ = self.assembly.gradient(self._inputs(q))
        hold = self.system.hold
        gross, size, residual = self.assembly.free_gross(hold), np.empty(len(y)), np.empty_like(y)
        magnitude, drag_value = self.assembly.magnitude(), 0.0
        with np.errstate(over="ignore", invalid="ignore"):
            if self.rates is not None:
                power, drag, _ = self.rates.gradient(self._rate_inputs(y))
                total = total + drag
                gross += self.rates.free_gross(hold)
                drag_value += self.h * power
                magnitude += self.h * self.rates.magnitude()
            if self.rayleigh is not None:
                v = self.start.velocities(y)
                drag = self.rayleigh.times(v)
                total = total + drag
                gross += magnitudes(hold.project(drag))
                drag_value += 0.5 * self.h * dot(drag, v)
            add_inertia = kernels("taut.step.objective_kernels").add_inertia
            kinetic, square, work = add_inertia(total, y, q, self.inertia, residual, gross, size)
            added = 0.5 * kinetic + drag_value
            if not np.isfinite([value + added, square, work]).all():
                raise SingularState("the forces of a step overflow")
            held = hold.among
            residual[held] = hold.projected(hold.projected(residual[held]))  # twice: once leaves the rounding of what is held
        return Point(y, value + added, residual, gross, magnitude + abs(added), size)

    def hessian(self, y: Float, *, project: bool) -> BlockMatrix:
        matrix = self._unconstrained(y, self.inertia, project=project)
        self.system.hold.constrain(matrix)
        return matrix

    def _unconstrained(self, y: Float, shift: Float, *, project: bool) -> BlockMatrix:
        self.assembly.hessian(self._inputs(self.start.positions(y)), shift, project=project)
        matrix = self.assembly.matrix
        added = []
        if self.rates is not None:
            self.rates.hessian(self._rate_inputs(y), np.zeros(self.system.n), project=project)
            added.append(self.rates.matrix)
        if self.rayleigh is not None:
            added.append(self.rayleigh)
        if not added:
            return matrix
        union = self._union()
        total = matrix if union.pattern is matrix.pattern else self.system.buffer(union.pattern)
        if total is not matrix:
            total.data[:] = 0.0
            total.data[union.slots[0]] = matrix.data
        for m, slots in zip(added, union.slots[1:], strict=True):
            total.data[slots] += m.data / self.h
        total.spread = (*matrix.spread, *(rank.scaled(1.0 / self.h) for m in added for rank in m.spread))
        return total

    @property
    def pattern(self) -> Pattern:
        """Where the Hessian has blocks."""
        return self.assembly.pattern if self.rates is None and self.rayleigh is None else self._union().pattern

    def _union(self) -> Union:
        rates = () if self.rates is None else (self.rates.pattern,)
        rayleigh = () if self.rayleigh is None else (self.rayleigh.pattern,)
        return self.system.union([self.assembly.pattern, *rates, *rayleigh])

    def floors(self, point: Point) -> Float:
        q = self.start.positions(point.y)
        gross = magnitudes(self.assembly.gradient(self._inputs(q))[2])  # held directions included: projection rounds them too
        stiffness = self._unconstrained(point.y, np.zeros_like(self.inertia), project=False)
        acting = gross + point.gross
        floors = rounding_floors(acting, stiffness, np.abs(q) + np.abs(point.y))  # q̃ and y may have cancelled
        own = stiffness.data[stiffness.pattern.diagonal]
        massless = EPS * np.sqrt(np.einsum("nij,nij->n", own, own)) > self.inertia
        return np.where(massless & (floors > acting), np.inf, floors)
