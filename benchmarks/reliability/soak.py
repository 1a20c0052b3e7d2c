"""A soak test: 10⁵ steps of a free sheet that spins and vibrates, by the implicit midpoint rule.

There are no external forces, so

    Σ m v  and  Σ m x × v  are conserved,

and T + V changes only by what the ledger records as numerical dissipation; the gap of the ledger is
rounding. Each step must be certified. Memory is measured after a tenth of the steps and at the end.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from taut import laws, mesh
from taut.arrays import Float
from taut.bench.processes import peak_memory
from taut.optimise.tolerance import Tolerance
from taut.run.energy_balance import balance_energy
from taut.run.ledger_entry import LedgerEntry
from taut.step.implicit_midpoint import ImplicitMidpoint
from taut.system.state import State
from taut.system.system import System

H = 0.01  # [s]
RELATIVE_TOLERANCE = 1e-10  # of each step, relative to the forces on a particle
# Relative to Σ m|v|: forces between particles cancel to rounding, whatever residual is left.
MAX_LINEAR_DRIFT = 1e-12
# Relative to Σ m|x||v|: the residual of the solver, at most 1e-10 of the forces, has a torque. It
# causes a drift of 1e-12 in 10⁵ steps.
MAX_ANGULAR_DRIFT = 1e-10
MAX_GAP = 1e-12  # relative to the scale of the ledger: it sums the rounding errors of all steps
# Relative to T + V at the start: the midpoint rule conserves a perturbed energy, which here is
# within 3e-4 of it.
MAX_ENERGY_DRIFT = 1e-3
MAX_MEMORY_GROWTH = 8e6  # [bytes], of the allocator's pages
SAMPLES = 100  # times at which momenta and energy are compared


def build_spinning_sheet() -> System:
    """Build a free sheet of 25 particles with shear springs, which spins, drifts and vibrates."""
    sheet = mesh.sheet(4, 4)
    arm = sheet.points - sheet.points.mean(axis=0)
    noise = 0.1 * np.random.default_rng(0).normal(size=arm.shape)
    velocity = np.cross([0.3, 1.0, 2.0], arm) + np.array([0.01, 0.02, -0.03]) + noise
    springs: list[Any] = [laws.spring(np.concatenate([sheet.edges, sheet.diagonals]), k=20.0)]
    return System(sheet.points, mass=0.01, energies=springs, velocity=velocity)


@dataclass
class Drift:
    """The largest drift of the conserved quantities over all samples, relative to their scales.

    steps : number of steps
    iterations : of Newton's method
    linear, angular, energy : drift of linear momentum, angular momentum and T + V
    growth : of memory [bytes]
    ledger : all steps as one entry
    """

    steps: int = 0
    iterations: int = 0
    linear: float = 0.0
    angular: float = 0.0
    energy: float = 0.0
    growth: float = 0.0
    ledger: LedgerEntry | None = None
    failures: list[str] = field(default_factory=list)

    def sample(self, system: System, start: State, state: State) -> None:
        """Compare a state with the start."""
        (p, spin, e), (p0, spin0, e0) = _conserved(system, state), _conserved(system, start)
        momenta = system.mass * np.linalg.norm(start.v, axis=1)
        self.linear = max(self.linear, float(np.abs(p - p0).max() / momenta.sum()))
        self.angular = max(
            self.angular,
            float(np.abs(spin - spin0).max() / (momenta @ np.linalg.norm(start.q, axis=1))),
        )
        self.energy = max(self.energy, abs(e - e0) / e0)

    def list_failures(self) -> list[str]:
        """Return a message for each quantity that has drifted too far."""
        assert self.ledger is not None
        scale = self.ledger.scale
        measured = {
            "drift of linear momentum": (self.linear, MAX_LINEAR_DRIFT),
            "drift of angular momentum": (self.angular, MAX_ANGULAR_DRIFT),
            "drift of energy": (self.energy, MAX_ENERGY_DRIFT),
            "gap of the ledger": (abs(self.ledger.gap) / scale, MAX_GAP),
            "energy added between steps": (abs(self.ledger.between) / scale, MAX_GAP),
            "growth of memory [bytes]": (self.growth, MAX_MEMORY_GROWTH),
        }
        return self.failures + [
            f"{what} must be at most {limit:g}, got {value:.2e}"
            for what, (value, limit) in measured.items()
            if not value <= limit
        ]

    def __str__(self) -> str:
        assert self.ledger is not None
        return (
            f"drift of momenta {self.linear:.0e} and {self.angular:.0e}, of energy "
            f"{self.energy:.1e}, gap of the ledger "
            f"{abs(self.ledger.gap) / self.ledger.scale:.0e}, memory grew by "
            f"{max(self.growth, 0) / 1e6:.1f} MB"
        )


def run_steps(numbers: Iterable[int], steps: int) -> Drift:
    """Take one step for each of the numbers, which may show progress.

    steps : how many numbers there are
    """
    system = build_spinning_sheet()
    integrator = ImplicitMidpoint(tolerance=Tolerance(relative=RELATIVE_TOLERANCE))
    start = state = system.initial_state()
    drift, early = Drift(), 0.0
    for _ in numbers:
        done = integrator.advance(system, state, H)
        state, report, entry = done.state, done.report, balance_energy(system, done)
        drift.ledger = entry if drift.ledger is None else drift.ledger.and_then(entry)
        drift.steps, drift.iterations = drift.steps + 1, drift.iterations + report.iterations
        if (
            not report.residual <= max(report.tolerance, report.floor)
            or not np.isfinite(state.q).all()
        ):
            drift.failures.append(f"step {drift.steps} is not certified: {report}")
            break
        if drift.steps % max(1, steps // SAMPLES) == 0:
            drift.sample(system, start, state)
        if drift.steps == max(1, steps // 10):
            early = resident_memory()
    drift.growth = resident_memory() - early
    drift.failures = drift.list_failures()
    return drift


def resident_memory() -> float:
    """Return the memory of this process [bytes]; its peak if the current value is not known.

    >>> 1e7 < resident_memory() < 1e11
    True
    """
    pages = Path("/proc/self/statm")
    if pages.exists():
        from resource import getpagesize

        return float(pages.read_text().split()[1]) * getpagesize()
    return 1e9 * peak_memory()


def _conserved(system: System, state: State) -> tuple[Float, Float, float]:
    """Return Σ m v [kg m/s], Σ m x × v [kg m²/s], T + V [J]."""
    momenta = system.mass[:, None] * state.v
    return (
        momenta.sum(axis=0),
        np.cross(state.q, momenta).sum(axis=0),
        system.T(state) + system.V(state),
    )
