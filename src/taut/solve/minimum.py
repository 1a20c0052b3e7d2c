"""What the minimisers share: the objective they go down, a point of it, and the record of where they ended and how."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from taut.errors import SingularState
from taut.solve.tolerance import EPS, FLOOR, Tolerance
from taut.system.blocks import BlockMatrix, lengths

Float = NDArray[np.float64]
Outcome = Literal["converged", "rounding floor", "not converged"]
FAR = 1e12  # times the size and the forces of the start: no descent that ends anywhere gets there
NEAR, WEAK = 1.0, 1e88  # a size [m] and a force [N] that are added, for starts that have none
FLAT = 1e-10  # changes of the objective below this part of its magnitudes may be rounding inside a formula


@dataclass(frozen=True, eq=False)
class Point:
    """The objective at unknowns y: value [J], gradient [N] in the free directions, gross forces [N], and what rounding may do.

    >>> p = Point(np.zeros((1, 3)), 0.0, np.array([[3.0, 4.0, 0.0]]), np.array([7.0]), 0.0, np.array([1.0]))
    >>> p.residuals
    array([5.])
    """

    y: Float  # (n, 3)
    value: float
    gradient: Float  # (n, 3)
    gross: Float  # (n,)
    magnitude: float  # Σ |terms of the value|
    size: Float  # largest coordinate of each particle [m], (n,)

    @cached_property
    def residuals(self) -> Float:
        """The length of each particle's gradient [N], (n,)."""
        return lengths(self.gradient)

    @cached_property
    def noise(self) -> float:
        """Differences of the value below this [J] mean nothing."""
        return FLOOR * EPS * (self.magnitude + float(np.einsum("i,i->", self.gross, self.size)))

    def noise_to(self, other: Point) -> float:
        """The change of the objective between two points that may be rounding [J]."""
        return max(self.noise + other.noise, FLAT * (self.magnitude + other.magnitude))

    @property
    def ceiling(self) -> float:
        """The largest value [J] that rounding may have made this one of."""
        return self.value + max(self.noise, FLAT * self.magnitude)


class Objective(Protocol):
    """A function of unknowns y (n, 3) to minimise."""

    def evaluate(self, y: Float) -> Point:
        """Value and gradient; raises SingularState where there are none."""

    def hessian(self, y: Float, *, project: bool) -> BlockMatrix:
        """The (constrained) Hessian at y; the next call overwrites it."""

    def floors(self, point: Point) -> Float:
        """The residual that rounding alone can cause on each particle [N], (n,); infinite where that says nothing any more:
        rounding can cause more than all that acts there, and in A = M/h² + K it hides the mass."""


@dataclass
class Minimum:
    """Where a minimiser ended, how, and what it cost.

    targets : the residual asked of each particle [N], (n,); floors : what rounding can cause there [N], where it was needed
    iterations : of the minimiser; projections : of them with a projected Hessian; evaluations : of the objective
    linear_iterations : of the linear solver
    wary : iterations left in which the true Hessian is not tried; caution : how many there were the last time
    unbounded : the objective falls further than any minimum could be away
    assembling : wall-clock time in the objective and its Hessian [s]; solving : in the linear solver [s]

    >>> p = Point(np.zeros((1, 3)), 0.0, np.zeros((1, 3)), np.zeros(1), 0.0, np.zeros(1))
    >>> Minimum(p, np.zeros(1)).outcome
    'not converged'
    """

    point: Point
    targets: Float
    outcome: Outcome = "not converged"
    floors: Float = field(default_factory=lambda: np.zeros(0))
    iterations: int = 0
    projections: int = 0
    evaluations: int = 1
    linear_iterations: int = 0
    wary: int = 0
    caution: int = 0
    assembling: float = 0.0
    solving: float = 0.0
    reason: str = ""
    unbounded: bool = False
    ceiling: float = np.inf  # what the objective must not rise above again, whatever rounding hides [J]
    bounds: tuple[float, float] = (np.inf, np.inf)  # coordinate [m] and force [N] beyond which it has fallen without bound

    @staticmethod
    def begun(objective: Objective, start: Float, tolerance: Tolerance) -> Minimum:
        """The record of a descent that begins at `start`; SingularState where the objective has no value there."""
        begun = time.perf_counter()
        point = objective.evaluate(start)
        spent = time.perf_counter() - begun
        return Minimum(point, tolerance.targets(point.gross), assembling=spent, ceiling=point.ceiling)

    def add_work_of(self, other: Minimum) -> None:
        """Count what an earlier attempt cost."""
        self.iterations += other.iterations
        self.projections += other.projections
        self.evaluations += other.evaluations
        self.linear_iterations += other.linear_iterations
        self.assembling += other.assembling
        self.solving += other.solving

    @contextmanager
    def timed(self, what: Literal["assembling", "solving"]) -> Iterator[None]:
        """Add the wall-clock time of what follows to `assembling` or `solving`."""
        begun = time.perf_counter()
        try:
            yield
        finally:
            setattr(self, what, getattr(self, what) + time.perf_counter() - begun)

    def tried(self, objective: Objective, y: Float) -> Point | None:
        """The objective at y, counted; None where it has no value."""
        self.evaluations += 1
        with self.timed("assembling"):
            try:
                return objective.evaluate(y)
            except SingularState:
                return None

    def meets(self, limits: Float) -> bool:
        """Whether each particle's residual is within its limit [N], (n,); a limit that is not finite allows nothing."""
        return bool((self.point.residuals <= limits).all() and np.isfinite(limits).all())

    def bound_by(self, longest: float) -> None:
        """Choose the bounds, if there are none yet, from the start and the largest move [m] of the first direction."""
        if self.bounds[0] == np.inf:
            size, force = float(self.point.size.max()), float(self.point.residuals.max())
            self.bounds = FAR * (NEAR + size + longest), FAR * (WEAK + force)

    def beyond(self, point: Point) -> bool:
        """Whether a point lies further away, or has larger forces, than any minimum on the way down could."""
        far, strong = self.bounds
        return not (
            float(point.size.max()) <= far and float(point.residuals.max()) <= strong and np.isfinite(point.residuals).all()
        )

    def ran_away(self) -> bool:
        """Whether the descent has left for infinity, in which case `reason` says so."""
        if not self.beyond(self.point):
            return False
        self.unbounded = self.iterations > 0
        self.reason = "the objective falls without bound" if self.unbounded else "the forces at the start overflow"
        return True

    def judge(self, objective: Objective, reason: str) -> Minimum:
        """The end of a descent that found nothing better: at the rounding floor, or stuck for the reason given.

        Stiffness may jump, as that of a cable does at its slack length: what it is on the other side counts too, where rounding
        of the coordinates can carry a particle there along its own unbalanced force.
        """
        y, r = self.point.y, self.point.residuals
        way = self.point.gradient * (FLOOR * EPS * self.point.size / np.where(r > 0.0, r, 1.0))[:, None]
        for near in (self.point, self.tried(objective, y - way), self.tried(objective, y + way)):
            if near is not None:
                with self.timed("assembling"):
                    floors = objective.floors(near)
                self.floors = np.maximum(self.floors, floors) if near is not self.point else floors
        empty = np.isinf(self.floors)  # no residual is excused there
        self.floors[empty] = 0.0
        if self.meets(np.maximum(self.targets, self.floors)):
            self.outcome = "rounding floor"
        else:
            lost = np.flatnonzero(empty & (r > self.targets) & np.isfinite(r))
            hides = f"at particle {lost[0]} stiffness is so large that rounding hides forces and mass" if len(lost) else ""
            self.reason = hides or reason
        return self
