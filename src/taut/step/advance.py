"""What a step did: the new state, its report, and what the ledger needs to account for the energy.

Every method moves the velocities by forces at a few stages: A = -Σ w (∇V + ∂Ψ/∂v)(stage) + reactions + what the solver left over,
with A = M(v' - v)/h (for BDF2 its own difference), and the particles by some displacement. Who knows A, the displacement and the
stages can book every joule (see `taut.run.booking`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import overload

import numpy as np
from numpy.typing import NDArray

from taut.step.report import Report
from taut.system.state import State

Float = NDArray[np.float64]


def _none() -> Float:
    return np.zeros((0, 3))


class Later:
    """A field of vectors (n, 3) that may be given as a function: it is called when the field is first read, or never."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = f"_{name}"

    @overload
    def __get__(self, step: None, owner: type) -> Callable[[], Float]: ...
    @overload
    def __get__(self, step: object, owner: type) -> Float: ...
    def __get__(self, step: object | None, owner: type) -> Float | Callable[[], Float]:
        if step is None:
            return _none  # what the field is by default
        value = step.__dict__[self._name]
        if callable(value):
            value = step.__dict__[self._name] = value()
        found: Float = value
        return found

    def __set__(self, step: object, value: Float | Callable[[], Float]) -> None:
        step.__dict__[self._name] = value


@dataclass(frozen=True, eq=False)
class Linear:
    """A stage whose forces are linear: those at `q`, `v` plus K·moved and D·faster, with K projected or not."""

    moved: Float  # (n, 3) [m]
    faster: Float  # (n, 3) [m/s]
    project: bool


@dataclass(frozen=True, eq=False)
class Stage:
    """Where forces were taken, and with which weight they count."""

    weight: float
    t: float  # of the parameters
    q: Float  # (n, 3): where energies act
    v: Float  # (n, 3): what damping opposes
    frozen: State  # where the geometry of damping is held: rates of the laws, and Rayleigh's matrix
    share: float | None = None  # with which work and dissipation count; None: the weight
    span: float | None = None  # damping laws as increments since `frozen`, over so many seconds; None: as rates
    linear: Linear | None = None

    @property
    def counted(self) -> float:
        """The weight of the stage in sums of work and dissipation."""
        return self.weight if self.share is None else self.share


@dataclass(frozen=True, eq=False)
class Advance:
    """One step, in full. An adaptive step is the sum of its parts."""

    start: State
    state: State
    report: Report
    moved: Later = Later()  # q' - q [m], free of the rounding of coordinates
    inertia: Later = Later()  # A [N]
    residual: Later = Later()  # what the solver left over [N], weighted like the stages
    stages: tuple[Stage, ...] = ()
    parts: tuple[Advance, ...] = ()
    loads: Mapping[str, Float] = field(default_factory=dict)  # the forces of loads that were held [N], (n, 3) by name
    whole: State | None = None  # the end before elements broke; None: nothing broke

    @property
    def h(self) -> float:
        """The length of the step [s]."""
        return self.report.h
