"""The unbalanced forces of a system at rest as functions of the positions and of one parameter:

    r(q, λ) = S ∇(V_rest(q, t) + λ V_scaled(q, t))    or    r(q, t) = S ∇V(q, t).

λ is a load factor, which multiplies chosen laws; or the parameter is the time, of which scripts and
parameters of laws are functions. An equilibrium path is a curve of points (q, λ) with r = 0. The
unknowns are the free coordinates y = Pᵀq; the prescribed ones follow the parameter.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, NamedTuple

import numpy as np

from taut.arrays import Float
from taut.errors import ModelError, SingularState, did_you_mean
from taut.linalg.blocks import BlockMatrix, row_norms, row_norms_l1
from taut.linalg.low_rank import SparsePlusLowRank
from taut.optimise.tolerance import estimate_rounding_floors
from taut.statics.stability import estimate_stiffness_rounding
from taut.system.assembly import Assembly
from taut.system.reduction import Reduction
from taut.system.state import State
from taut.system.system import System
from taut.system.terms import Inputs
from taut.system.workspace import workspace_for

# Part of the time scale over which derivatives by time are differences: balances the error of the
# difference with that of rounding. Newton's method needs the slope to a few digits only.
_TIME_DIFFERENCE = 1e-5

Along = Literal["load", "time"]


class Balance(NamedTuple):
    """The forces at one point of a path."""

    gradient: Float  # ∇V in all directions [N], (n, 3)
    residuals: Float  # |S ∇V| of each particle [N], (n,)
    gross: Float  # gross forces in the free directions [N], (n,)
    unbalanced: Float  # r in the free coordinates [N], (f,)


class ParametrisedForces:
    """r(q, λ), its derivatives, and the free coordinates.

    free : the basis P of the free coordinates
    """

    def __init__(
        self, system: System, state: State, along: Along, scaled: Iterable[str] | None, caller: str
    ) -> None:
        assembly = workspace_for(system).assembly("potential", state)
        assert isinstance(assembly, Assembly), "`check_static` refuses contact"
        terms = assembly.terms
        if along not in ("load", "time"):
            raise ModelError(f"{caller}: along must be 'load' or 'time', got {along!r}")
        if along == "time" and scaled is not None:
            raise ModelError(f"{caller}: scaled must be left out along the time, got {scaled!r}")
        names: set[str] = set()
        if along == "load":
            names = _check_names(scaled, [term.name for term in terms], caller)
            if scaled is None:
                names = {term.name for term in terms if not term.has_hessian}
            if not names:
                raise ModelError(
                    f"{caller}: the system has no law that is linear in the positions, such as "
                    "laws.force; name the laws to multiply in scaled=[…], or follow the time"
                )
        self.along: Along = along
        self.system, self.start = system, state
        self.projector, self.free = system._projector, Reduction.of(system._projector)
        self._rest = Assembly(system.n, [term for term in terms if term.name not in names])
        self._scaled = Assembly(system.n, [term for term in terms if term.name in names])
        if not self.free.size:
            raise ModelError(f"{caller}: no particle is free to move")

    def time(self, parameter: float) -> float:
        """Return the time [s] at which scripts and parameters are evaluated."""
        return parameter if self.along == "time" else self.start.t

    def place(self, q: Float, parameter: float) -> Float:
        """Return positions (n, 3) with the prescribed ones as the parameter demands."""
        return self.projector.project_positions(q, self.time(parameter))

    def move(self, q: Float, step: Float, parameter: float) -> Float:
        """Return positions (n, 3) after a step (f,) of the free coordinates, to a parameter."""
        return self.place(q + self.free.expand(step), parameter)

    def _parts(self, parameter: float) -> tuple[tuple[Assembly, float], ...]:
        return (self._rest, 1.0), (self._scaled, parameter)

    def _gradient(self, q: Float, parameter: float) -> tuple[Float, Float]:
        gradient, gross = np.zeros_like(q), np.zeros(len(q))
        for assembly, factor in self._parts(parameter):
            if not assembly.terms:
                continue
            inputs = [Inputs(q, q, 0.0, self.time(parameter))] * len(assembly.terms)
            gradient += factor * assembly.gradient(inputs)[1]
            gross += abs(factor) * assembly.projected_gross_force(self.projector)
        return gradient, gross

    def balance(self, q: Float, parameter: float) -> Balance:
        """Return the forces; raises SingularState where they are not finite."""
        with np.errstate(over="ignore", invalid="ignore"):
            gradient, gross = self._gradient(q, parameter)
            residual = self.projector.project(gradient)
            residuals = row_norms(residual)
        if not (np.isfinite(gradient).all() and np.isfinite(residuals).all()):
            raise SingularState("the forces on the path overflow")
        return Balance(gradient, residuals, gross, self.free.basis.T @ residual.reshape(-1))

    def stiffness(self, q: Float, parameter: float) -> tuple[Any, float]:
        """Return PᵀKP, (f, f), and the magnitude [N/m] up to which an eigenvalue is rounding.

        The matrix is a scipy.sparse CSC array, or a SparsePlusLowRank.
        """
        whole, zero = None, 0.0
        for assembly, factor in self._parts(parameter):
            if not any(term.has_hessian for term in assembly.terms) or factor == 0.0:
                continue
            matrix = self._hessian(assembly, q, parameter)
            zero += abs(factor) * estimate_stiffness_rounding(matrix, q, np.ones(len(q)))
            reduced = scale(self.free.matrix(matrix), factor)
            whole = reduced if whole is None else add(whole, reduced)
        if whole is None:
            from scipy.sparse import csc_array

            whole = csc_array((self.free.size, self.free.size))
        return whole, zero

    def _hessian(self, assembly: Assembly, q: Float, parameter: float) -> BlockMatrix:
        inputs = [Inputs(q, q, 0.0, self.time(parameter))] * len(assembly.terms)
        assembly.hessian(inputs, np.zeros(len(q)))
        return assembly.matrix

    def scaled_stiffness(self, q: Float) -> Any | None:
        """Return PᵀKP of the scaled laws at λ = 1, or None if they are linear in the positions."""
        if not any(term.has_hessian for term in self._scaled.terms):
            return None
        return self.free.matrix(self._hessian(self._scaled, q, 0.0))

    def slope(self, q: Float, parameter: float, scale: float) -> Float:
        """Return ∂r/∂λ [N] or ∂r/∂t [N/s], (f,), at fixed free coordinates.

        scale : a change of the time [s] over which forces change smoothly
        """
        if self.along == "load":
            inputs = [Inputs(q, q, 0.0, self.start.t)] * len(self._scaled.terms)
            gradient = self._scaled.gradient(inputs)[1]
            rate: Float = self.free.basis.T @ gradient.reshape(-1)
            return rate
        difference = _TIME_DIFFERENCE * scale
        ahead, behind = (
            self.balance(self.place(q, t), t).unbalanced
            for t in (parameter + difference, parameter - difference)
        )
        return (ahead - behind) / (2.0 * difference)

    def prescribed_rate(self, parameter: float, scale: float) -> Float:
        """Return how fast the prescribed positions change with the parameter [m/s], (n, 3)."""
        if self.along == "load" or not self.projector.scripts:
            return np.zeros((self.system.n, 3))
        difference = _TIME_DIFFERENCE * scale
        ahead, behind = (
            self.projector.anchors(t) for t in (parameter + difference, parameter - difference)
        )
        rate = (ahead - behind) / (2.0 * difference)
        return rate - self.projector.project(rate)

    def rounding_floors(self, q: Float, parameter: float, gross: Float) -> Float:
        """Return the residual [N] of each particle that rounding alone can cause, (n,)."""
        floors = np.zeros(len(q))
        for assembly, factor in self._parts(parameter):
            if not assembly.terms:
                continue
            inputs = [Inputs(q, q, 0.0, self.time(parameter))] * len(assembly.terms)
            acting = abs(factor) * row_norms_l1(assembly.gradient(inputs)[2])
            if any(term.has_hessian for term in assembly.terms):
                matrix = self._hessian(assembly, q, parameter)
                floors += estimate_rounding_floors(acting, matrix, q) * max(1.0, abs(factor))
            else:
                floors += np.finfo(np.float64).eps * 8.0 * acting
        return floors + np.finfo(np.float64).eps * 8.0 * gross

    def state(self, q: Float, parameter: float) -> State:
        """Return positions as a state at rest."""
        return self.start.with_(q=q, v=np.zeros_like(q), t=self.time(parameter))


def _check_names(scaled: Iterable[str] | None, known: list[str], caller: str) -> set[str]:
    if scaled is None:
        return set()
    if isinstance(scaled, str) or not isinstance(scaled, Iterable):
        raise ModelError(f"{caller}: scaled must be a list of names of laws, got {scaled!r}")
    names = list(scaled)
    for name in names:
        if name not in known:
            hint = did_you_mean(str(name), known)
            raise ModelError(f"{caller}: the system has no energy law '{name}'{hint}")
    return set(names)


def scale(matrix: Any, factor: float) -> Any:
    """Return factor·A of a CSC array or SparsePlusLowRank."""
    if isinstance(matrix, SparsePlusLowRank):
        return SparsePlusLowRank(factor * matrix.sparse, factor * matrix.weights, matrix.vectors)
    return factor * matrix


def add(a: Any, b: Any) -> Any:
    """Return A + B of CSC arrays or SparsePlusLowRanks."""
    parts = [m for m in (a, b) if isinstance(m, SparsePlusLowRank)]
    sparse = sum(m.sparse if isinstance(m, SparsePlusLowRank) else m for m in (a, b))
    if not parts:
        return sparse
    weights = np.concatenate([m.weights for m in parts])
    return SparsePlusLowRank(sparse.tocsc(), weights, np.hstack([m.vectors for m in parts]))
