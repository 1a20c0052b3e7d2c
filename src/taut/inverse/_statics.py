"""Gradients of equilibria and forms.

An equilibrium has S ∂V/∂q(q, p) = 0. With L_q the gradient of a loss by q, and μ from
S K S μ = S L_q, the gradient by a parameter is -μ·∂²V/∂q∂p.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from taut.arrays import Float
from taut.errors import ModelError, NotConverged
from taut.inverse._collect import SweepResult, collect
from taut.inverse._forces import Forces
from taut.inverse._kinks import find_kinks
from taut.inverse._moment import PathSums
from taut.inverse._part import Sums
from taut.inverse._sweep import KINK_MARGIN, read_loss
from taut.inverse.result import (
    ACCURACY,
    TIGHTER,
    Gradient,
    compare,
    describe_notes,
    warn,
)
from taut.inverse.targets import check_targets
from taut.linalg.blocks import row_norms
from taut.linalg.indefinite import solve_indefinite
from taut.linalg.linear import make_solver
from taut.statics.equilibrium import Equilibrium
from taut.statics.form_finding import Form
from taut.system.state import State
from taut.system.system import System
from taut.system.workspace import workspace_for

_NOT_STATIC = ("velocity", "h", "rayleigh.alpha", "rayleigh.beta")


class StaticPoint:
    """An equilibrium, pulled back to parameters.

    factor : of the laws that are linear in the positions, the loads
    """

    def __init__(self, system: System, state: State, factor: float, accuracy: float) -> None:
        self.system, self.state, self.accuracy = system, state, accuracy
        self.forces = Forces(system, system._active_masks(state))
        self.factors = {
            name: factor
            for name, placed in system._placed_energies.items()
            if placed.forms["energy"].is_linear
        }

    def gradient(self) -> Float:
        """Return the unbalanced forces S ∂V/∂q [N], (n, 3), with the loads at their factor."""
        total = np.array(workspace_for(self.system).potential(self.state)[1])
        for name, factor in self.factors.items():
            placed = self.system._placed_energies[name]
            extra = placed.gradients(np.array(self.state.q), self.state.t)
            mask = self.forces.active.get(name)
            if mask is not None:
                extra = extra[mask]
            elements = placed.elements if mask is None else placed.elements[mask]
            np.add.at(total, elements, (factor - 1.0) * extra)
        return self.system._projector.project(total)

    def solve(self, right: Float) -> Float:
        """Solve S K S μ = S right for μ, (n, 3)."""
        workspace = workspace_for(self.system)
        b = self.system._projector.project(right)
        size = float(row_norms(b).max(initial=0.0))
        if size == 0.0:
            return np.zeros_like(b)
        matrix = workspace.stiffness(self.state, project=False).copy()
        workspace.apply_constraints(matrix)
        solver = make_solver("auto")
        solver.analyse(matrix.pattern)
        found = None
        target = self.accuracy * size
        if solver.factor(matrix):
            found = solver.solve(b, np.full(len(b), target))
        if found is None or not found.definite or (found.residuals > target).any():
            exact = solve_indefinite(matrix, b)
            found = exact if exact is not None else found
        # A mechanism that the loss does not see leaves a solution; one that it sees does not.
        if found is None or float(found.residuals.max()) > 1e-6 * size:
            raise NotConverged(
                "the equilibrium has no derivative: a mechanism, or a critical point, moves what "
                "the loss depends on",
                None,
                self.state,
            )
        return self.system._projector.project(found.x)

    def pull(self, bar: Float, sums: Sums, paths: PathSums) -> None:
        """Add the gradient by the parameters for that by the positions, (n, 3)."""
        z = -self.solve(bar)
        q, t = np.array(self.state.q), self.state.t
        by_q, _ = self.forces.pull_energies(q, t, z, sums, self.factors)
        total = bar + by_q
        paths.add(t, total - self.system._projector.project(total))

    def polish(self) -> StaticPoint:
        """Return the point after one more Newton iteration."""
        moved = self.state.with_(q=self.state.q - self.solve(self.gradient()))
        factor = next(iter(self.factors.values()), 1.0)
        return StaticPoint(self.system, moved, factor, self.accuracy * TIGHTER)

    def find_kinks(self) -> list[tuple[float, str, int]]:
        """Return where the stiffness has a kink: time, law and element."""
        q, t = np.array(self.state.q), self.state.t
        found = find_kinks(self.forces.parts_of_energy, q, q, 0.0, t, KINK_MARGIN)
        return [(t, law, element) for law, element in found]


def empty(system: System, value: float, sums: Sums, paths: PathSums) -> SweepResult:
    """Return what a sweep has found at rest, where initial states do not count."""
    zero = np.zeros((system.n, 3))
    return SweepResult(value, sums, paths, zero, zero, np.zeros(0), False)


def check_static(system: System | None, by: Any, what: str) -> tuple[System, list[str]]:
    """Return the system and the names to differentiate by, or raise ModelError."""
    if system is None:
        raise ModelError(f"these {what} do not know their system; compute them with taut.{what}")
    names = check_targets(system, by)
    for name in names:
        if name in _NOT_STATIC:
            raise ModelError(f"by: '{name}' has no effect at rest")
    return system, names


Pull = Callable[[StaticPoint], SweepResult]


def certify_point(
    point: StaticPoint, pull: Pull, names: Sequence[str], notes: tuple[str, ...], *, certify: bool
) -> Gradient:
    """Return the gradient at a point, with its error from a second, polished one."""
    started = time.perf_counter()
    found = pull(point)
    slopes = collect(point.system, list(names), found)
    error: Mapping[str, Any] = {}
    value_error = 0.0
    if certify:
        better = pull(point.polish())
        error = compare(slopes, collect(point.system, list(names), better))
        value_error = 2.0 * abs(better.value - found.value)
    notes = (*describe_notes([], point.find_kinks()), *notes)
    seconds = time.perf_counter() - started
    result = Gradient(found.value, slopes, error, value_error, notes, seconds)
    warn(result)
    return result


def gradient_of_equilibrium(
    found: Equilibrium, loss: Any, by: Sequence[str], *, certify: bool
) -> Gradient:
    """Return the gradient of a loss of the state of an equilibrium."""
    system, names = check_static(found.system, by, "equilibrium")
    point = StaticPoint(system, found.state, found.path[-1].factor, ACCURACY)
    return certify_point(point, lambda at: _pull_loss(at, loss), names, (), certify=certify)


def gradient_of_form(form: Form, loss: Any, by: Sequence[str], *, certify: bool) -> Gradient:
    """Return the gradient of a loss of the state of a form."""
    if len(form.triangles):
        raise ModelError(
            "gradients of membranes are not available: their points slide along the surface; "
            "gradients of nets of edges are"
        )
    system, names = check_static(form.system, by, "form_finding")
    state = system.initial_state()
    point = StaticPoint(system, state.with_(q=form.points), 1.0, ACCURACY)
    return certify_point(point, lambda at: _pull_loss(at, loss), names, (), certify=certify)


def _pull_loss(point: StaticPoint, loss: Any) -> SweepResult:
    system = point.system
    value, q, v = read_loss(loss(point.state), system.n, point.state.t)
    if v is not None and v.any():
        raise ModelError("the loss of an equilibrium must not depend on velocities")
    sums, paths = Sums.of(system, times=False), PathSums(system)
    point.pull(np.zeros((system.n, 3)) if q is None else q, sums, paths)
    return empty(system, value, sums, paths)
