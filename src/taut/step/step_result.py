"""The result of a step: the new state, its report, and what the ledger needs to book the energy.

Every method changes the velocities by forces at a few stages,

    A = -Σ w (∇V + ∂Ψ/∂v)(stage) + reactions + residual,    A = M(v' - v)/h

(BDF2 has its own difference for A), and the positions by some displacement. From A, the
displacement and the stages every joule can be booked (see `taut.run.energy_balance`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import overload

import numpy as np

from taut.arrays import Float
from taut.step.report import Report
from taut.system.contact_friction import Friction
from taut.system.state import State


def _no_vectors() -> Float:
    return np.zeros((0, 3))


class LazyVectors:
    """A field of vectors (n, 3) that may be set to a function, which is called when first read.

    Most steps are taken without a ledger: arrays that only a ledger reads are then never computed.
    """

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = f"_{name}"

    @overload
    def __get__(self, step: None, owner: type) -> Callable[[], Float]: ...
    @overload
    def __get__(self, step: object, owner: type) -> Float: ...
    def __get__(self, step: object | None, owner: type) -> Float | Callable[[], Float]:
        if step is None:
            return _no_vectors  # the default of the dataclass field
        value = step.__dict__[self._name]
        if callable(value):
            value = step.__dict__[self._name] = value()
        vectors: Float = value
        return vectors

    def __set__(self, step: object, value: Float | Callable[[], Float]) -> None:
        step.__dict__[self._name] = value


@dataclass(frozen=True, eq=False)
class Linearisation:
    """Forces of a stage that are linear: those at its q and v, plus K·displacement and
    D·velocity_change."""

    displacement: Float  # (n, 3) [m]
    velocity_change: Float  # (n, 3) [m/s]
    project: bool  # whether K is projected


@dataclass(frozen=True, eq=False)
class Stage:
    """Where forces were evaluated, and with which weight they count."""

    weight: float
    t: float  # of time-dependent parameters [s]
    q: Float  # (n, 3) [m]: where energies act
    v: Float  # (n, 3) [m/s]: what damping opposes
    frozen: State  # the geometry that damping laws and Rayleigh's matrix use
    # With which weight work and dissipation count; None: `weight`.
    share: float | None = None
    # Damping laws act as increments since `frozen` over this time [s]; None: as rates.
    span: float | None = None
    linear: Linearisation | None = None
    friction: Friction | None = None  # of the contacts, with the normal forces that it had

    @property
    def counted(self) -> float:
        """The weight of the stage in sums of work and dissipation."""
        return self.weight if self.share is None else self.share


@dataclass(frozen=True, eq=False)
class StepResult:
    """The result of one step; an adaptive step consists of substeps.

    start, state : before and after
    displacement : q' - q [m], free of the rounding of coordinates, (n, 3)
    inertia : A [N], (n, 3)
    residual : forces that the solver left unbalanced [N], (n, 3), weighted like the stages
    loads : forces of the loads that were held over the step [N], (n, 3) by name
    state_before_breaking : the end before elements broke; None: nothing broke
    state_before_flow : the end before rest values flowed, which is before anything broke; None:
        nothing flowed
    """

    start: State
    state: State
    report: Report
    displacement: LazyVectors = LazyVectors()
    inertia: LazyVectors = LazyVectors()
    residual: LazyVectors = LazyVectors()
    stages: tuple[Stage, ...] = ()
    substeps: tuple[StepResult, ...] = ()
    loads: Mapping[str, Float] = field(default_factory=dict)
    state_before_breaking: State | None = None
    state_before_flow: State | None = None

    @property
    def state_before_changes(self) -> State:
        """The end before rest values flowed and elements broke."""
        return self.state_before_flow or self.state_before_breaking or self.state

    @property
    def h(self) -> float:
        """The length of the step [s]."""
        return self.report.h
