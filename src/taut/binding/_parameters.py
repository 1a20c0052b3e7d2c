"""The parameters of a law on its elements: resolved to numbers or functions, checked and packed.

A parameter that was not given is measured on the rest shape, or is the mass of the particles. Loops
read all parameters from one packed array with a row per element, shape (m, width).
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Mapping
from math import prod
from typing import Any

import numpy as np

from taut.arrays import Float, Int, to_floats
from taut.binding._elements import and_more, describe_element
from taut.binding.law import RELATIONS, BoundLaw
from taut.errors import LawError, did_you_mean
from taut.formula.interpret import evaluate
from taut.formula.trace import find_totals, trace_measure

# Of the extent of a system: the spacing of the points from which functions of places are
# differentiated. Their error is of fourth order in it, their rounding that of the function over it.
_PLACE_SPACING = 1e-3
# Parts of (f(x + 2δ), f(x + δ), f(x - δ), f(x - 2δ))/δ in the slope of f at x
_PLACE_WEIGHTS = ((2.0, -1 / 12), (1.0, 2 / 3), (-1.0, -2 / 3), (-2.0, 1 / 12))


class Parameters:
    """The parameters of a bound law on elements (m, s); nothing changes after construction.

    constant : values of those that do not depend on time, by name, each of its shape or with one
        row per element, (m, *shape)
    time_dependent : functions of time (of a load also of places and time), by name
    shapes : of each parameter by name, in packing order: () of a scalar, (components,) of a
        vector, (rows, columns) of a matrix
    """

    def __init__(
        self, bound: BoundLaw, elements: Int, rest: Float, mass: Float, *, flat: bool
    ) -> None:
        self._bound, self._law, self._name = bound, bound.law, bound.name
        self._elements, self._rest, self._flat = elements, rest, flat
        self._place_dependent = self._find_functions_of_places()
        self.constant: dict[str, Float] = {}
        self.time_dependent: dict[str, Callable[..., Any]] = {}
        self.shapes: dict[str, tuple[int, ...]] = {}
        self._check_limits({name: self._resolve(name, mass) for name in self._law.parameters}, 0.0)
        self._packed: Float | None = None
        if not self.time_dependent:
            self._packed = self._fill(self.constant)

    def with_values(self, bound: BoundLaw, mass: Float) -> Parameters:
        """Return the parameters of the same law on the same elements with other values.

        Only those are resolved whose value is another object; `mass` as in the constructor.
        """
        before = self._bound.parameters
        names = [p for p in self._law.parameters if bound.parameters.get(p) is not before.get(p)]
        changed = copy.copy(self)
        changed._bound = bound
        changed._place_dependent = changed._find_functions_of_places()
        changed.shapes, changed.constant = dict(self.shapes), dict(self.constant)
        changed.time_dependent = dict(self.time_dependent)
        for name in names:
            changed.constant.pop(name, None)
            changed.time_dependent.pop(name, None)
            changed._resolve(name, mass)
        changed._check_limits(changed.values(0.0), 0.0)
        changed._packed = None
        if not changed.time_dependent:
            changed._packed = changed._fill(changed.constant)
        return changed

    def pack(self, t: float, x: Float | None = None) -> Float:
        """Return all parameters at time t [s], one row per element, shape (m, width).

        x : positions (n, 3) [m] for parameters that depend on the place (default: at rest)

        If no parameter depends on time, every call returns the same array: do not write to it.
        """
        if self._packed is not None:
            return self._packed
        return self._fill(self.values(t, x))

    def use_packed(self, packed: Float) -> None:
        """Use these packed values, (m, width), from now on: for a law that is being placed."""
        assert self._packed is not None
        assert packed.shape == self._packed.shape
        self._packed = packed

    def pack_with(self, t: float, replacements: Mapping[str, Float]) -> Float:
        """Return all parameters at time t [s] with some replaced by values of the same shape.

        For a caller that changes a parameter often, such as a force held over a step, and keeps
        the result in a buffer of its own.
        """
        return self._fill({**self.values(t), **replacements})

    def values(self, t: float, x: Float | None = None) -> dict[str, Float]:
        """Return all parameters at time t [s] by name, checked; x as in `pack`."""
        if not self.time_dependent:
            return dict(self.constant)
        values = dict(self.constant)
        for name in self.time_dependent:
            value = self._call(name, t, x)
            if self._find_shape(name, value) != self.shapes[name]:
                raise LawError(
                    f"law '{self._name}': parameter '{name}' at t = {t:g} s must keep its shape, "
                    f"got {value.shape}"
                )
            values[name] = value
        self._check_limits(values, t)
        return values

    @property
    def depends_on_places(self) -> tuple[str, ...]:
        """The parameters of a load that are functions of the places of its elements."""
        return tuple(sorted(self._place_dependent))

    def differentiate_by_place(self, t: float, x: Float) -> Float:
        """Return the slopes of packed parameters with the place of their element, (3, m, width).

        By differences, as the functions are the user's: exact for polynomials of fourth degree.
        """
        slopes = np.zeros((3, *self.pack(t, x).shape))
        if not self._place_dependent:
            return slopes
        spacing = _PLACE_SPACING * (float(np.ptp(x, axis=0).max()) or 1.0)
        for k in range(3):
            for steps, weight in _PLACE_WEIGHTS:
                moved = x.copy()
                moved[:, k] += steps * spacing
                slopes[k] += weight / spacing * self.pack(t, moved)
        return slopes

    def columns(self, name: str) -> int | slice:
        """Return the column or columns of a parameter in the packed array."""
        if name not in self.shapes:
            hint = did_you_mean(name, self.shapes)
            raise LawError(f"law '{self._name}' has no parameter '{name}'{hint}")
        start = 0
        for other, shape in self.shapes.items():
            if other == name:
                break
            start += prod(shape)
        shape = self.shapes[name]
        return slice(start, start + prod(shape)) if shape else start

    def _fill(self, values: Mapping[str, Float]) -> Float:
        packed = np.empty((len(self._elements), sum(map(prod, self.shapes.values()))))
        start = 0
        for name, shape in self.shapes.items():
            value, width = values[name], prod(shape)
            rows = value.reshape(*value.shape[: value.ndim - len(shape)], width)
            packed[:, start : start + width] = rows
            start += width
        return packed

    def _resolve(self, name: str, mass: Float) -> Float:
        """Return a parameter's value at t = 0; store its shape, and its function or value."""
        given = self._bound.parameters.get(name)
        if callable(given):
            self.time_dependent[name] = given
            value = self._call(name, 0.0, None)
        elif given is not None:
            value = self.to_array(name, given, "")
        elif name in self._law.rest:
            value = self._measure(name)
        elif name == "mass":
            value = mass[self._elements]
            if self._elements.shape[1] == 1:
                value = value[:, 0]
        else:
            raise LawError(f"law '{self._name}' needs the parameter '{name}'")
        self.shapes[name] = self._find_shape(name, value)
        if name not in self.time_dependent:
            self.constant[name] = value
        return value

    def _measure(self, name: str) -> Float:
        """Measure a parameter on the rest shape, (m, *shape)."""
        measure = self._law.rest[name]
        value = measure_at(self._bound, f"{name} at rest", measure, self._elements, self._rest)
        self._reject_not_finite(name, value, " measured on the rest shape")
        return value

    def to_array(self, name: str, value: Any, when: str) -> Float:
        """Return a given value as an array of finite numbers; `when` is part of the errors."""
        try:
            array = to_floats(value)
        except (TypeError, ValueError) as error:
            raise LawError(
                f"law '{self._name}': parameter '{name}'{when} must be a number or an array of "
                f"numbers, got {value!r}"
            ) from error
        self._reject_not_finite(name, array, when)
        if self._flat and self._law.vectors.get(name) == 3 and array.shape[-1:] == (2,):
            # In a plane system a vector may have two components.
            array = np.concatenate([array, np.zeros((*array.shape[:-1], 1))], axis=-1)
        return array

    def _call(self, name: str, t: float, x: Float | None) -> Float:
        """Evaluate the function of a time-dependent parameter."""
        when = f" at t = {t:g} s"
        function = self.time_dependent[name]
        try:
            if name in self._place_dependent:
                positions = self._rest if x is None else x
                value = function(positions[self._elements].mean(axis=1), t)
            else:
                value = function(t)
        except Exception as error:  # the function is the user's, and may raise anything
            raise LawError(
                f"law '{self._name}': parameter '{name}'{when} could not be evaluated: {error!r}"
            ) from error
        return self.to_array(name, value, when)

    def _reject_not_finite(self, name: str, value: Float, when: str) -> None:
        bad = np.argwhere(~np.isfinite(value))
        if not len(bad):
            return
        where = ""
        if value.shape == self._law.declared_shape(name):
            where = f" of component {', '.join(map(str, bad[0]))}"
        elif value.ndim:
            where = f" of element {bad[0][0]}"
        raise LawError(
            f"law '{self._name}': parameter '{name}'{where}{when} must be a finite number, "
            f"got {value[tuple(bad[0])]}"
        )

    def _find_shape(self, name: str, value: Float) -> tuple[int, ...]:
        """Return the shape of a parameter in one element, from an array for one or all."""
        m = len(self._elements)
        declared, hint = self._law.declared_shape(name), ""
        if declared is None:
            if value.ndim == 0:
                return ()
            if value.ndim <= 3 and len(value) == m:
                return value.shape[1:]
            allowed = f"(), ({m},) or ({m}, components)"
            if value.shape == (3,):
                hint = f"; a vector must be annotated in the formula, {name}: taut.formula.Vector"
        else:
            if value.shape in (declared, (m, *declared)):
                return declared
            is_vector = len(declared) == 1
            if is_vector and (value.ndim == 1 or (value.ndim == 2 and len(value) == m)):
                raise LawError(
                    f"law '{self._name}': parameter '{name}' must have {declared[0]} components, "
                    f"got {value.shape[-1]}"
                )
            allowed = f"{declared} or {(m, *declared)}"
        raise LawError(
            f"law '{self._name}': parameter '{name}' must have the shape {allowed} for {m} "
            f"elements, got {value.shape}{hint}"
        )

    def _check_limits(self, values: Mapping[str, Float], t: float) -> None:
        """Compare all parameters at time t with the limits of the law."""
        for name, limits in self._law.limits.items():
            value, of = values[name], ""
            shape = self.shapes[name]
            if shape:  # of a vector or matrix, the norm is limited
                flat = value.reshape(*value.shape[: value.ndim - len(shape)], prod(shape))
                value = np.sqrt(np.einsum("...i,...i->...", flat, flat))
                of = "the length of " if len(shape) == 1 else "the norm of "
            for relation, limit in limits:
                number: Any = limit
                if isinstance(limit, str):
                    number = values[limit.removeprefix("-")] * (-1.0 if limit[0] == "-" else 1.0)
                holds, words = RELATIONS[relation]
                bad = np.flatnonzero(~holds(value, number))
                if not len(bad):
                    continue
                where = others = ""
                if value.ndim:
                    where = f" of {describe_element(self._elements, bad[0])}"
                    others = and_more(len(bad))
                when = f" at t = {t:g} s" if name in self.time_dependent else ""
                wanted = limit if isinstance(limit, str) else f"{limit:g}"
                raise LawError(
                    f"law '{self._name}': {of}parameter '{name}'{where}{when} must be {words} "
                    f"{wanted}, got {value.reshape(-1)[bad[0] if value.ndim else 0]:g}{others}"
                )

    def _find_functions_of_places(self) -> set[str]:
        """Return the parameters of a load that are functions of places (m, 3) and time."""
        found: set[str] = set()
        if self._law.kind != "load":
            return found
        for name, value in self._bound.parameters.items():
            if callable(value) and self._count_arguments(name, value) == 2:
                found.add(name)
        return found

    def _count_arguments(self, parameter: str, function: Callable[..., Any]) -> int:
        try:
            arguments = inspect.signature(function).parameters.values()
        except (TypeError, ValueError) as error:
            raise LawError(
                f"law '{self._name}': the arguments of the function for '{parameter}' cannot be "
                f"determined: {error}"
            ) from error
        count = sum(p.default is p.empty and p.kind is not p.VAR_KEYWORD for p in arguments)
        if count not in (1, 2):
            raise LawError(
                f"law '{self._name}': parameter '{parameter}' must be a function of t, or of "
                f"places (m, 3) and t, got one of {count} arguments"
            )
        return count


def measure_at(
    bound: BoundLaw,
    what: str,
    measure: Callable[..., Any],
    elements: Int,
    positions: Float,
    parameters: Parameters | None = None,
) -> Float:
    """Evaluate a function of x on all elements at positions (n, 3) [m]; return (m, *shape).

    what : its name in errors
    parameters : of the law, which the function may have as arguments
    """
    law = bound.law
    shapes = None if parameters is None else parameters.shapes
    packed = None if parameters is None else parameters.pack(0.0)
    roots, shape = trace_measure(f"'{law.name}', '{what}'", measure, elements.shape[1], shapes)
    corners = positions[elements]
    if law.invariant is not None and len(corners) and any(find_totals(root) for root in roots):
        # Shares of a total, such as the cones of a volume, grow with the distance from the origin
        # and cancel. If no translation changes the law, measure from the middle of all elements.
        corners = corners - corners.mean(axis=(0, 1))
    return evaluate(roots, corners, parameters=packed).reshape(-1, *shape)
