"""Load factors that lead to the equilibrium of a slack chain.

A chain that is longer than the distance of its ends hangs in a catenary, far from where it starts,
and its links hardly stretch on the way: a narrow curved valley of the energy, which a descent
follows in steps as short as the links are stiff. With loads as large as its stiffness the chain is
as soft as rubber. From there the loads fall by a factor of ten at a time, and each shape is near
the last: a chain of 200 particles and 4·10⁸ N/m takes 95 iterations instead of 3495. Sheets gain
nothing by it.
"""

from __future__ import annotations

import numpy as np

from taut.arrays import Float
from taut.errors import SingularState
from taut.linalg.blocks import row_norms
from taut.system.state import State
from taut.system.system import System
from taut.system.workspace import workspace_for

_MAX_NEIGHBOURS = 2  # of a particle in a chain
_MAX_PARTICLES = 3  # of an element: links, and hinges between them
_STRETCH = 1.1  # of the longest link, where stiffness is measured
_FALL = 10.0  # of loads from one to the next
_MIN_SOFTENING = 50.0  # chains that are softer find their equilibrium without this


def choose_load_factors(system: System, state: State, loads: Float) -> list[float]:
    """Return factors above 1, falling, that come before 1; none if there is no slack chain.

    loads : on all particles at factor 1 [N], (n, 3)
    """
    members = system.members(state)
    neighbours = np.bincount(np.concatenate([members.i, members.j]), minlength=system.n)
    has_chain = len(members.i) > 1 and neighbours.max() <= _MAX_NEIGHBOURS
    placed = [p for p in system._placed_energies.values() if not p.forms["energy"].is_linear]
    has_others = any(p.elements.shape[1] > _MAX_PARTICLES for p in placed)
    # Neither taut nor without a rest length, so that it can be slack
    is_slack = bool((members.strain < 0.0).all())
    total = float(row_norms(loads).sum())
    if not (has_chain and is_slack and total > 0.0) or has_others:
        return []
    scale = _STRETCH * float((members.rest_length / members.length).max())
    centre = state.q.mean(axis=0)
    taut_state = state.with_(q=centre + scale * (state.q - centre))
    try:
        stiffness = workspace_for(system).stiffness(taut_state, project=True)
    except SingularState:
        return []
    pattern = stiffness.pattern
    between = pattern.rows != pattern.indices
    links = -np.trace(stiffness.data[between], axis1=1, axis2=2)
    softening = float(np.median(links) * np.median(members.rest_length)) / total
    if not softening > _MIN_SOFTENING:
        return []
    count = int(np.ceil(np.log10(softening)))
    return [softening / _FALL**i for i in range(count)]
