"""A constant matrix for quasi-Newton steps: M/h² + L⊗I, with L the graph Laplacian of the stiffness.

L_ij = tr K⁺_ij, the partial trace over the three directions of the projected stiffness at the initial positions (plus that of the
damping, over h). For springs it is the Laplacian weighted with k, which bounds the Hessian from above in every pose. It depends on
the system alone, so a resumed run finds the same one.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from taut.system.blocks import BlockMatrix
from taut.system.state import State
from taut.system.system import System

Float = NDArray[np.float64]


def constant_stiffness(system: System, state: State, h: float) -> BlockMatrix:
    """M/h² + (L + L_D/h)⊗I with constraints applied, a new matrix; the state says which elements are active."""
    initial = system.initial_state().with_(active=state.active)
    parts = [(system.stiffness(initial, project=True), 1.0)]
    if system.placed_damping:
        parts.append((system.damping_matrix(initial), 1.0 / h))
    if system.rayleigh is not None:
        parts.append((BlockMatrix(parts[0][0].pattern, parts[0][0].data.copy()), system.rayleigh.beta / h))
    traces = [BlockMatrix(m.pattern, np.trace(m.data, axis1=1, axis2=2)[:, None, None] * np.eye(3)) for m, _ in parts]
    union = system.union([m.pattern for m in traces])
    matrix = BlockMatrix(union.pattern, np.empty((len(union.pattern.indices), 3, 3)))
    union.add(traces, [factor for _, factor in parts], matrix.data)
    alpha = 0.0 if system.rayleigh is None else system.rayleigh.alpha
    matrix.data[matrix.pattern.diagonal] += (system.mass * (1.0 / h**2 + alpha / h))[:, None, None] * np.eye(3)
    system.hold.constrain(matrix)
    return matrix
