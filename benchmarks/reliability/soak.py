"""A long soak: 10⁵ steps of a free sheet that turns and trembles, by the implicit midpoint rule.

Nothing acts from outside, so that

    Σ m v  and  Σ m x × v  stay as they are,

and the energy has nowhere to go: what T + V changes by is what the book calls numerical
dissipation, and its gap is rounding. Each step is certified. Memory is taken after a tenth of the
steps and at the end.
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
RELATIVE = 1e-10  # tolerance of a step, of the forces on a particle
LINEAR = 1e-12  # of Σ m|v|: forces between particles cancel to rounding, whatever the solver leaves
# of Σ m|x||v|: what the solver leaves, at most 1e-10 of the forces, has a torque; 1e-12 comes of it
# in 10⁵ steps
ANGULAR = 1e-10
BOOK = 1e-12  # of the scale of the book, for a gap that sums the rounding of all steps
# of T + V at the beginning: midpoint keeps a neighbour of the energy, here within 3e-4 of it
SWAY = 1e-3
GROWTH = 8e6  # [bytes] by which memory may differ: the allocator's pages
SAMPLES = 100  # times at which momenta and energy are compared


def turning_sheet() -> System:
    """A free sheet of 25 particles with shear springs, which turns, drifts and trembles."""
    sheet = mesh.sheet(4, 4)
    arm = sheet.points - sheet.points.mean(axis=0)
    tremble = 0.1 * np.random.default_rng(0).normal(size=arm.shape)
    velocity = np.cross([0.3, 1.0, 2.0], arm) + np.array([0.01, 0.02, -0.03]) + tremble
    springs: list[Any] = [laws.spring(np.concatenate([sheet.edges, sheet.diagonals]), k=20.0)]
    return System(sheet.points, mass=0.01, energies=springs, velocity=velocity)


@dataclass
class Kept:
    """How far a run has moved from what must be kept, the largest of all samples.

    As parts of their scales.

    steps : done; iterations : of Newton's method; book : all steps as one entry; growth : of memory
        [bytes]
    """

    steps: int = 0
    iterations: int = 0
    linear: float = 0.0
    angular: float = 0.0
    sway: float = 0.0
    growth: float = 0.0
    book: LedgerEntry | None = None
    failures: list[str] = field(default_factory=list)

    def look(self, system: System, start: State, state: State) -> None:
        """Compare with the beginning."""
        (p, spin, e), (p0, spin0, e0) = _kept(system, state), _kept(system, start)
        momenta = system.mass * np.linalg.norm(start.v, axis=1)
        self.linear = max(self.linear, float(np.abs(p - p0).max() / momenta.sum()))
        self.angular = max(
            self.angular,
            float(np.abs(spin - spin0).max() / (momenta @ np.linalg.norm(start.q, axis=1))),
        )
        self.sway = max(self.sway, abs(e - e0) / e0)

    def judge(self) -> list[str]:
        """What was not kept, in words."""
        assert self.book is not None
        scale = self.book.scale
        measured = {
            "linear momentum moved": (self.linear, LINEAR),
            "angular momentum moved": (self.angular, ANGULAR),
            "the energy swayed": (self.sway, SWAY),
            "the books have a gap": (abs(self.book.gap) / scale, BOOK),
            "energy came between steps": (abs(self.book.between) / scale, BOOK),
            "memory grew [bytes]": (self.growth, GROWTH),
        }
        return self.failures + [
            f"{what}: {value:.2e}, more than {most:g}"
            for what, (value, most) in measured.items()
            if not value <= most
        ]

    def __str__(self) -> str:
        assert self.book is not None
        return (
            f"momenta moved by {self.linear:.0e} and {self.angular:.0e}, the energy swayed by "
            f"{self.sway:.1e}, the books close to "
            f"{abs(self.book.gap) / self.book.scale:.0e}, memory grew by "
            f"{max(self.growth, 0) / 1e6:.1f} MB"
        )


def soak(numbers: Iterable[int], steps: int) -> Kept:
    """So many steps, one for each number."""
    system, integrator = turning_sheet(), ImplicitMidpoint(tolerance=Tolerance(relative=RELATIVE))
    start = state = system.initial_state()
    kept, early = Kept(), 0.0
    for _ in numbers:
        done = integrator.advance(system, state, H)
        state, report, entry = done.state, done.report, balance_energy(system, done)
        kept.book = entry if kept.book is None else kept.book.and_then(entry)
        kept.steps, kept.iterations = kept.steps + 1, kept.iterations + report.iterations
        if (
            not report.residual <= max(report.tolerance, report.floor)
            or not np.isfinite(state.q).all()
        ):
            kept.failures.append(f"step {kept.steps} is not certified: {report}")
            break
        if kept.steps % max(1, steps // SAMPLES) == 0:
            kept.look(system, start, state)
        if kept.steps == max(1, steps // 10):
            early = resident()
    kept.growth = resident() - early
    kept.failures = kept.judge()
    return kept


def resident() -> float:
    """Memory of this process now [bytes]; its peak where the system does not say.

    >>> 1e7 < resident() < 1e11
    True
    """
    pages = Path("/proc/self/statm")
    if pages.exists():
        from resource import getpagesize

        return float(pages.read_text().split()[1]) * getpagesize()
    return 1e9 * peak_memory()


def _kept(system: System, state: State) -> tuple[Float, Float, float]:
    """Σ m v [kg m/s], Σ m x × v [kg m²/s], T + V [J]."""
    momenta = system.mass[:, None] * state.v
    return (
        momenta.sum(axis=0),
        np.cross(state.q, momenta).sum(axis=0),
        system.T(state) + system.V(state),
    )
