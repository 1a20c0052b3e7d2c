"""The objective, a point of it, and the record of a minimisation.

`Descent` is the record that a minimiser fills in: where it is, what it has cost, how it ended.
`Descent.end_without_progress` decides whether a descent that found nothing better is at the
rounding floor.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, Protocol

import numpy as np

from taut.arrays import EPS, Float, Int
from taut.errors import SingularState
from taut.linalg.blocks import BlockMatrix, row_norms
from taut.optimise.tolerance import ROUNDING_UNITS, Tolerance, all_within, relative_residuals

Outcome = Literal["converged", "rounding floor", "not converged"]

# A descent has diverged when coordinates or forces exceed 10¹² times those of the start. A size
# and a force are added for starts that have none (all particles at the origin, or balanced).
_DIVERGENCE_FACTOR = 1e12
_ADDED_SIZE = 1.0  # [m]
_ADDED_FORCE = 1e88  # [N]
# Smaller changes of the objective, relative to its magnitudes, may be rounding inside a formula:
# 1 - cos θ of a nearly straight hinge is nothing but rounding.
_RELATIVE_NOISE = 1e-10
_FORMULA_NOISE = 1e-13  # the same, relative to the largest magnitude on the way


@dataclass(frozen=True, eq=False)
class Point:
    """The objective at unknowns y, with what bounds its rounding error.

    y : unknowns [m], (n, 3)
    value : of the objective [J]
    gradient : in the free directions [N], (n, 3)
    gross : gross force on each particle [N], (n,)
    magnitude : sum of the magnitudes of all terms of the value [J]
    size : largest coordinate of each particle [m], (n,)
    scale : forces that residuals are compared with [N], (n,); None: the gross forces
    energies : of the elements of each law [J], from which `Objective.change` is summed

    >>> p = Point(
    ...     np.zeros((1, 3)), 0.0, np.array([[3.0, 4.0, 0.0]]), np.array([7.0]), 0.0, np.ones(1)
    ... )
    >>> p.residuals
    array([5.])
    """

    y: Float
    value: float
    gradient: Float
    gross: Float
    magnitude: float
    size: Float
    scale: Float | None = None
    energies: tuple[Any, ...] = ()

    @property
    def at_work(self) -> Float:
        """The forces at work on each particle [N], (n,), to which tolerances are relative."""
        return self.gross if self.scale is None else self.scale

    @cached_property
    def residuals(self) -> Float:
        """The length of each particle's gradient [N], (n,)."""
        return row_norms(self.gradient)

    @cached_property
    def noise(self) -> float:
        """The rounding error of the value [J], from that of its terms and of the coordinates."""
        work = float(np.einsum("i,i->", self.gross, self.size))
        return ROUNDING_UNITS * EPS * (self.magnitude + work)

    def noise_against(self, other: Point) -> float:
        """Return the largest difference to another point's value that may be rounding [J]."""
        return max(self.noise + other.noise, _RELATIVE_NOISE * (self.magnitude + other.magnitude))


class Objective(Protocol):
    """A function of unknowns y (n, 3) to minimise."""

    def evaluate(self, y: Float) -> Point:
        """Return value and gradient; raise SingularState where there are none."""

    def change(self, start: Point, end: Point) -> float:
        """Return the change of the value between two points [J].

        It is summed from the changes of the elements: the difference of the two sums would lose
        what is below 1e-16 of the total.
        """

    def hessian(self, y: Float, previous: Float | None) -> BlockMatrix:
        """Return the constrained Hessian at y; the next call of this or `metric` overwrites it.

        previous : unknowns before the last step, or None at the start; the forces in the Hessian
            may be those that the last model predicted
        """

    def metric(self, y: Float, previous: Float | None) -> BlockMatrix:
        """Return a positive definite approximation of `hessian`, from which elements' negative
        curvatures are left out."""

    def free_part(self, y: Float, move: Float) -> float:
        """Return the part of a move from y, (n, 3), that may be taken, at most 1 (see contact)."""

    def damping_weights(self) -> Float:
        """Return stiffnesses [N/m], (n,), that damp steps where contact blocks them."""

    def relax(self, point: Point, region: Int, sweeps: int) -> Float:
        """Return unknowns that are lower, as a rule: moved one particle of a region at a time.

        region : indices of particles, ascending; sweeps : how often all of them are visited
        """

    def rounding_floors(self, point: Point) -> Float:
        """Return the residual that rounding alone can cause on each particle [N], (n,).

        Infinite where a floor would certify nothing (see `refuse_large_floors`).
        """


