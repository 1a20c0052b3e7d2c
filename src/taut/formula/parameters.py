"""The elements and parameters of a law among particles: indices checked, rest values measured, parameters resolved and packed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taut.errors import LawError, did_you_mean
from taut.formula.bound import Bound
from taut.formula.expression import Expr
from taut.formula.interpret import evaluate
from taut.formula.law import LIMITS
from taut.formula.trace import totalled, trace_measure

Float = NDArray[np.float64]
IMPROPER = 1e-12  # a measure of shape, without unit, that is not larger counts as zero


class Resolved:
    """A law on the elements of one system, with its parameters as numbers or functions of time."""

    def __init__(self, bound: Bound, rest: Float, mass: Float, *, flat: bool) -> None:
        self.bound, self.law, self.name = bound, bound.law, bound.name
        self.rest, self.mass, self.flat = rest, mass, flat
        elements = bound.elements if bound.elements is not None else np.arange(len(rest), dtype=np.int64)[:, None]
        outside = np.flatnonzero(((elements < 0) | (elements >= len(rest))).any(axis=1))
        if len(outside):
            raise LawError(
                f"law '{self.name}': element {outside[0]} names particle {elements[outside[0]].tolist()}, "
                f"but there are {len(rest)} particles (0 to {len(rest) - 1})"
            )
        self.elements: NDArray[np.int64] = np.array(elements)  # the kernels want arrays that could be written to
        for fault, measure in self.law.proper.items():
            self._refuse_improper(fault, measure)
        self.constant: dict[str, Float] = {}
        self.timed: dict[str, Callable[..., Any]] = {}
        self.widths: dict[str, int | None] = {}
        self._packed: tuple[float, Float] | None = None
        self._refuse_beyond({name: self._resolve(name) for name in self.law.parameters}, 0.0)

    def _refuse_improper(self, fault: str, measure: Callable[..., Any]) -> None:
        roots, _ = trace_measure(f"'{self.law.name}' at rest, '{fault}'", measure, self.particles)
        value = evaluate(roots, self._corners(roots))[:, 0]
        bad = np.flatnonzero(~(value > IMPROPER))
        if len(bad):
            raise LawError(f"law '{self.name}': {self.element(bad[0])} {fault}, in the rest shape{_others(len(bad))}")

    def _corners(self, roots: Sequence[Expr]) -> Float:
        """Rest positions of the elements' particles (m, s, 3) [m]; for a total that no shift changes, from their middle."""
        corners = self.rest[self.elements]
        if self.law.invariant is None or not len(corners) or not any(totalled(root) for root in roots):
            return corners
        return corners - corners.mean(axis=(0, 1))

    def element(self, i: int) -> str:
        """An element in words, for messages."""
        return f"element {i} (particles {self.elements[i].tolist()})"

    @property
    def particles(self) -> int:
        """Particles per element, s."""
        return int(self.elements.shape[1])

    def _resolve(self, name: str) -> Float:
        """The value of a parameter at t = 0, kept with its width if it does not depend on time."""
        given = self.bound.parameters.get(name)
        if given is None and name in self.law.rest:
            value, vector = self._measure(name)
        elif given is None and name == "mass":
            value, vector = self.mass[self.elements], self.particles > 1
            value = value if vector else value[:, 0]
        elif given is None:
            raise LawError(f"law '{self.name}' needs the parameter '{name}'")
        elif callable(given):
            self.timed[name] = given
            value, vector = self._call(name, 0.0), name in self.law.vectors
        else:
            value, vector = self._array(name, given, ""), name in self.law.vectors
        self.widths[name] = self._width(name, value, vector or value.ndim == 2)
        if name not in self.timed:
            self.constant[name] = value
        return value

    def _refuse_beyond(self, values: Mapping[str, Float], t: float) -> None:
        """Hold all parameters at time t against the limits that the law sets."""
        for name, limits in self.law.limits.items():
            vector, when = self.widths[name] is not None, f" at t = {t:g} s" if name in self.timed else ""
            size = np.sqrt(np.einsum("...i,...i->...", values[name], values[name])) if vector else values[name]
            for relation, bound in limits:
                number = bound if isinstance(bound, float) else values[bound.removeprefix("-")] * (-1.0 if bound[0] == "-" else 1.0)
                holds, words = LIMITS[relation]
                bad = np.flatnonzero(~holds(size, number))
                if len(bad):
                    where = f" of {self.element(bad[0])}" if size.ndim else ""
                    raise LawError(
                        f"law '{self.name}': {'the length of ' if vector else ''}parameter '{name}'{where}{when} is "
                        f"{size.reshape(-1)[bad[0] if size.ndim else 0]:g}; it must be {words} "
                        f"{bound if isinstance(bound, str) else format(bound, 'g')}{_others(len(bad)) if size.ndim else ''}"
                    )

    def _measure(self, name: str) -> tuple[Float, bool]:
        measure = self.law.rest[name]
        roots, vector = trace_measure(f"'{self.law.name}' at rest, '{name}'", measure, self.particles)
        value = evaluate(roots, self._corners(roots))
        self._refuse_nan(name, value, " measured on the rest shape")
        return (value, True) if vector else (value[:, 0], False)

    def _array(self, name: str, value: Any, when: str) -> Float:
        try:
            array = np.array(value, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise LawError(
                f"law '{self.name}': parameter '{name}'{when} is not a number or an array of numbers: {value!r}"
            ) from error
        self._refuse_nan(name, array, when)
        if self.flat and self.law.vectors.get(name) == 3 and array.shape[-1:] == (2,):
            array = np.concatenate([array, np.zeros((*array.shape[:-1], 1))], axis=-1)
        return array

    def _evaluated(self, name: str, t: float, x: Float | None) -> Any:
        """What the function of a parameter gives at time t; x are the positions, for those that depend on them."""
        return self.timed[name](t)

    def _call(self, name: str, t: float, x: Float | None = None) -> Float:
        when = f" at t = {t:g} s"
        try:
            value = self._evaluated(name, t, x)
        except Exception as error:
            raise LawError(f"law '{self.name}': parameter '{name}'{when} could not be evaluated: {error!r}") from error
        return self._array(name, value, when)

    def _refuse_nan(self, name: str, value: Float, when: str) -> None:
        bad = np.argwhere(~np.isfinite(value))
        if len(bad):
            what = "component" if value.ndim == 1 and name in self.law.vectors else "element"
            where = f" of {what} {bad[0][0]}" if value.ndim else ""
            raise LawError(
                f"law '{self.name}': parameter '{name}'{where}{when} is {value[tuple(bad[0])]}, not a finite number".replace(
                    "  ", " "
                )
            )

    def _width(self, name: str, value: Float, vector: bool) -> int | None:
        """None for a scalar parameter, else the number of components; checks the shape."""
        m = len(self.elements)
        if vector and value.ndim in (1, 2) and (value.ndim == 1 or len(value) == m):
            wanted = self.law.vectors.get(name, value.shape[-1])
            if value.shape[-1] != wanted:
                raise LawError(f"law '{self.name}': parameter '{name}' has {wanted} components, not {value.shape[-1]}")
            return int(value.shape[-1])
        if not vector and (value.ndim == 0 or value.shape == (m,)):
            return None
        allowed = f"(3,) or ({m}, 3)" if vector else f"a scalar, ({m},) or ({m}, components)"
        raise LawError(f"law '{self.name}': parameter '{name}' has shape {value.shape} for {m} elements; allowed: {allowed}")

    def shifted(self, start: int) -> Any:
        """The same, bound to particles that come `start` later, with what was measured at rest kept as it is."""
        measured = {p: v for p, v in self.constant.items() if p in self.law.rest}
        kept = {"name": self.bound.name, "breaking_strain": self.bound.breaking_strain, **measured, **self.bound.parameters}
        return self.law(self.elements + start, **kept)

    def reset(self, name: str, value: Float) -> None:
        """Give a parameter that does not depend on time another value of the same shape."""
        self.constant[name], self._packed = value, None

    def packed(self, t: float) -> Float:
        """All parameters at time t [s], one row per element, shape (m, width). Not to be written to."""
        known = self._packed
        if known is None or (self.timed and known[0] != t):
            known = self._packed = (t, self._filled(self.values_at(t)))
        return known[1]

    def values_at(self, t: float, x: Float | None = None) -> dict[str, Float]:
        """All parameters at time t [s], checked; x (n, 3) are the positions, for those that depend on the place."""
        values = {**self.constant, **{name: self._at(name, t, x) for name in self.timed}}
        if self.timed:
            self._refuse_beyond(values, t)
        return values

    def _filled(self, values: dict[str, Float]) -> Float:
        packed = np.empty((len(self.elements), sum(w or 1 for w in self.widths.values())))
        start = 0
        for name, width in self.widths.items():
            value = values[name]
            stop = start + (width or 1)
            packed[:, start:stop] = value[:, None] if width is None and value.ndim == 1 else value
            start = stop
        return packed

    def _at(self, name: str, t: float, x: Float | None = None) -> Float:
        value = self._call(name, t, x)
        if self._width(name, value, name in self.law.vectors or value.ndim == 2) != self.widths[name]:
            raise LawError(f"law '{self.name}': parameter '{name}' at t = {t:g} s has changed its shape to {value.shape}")
        return value

    def columns(self, name: str) -> int | slice:
        """Where a parameter stands in the packed array."""
        if name not in self.widths:
            raise LawError(f"law '{self.name}' has no parameter '{name}'{did_you_mean(name, self.widths)}")
        names = list(self.widths)
        start = sum(self.widths[n] or 1 for n in names[: names.index(name)])
        width = self.widths[name]
        return start if width is None else slice(start, start + width)


def _others(count: int) -> str:
    """How many more there are like the one that was named."""
    return f", and {count - 1} more" if count > 1 else ""
