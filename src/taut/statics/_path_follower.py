"""The walk along a path: how long steps are, where it ends, which points are critical.

A step is halved where the corrector misses, and where the tangent turns by more than 25°; it grows
again where neither is near. Where the number of negative eigenvalues changes in a step, the
critical points on it are located before it is taken. The last step ends at the given value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np

from taut.arrays import Float
from taut.errors import EigenError, ModelError, NotConverged, SingularState
from taut.linalg.eigen import find_smallest
from taut.optimise.tolerance import Tolerance
from taut.statics._critical_points import Critical, locate_critical_points
from taut.statics._parametrised_forces import ParametrisedForces
from taut.statics._path_search import (
    Corrector,
    Missed,
    Normal,
    PathPoint,
    Tangent,
    count_negative,
)

_MAX_TURN = np.cos(np.radians(25.0))  # of the tangent in a step, while steps can be shortened
_STRAIGHT = np.cos(np.radians(8.0))  # a tangent that turns less lets the next step be longer
_FEW_ITERATIONS = 4  # of a corrector, after which the next step may be longer
_MIN_TURN_STEP = 2.0**-6  # of the longest step: one that is shorter may turn further
_MIN_STEP = 2.0**-20  # of the longest step: shorter ones are not tried
_PARAMETER_STEPS = 16  # a step changes the parameter by this part of the way to `until` at most
_SAME_LENGTH = 1e-9  # relative: a last step may be longer by so much, rather than be split
_TINY = 1e-300
_DEFAULT_SCALE = 1.0  # of a parameter without an end: a load factor or a second


class Limits(NamedTuple):
    """Where a path ends: at a value of the parameter or of the controlled displacement, or after
    a number of points. step : the longest, as the displacement of the fastest particle [m]
    """

    until: float | None
    step: float
    points: int


@dataclass
class Found:
    """The points of a path so far.

    negative : how many eigenvalues are negative at each
    critical : critical points, the index of the point before each, and the direction of the path
        (n, 3) there
    """

    points: list[PathPoint] = field(default_factory=list)
    negative: list[int] = field(default_factory=list)
    critical: list[tuple[Critical, int, Float]] = field(default_factory=list)
    ended: Literal["until", "points"] = "points"


def check_control(control: Any, forces: ParametrisedForces) -> Normal:
    """Return c of a displacement: (particle, direction)."""
    message = f"path: control must be a particle and a direction, got {control!r}"
    if not (isinstance(control, Sequence) and len(control) == 2):
        raise ModelError(message)
    particle, given = control
    if isinstance(particle, bool) or not isinstance(particle, (int, np.integer)):
        raise ModelError(message)
    if not 0 <= particle < forces.system.n:
        raise ModelError(
            f"path: control: there is no particle {particle}; there are {forces.system.n}"
        )
    try:
        direction = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ModelError(message) from error
    if direction.shape == (2,):
        direction = np.append(direction, 0.0)
    if direction.shape != (3,) or not np.isfinite(direction).all() or not direction.any():
        raise ModelError(message)
    displacement = np.zeros((forces.system.n, 3))
    displacement[particle] = direction / np.linalg.norm(direction)
    coordinates = forces.free.basis.T @ displacement.reshape(-1)
    if not np.linalg.norm(coordinates) > 1e-12:
        raise ModelError(f"path: control: particle {particle} cannot move in that direction")
    return Normal(coordinates, 0.0)


def _dot(a: Float, b: Float) -> float:
    """a·b of free coordinates (f,), added in a fixed order."""
    return float(np.einsum("i,i->", a, b))


class _Step(NamedTuple):
    """A step that can be taken.

    turn : cosine of the angle between the tangents at its ends
    """

    point: PathPoint
    tangent: Tangent
    turn: float
    negative: int
    critical: list[Critical]
    is_last: bool


class Follower:
    """Walks along a path; see the module."""

    def __init__(
        self,
        forces: ParametrisedForces,
        tolerance: Tolerance,
        limits: Limits,
        begin: float,
        control: Normal | None,
    ) -> None:
        """Prepare to walk from a parameter; control: c of a displacement, or None for arc length"""
        self._forces, self._limits, self._begin = forces, limits, begin
        self._control = control
        self._way = 0.0
        if limits.until is not None and control is None:
            self._way = abs(limits.until - begin)
        self._corrector = Corrector(forces, tolerance, self._way or _DEFAULT_SCALE)
        self._found = Found()

    def follow_from(self, q: Float) -> Found:
        """Follow the path from positions (n, 3) near its first point."""
        point = self._find_first(q)
        towards = self._control or Normal(np.zeros(self._forces.free.size), 1.0)
        until = self._limits.until
        origin = self._begin if self._control is None else 0.0
        if until is not None and until < origin:
            towards = Normal(-towards.coordinates, -towards.parameter)
        scale = self._corrector.scale
        if not self._forces.slope(point.q, point.parameter, scale).any():
            what = "loads that are scaled" if self._forces.along == "load" else "time"
            raise ModelError(f"path: nothing moves: the {what} must act on free particles")
        try:
            tangent = self._corrector.tangent(point, towards)
        except Missed as error:
            raise self._error(str(error), point) from error
        self._add(point, self._count(point))
        return self._walk(point, tangent)

    def follow_branch(self, mode: Float, direction: Float, side: float) -> Found:
        """Follow the branch that leaves the first state along a mode (n, 3).

        direction : of the path that it crosses (n, 3); the branch is sought across it
        """
        if self._control is not None:
            raise ModelError("path: a branch is followed by arc length; leave out control")
        basis = self._forces.free.basis.T
        across, along = basis @ mode.reshape(-1), basis @ direction.reshape(-1)
        across = across - along * _dot(across, along) / max(_dot(along, along), _TINY)
        across *= side / np.sqrt(_dot(across, across))
        point = self._find_first(np.array(self._forces.start.q), singular=True)
        self._add(point, self._count(point))
        return self._walk(point, Tangent(across, 0.0), leaves=True)

    def _find_first(self, q: Float, *, singular: bool = False) -> PathPoint:
        """Correct positions to an equilibrium at the first value of the parameter."""
        forces = self._forces
        q = forces.place(q, self._begin)
        balance = forces.balance(q, self._begin)
        point = PathPoint(q, self._begin, balance, "converged", np.zeros(len(q)), 0)
        here = Tangent(np.zeros(forces.free.size), 0.0)
        normal = Normal(np.zeros(forces.free.size), 1.0)
        if singular:  # a critical point, which a path has certified
            try:
                return self._corrector.certify(point)
            except Missed as error:
                raise ModelError(
                    "path: branch must be a critical point of this system, along the same "
                    "parameter and with the same laws scaled"
                ) from error
        matrix, zero = forces.stiffness(q, self._begin)
        values = find_smallest(matrix, 1, zero)
        if values.zero:
            raise ModelError(
                f"path: K has {values.zero} zero eigenvalues at the first equilibrium "
                "(taut.stability names the mechanisms and rigid motions): it has no single path; "
                "hold the system, or begin where it is stiff"
            )
        try:
            return self._corrector.correct(point, here, 0.0, normal)
        except Missed as error:
            reason = (
                f"no equilibrium near the first state ({error}); begin with that of "
                "taut.equilibrium, and with its load factor as start"
            )
            raise self._error(reason, point) from error

    def _count(self, point: PathPoint) -> int:
        return count_negative(*self._forces.stiffness(point.q, point.parameter))

    def _add(self, point: PathPoint, negative: int) -> None:
        self._found.points.append(point)
        self._found.negative.append(negative)

    def _walk(self, point: PathPoint, tangent: Tangent, *, leaves: bool = False) -> Found:
        """Walk from a point; leaves : the first step leaves a bifurcation along the tangent."""
        found, limits = self._found, self._limits
        length = limits.step / 4.0  # the first step is a short one: the curvature is not known yet
        while len(found.points) < limits.points:
            try:
                step = self._step(point, tangent, length, leaves=leaves)
                if step.turn < _MAX_TURN and length > _MIN_TURN_STEP * limits.step and not leaves:
                    raise Missed("the path turns")
            except (Missed, EigenError, SingularState) as error:
                length /= 2.0
                if length < _MIN_STEP * limits.step:
                    raise self._error(f"the path cannot be followed: {error}", point) from error
                continue
            direction = self._forces.free.expand(step.tangent.coordinates)
            direction /= float(np.linalg.norm(direction)) or 1.0
            found.critical += [(c, len(found.points) - 1, direction) for c in step.critical]
            self._add(step.point, step.negative)
            if step.is_last:
                found.ended = "until"
                break
            if step.point.iterations <= _FEW_ITERATIONS and (step.turn > _STRAIGHT or leaves):
                length = min(limits.step, 2.0 * length)
            point, tangent, leaves = step.point, step.tangent, False
        return found

    def _step(
        self, start: PathPoint, tangent: Tangent, length: float, *, leaves: bool = False
    ) -> _Step:
        """Take a step in which the fastest particle moves by about a length [m]."""
        corrector = self._corrector
        normal = self._control or corrector.normal_of(tangent, start.parameter)
        rate = _dot(normal.coordinates, tangent.coordinates)
        rate += normal.parameter * tangent.parameter
        if rate == 0.0:
            raise Missed("the controlled displacement turns round: follow the path by arc length")
        sigma, is_last = self._choose_sigma(start, tangent, length, rate)
        ahead = Tangent(tangent.coordinates / rate, tangent.parameter / rate)
        predicted = Tangent(sigma * ahead.coordinates, sigma * ahead.parameter)
        point = corrector.correct(start, predicted, sigma, normal)
        onwards = corrector.tangent(point, Normal(tangent.coordinates, 0.0))
        turn = corrector.product(tangent, onwards, start.parameter)
        if self._passes_end(start, point):
            point, is_last = self._correct_to_end(start, point), True
            sigma = self._length_of(normal, start, point)
        negative = self._count(point)
        critical: list[Critical] = []
        before = self._found.negative[-1]
        if negative != before and not leaves:
            critical = locate_critical_points(
                corrector, start, ahead, normal, sigma, (before, negative)
            )
        return _Step(point, onwards, turn, negative, critical, is_last)

    def _choose_sigma(
        self, start: PathPoint, tangent: Tangent, length: float, rate: float
    ) -> tuple[float, bool]:
        """Return σ of the next step, and whether it is the last one of a controlled displacement.

        rate : c·ẋ, of which the sign is that of σ
        """
        until = self._limits.until
        if self._control is not None:
            sigma = float(np.sign(rate)) * length
            if until is None:
                return sigma, False
            left = until - self._length_of(self._control, self._found.points[0], start)
            if abs(left) <= (1.0 + _SAME_LENGTH) * length:
                return left, True
            return sigma, False
        sigma = length / self._corrector.largest_displacement(tangent, start.parameter)
        if self._way > 0.0:
            change = self._way / _PARAMETER_STEPS * length / self._limits.step
            sigma = min(sigma, change / max(abs(tangent.parameter), _TINY))
        return sigma, False

    def _length_of(self, normal: Normal, start: PathPoint, end: PathPoint) -> float:
        """Return c·(end - start)."""
        moved = self._forces.free.basis.T @ (end.q - start.q).reshape(-1)
        change = end.parameter - start.parameter
        return _dot(normal.coordinates, moved) + normal.parameter * change

    def _passes_end(self, start: PathPoint, end: PathPoint) -> bool:
        """Whether the parameter passes its last value in a step."""
        until = self._limits.until
        if until is None or self._control is not None or start.parameter == until:
            return False
        return (start.parameter - until) * (end.parameter - until) <= 0.0

    def _correct_to_end(self, start: PathPoint, end: PathPoint) -> PathPoint:
        """Find the point between two at which the parameter has its last value."""
        until = self._limits.until
        assert until is not None
        part = (until - start.parameter) / (end.parameter - start.parameter)
        moved = self._forces.free.basis.T @ (end.q - start.q).reshape(-1)
        predicted = Tangent(part * moved, until - start.parameter)
        normal = Normal(np.zeros(self._forces.free.size), 1.0)
        found = self._corrector.correct(start, predicted, until - start.parameter, normal)
        return found._replace(parameter=until)

    def _error(self, reason: str, point: PathPoint) -> NotConverged:
        name = "load factor" if self._forces.along == "load" else "time"
        where = f"path: at {name} {point.parameter:g}: {reason}"
        return NotConverged(where, None, self._forces.state(point.q, point.parameter))
