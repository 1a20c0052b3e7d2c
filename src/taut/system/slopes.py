"""The slopes ∂V/∂q + ∂Ψ/∂v of all energies and damping laws, scaled particle by particle: into forces, or into accelerations."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from taut.system.state import State
from taut.system.terms import Inputs

if TYPE_CHECKING:
    from taut.system.system import System

Float = NDArray[np.float64]


def scaled_slopes(system: System, state: State, scale: Float, out: Float) -> None:
    """scale·(∂V/∂q + ∂Ψ/∂v) of all energies and damping laws at a state, into `out` (n, 3); loads are left out.

    scale : one for each particle, (n,); -1 makes forces [N] of the slopes, -1/m [1/kg] accelerations [m/s²]

    >>> import taut
    >>> ball = taut.System([[0, 1, 0]], mass=2.0, energies=[taut.laws.gravity()], damping=[taut.laws.drag(alpha=0.5)])
    >>> found = np.empty((1, 3))
    >>> scaled_slopes(ball, State(0.0, [[0, 1, 0]], [[3, 0, 0]]), -1.0 / ball.mass, found)
    >>> found[0, :2].tolist()
    [-1.5, -9.81]
    """
    assembly = system.assembly("potential", state)
    assembly.slope([Inputs.at(state)] * len(assembly.terms), scale, out)
    if system.placed_damping:
        assembly = system.assembly("damping", state)
        drag = np.empty_like(out)
        assembly.slope([Inputs.rates(state)] * len(assembly.terms), scale, drag)
        out += drag
    if system.rayleigh is not None:
        out += scale[:, None] * system.rayleigh_matrix(state).times(np.array(state.v))
