"""Natural vibrations: K φ = ω² M φ in the free directions.

With φ = M^{-½} y this is the symmetric problem M^{-½} K M^{-½} y = ω² y, and φᵀMφ = 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from taut.errors import ModelError
from taut.solve.eigen import smallest
from taut.step.stability import zero_below
from taut.step.still import still_state
from taut.system.reduction import Reduction
from taut.system.state import State
from taut.system.system import System

Float = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Modes:
    """The lowest natural vibrations, ascending.

    omega : [rad/s], (k,); a negative one is no vibration: such a motion grows as e^{|ω|t}
    shapes : displacements, (k, n, 3), normalised by mass: Σ_i m_i φ_i·φ_i = 1 kg m²

    >>> Modes(np.array([2 * np.pi]), np.zeros((1, 1, 3))).frequencies
    array([1.])
    """

    omega: Float
    shapes: Float

    @property
    def frequencies(self) -> Float:
        """ω/2π [Hz], (k,)."""
        return self.omega / (2 * np.pi)

    def __str__(self) -> str:
        lines = [f"{'mode':>4}  {'ω [rad/s]':>12}  {'f [Hz]':>12}"]
        for k, (omega, f) in enumerate(zip(self.omega, self.frequencies, strict=True)):
            said = "  grows: no vibration" if omega < 0 else "  free: no stiffness" if omega == 0 else ""
            lines.append(f"{k:>4}  {omega:>12.6g}  {f:>12.6g}{said}")
        return "\n".join(lines)


def modes(system: System, state: State | None = None, *, n: int = 6) -> Modes:
    """The n lowest natural frequencies and shapes (or all, if there are fewer) about a state (default: the initial one).

    The state should be an equilibrium (`taut.equilibrium`); damping is left out. ω² within rounding of zero is given as 0, and an
    ω² below zero, where the state is unstable, as ω = -√|ω²|. What rounding can make of ω² is the same for all modes: it is that of
    the stiffest of the light particles.

    >>> import taut
    >>> from taut import laws
    >>> bar = taut.System([[0, 0, 0], [1, 0, 0]], mass=2.0, fixed=[0], energies=[laws.spring([[0, 1]], k=8.0)])
    >>> print(taut.modes(bar))
    mode     ω [rad/s]        f [Hz]
       0             0             0  free: no stiffness
       1             0             0  free: no stiffness
       2             2       0.31831
    """
    if isinstance(n, bool) or not (isinstance(n, (int, np.integer)) and n > 0):
        raise ModelError(f"modes: n is the number of modes, 1 or more, not {n!r}")
    state = still_state(system, state, "modes")
    free = Reduction.of(system.hold)
    weight = 1.0 / np.sqrt(system.mass)
    stiffness = system.stiffness(state, project=False)
    _, gradient, gross = system.potential(state)
    tol = zero_below(system.hold, state.q, gradient, gross, stiffness, weight)
    scale = weight[free.particles]
    found = smallest(free.matrix(stiffness, scale), int(n), tol)
    squares = np.where(np.abs(found.values) <= tol, 0.0, found.values)
    shapes = [free.expand(scale * vector) for vector in found.vectors.T]
    return Modes(np.sign(squares) * np.sqrt(np.abs(squares)), np.array(shapes).reshape(len(shapes), system.n, 3))
