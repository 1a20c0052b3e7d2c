"""Plots as matplotlib Figures: the energy of a run, convergence of the solver, mode shapes
and equilibrium paths.

They need the extra `plot`; `figure.savefig("energy.svg")` writes one, and a notebook shows it.

run_plots.py      `energy` and `convergence`
modes.py          `modes`
path.py           `path`
"""

from taut.show.plot.modes import modes
from taut.show.plot.path import path
from taut.show.plot.run_plots import convergence, energy

__all__ = ["convergence", "energy", "modes", "path"]
