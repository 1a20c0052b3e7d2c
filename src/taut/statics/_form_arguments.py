"""The arguments of form finding, checked."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from taut.arrays import Float, Int, describe, to_floats
from taut.binding.law import Energy
from taut.errors import ModelError


def check_given(
    edges: ArrayLike | None,
    density: ArrayLike | None,
    triangles: ArrayLike | None,
    stress: ArrayLike | None,
    pressure: float | None,
) -> None:
    """Raise unless a net, a membrane or both are given completely."""
    if (edges is None) != (density is None):
        raise ModelError("form_finding: edges and density must be given together")
    if (triangles is None) != (stress is None):
        raise ModelError("form_finding: triangles and stress must be given together")
    if edges is None and triangles is None:
        raise ModelError("form_finding: give edges and density, or triangles and stress, or both")
    if pressure is None:
        return
    if triangles is None:
        raise ModelError("form_finding: pressure acts on triangles; give triangles and stress")
    if np.ndim(pressure) or callable(pressure):
        raise ModelError(f"form_finding: pressure must be one number [Pa], got {pressure!r}")


def check_goals(goals: Iterable[Energy]) -> tuple[Energy, ...]:
    """Return the goals as a tuple of energies."""
    if not isinstance(goals, Iterable):
        raise ModelError(f"form_finding: goals must be a list of energies, got {goals!r}")
    found = tuple(goals)
    for goal in found:
        if not isinstance(goal, Energy):
            raise ModelError(f"form_finding: goals must be a list of energies, got {goal!r} in it")
    return found


def check_accuracy(accuracy: float | None) -> float | None:
    """Return an accuracy [m], positive, or None."""
    if accuracy is None:
        return None
    try:
        value = float(accuracy)
    except (TypeError, ValueError) as error:
        raise ModelError(
            f"form_finding: accuracy must be a number [m], got {accuracy!r}"
        ) from error
    if not value > 0.0:
        raise ModelError(f"form_finding: accuracy must be positive, got {value:g} m")
    return value


def check_elements(value: ArrayLike, width: int, name: str) -> Int:
    """Return rows of particle indices, (m, width)."""
    required = f"form_finding: {name} must be rows of {width} particle indices, at least one"
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise ModelError(f"{required}, got {value!r}") from error
    is_table = array.ndim == 2 and array.shape[1] == width and len(array) > 0
    if not is_table or not np.issubdtype(array.dtype, np.integer):
        raise ModelError(f"{required}, got {array.dtype} of shape {array.shape}")
    return array.astype(np.int64)


def check_loads(value: ArrayLike) -> Float:
    """Return forces [N], (n, 3), or (3,) for every point."""
    required = "form_finding: loads must be forces [N], shape (n, 3), or (3,) for every point"
    try:
        array = to_floats(value)
    except (TypeError, ValueError) as error:
        raise ModelError(f"{required}, got {value!r}") from error
    if array.ndim not in (1, 2) or array.shape[-1] != 3:
        raise ModelError(f"{required}, got {describe(value)}")
    return array


def check_density(value: ArrayLike | None) -> Float:
    """Return force densities [N/m], none of them zero."""
    array = _to_numbers(value, "density")
    _reject_flagged(
        "density",
        "edge",
        array,
        np.isnan(array) | (array == 0.0),
        "positive, or negative for a strut",
    )
    return array


def check_stress(value: ArrayLike | None) -> Float:
    """Return membrane stresses [N/m], all of them positive."""
    array = _to_numbers(value, "stress")
    _reject_flagged("stress", "triangle", array, ~(array > 0.0), "positive, a tension")
    return array


def _to_numbers(value: ArrayLike | None, name: str) -> Float:
    try:
        return to_floats(value)
    except (TypeError, ValueError) as error:
        raise ModelError(f"form_finding: {name} must be numbers, got {value!r}") from error


def _reject_flagged(name: str, element: str, array: Float, flags: Any, required: str) -> None:
    bad = np.flatnonzero(flags)
    if len(bad):
        where = f" of {element} {bad[0]}" if array.ndim else ""
        raise ModelError(
            f"form_finding: the {name}{where} must be {required}, got {array.flat[bad[0]]:g} N/m"
        )
