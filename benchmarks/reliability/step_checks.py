"""What a step must not do, looked for in its states and its report.

Nothing may be infinite or not a number; a report must fit its own tolerance; a method that descends
may gain no energy,

    V' + ½‖v' - v‖²_M ≤ V + ½‖v‖²_M;

the states of implicit Euler must leave no more of m(v' - v)/h - f(q', v') than tolerance and
rounding allow; and the energy book of a step must close.
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

GAIN = 1e-8  # energy a step may gain by rounding, as a part of all that is there
GAP = 1e-9  # of the book, as a part of what is booked
EPS = float(np.finfo(np.float64).eps)


def contradiction(system: System, old: State, new: State, report: Report, integrator: Any) -> str:
    """What a step must not do and did, or nothing."""
    certified = (report.residual, report.tolerance, report.floor)
    if not (np.isfinite(new.q).all() and np.isfinite(new.v).all() and np.isfinite(certified).all()):
        return "a number that is not finite"
    limit = (
        report.tolerance if report.outcome == "converged" else max(report.tolerance, report.floor)
    )
    if not report.residual <= limit:
        return (
            f"'{report.outcome}' with a residual of {report.residual:.2e} N, "
            f"more than {limit:.2e} N"
        )
    if integrator.descends:
        (before, rounding), (after, more) = _energy(system, old), _energy(system, new)
        jump = 0.5 * float(system.mass @ np.einsum("ij,ij->i", new.v - old.v, new.v - old.v))
        gain = after + jump - before - system.T(old)
        if gain > rounding + more + GAIN * jump:
            return f"an energy of {gain:.2e} J out of nowhere"
    if (
        isinstance(integrator, ImplicitEuler)
        and system.rayleigh is None
        and "spring_damping" not in system.placed_damping
    ):
        return _unbalanced(system, old, new, integrator.tolerance.relative)
    return ""


def unbooked(system: System, state: State, h: float, integrator: Integrator) -> str:
    """What is wrong with the energy book of a step [h in s] from this state, or nothing."""
    try:
        entry = balance_energy(system, integrator.advance(system, state, h))
    except NotConverged:  # energies that overflow are said to
        return ""
    if abs(entry.gap) <= GAP * entry.scale:
        return ""
    return f"the books do not close: {entry.gap:.2e} J of {entry.scale:.2e} J"


def _energy(system: System, state: State) -> tuple[float, float]:
    """V [J], and what rounding may make of it.

    A part of all energies, and what the last places of the coordinates decide.

    The second is much where particles coincide: there a hinge has no direction, and its energy
    jumps.
    """
    parts = system.V_by_law(state)
    value, rng = sum(parts.values()), np.random.default_rng(0)
    size = np.abs(state.q).max(axis=1, keepdims=True)
    near = [
        system.V(state.with_(q=state.q + 4 * EPS * size * rng.normal(size=state.q.shape)))
        for _ in range(4)
    ]
    return value, GAIN * (sum(abs(v) for v in parts.values()) + system.T(state)) + 4 * max(
        abs(v - value) for v in near
    )


def _unbalanced(system: System, old: State, new: State, relative: float) -> str:
    """What the states of a step of implicit Euler leave of m(v' - v)/h - f(q', v').

    Where that is too much, or nothing.

    It is held against the tolerance, and against what rounding of the coordinates and velocities
    can make of it.
    """
    h, projector = new.t - old.t, system.projector
    inertia = system.mass[:, None] * (new.v - old.v) / h
    force = system.f(new)
    drag = force + system.potential(new)[1]
    gross = workspace_for(system).assembly("potential", new).projected_gross_force(projector)
    gross += np.abs(projector.project(inertia)).sum(axis=1) + np.abs(projector.project(drag)).sum(
        axis=1
    )
    left = row_norms(projector.project(projector.project(inertia - force)))
    size = np.repeat(
        (np.abs(new.q) + np.abs(old.q) + h * np.abs(old.v)).max(axis=1, keepdims=True), 3, axis=1
    )
    way = (
        8
        * EPS
        * size
        * projector.project(inertia - force)
        / np.where(left > 0.0, left, 1.0)[:, None]
    )
    everywhere, limits = np.abs(inertia).sum(axis=1), np.zeros(system.n)
    for shift in (0.0, 1.0, -1.0):  # stiffness jumps where a hinge folds
        near = new.with_(q=new.q + shift * way)
        gross_near = everywhere + system.potential(near)[2].sum(axis=1)
        limits = np.maximum(
            limits,
            estimate_rounding_floors(gross_near, system.stiffness(near, project=False), size),
        )
    if (
        "cable" in system.placed_energies
    ):  # rounding can make a slack cable taut: its stiffness counts, as in a body that is blown up
        limits = np.maximum(
            limits,
            estimate_rounding_floors(
                everywhere, system.stiffness(new.with_(q=1e6 * new.q), project=False), size
            ),
        )
    limits += (
        relative * gross + 8 * EPS * system.mass * (np.abs(new.v) + np.abs(old.v)).sum(axis=1) / h
    )
    limits += EPS * relative * float(gross.max())  # negligible compared with the forces elsewhere
    worst = int(np.argmax(left - limits))
    if left[worst] <= limits[worst]:
        return ""
    return f"particle {worst} is left with {left[worst]:.2e} N, more than {limits[worst]:.2e} N"
