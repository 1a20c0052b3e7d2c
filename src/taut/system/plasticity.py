"""Plasticity: rest values that flow at the end of a step, as the `flow` of their law says.

The flow is explicit: a step is solved with the rest values at its start, and they follow the
positions at its end. The energy that the law then has less is booked as plastic work.
"""

from __future__ import annotations

import numpy as np

from taut.arrays import Float
from taut.binding.placed_law import PlacedLaw
from taut.errors import SingularState
from taut.system.state import State
from taut.system.workspace import Workspace


def flow_rest_values(workspace: Workspace, state: State, h: float) -> dict[str, Float]:
    """Return the rest values that a step of h [s] which ended in a state changes, law → (m,)."""
    workspace.use_rest_values(state)
    changed: dict[str, Float] = {}
    for name, placed in workspace.system._placed_energies.items():
        if not placed.law.flow:
            continue
        packed = workspace.parameters(name, placed).at(state.t)
        before = packed[:, placed.flowing_column]
        after = placed.flow(state.q, packed, h)
        mask = state.active.get(name)
        if mask is not None:
            after = np.where(mask, after, before)
        if not np.isfinite(after).all():
            raise SingularState(f"law '{name}': a rest value flows to no finite number")
        if not np.array_equal(after, before):
            changed[name] = after
    return changed


def pack_parameters(placed: PlacedLaw, state: State) -> Float:
    """Return the parameters of a law at a state, with the rest values that have flowed."""
    packed = placed.parameters.pack(state.t)
    values = state.rest.get(placed.name)
    if values is not None:
        packed = packed.copy()
        packed[:, placed.flowing_column] = values
    return packed
