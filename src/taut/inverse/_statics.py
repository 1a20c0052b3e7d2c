"""Gradients of equilibria, frequencies and forms.

An equilibrium has S ∂V/∂q(q, p) = 0. With L_q the gradient of a loss by q, and μ from
S K S μ = S L_q, the gradient by a parameter is -μ·∂²V/∂q∂p.

A frequency has ω² = φᵀKφ with φᵀMφ = 1, so that

    2ω dω = φᵀ(∂K/∂p dp + ∂K/∂q dq)φ - ω² φᵀdM φ:

third derivatives of V. If the state is an equilibrium, q moves with p, and what φᵀ∂K/∂q φ gives is
the gradient by q for which the equilibrium is pulled.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from taut.arrays import Float
from taut.errors import ModelError, NotConverged
from taut.inverse._forces import Forces
from taut.inverse._moment import PathSums
from taut.inverse._part import Sums, find_kinks
from taut.inverse._sweep import KINK_MARGIN, read_loss
from taut.inverse.result import (
    ACCURACY,
    TIGHTER,
    Gradient,
    check_differentiable,
    compare,
    describe_notes,
    warn,
)
from taut.inverse.targets import SweepResult, check_targets, collect
from taut.linalg.blocks import row_norms
from taut.linalg.indefinite import solve_indefinite
from taut.linalg.linear import make_solver
from taut.statics.equilibrium import Equilibrium
from taut.statics.form_finding import Form
from taut.statics.modes import Modes
from taut.system.state import State
from taut.system.system import System
from taut.system.workspace import workspace_for

_NOT_STATIC = ("velocity", "h", "rayleigh.alpha", "rayleigh.beta")
# Relative gap of two frequencies below which they count as equal, and have no derivative each
_EQUAL = 1e-6


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


def _empty(system: System, value: float, sums: Sums, paths: PathSums) -> SweepResult:
    zero = np.zeros((system.n, 3))
    return SweepResult(value, sums, paths, zero, zero, np.zeros(0), False)


def _check(system: System | None, by: Any, what: str) -> tuple[System, list[str]]:
    if system is None:
        raise ModelError(f"these {what} do not know their system; compute them with taut.{what}")
    check_differentiable(system)
    names = check_targets(system, by)
    for name in names:
        if name in _NOT_STATIC:
            raise ModelError(f"by: '{name}' has no effect at rest")
    return system, names


Pull = Callable[[StaticPoint], SweepResult]


def _certify(
    point: StaticPoint, pull: Pull, names: Sequence[str], notes: tuple[str, ...], *, certify: bool
) -> Gradient:
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
    system, names = _check(found.system, by, "equilibrium")
    point = StaticPoint(system, found.state, found.path[-1].factor, ACCURACY)
    return _certify(point, lambda at: _pull_loss(at, loss), names, (), certify=certify)


def gradient_of_form(form: Form, loss: Any, by: Sequence[str], *, certify: bool) -> Gradient:
    """Return the gradient of a loss of the state of a form."""
    if len(form.triangles):
        raise ModelError(
            "gradients of membranes are not available: their points slide along the surface; "
            "gradients of nets of edges are"
        )
    system, names = _check(form.system, by, "form_finding")
    state = system.initial_state()
    point = StaticPoint(system, state.with_(q=form.points), 1.0, ACCURACY)
    return _certify(point, lambda at: _pull_loss(at, loss), names, (), certify=certify)


def _pull_loss(point: StaticPoint, loss: Any) -> SweepResult:
    system = point.system
    value, q, v = read_loss(loss(point.state), system.n, point.state.t)
    if v is not None and v.any():
        raise ModelError("the loss of an equilibrium must not depend on velocities")
    sums, paths = Sums.of(system, times=False), PathSums()
    point.pull(np.zeros((system.n, 3)) if q is None else q, sums, paths)
    return _empty(system, value, sums, paths)


def gradient_of_modes(
    found: Modes, loss: Any, by: Sequence[str], at: Any, *, certify: bool
) -> Gradient:
    """Return the gradient of a loss of frequencies.

    at : the `Equilibrium` about which the modes are, which then moves with the parameters; None:
        the positions stay
    """
    system, names = _check(found.system, by, "modes")
    assert found.state is not None
    factor = at.path[-1].factor if at is not None else 1.0
    state = found.state if at is None else at.state
    if not np.array_equal(state.q, found.state.q):
        raise ModelError("the modes must be those of the equilibrium in `at`")
    _, slopes = _read_frequency_loss(loss, found.omega)
    notes = _find_equal(found.omega, slopes)

    def pull(point: StaticPoint) -> SweepResult:
        sums, paths = Sums.of(system, times=False), PathSums()
        omega, shapes = _follow(point, found)
        by_q = np.zeros((system.n, 3))
        q, t = np.array(point.state.q), point.state.t
        own, own_slopes = _read_frequency_loss(loss, omega)
        for w, shape, slope in zip(omega, shapes, own_slopes, strict=True):
            if slope == 0.0:
                continue
            scale = slope / (2.0 * w)
            more, _ = point.forces.pull_stiffness(
                q, t, shape, shape, sums, project=False, scale=scale
            )
            by_q += more
            sums.mass -= scale * w * abs(w) * np.einsum("ni,ni->n", shape, shape)
        if at is not None:
            point.pull(by_q, sums, paths)
            return _empty(system, own, sums, paths)
        held = by_q - system._projector.project(by_q)
        paths.add(t, held)
        zero = np.zeros_like(by_q)
        return SweepResult(own, sums, paths, by_q - held, zero, np.zeros(0), False)

    point = StaticPoint(system, state, factor, ACCURACY)
    return _certify(point, pull, names, notes, certify=certify and at is not None)


def _follow(point: StaticPoint, found: Modes) -> tuple[Float, Float]:
    """Return frequencies and shapes at a point close to that of the modes."""
    assert found.state is not None
    if np.array_equal(point.state.q, found.state.q):
        return found.omega, found.shapes
    from taut.statics.modes import modes

    again = modes(point.system, point.state, n=len(found.omega))
    return again.omega, again.shapes


def _read_frequency_loss(loss: Any, omega: Float) -> tuple[float, Float]:
    given = loss(omega)
    if not isinstance(given, tuple) or len(given) != 2:
        raise ModelError(
            "the loss of modes must return (value, gradient by the angular frequencies), "
            f"got {given!r}"
        )
    slopes = np.asarray(given[1], dtype=np.float64)
    if slopes.shape != omega.shape:
        raise ModelError(
            f"the gradient by the angular frequencies must have the shape {omega.shape}, "
            f"got {slopes.shape}"
        )
    still = np.flatnonzero((omega == 0.0) & (slopes != 0.0))
    if len(still):
        raise ModelError(f"mode {still[0]} has the frequency 0, which has no derivative")
    return float(given[0]), slopes


def _find_equal(omega: Float, slopes: Float) -> tuple[str, ...]:
    """Say which frequencies are equal but weighed differently."""
    notes = []
    for k in range(len(omega) - 1):
        gap = abs(omega[k + 1] - omega[k])
        if gap <= _EQUAL * abs(omega[k]) and slopes[k] != slopes[k + 1]:
            notes.append(
                f"modes {k} and {k + 1} have the same frequency: only losses in which both count "
                "alike have a derivative"
            )
    return tuple(notes)
