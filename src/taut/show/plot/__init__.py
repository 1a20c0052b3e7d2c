"""Plots as matplotlib Figures: the energy of a run, convergence of the solver, mode shapes,
equilibrium paths, fits and studies.

They need the extra `plot`; `figure.savefig("energy.svg")` writes one, and a notebook shows it.

run_plots.py      `energy` and `convergence`
modes.py          `modes`
path.py           `path`
fit.py            `fit`
study.py          `study`
"""

from taut.show.plot.fit import fit
from taut.show.plot.modes import modes
from taut.show.plot.path import path
from taut.show.plot.run_plots import convergence, energy
from taut.show.plot.study import study

__all__ = ["convergence", "energy", "fit", "modes", "path", "study"]