@dataclass
class Descent:
    """The record of a minimisation: where it is, how it ended, what it cost.

    targets : residual that each particle must reach [N], (n,)
    rounding_floors : residual that rounding can cause [N], (n,); empty where it was not needed
    iterations : of the minimiser
    evaluations : of the objective; linear_iterations : of the linear solver
    blocked_steps : how many steps contact has shortened; free_part : the least part left of one
    assembling, solving : wall-clock time in the objective and in the linear solver [s]
    unbounded : the objective falls further than any minimum could be away
    left : it was left unfinished, as its caller wished
    max_value : value that no further point may exceed where rounding hides the objective [J]
    largest_magnitude : of all points so far [J]
    max_size, max_force : coordinate [m] and force [N] beyond which the descent has diverged

    >>> p = Point(np.zeros((1, 3)), 0.0, np.zeros((1, 3)), np.zeros(1), 0.0, np.zeros(1))
    >>> Descent(p, np.zeros(1)).outcome
    'not converged'
    """

    point: Point
    targets: Float
    outcome: Outcome = "not converged"
    reason: str = ""
    rounding_floors: Float = field(default_factory=lambda: np.zeros(0))
    iterations: int = 0
    evaluations: int = 0
    linear_iterations: int = 0
    blocked_steps: int = 0
    free_part: float = 1.0
    assembling: float = 0.0
    solving: float = 0.0
    unbounded: bool = False
    left: bool = False
    max_value: float = np.inf
    largest_magnitude: float = 0.0
    max_size: float = np.inf
    max_force: float = np.inf

    @staticmethod
    def start(point: Point, tolerance: Tolerance) -> Descent:
        """Begin at a point."""
        targets = tolerance.targets(point.at_work, point.gross)
        descent = Descent(point, targets)
        descent.bound_value(point)
        return descent

    def add_work(self, other: Descent) -> None:
        """Add the work of an earlier attempt."""
        self.iterations += other.iterations
        self.evaluations += other.evaluations
        self.linear_iterations += other.linear_iterations
        self.blocked_steps += other.blocked_steps
        self.free_part = min(self.free_part, other.free_part)
        self.assembling += other.assembling
        self.solving += other.solving

    def count_blocked_step(self, part: float) -> None:
        """Count a step that contact has shortened to a part."""
        self.blocked_steps += 1
        self.free_part = min(self.free_part, part)

    @contextmanager
    def timed(self, what: Literal["assembling", "solving"]) -> Iterator[None]:
        """Add the wall-clock time of the block to `assembling` or `solving`."""
        started = time.perf_counter()
        try:
            yield
        finally:
            setattr(self, what, getattr(self, what) + time.perf_counter() - started)

    def evaluate(self, objective: Objective, y: Float) -> Point | None:
        """Evaluate the objective at y and count it; None where it has no value."""
        self.evaluations += 1
        with self.timed("assembling"):
            try:
                return objective.evaluate(y)
            except SingularState:
                return None

    def accept(self, point: Point, tolerance: Tolerance) -> None:
        """Move to a point."""
        self.point = point
        self.targets = tolerance.targets(point.at_work, point.gross)
        self.bound_value(point)

    def bound_value(self, point: Point) -> None:
        """Let no further point exceed the value of this one by more than rounding."""
        self.largest_magnitude = max(self.largest_magnitude, point.magnitude)
        hidden = max(self.noise_between(point, point), _RELATIVE_NOISE * point.magnitude)
        self.max_value = min(self.max_value, point.value + hidden)

    def noise_between(self, start: Point, end: Point) -> float:
        """Return the largest difference of two values that may be rounding [J].

        A value that has fallen to nearly zero may be the difference of numbers as large as the
        first ones, as that of a hinge near its rest angle is.
        """
        return max(start.noise_against(end), _FORMULA_NOISE * self.largest_magnitude)

    def meets(self, tolerance: Tolerance) -> bool:
        """Whether each particle's residual is within the tolerance at the present point."""
        self.targets = tolerance.targets(self.point.at_work, self.point.gross)
        return all_within(self.point.residuals, self.targets)

    def worst_relative_residual(self, residuals: Float) -> float:
        """Return the largest residual in units of its target, or of rounding where that is larger.

        residuals : [N], (n,), of this point or of another one

        >>> at = Point(np.zeros((1, 3)), 0.0, np.zeros((1, 3)), np.ones(1), 0.0, np.zeros(1))
        >>> round(Descent(at, np.array([1e-8])).worst_relative_residual(np.array([3e-8])), 6)
        3.0
        """
        units = self.targets + EPS * float(self.point.gross.max())
        return float(relative_residuals(residuals, units).max())

    def worst_present_residual(self) -> float:
        """Return the largest residual of the present point, in the same units."""
        return self.worst_relative_residual(self.point.residuals)

    def set_bounds(self, longest_move: float) -> None:
        """Choose the bounds of divergence, once, from the start and the first direction.

        longest_move : largest displacement of a particle along that direction [m]
        """
        if self.max_size == np.inf:
            size = float(self.point.size.max())
            force = float(self.point.residuals.max())
            self.max_size = _DIVERGENCE_FACTOR * (_ADDED_SIZE + size + longest_move)
            self.max_force = _DIVERGENCE_FACTOR * (_ADDED_FORCE + force)

    def is_out_of_bounds(self, point: Point) -> bool:
        """Whether a point is further away, or has larger forces, than any minimum could."""
        return not (
            float(point.size.max()) <= self.max_size
            and float(point.residuals.max()) <= self.max_force
            and np.isfinite(point.residuals).all()
        )

    def has_diverged(self) -> bool:
        """Whether the present point is out of bounds; sets `unbounded` and `reason` if so."""
        if not self.is_out_of_bounds(self.point):
            return False
        self.unbounded = self.iterations > 0
        if self.unbounded:
            self.reason = "the objective falls without bound"
        else:
            self.reason = "the forces at the start overflow"
        return True

    def end_without_progress(self, objective: Objective, reason: str) -> Descent:
        """End a descent that found nothing better: at the rounding floor, or stuck for `reason`.

        The floors are those of the present point or, if they do not excuse its residuals, the
        largest of three points: here, and where rounding of the coordinates may carry each particle
        along its own unbalanced force. Stiffness may jump in between, as that of a cable does at
        its slack length, and then the stiffer side sets the floor.
        """
        residuals = self.point.residuals
        with self.timed("assembling"):
            floors = objective.rounding_floors(self.point)
        if not all_within(residuals, np.maximum(self.targets, floors)):
            floors = np.maximum(floors, self._find_floors_nearby(objective))
        # An infinite floor excuses no residual: it would excuse any.
        meaningless = np.isinf(floors)
        floors[meaningless] = 0.0
        self.rounding_floors = floors
        if all_within(residuals, np.maximum(self.targets, floors)):
            self.outcome = "rounding floor"
            return self
        self.reason = reason
        hidden = np.flatnonzero(meaningless & (residuals > self.targets) & np.isfinite(residuals))
        if len(hidden):
            i = hidden[0]
            self.reason = (
                f"rounding of coordinates of {self.point.size[i]:.1e} m hides the forces at work "
                f"on particle {i}: its stiffness is too large for its mass or its load, or the "
                "origin is too far away"
            )
        return self

    def _find_floors_nearby(self, objective: Objective) -> Float:
        """Return the largest floors [N], (n,), where rounding may carry the particles."""
        y, residuals = self.point.y, self.point.residuals
        moves = ROUNDING_UNITS * EPS * self.point.size / np.where(residuals > 0.0, residuals, 1.0)
        shift = self.point.gradient * moves[:, None]
        floors = np.zeros(len(y))
        for point in (self.evaluate(objective, y - shift), self.evaluate(objective, y + shift)):
            if point is not None:
                with self.timed("assembling"):
                    floors = np.maximum(floors, objective.rounding_floors(point))
        return floors
