"""taut: mass-spring systems from one formula per force to a certified step.

    import taut
    from taut import laws

    system = taut.System([[0, 0, 0], [0, -1, 0]], mass=1.0, fixed=[0],
                         energies=[laws.spring([[0, 1]], k=100.0), laws.gravity()])
    for state, report in taut.simulate(system, taut.ImplicitEuler(), h=0.01, until=1.0):
        print(state.t, state.q[1], report.residual)

SI units, y up. Everything here is loaded when first used.

Folders, each of which imports only those before it, then files that all of them share:

mesh, materials        geometry and its files; springs and masses that represent a material
jit, linalg, optimise  compilation; sparse solvers; minimisation
formula, binding       formulas and their derivatives; formulas bound to elements
laws, constraints      the catalogue of forces; constraints on particles
collision              which parts of bodies are near each other, and whether they intersect
system                 the System, the State and their evaluation
step, statics, run     time integration; equilibrium and modes; runs in memory or in a folder
proof                  proofs that a step has an exact solution next to the computed one
scene, inverse         scene files; gradients and fits
study                  parameter studies: many runs on many processes
bridge, show           steps within JAX and PyTorch; viewer, pictures, plots and export
validate, bench, cli   comparison with analytic solutions; speed; the command line
errors, arrays         exceptions; array types
extras, threads        optional dependencies; the threading layer
progress, tables       progress on standard error; tables as text and CSV
watch, importable      look at a long computation while it runs; functions in pickles
atomic_write           write files whole or not at all; regular_file: read them
"""

from __future__ import annotations

import logging
from importlib import import_module
from typing import TYPE_CHECKING, Any

from taut.errors import escape_unprintable

if TYPE_CHECKING:
    from taut import bridge as bridge
    from taut import constraints as constraints
    from taut import errors as errors
    from taut import formula as formula
    from taut import inverse as inverse
    from taut import laws as laws
    from taut import materials as materials
    from taut import mesh as mesh
    from taut import scene as scene
    from taut import step as step
    from taut import study as study
    from taut.binding.decorators import dissipation as dissipation
    from taut.binding.decorators import energy as energy
    from taut.binding.decorators import load as load
    from taut.binding.law import Damping as Damping
    from taut.binding.law import Energy as Energy
    from taut.binding.law import Load as Load
    from taut.errors import NotConverged as NotConverged
    from taut.errors import TautError as TautError
    from taut.inverse.fit import fit as fit
    from taut.inverse.gradient import gradient as gradient
    from taut.inverse.sag_free import sag_free as sag_free
    from taut.inverse.sensitivity import sensitivity as sensitivity
    from taut.laws.rayleigh import rayleigh_coefficients as rayleigh_coefficients
    from taut.optimise.tolerance import Tolerance as Tolerance
    from taut.proof.prove import prove as prove
    from taut.run.batch import batch as batch
    from taut.run.ledger import Ledger as Ledger
    from taut.run.open_run import open_run as open_run
    from taut.run.simulate import simulate as simulate
    from taut.run.trajectory import to_xarray as to_xarray
    from taut.show import plot as plot
    from taut.statics.buckling import buckling as buckling
    from taut.statics.determinacy import determinacy as determinacy
    from taut.statics.equilibrium import equilibrium as equilibrium
    from taut.statics.form_finding import form_finding as form_finding
    from taut.statics.modes import modes as modes
    from taut.statics.path import path as path
    from taut.statics.stability import stability as stability
    from taut.step.adaptive import Adaptive as Adaptive
    from taut.step.bdf2 import BDF2 as BDF2
    from taut.step.explicit_euler import ExplicitEuler as ExplicitEuler
    from taut.step.implicit_euler import ImplicitEuler as ImplicitEuler
    from taut.step.implicit_midpoint import ImplicitMidpoint as ImplicitMidpoint
    from taut.step.linearly_implicit_euler import LinearlyImplicitEuler as LinearlyImplicitEuler
    from taut.step.report import Report as Report
    from taut.step.rk4 import RK4 as RK4
    from taut.step.symplectic_euler import SymplecticEuler as SymplecticEuler
    from taut.step.tr_bdf2 import TRBDF2 as TRBDF2
    from taut.step.velocity_verlet import VelocityVerlet as VelocityVerlet
    from taut.study.sweep import sweep as sweep
    from taut.system import obstacles as obstacles
    from taut.system.building import areal_mass as areal_mass
    from taut.system.building import consistent_mass as consistent_mass
    from taut.system.building import join as join
    from taut.system.building import line_mass as line_mass
    from taut.system.building import rest_length as rest_length
    from taut.system.building import volume_mass as volume_mass
    from taut.system.contact import contact as contact
    from taut.system.intersections import find_intersections as find_intersections
    from taut.system.state import State as State
    from taut.system.system import System as System
    from taut.system.untangling import untangle as untangle

