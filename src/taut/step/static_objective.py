"""The energy of a system at rest, with its load scaled, and held back towards where it came from:

    Φ(q) = V_int(q, t) + λ V_load(q, t) + ½ σ Σ_i w_i |q_i - q̄_i|²

V_load are the laws that are linear in the positions (gravity, given forces: their Hessian is zero), λ is the load factor. The last
term is there while the equilibrium is sought and not when it is certified (σ = 0). The unknowns are the positions themselves.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from taut.errors import SingularState
from taut.solve.minimum import Point
from taut.solve.tolerance import rounding_floors
from taut.system.assembly import Assembly
from taut.system.blocks import BlockMatrix, dot, largest, lengths, magnitudes
from taut.system.state import State
from taut.system.system import System
from taut.system.terms import Inputs

Float = NDArray[np.float64]


class StaticObjective:
    """Φ at a state's time, with its active elements and the constraints of that time."""

    def __init__(self, system: System, state: State) -> None:
        terms = system.assembly("potential", state).terms
        self.hold, self.t = system.hold, state.t
        self.inner = Assembly(system.n, [term for term in terms if term.stiff])
        self.load = Assembly(system.n, [term for term in terms if not term.stiff])
        self.factor = 1.0
        self.back = np.zeros(system.n)  # σ w [N/m]
        self.centre = np.zeros((system.n, 3))  # q̄

    def hold_back(self, back: Float | float, centre: Float) -> None:
        """Choose σ w [N/m], (n,) or one number, and q̄ (n, 3)."""
        self.back[:] = back
        self.centre = centre

    def gradient(self, q: Float) -> tuple[float, Float, Float, float]:
        """V [J] at the load factor, ∂V/∂q [N] (n, 3) in all directions, gross forces in the free ones [N] (n,), Σ|V_e| [J]."""
        value, total, gross, magnitude = 0.0, np.zeros_like(q), np.zeros(len(q)), 0.0
        for assembly, factor in ((self.inner, 1.0), (self.load, self.factor)):
            v, g, _ = assembly.gradient([Inputs(q, q, 0.0, self.t)] * len(assembly.terms))
            value += factor * v
            total += factor * g
            gross += abs(factor) * assembly.free_gross(self.hold)
            magnitude += abs(factor) * assembly.magnitude()
        return value, total, gross, magnitude

    def evaluate(self, y: Float) -> Point:
        y = self.hold.place(y, self.t)  # what a solver leaks across a constraint does not count
        with np.errstate(over="ignore", invalid="ignore"):
            value, total, gross, magnitude = self.gradient(y)
            moved = self.hold.project(y - self.centre)
            pull = self.back[:, None] * moved
            stored = 0.5 * dot(pull, moved)
            total += pull
            gross += magnitudes(pull)
            residual = self.hold.project(self.hold.project(total))  # twice: once leaves the rounding of what is held
            size = largest(y)
            work = float(np.einsum("i,i->", gross, size))
            sums = np.isfinite([value + stored, magnitude + stored, work]).all()
            fit = np.isfinite(total).all(axis=1) & np.isfinite(lengths(residual)) & np.isfinite(gross)
        if not (sums and fit.all()):  # an infinite residual must not be held against an infinite tolerance
            raise SingularState(f"the forces of an equilibrium overflow at particle {int(np.argmin(fit))}")
        return Point(y, value + stored, residual, gross, magnitude + stored, size)

    def hessian(self, y: Float, *, project: bool) -> BlockMatrix:
        self.inner.hessian([Inputs(y, y, 0.0, self.t)] * len(self.inner.terms), self.back, project=project)
        self.hold.constrain(self.inner.matrix)
        return self.inner.matrix

    def stiffness(self, q: Float, *, project: bool = False) -> BlockMatrix:
        """K [N/m] before constraints, without the term that holds back; the next call overwrites it."""
        self.inner.hessian([Inputs(q, q, 0.0, self.t)] * len(self.inner.terms), np.zeros(len(q)), project=project)
        return self.inner.matrix

    def floors(self, point: Point) -> Float:
        gross = np.zeros(len(point.y))
        for assembly, factor in ((self.inner, 1.0), (self.load, abs(self.factor))):  # held directions too: projection rounds them
            gross += factor * magnitudes(assembly.gradient([Inputs(point.y, point.y, 0.0, self.t)] * len(assembly.terms))[2])
        return rounding_floors(gross + point.gross, self.stiffness(point.y), point.y)
