"""Start where it was modelled: rest lengths and angles for which a shape is in equilibrium.

A body that is modelled as it shall hang sags when it is let go, because nothing carries its weight
yet. Of all rest values p (lengths, angles, areas) near the modelled ones, those are found for which

    S ∂V/∂q(q, p) = 0 at the given q.

With A = S ∂²V/∂q∂p and W the sizes of the rest values, each round of Gauss and Newton takes the
change of least |W⁻¹dp|,

    dp = -W²Aᵀ(A W²Aᵀ)⁻¹ S ∂V/∂q.

What A cannot balance is left over and reported: springs pull along their own directions only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from taut.arrays import Float, describe
from taut.errors import ModelError
from taut.inverse.targets import change_system
from taut.linalg.blocks import row_norms, row_norms_l1
from taut.optimise.tolerance import estimate_rounding_floors
from taut.statics.stability import Stability, stability
from taut.system.state import State
from taut.system.system import System
from taut.system.workspace import workspace_for

_MAX_ROUNDS = 20
_SLOW = 0.99  # a round that leaves more than this part of the forces is the last one
_PARTS = (1.0, 0.5, 0.1, 0.01)  # of a change, until one lowers the forces
_BALANCED = 1e-12  # of the gross force of a particle: what double precision can balance
# Part of the weight that counts as balanced; its square is that of the gross force: a shape that is
# in equilibrium already has no weight left
_SMALL = 1e-6
# Added to the diagonal of A W²Aᵀ, relative to its mean: forces that no rest value balances would
# else divide by zero
_REGULARISATION = 1e-13
# Part of a rest length that one round may take away: they stay positive
_MAX_CHANGE = 0.5
# A cable just at its length has no derivative on its slack side: that of one shorter by this part
# counts, so that it is tightened where that carries something
_TIGHTENED = 1e-6
# Particles that a report names one by one, and the least part of the largest force that they have
_MAX_NAMED, _NAMED = 5, 1e-3


@dataclass(frozen=True, eq=False)
class SagFree:
    """A system whose shape is in equilibrium, as far as its laws allow.

    system : with other rest values
    unbalanced : force that is left on each particle [N], (n,)
    changes : of the rest values, by name such as "spring.l0", (m,)
    weight : the sum of the forces that had to be balanced [N]
    stability : of the shape
    balanced : whether less than a millionth of the weight is left, or no more than rounding causes
    """

    system: System
    unbalanced: Float
    changes: Mapping[str, Float]
    weight: float
    stability: Stability
    balanced: bool

    def __str__(self) -> str:
        lines = []
        for name, change in self.changes.items():
            lines.append(f"{name}: changed by up to {np.abs(change).max(initial=0.0):.3g}")
        left = f"{self.unbalanced.sum():.3g} N of {self.weight:.3g} N"
        if self.balanced:
            lines.append(f"balanced: {left} are left")
        else:
            loaded = np.flatnonzero(self.unbalanced > _NAMED * self.unbalanced.max())
            order = loaded[np.argsort(-self.unbalanced[loaded], kind="stable")]
            each = [f"{i} ({self.unbalanced[i]:.3g} N)" for i in order[:_MAX_NAMED].tolist()]
            more = f" and {len(order) - _MAX_NAMED} more" if len(order) > _MAX_NAMED else ""
            lines.append(
                f"not balanced: {left} are left, on particles {', '.join(each)}{more}; the laws "
                "cannot carry it in this shape. Springs along a flat or hanging surface need "
                "bending too that is stiff enough, such as laws.shell_bending or laws.rod_hinge"
            )
        if not self.stability.stable:
            lines.append("the shape is not a stable equilibrium: it would leave it")
        return "\n".join(lines)


def sag_free(system: System, state: State | None = None) -> SagFree:
    """Return the system with rest lengths and angles for which a shape is in equilibrium.

    state : the shape (default: the initial state)

    Rest values that are measured or given as numbers change, those nearest to them being chosen.

    >>> import taut
    >>> spring, weight = taut.laws.spring([[0, 1]], k=981.0), taut.laws.gravity()
    >>> system = taut.System([[0, 0, 0], [0, -1, 0]], mass=1.0, fixed=[0],
    ...                      energies=[spring, weight])
    >>> found = taut.sag_free(system)
    >>> found.balanced, found.changes["spring.l0"].round(6)
    (True, array([-0.01]))
    """
    if not isinstance(system, System):
        raise ModelError(f"sag_free needs a taut.System, got {describe(system)}")
    start = system.initial_state() if state is None else state
    start = start.with_(v=np.zeros_like(start.v))
    names = _find_rest_values(system)
    if not names:
        raise ModelError("sag_free: no law of the system has a rest length or angle")
    first = {name: _value(system, *name) for name in names}
    sizes = {name: _size(system, *name) for name in names}
    current, force = system, _force(system, start)
    weight = float(row_norms(force).sum())
    gross = 0.0
    at_rest = bool((row_norms(force) <= _estimate_rounding(system, start)).all())
    for _ in range(0 if at_rest else _MAX_ROUNDS):
        gross = float(np.abs(workspace_for(current).potential(start)[2]).max(initial=0.0))
        if float(row_norms(force).max(initial=0.0)) <= _BALANCED * gross:
            break
        better = _take_round(current, start, names, sizes, force)
        if better is None:
            break
        progress = float(np.linalg.norm(force))
        current, force = better, _force(better, start)
        if float(np.linalg.norm(force)) > _SLOW * progress:
            break
    changes = {".".join(name): _value(current, *name) - first[name] for name in names}
    left = row_norms(force)
    allowed = max(_SMALL * weight, _SMALL * _SMALL * gross)
    balanced = at_rest or bool(left.max(initial=0.0) <= allowed)
    found = stability(_without_friction(current), start)
    return SagFree(current, left, changes, weight, found, balanced)


def _without_friction(system: System) -> System:
    """Return the system without friction, which has no energy and only slows a fall down."""
    if not system._has_friction:
        return system
    smooth = change_system(system, {"contact.friction": 0.0})
    if system.contact is not None and system.contact.friction_pairs:
        smooth = change_system(smooth, {"contact.friction_pairs": 0.0})
    return smooth


def _find_rest_values(system: System) -> list[tuple[str, str]]:
    """Return law and parameter of all rest lengths, angles, areas and volumes that are constant.

    Their names end in 0; other values measured at rest, such as the length that belongs to a hinge,
    are factors of stiffnesses.
    """
    found = []
    for name, placed in system._placed_energies.items():
        if placed.couples_all_elements or placed.law.load:
            continue
        for parameter in placed.law.rest:
            constant = placed.parameters.constant
            is_scalar = parameter in constant and placed.parameters.shapes[parameter] == ()
            if is_scalar and parameter.endswith("0"):
                found.append((name, parameter))
    return found


def _value(system: System, law: str, parameter: str) -> Float:
    placed = system._placed_energies[law]
    value = placed.parameters.constant[parameter]
    return np.array(np.broadcast_to(value, len(placed.elements)))


def _size(system: System, law: str, parameter: str) -> Float:
    """Return the size of rest values: their own of positive ones, else 1 (angles)."""
    value = _value(system, law, parameter)
    bounded = any(relation in (">", ">=") for relation, _ in _limits(system, law, parameter))
    return np.abs(value) if bounded and (value > 0.0).all() else np.ones_like(value)


def _limits(system: System, law: str, parameter: str) -> list[Any]:
    return list(system._placed_energies[law].law.limits.get(parameter, []))


def _force(system: System, state: State) -> Float:
    gradient = workspace_for(system).potential(state)[1]
    return system._projector.project(np.array(gradient))


def _estimate_rounding(system: System, state: State) -> Float:
    """Return the force that rounding alone can cause on each particle [N], (n,)."""
    workspace = workspace_for(system)
    gross = row_norms_l1(workspace.potential(state)[2])
    matrix = workspace.stiffness(state, project=False)
    return estimate_rounding_floors(gross, matrix, np.array(state.q))


def _take_round(
    system: System,
    state: State,
    names: list[tuple[str, str]],
    sizes: Mapping[tuple[str, str], Float],
    force: Float,
) -> System | None:
    """Return the system after one round, or None if no change lowers the forces."""
    from scipy.sparse import coo_array, diags_array, hstack
    from scipy.sparse.linalg import splu

    q, blocks = np.array(state.q), []
    for law, parameter in names:
        placed = system._placed_energies[law]
        mixed = _differentiate(system, law, parameter, q, state.t)
        m, s = placed.elements.shape
        rows = (3 * placed.elements[:, :, None] + np.arange(3)).ravel()
        columns = np.repeat(np.arange(m), 3 * s)
        blocks.append(coo_array((mixed.ravel(), (rows, columns)), shape=(q.size, m)))
    size = np.concatenate([sizes[name] for name in names])
    free = _free_projection(system)
    a = (free @ hstack(blocks, format="csr")) @ diags_array(size)
    normal = (a @ a.T).tocsc()
    mean = float(normal.diagonal().mean())
    if mean == 0.0:
        return None
    factors = splu(normal + _REGULARISATION * mean * diags_array(np.ones(q.size), format="csc"))
    right = -force.ravel()
    x = factors.solve(right)
    x = x + factors.solve(right - normal @ x)  # the regularisation is taken back
    change = size * (a.T @ x)
    for part in _PARTS:
        start, values = 0, {}
        for name in names:
            value = _value(system, *name)
            own = value + part * change[start : start + len(value)]
            start += len(value)
            values[".".join(name)] = _keep_within_limits(system, name, value, own)
        moved = change_system(system, values)
        if float(np.linalg.norm(_force(moved, state))) < float(np.linalg.norm(force)):
            return moved
    return None


def _differentiate(system: System, law: str, parameter: str, q: Float, t: float) -> Float:
    """Return the derivatives of the forces of elements by their own rest values, (m, s, 3)."""
    mixed = system._placed_energies[law].mixed_derivative(parameter, q, t)
    slack = np.asarray(~mixed.any(axis=(1, 2)))
    if not slack.any():
        return mixed
    value = _value(system, law, parameter)
    shorter = np.where(slack, (1.0 - _TIGHTENED) * value, value)
    tight = change_system(system, {f"{law}.{parameter}": shorter})
    other = tight._placed_energies[law].mixed_derivative(parameter, q, t)
    return np.where(slack[:, None, None], other, mixed)


def _keep_within_limits(system: System, name: tuple[str, str], old: Float, new: Float) -> Float:
    """Return new rest values within the limits of their law; positive ones shrink by half at most.

    A rest angle of a straight rod, which cannot be negative, then stays zero.
    """
    for relation, limit in _limits(system, *name):
        if isinstance(limit, str):
            continue
        if relation in (">", ">="):
            new = np.maximum(new, limit if limit < 0.0 else limit + _MAX_CHANGE * (old - limit))
        else:
            new = np.minimum(new, limit)
    return new


def _free_projection(system: System) -> Any:
    from scipy.sparse import bsr_array

    n = system.n
    blocks = np.array(system._projector.free_directions)
    return bsr_array((blocks, np.arange(n), np.arange(n + 1)), shape=(3 * n, 3 * n)).tocsr()