__version__ = "0.1.0.dev0"

_HOME = {
    "NotConverged": "errors",
    "TautError": "errors",
    "Damping": "binding.law",
    "Energy": "binding.law",
    "Load": "binding.law",
    "dissipation": "binding.decorators",
    "energy": "binding.decorators",
    "load": "binding.decorators",
    "Ledger": "run.ledger",
    "prove": "proof.prove",
    "batch": "run.batch",
    "open_run": "run.open_run",
    "simulate": "run.simulate",
    "to_xarray": "run.trajectory",
    "Tolerance": "optimise.tolerance",
    "Adaptive": "step.adaptive",
    "BDF2": "step.bdf2",
    "ExplicitEuler": "step.explicit_euler",
    "fit": "inverse.fit",
    "gradient": "inverse.gradient",
    "sag_free": "inverse.sag_free",
    "sensitivity": "inverse.sensitivity",
    "form_finding": "statics.form_finding",
    "ImplicitEuler": "step.implicit_euler",
    "ImplicitMidpoint": "step.implicit_midpoint",
    "LinearlyImplicitEuler": "step.linearly_implicit_euler",
    "Report": "step.report",
    "RK4": "step.rk4",
    "stability": "statics.stability",
    "equilibrium": "statics.equilibrium",
    "sweep": "study.sweep",
    "SymplecticEuler": "step.symplectic_euler",
    "TRBDF2": "step.tr_bdf2",
    "VelocityVerlet": "step.velocity_verlet",
    "modes": "statics.modes",
    "rayleigh_coefficients": "laws.rayleigh",
    "path": "statics.path",
    "buckling": "statics.buckling",
    "determinacy": "statics.determinacy",
    "join": "system.building",
    "areal_mass": "system.building",
    "consistent_mass": "system.building",
    "line_mass": "system.building",
    "volume_mass": "system.building",
    "rest_length": "system.building",
    "find_intersections": "system.intersections",
    "untangle": "system.untangling",
    "State": "system.state",
    "contact": "system.contact",
    "System": "system.system",
}
_MODULES = {
    "bridge": "bridge",
    "constraints": "constraints",
    "errors": "errors",
    "formula": "formula",
    "inverse": "inverse",
    "laws": "laws",
    "materials": "materials",
    "mesh": "mesh",
    "obstacles": "system.obstacles",
    "plot": "show.plot",
    "scene": "scene",
    "step": "step",
    "study": "study",
}

__all__ = ["__version__", *_MODULES, *_HOME]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"taut.{_MODULES[name]}")
    if name not in _HOME:
        from taut.errors import did_you_mean

        raise AttributeError(f"taut has no '{name}'{did_you_mean(name, __all__)}")
    value = getattr(import_module(f"taut.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)


class _EscapingFormatter(logging.Formatter):
    """Escapes control characters: messages contain names from files, and may go to a terminal."""

    def format(self, record: logging.LogRecord) -> str:
        return escape_unprintable(super().format(record))


def _set_up_logging() -> None:
    """Show taut's messages about long work (compilation) on standard error.

    Does nothing if the application has set up logging for taut itself.
    """
    logger = logging.getLogger("taut")
    if not logger.handlers:
        handler = logging.StreamHandler()
        handler.setFormatter(_EscapingFormatter("taut: %(message)s"))
        logger.addHandler(handler)
        logger.setLevel(logging.INFO)
        logger.propagate = False


_set_up_logging()
