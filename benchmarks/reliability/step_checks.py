"""Check a step independently of its solver, from its states and its report.

All numbers must be finite; the residual in a report must be within its tolerance; a method that
descends must not gain energy,

    V' + ½‖v' - v‖²_M ≤ V + ½‖v‖²_M;

the residual m(v' - v)/h - f(q', v') of implicit Euler must be within tolerance and rounding; and
the energy ledger of a step must close.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from taut.errors import NotConverged
from taut.linalg.blocks import row_norms
from taut.optimise.tolerance import estimate_rounding_floors
from taut.run.energy_balance import balance_energy
from taut.step.implicit_euler import ImplicitEuler
from taut.step.integrator import Integrator
from taut.step.report import Report
from taut.system.state import State
from taut.system.system import System
from taut.system.workspace import workspace_for

MAX_GAIN = 1e-8  # of energy by rounding, relative to all energies
MAX_GAP = 1e-9  # of the ledger, relative to its scale
EPS = float(np.finfo(np.float64).eps)


def check_step(system: System, old: State, new: State, report: Report, integrator: Any) -> str:
    """Return what is wrong with a step from `old` to `new`; empty if nothing is."""
    certified = (report.residual, report.tolerance, report.floor)
    if not (np.isfinite(new.q).all() and np.isfinite(new.v).all() and np.isfinite(certified).all()):
        return "a number that is not finite"
    limit = report.tolerance
    if report.outcome != "converged":
        limit = max(report.tolerance, report.floor)
    if not report.residual <= limit:
        return (
            f"'{report.outcome}' with a residual of {report.residual:.2e} N, "
            f"more than {limit:.2e} N"
        )
    if integrator.descends:
        (before, rounding), (after, more) = _energy(system, old), _energy(system, new)
        jump = 0.5 * float(system.mass @ np.einsum("ij,ij->i", new.v - old.v, new.v - old.v))
        gain = after + jump - before - system.T(old)
        if gain > rounding + more + MAX_GAIN * jump:
            return f"the energy must not grow, but the step gains {gain:.2e} J"
    if (
        isinstance(integrator, ImplicitEuler)
        and system._rayleigh is None
        and "spring_damping" not in system._placed_damping
    ):
        return _check_balance(system, old, new, report.acceleration * integrator.tolerance.relative)
    return ""


def check_ledger(system: System, state: State, h: float, integrator: Integrator) -> str:
    """Return the gap of the ledger of a step of h [s] from a state; empty if it closes."""
    try:
        entry = balance_energy(system, integrator.advance(system, state, h))
    except NotConverged:  # the energies overflow, which is a typed error
        return ""
    if abs(entry.gap) <= MAX_GAP * entry.scale:
        return ""
    return (
        f"the ledger does not close: a gap of {entry.gap:.2e} J at a scale of {entry.scale:.2e} J"
    )


def _energy(system: System, state: State) -> tuple[float, float]:
    """Return V [J], and how much rounding may change it [J].

    That is a fraction of all energies, plus the change of V with the last digits of the
    coordinates. The latter is large where particles coincide: there a hinge has no direction, and
    its energy is not continuous.
    """
    parts = system.V_by_law(state)
    value, rng = sum(parts.values()), np.random.default_rng(0)
    size = np.abs(state.q).max(axis=1, keepdims=True)
    near = [
        system.V(state.with_(q=state.q + 4 * EPS * size * rng.normal(size=state.q.shape)))
        for _ in range(4)
    ]
    return value, MAX_GAIN * (sum(abs(v) for v in parts.values()) + system.T(state)) + 4 * max(
        abs(v - value) for v in near
    )


def _check_balance(system: System, old: State, new: State, acceleration: float) -> str:
    """Return where the residual of implicit Euler is too large; empty if it is nowhere.

    The residual m(v' - v)/h - f(q', v') may reach the tolerance, m times an acceleration [m/s²],
    plus what rounding of coordinates and velocities can cause.
    """
    h, projector = new.t - old.t, system._projector
    inertia = system.mass[:, None] * (new.v - old.v) / h
    force = system.f(new)
    drag = force + workspace_for(system).potential(new)[1]
    gross = workspace_for(system).assembly("potential", new).projected_gross_force(projector)
    gross += np.abs(projector.project(inertia)).sum(axis=1) + np.abs(projector.project(drag)).sum(
        axis=1
    )
    left = row_norms(projector.project(projector.project(inertia - force)))
    size = np.repeat(
        (np.abs(new.q) + np.abs(old.q) + h * np.abs(old.v)).max(axis=1, keepdims=True), 3, axis=1
    )
    perturbation = (
        8
        * EPS
        * size
        * projector.project(inertia - force)
        / np.where(left > 0.0, left, 1.0)[:, None]
    )
    everywhere, limits = np.abs(inertia).sum(axis=1), np.zeros(system.n)
    for shift in (0.0, 1.0, -1.0):  # the stiffness jumps where a hinge folds
        near = new.with_(q=new.q + shift * perturbation)
        gross_near = everywhere + workspace_for(system).potential(near)[2].sum(axis=1)
        limits = np.maximum(
            limits,
            estimate_rounding_floors(
                gross_near, workspace_for(system).stiffness(near, project=False), size
            ),
        )
    # Rounding can make a slack cable taut, so its stiffness counts: scaled up, all cables are taut.
    if "cable" in system._placed_energies:
        limits = np.maximum(
            limits,
            estimate_rounding_floors(
                everywhere,
                workspace_for(system).stiffness(new.with_(q=1e6 * new.q), project=False),
                size,
            ),
        )
    limits += acceleration * system.mass + 1e-12 * gross
    limits += 8 * EPS * system.mass * (np.abs(new.v) + np.abs(old.v)).sum(axis=1) / h
    worst = int(np.argmax(left - limits))
    if left[worst] <= limits[worst]:
        return ""
    return (
        f"the residual of particle {worst} must be at most {limits[worst]:.2e} N, "
        f"got {left[worst]:.2e} N"
    )
