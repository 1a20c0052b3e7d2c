"""Natural vibrations: K φ = ω² M φ in the free directions.

With φ = M^{-½} y this is the symmetric problem M^{-½} K M^{-½} y = ω² y, and φᵀMφ = 1.
Systems too large to be factorised are solved by iteration (`_curvature`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from taut.arrays import Float
from taut.statics._curvature import find_spectrum
from taut.statics._static_objective import check_count, check_static
from taut.statics.stability import estimate_zero
from taut.system.reduction import Reduction
from taut.system.state import State
from taut.system.system import System
from taut.system.workspace import workspace_for

_ACCURACY = 1e-6  # |Ay - ω²y|/ω² of an iteration; ω² itself is more accurate


@dataclass(frozen=True, eq=False)
class Modes:
    """The lowest natural vibrations, ascending.

    omega : angular frequencies [rad/s], (k,); a negative one is no vibration, its motion grows as
        e^{|ω|t}
    shapes : displacements, (k, n, 3), normalised by mass: Σ_i m_i φ_i·φ_i = 1 kg m²
    method : "pivots": a factorisation proves that no mode is missing. "iteration": the system is
        too large for that; ω² is accurate to a millionth, that no mode was missed is an estimate

    >>> Modes(np.array([2 * np.pi]), np.zeros((1, 1, 3))).frequencies
    array([1.])
    """

    omega: Float
    shapes: Float
    method: Literal["pivots", "iteration"] = "pivots"

    @property
    def frequencies(self) -> Float:
        """ω/2π [Hz], (k,)."""
        return self.omega / (2 * np.pi)

    def __str__(self) -> str:
        lines = [f"{'mode':>4}  {'ω [rad/s]':>12}  {'f [Hz]':>12}"]
        for k, (omega, f) in enumerate(zip(self.omega, self.frequencies, strict=True)):
            remark = ""
            if omega < 0:
                remark = "  grows: no vibration"
            elif omega == 0:
                remark = "  free: no stiffness"
            lines.append(f"{k:>4}  {omega:>12.6g}  {f:>12.6g}{remark}")
        if self.method == "iteration":
            lines.append("found by iteration; that no mode was missed is an estimate")
        return "\n".join(lines)


def modes(system: System, state: State | None = None, *, n: int = 6) -> Modes:
    """Compute the n lowest natural frequencies and shapes about a state (default: the initial one).

    If the system has fewer than n, all are returned. The state should be an equilibrium
    (`taut.equilibrium`); damping is ignored. ω² within rounding of zero is returned as 0, and a
    negative ω², where the state is unstable, as ω = -√|ω²|. The rounding of ω² is the same for all
    modes: that of the stiffest of the light particles.

    >>> import taut
    >>> from taut import laws
    >>> bar = taut.System(
    ...     [[0, 0, 0], [1, 0, 0]], mass=2.0, fixed=[0], energies=[laws.spring([[0, 1]], k=8.0)]
    ... )
    >>> print(taut.modes(bar))
    mode     ω [rad/s]        f [Hz]
       0             0             0  free: no stiffness
       1             0             0  free: no stiffness
       2             2       0.31831
    """
    n = check_count(n, "modes")
    state = check_static(system, state, "modes")
    free = Reduction.of(system._projector)
    weight = 1.0 / np.sqrt(system.mass)
    stiffness = workspace_for(system).stiffness(state, project=False)
    _, gradient, gross = workspace_for(system).potential(state)
    zero = estimate_zero(system._projector, state.q, gradient, gross, stiffness, weight)
    scale = weight[free.particles]
    spectrum = find_spectrum(system._projector, stiffness, n, zero, weight, _ACCURACY)
    squares = np.where(np.abs(spectrum.values) <= zero, 0.0, spectrum.values)
    omega = np.sign(squares) * np.sqrt(np.abs(squares))
    shapes = [free.expand(scale * vector) for vector in spectrum.vectors.T]
    method: Literal["pivots", "iteration"] = "pivots" if spectrum.exact else "iteration"
    return Modes(omega, np.array(shapes).reshape(len(shapes), system.n, 3), method)
