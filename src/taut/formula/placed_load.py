"""A bound load placed among particles, and its forces there."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taut.errors import LawError, SingularState
from taut.formula.bound import Bound
from taut.formula.expression import fingerprint
from taut.formula.interpret import evaluate
from taut.formula.parameters import Resolved
from taut.formula.trace import trace_load

Float = NDArray[np.float64]


class PlacedLoad(Resolved):
    """A load on the elements of one system."""

    def __init__(self, bound: Bound, rest: Float, mass: Float, *, flat: bool) -> None:
        if bound.breaking_strain is not None:
            raise LawError(f"law '{bound.name}': a load has no breaking strain")
        fields = {name: value for name, value in bound.parameters.items() if callable(value) and _of_place(bound.name, name, value)}
        self._fields = fields  # parameters that depend on the place
        super().__init__(bound, rest, mass, flat=flat)
        self._forces = trace_load(f"'{self.law.name}'", self.law.formula, self.particles, self.widths)

    @property
    def digest(self) -> str:
        """Of the formula."""
        return " ".join(map(fingerprint, self._forces))

    def _evaluated(self, name: str, t: float, x: Float | None) -> Any:
        if name not in self._fields:
            return self.timed[name](t)
        return self._fields[name]((self.rest if x is None else x)[self.elements].mean(axis=1), t)

    def forces(self, x: Float, v: Float, t: float, active: NDArray[np.bool_] | None = None) -> Float:
        """The force [N] on each particle, shape (n, 3), at positions x [m] and velocities v [m/s], both (n, 3), and time t [s].

        active : which elements act, (m,); None: all
        """
        parts = evaluate(self._forces, x[self.elements], v[self.elements], self._filled(self.values_at(t, x)))
        if active is not None:
            parts[~active] = 0.0
        bad = np.flatnonzero(~np.isfinite(parts).all(axis=1))
        if len(bad):
            raise SingularState(f"law '{self.name}': {self.element(bad[0])} has no finite force at t = {t:g} s")
        total = np.empty((len(x), 3))
        for k in range(3):
            total[:, k] = np.bincount(self.elements.ravel(), weights=parts[:, k::3].ravel(), minlength=len(x))
        return total


def _of_place(law: str, parameter: str, function: Callable[..., Any]) -> bool:
    """Whether a parameter is a function of places and time, rather than of time alone."""
    try:
        every = inspect.signature(function).parameters.values()
    except (TypeError, ValueError) as error:
        raise LawError(f"law '{law}': it cannot be told what the function for '{parameter}' takes: {error}") from error
    wanted = sum(p.default is p.empty and p.kind is not p.VAR_KEYWORD for p in every)
    if wanted not in (1, 2):
        raise LawError(
            f"law '{law}': parameter '{parameter}' is a function of t, or of places (m, 3) and t, not of {wanted} arguments"
        )
    return wanted == 2
