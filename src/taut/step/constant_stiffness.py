"""A constant matrix for quasi-Newton steps: M/h² + 4/5 K₀ + 1/5 (tr K₀)⊗I.

K₀ is the projected stiffness at the initial positions (plus damping, over h), and tr K₀ its partial trace over the three
directions: for springs the graph Laplacian weighted with k, which knows no direction. The first part is right while the body keeps
its pose, the second keeps the matrix useful when it has turned. The matrix depends on the system alone, so a resumed run finds the
same one.
"""

from __future__ import annotations

import numpy as np

from taut.system.blocks import BlockMatrix
from taut.system.state import State
from taut.system.system import System

EVEN = 0.2  # the part that is alike in all directions


def constant_stiffness(system: System, state: State, h: float) -> BlockMatrix:
    """The matrix [N/m] with constraints applied, a new one; the state says which elements are active."""
    initial = system.initial_state().with_(active=state.active)
    alpha, beta = (0.0, 0.0) if system.rayleigh is None else (system.rayleigh.alpha, system.rayleigh.beta)
    parts, factors = [system.stiffness(initial, project=True)], [1.0 + beta / h]
    if system.placed_damping:
        parts.append(system.damping_matrix(initial))
        factors.append(1.0 / h)
    matrix = system.union([part.pattern for part in parts]).sum(parts, factors)
    traces = np.trace(matrix.data, axis1=1, axis2=2)
    matrix.data *= 1.0 - EVEN
    matrix.data += EVEN * traces[:, None, None] * np.eye(3)
    matrix.data[matrix.pattern.diagonal] += (system.mass * (1.0 / h**2 + alpha / h))[:, None, None] * np.eye(3)
    system.hold.constrain(matrix)
    return matrix
