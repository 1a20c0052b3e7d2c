"""The result of a differentiation: a gradient, its error bound, and where there is none."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from taut.arrays import Float
from taut.inverse._collect import PathGradient

log = logging.getLogger("taut")
# Of adjoint solves, relative to the right-hand side; those of the second gradient, from which the
# error is estimated, are a hundred times more accurate.
ACCURACY, TIGHTER = 1e-9, 1e-2
# Factor on the difference of two gradients in the bound: the second has an error of its own, of the
# order of its square.
SAFETY = 2.0
_MAX_NOTES = 5  # elements that a note names one by one
_LOOSE = 1e-2  # relative error above which a gradient is said to be inaccurate


@dataclass(frozen=True, eq=False)
class Gradient(Mapping[str, Any]):
    """A gradient with its error bound; `gradient["spring.k"]` has the shape of the parameter.

    value : of the loss
    by : gradients by name: arrays in the shape of the parameters, and a `PathGradient` for "paths"
    error : bounds of their errors by name, in the same shapes: what the residuals that the steps
        and the adjoint solves have left can do to the gradient, to first order; empty if it was not
        asked for
    value_error : the same for the value
    notes : where the loss has no derivative, by element
    seconds : of wall-clock time, without the steps themselves
    """

    value: float
    by: Mapping[str, Any]
    error: Mapping[str, Any]
    value_error: float
    notes: tuple[str, ...]
    seconds: float

    def __getitem__(self, name: str) -> Any:
        return self.by[name]

    def __iter__(self) -> Any:
        return iter(self.by)

    def __len__(self) -> int:
        return len(self.by)

    def __str__(self) -> str:
        lines = [f"value {self.value:.10g}"]
        if self.error:
            lines[0] += f" ± {self.value_error:.1e}"
        for name, slope in self.by.items():
            numbers = slope.values if isinstance(slope, PathGradient) else np.asarray(slope)
            text = f"  by {name}: "
            if numbers.ndim == 0:
                text += f"{float(numbers):.10g}"
            else:
                text += f"{numbers.shape}, largest {np.abs(numbers).max(initial=0.0):.6g}"
            if name in self.error:
                text += f" ± {np.max(_numbers(self.error[name]), initial=0.0):.1e}"
            lines.append(text)
        return "\n".join([*lines, *self.notes])


def _numbers(slope: Any) -> Float:
    return slope.values if isinstance(slope, PathGradient) else np.asarray(slope)


def compare(slopes: Mapping[str, Any], better: Mapping[str, Any]) -> dict[str, Any]:
    """Return bounds on the errors of gradients, from better ones."""
    error: dict[str, Any] = {}
    for name, slope in slopes.items():
        if isinstance(slope, PathGradient):
            other = better[name]
            if slope.values.shape == other.values.shape:
                gap = SAFETY * np.abs(slope.values - other.values)
                error[name] = PathGradient(slope.times, slope.particles, gap)
        else:
            error[name] = SAFETY * np.abs(slope - better[name])
    return error


def warn(result: Gradient) -> None:
    """Log what the user of a gradient should know."""
    for note in result.notes:
        log.warning(note)
    for name, error in result.error.items():
        size = float(np.abs(_numbers(result.by[name])).max(initial=0.0))
        worst = float(_numbers(error).max(initial=0.0))
        if worst > _LOOSE * size:
            log.warning(
                "the gradient by %s may be off by %.1e of %.1e: use a smaller tolerance, such as "
                "taut.Tolerance(relative=1e-10), in the integrator",
                *(name, worst, size),
            )


def describe_notes(
    torn: Sequence[tuple[float, str, int]], kinks: Sequence[tuple[float, str, int]]
) -> tuple[str, ...]:
    """Say where a loss has no derivative."""
    notes = []
    for found, what, rest in (
        (torn, "tears", "the gradient is that of the same elements tearing at the same steps"),
        (kinks, "is at a kink of its formula", "the gradient is that of one side"),
    ):
        each = [f"element {e} of '{law}' at t = {t:g} s" for t, law, e in sorted(set(found))]
        if each:
            more = f" and {len(each) - _MAX_NOTES} more" if len(each) > _MAX_NOTES else ""
            notes.append(f"{', '.join(each[:_MAX_NOTES])}{more} {what}: {rest}")
    return tuple(notes)
