"""Step a net through time, and record the time and the accuracy of each step.

taut and its peers are timed by the same loop.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from taut.arrays import Float
from taut.bench.accuracy import largest_strain, residual_ratio, unbalanced_acceleration
from taut.bench.net import Net
from taut.step.integrator import Integrator
from taut.step.report import Report
from taut.system.state import State
from taut.system.system import System

H = 0.01  # the step of all rows [s]
MAX_CLOTH_STRAIN = 0.5  # beyond it the trajectory has broken down: the cloth stretches by 9%
ShowStep = Callable[[int, str], None]
"""Called after each step with its number and a text for the progress display."""
AfterStep = Callable[[], None] | None
"""Called after each step; its time is not counted."""


class Stepper(Protocol):
    """Steps a net, by `H` at a time."""

    def step(self) -> None:
        """Take one step; this call is timed."""

    def state(self) -> tuple[Float, Float]:
        """Return copies of the current positions [m] and velocities [m/s], both (n, 3)."""


class TautStepper:
    """A Stepper of taut: an integrator that divides each step into substeps."""

    def __init__(
        self,
        system: System,
        integrator: Integrator,
        *,
        state: State | None = None,
        substeps: int = 1,
    ) -> None:
        self.system, self.integrator, self.substeps = system, integrator, substeps
        self.now = system.initial_state() if state is None else state
        self.report: Report | None = None

    def step(self) -> None:
        for _ in range(self.substeps):
            self.now, self.report = self.integrator.step(self.system, self.now, H / self.substeps)

    def state(self) -> tuple[Float, Float]:
        return np.array(self.now.q), np.array(self.now.v)


@dataclass
class Trajectory:
    """Time [s], residual ratio, unbalanced acceleration and largest strain of each step."""

    seconds: list[float] = field(default_factory=list)
    ratios: list[float] = field(default_factory=list)
    unbalanced: list[float] = field(default_factory=list)
    strains: list[float] = field(default_factory=list)
    lowest: float = 0.0  # y of the lowest point at the end [m]

    @property
    def window(self) -> slice:
        """The steps that are evaluated: the first fifth is warm-up."""
        return slice(len(self.seconds) // 5, None)

    @property
    def mean(self) -> float:
        """The mean time of a step [s].

        Not the median, because a few expensive steps may take most of the time.
        """
        return float(np.mean(self.seconds[self.window]))

    @property
    def quickest(self) -> float:
        """The shortest time of a step [s], for methods whose steps all do the same work.

        Longer ones were slowed down by other processes.
        """
        return min(self.seconds[self.window])

    @property
    def ratio(self) -> float:
        """The median residual ratio."""
        return float(np.median(self.ratios[self.window]))

    @property
    def acceleration(self) -> float:
        """The median of the unbalanced accelerations, relative to those at work."""
        return float(np.median(self.unbalanced[self.window]))

    @property
    def sane(self) -> bool:
        """Whether no spring was ever strained beyond `MAX_CLOTH_STRAIN`."""
        return max(self.strains) < MAX_CLOTH_STRAIN

    def __str__(self) -> str:
        broken = "" if self.sane else ", trajectory broken"
        return (
            f"residual ratio {self.ratio:.1e}, unbalanced {self.acceleration:.1e} of the "
            f"accelerations at work, lowest {self.lowest:.3f} m, strain "
            f"at most {100 * max(self.strains):.2g}%, "
            f"{100 * self.strains[-1]:.2g}% at the end{broken}"
        )

    def details(self) -> dict[str, float]:
        """Return the results by name."""
        return {
            "ms": 1e3 * self.mean,
            "ms_median": 1e3 * float(np.median(self.seconds[self.window])),
            "steps": len(self.seconds),
            "residual_ratio": self.ratio,
            "unbalanced_acceleration": self.acceleration,
            "lowest": self.lowest,
            "strain": max(self.strains),
            "strain_end": self.strains[-1],
        }


def run_steps(
    net: Net, stepper: Stepper, steps: int, show_step: ShowStep, after_step: AfterStep = None
) -> Trajectory:
    """Take steps of a net, and record the time and accuracy of each."""
    made = Trajectory()
    for i in range(steps):
        x, v = stepper.state()
        begun = time.perf_counter()
        stepper.step()
        made.seconds.append(time.perf_counter() - begun)
        y = stepper.state()[0]
        with np.errstate(all="ignore"):  # a peer may diverge; its strain shows it
            made.ratios.append(residual_ratio(net, y, x, v, H))
            made.unbalanced.append(unbalanced_acceleration(net, y, x, v, H))
            made.strains.append(float(np.nan_to_num(largest_strain(net, y), nan=np.inf)))
        made.lowest = float(y[:, 1].min())
        if after_step is not None:
            after_step()
        show_step(i + 1, f"residual ratio {made.ratios[-1]:.1e}")
    return made
