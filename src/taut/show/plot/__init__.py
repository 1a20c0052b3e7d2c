"""Plots: where the energy is, what the solver reached, how things vibrate. Each function gives a matplotlib Figure.

They need the extra `plot`; `figure.savefig("energy.svg")` writes one, and a notebook shows it.
"""

from taut.show.plot.convergence import convergence
from taut.show.plot.energy import energy
from taut.show.plot.modes import modes

__all__ = ["convergence", "energy", "modes"]
