"""Step something through time, and keep what each step took and reached.

The same loop for taut and for its peers.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from taut.arrays import Float
from taut.bench.accuracy import residual_ratio, strain
from taut.bench.net import Net
from taut.step.integrator import Integrator
from taut.step.report import Report
from taut.system.state import State
from taut.system.system import System

H = 0.01  # the step of all rows [s]
BROKEN = 0.5  # strain beyond which a trajectory is not that of a cloth
Tell = Callable[[int, str], None]
"""Called after each step with its number and what to say of it."""
Look = Callable[[], None] | None
"""Called after each step, outside of its time."""


class Stepper(Protocol):
    """Something that steps a net by `H` at a time."""

    def step(self) -> None:
        """Make one step; this is what is timed."""

    def state(self) -> tuple[Float, Float]:
        """Positions [m] and velocities [m/s] now, both (n, 3), as arrays of their own."""


class TautStepper:
    """taut as a Stepper: an integrator, in as many substeps as it is to make."""

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
    """What a number of steps took and reached, step by step."""

    seconds: list[float] = field(default_factory=list)
    ratios: list[float] = field(default_factory=list)
    strains: list[float] = field(default_factory=list)
    lowest: float = 0.0  # y of the lowest point at the end [m]

    @property
    def window(self) -> slice:
        """The steps that count: the first fifth is warm-up."""
        return slice(len(self.seconds) // 5, None)

    @property
    def mean(self) -> float:
        """The mean time of a step [s].

        The yardstick's is a mean too, and a few steps may cost as much as many.
        """
        return float(np.mean(self.seconds[self.window]))

    @property
    def quickest(self) -> float:
        """The least time of a step [s], where all of them do the same work.

        What is longer is the machine's other business.
        """
        return min(self.seconds[self.window])

    @property
    def ratio(self) -> float:
        """The median residual ratio."""
        return float(np.median(self.ratios[self.window]))

    @property
    def sane(self) -> bool:
        """Whether no spring was strained beyond 50%."""
        return max(self.strains) < BROKEN

    def __str__(self) -> str:
        broken = "" if self.sane else ", trajectory broken"
        return (
            f"residual ratio {self.ratio:.1e}, lowest {self.lowest:.3f} m, strain "
            f"{100 * max(self.strains):.2g}% on the way, "
            f"{100 * self.strains[-1]:.2g}% at the end{broken}"
        )

    def details(self) -> dict[str, float]:
        """The numbers of it, by name."""
        return {
            "ms": 1e3 * self.mean,
            "ms_median": 1e3 * float(np.median(self.seconds[self.window])),
            "steps": len(self.seconds),
            "residual_ratio": self.ratio,
            "lowest": self.lowest,
            "strain": max(self.strains),
            "strain_end": self.strains[-1],
        }


def run_steps(net: Net, stepper: Stepper, steps: int, tell: Tell, look: Look = None) -> Trajectory:
    """Make so many steps."""
    made = Trajectory()
    for i in range(steps):
        x, v = stepper.state()
        begun = time.perf_counter()
        stepper.step()
        made.seconds.append(time.perf_counter() - begun)
        y = stepper.state()[0]
        with np.errstate(all="ignore"):  # a peer may explode: its strain says so
            made.ratios.append(residual_ratio(net, y, x, v, H))
            made.strains.append(float(np.nan_to_num(strain(net, y), nan=np.inf)))
        made.lowest = float(y[:, 1].min())
        if look is not None:
            look()
        tell(i + 1, f"residual ratio {made.ratios[-1]:.1e}")
    return made
