"""Numbers, directions and springs, checked: each error names the keyword."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from taut.errors import ModelError
from taut.mesh.mesh import Mesh

Float = NDArray[np.float64]
Int = NDArray[np.int64]


def a_mesh(value: Any) -> Mesh:
    """A mesh, and nothing else."""
    if not isinstance(value, Mesh):
        raise ModelError(f"a mesh is a taut.mesh.Mesh, not {type(value).__name__}")
    return value


def positive(value: Any, name: str, unit: str) -> float:
    """A positive, finite number."""
    number = _number(value)
    if not np.finfo(np.float64).tiny <= number < np.inf:
        raise ModelError(f"{name} is a positive number [{unit}], not {value!r}")
    return number


def _number(value: Any) -> float:
    """A real number; nan if it is none."""
    if isinstance(value, np.ndarray) and value.shape == ():
        value = value[()]
    if isinstance(value, bool) or not isinstance(value, (int, float, np.floating, np.integer)):
        return float("nan")
    try:
        return float(value)
    except OverflowError:
        return float("inf")


def one_or_two(value: Any, name: str, unit: str) -> tuple[float, ...]:
    """One positive number, or two: along the warp and along the weft."""
    if not isinstance(value, (list, tuple, np.ndarray)) or (isinstance(value, np.ndarray) and value.shape == ()):
        return (positive(value, name, unit),)
    if len(value) != 2:
        raise ModelError(f"{name} is one number [{unit}] or two, for warp and weft, not {value!r}")
    return tuple(positive(v, name, unit) for v in value)


def poisson_ratio(value: Any, d: int) -> float | None:
    """A Poisson ratio that a stable material can have: below 1 in a sheet, below ½ in a solid."""
    if value is None:
        return None
    most, what = (1.0, "sheet") if d == 2 else (0.5, "solid")
    number = _number(value)
    if not -1 < number < most:
        raise ModelError(f"poisson is a ratio between -1 and {most:g} in a {what}, not {value!r}")
    return number


def vector(value: Any, name: str) -> Float:
    """A direction in space as a unit vector; one of two components lies in the plane."""
    try:
        found = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        found = np.zeros(3)
    if found.shape == (2,):
        found = np.append(found, 0.0)
    size = np.linalg.norm(found) if found.shape == (3,) else 0.0
    if not 0 < size < np.inf:
        raise ModelError(f"{name} is a direction, a vector of three numbers that are not all zero, not {value!r}")
    return np.asarray(found / size, dtype=np.float64)


def pairs_of(value: Any, mesh: Mesh) -> Int:
    """Pairs of points of a mesh, shape (m, 2), that are not in one place."""
    found = np.asarray(value)
    if found.ndim != 2 or found.shape[1] != 2 or not len(found) or not np.issubdtype(found.dtype, np.integer):
        raise ModelError(f"pairs are whole numbers of shape (m, 2), m at least 1, not {found.dtype} of shape {found.shape}")
    wrong = np.flatnonzero(((found < 0) | (found >= mesh.n)).any(axis=1))
    if len(wrong):
        raise ModelError(f"pair {wrong[0]} joins {found[wrong[0]].tolist()}: the mesh has the points 0 to {mesh.n - 1}")
    apart = mesh.positions[found[:, 1]] - mesh.positions[found[:, 0]]
    same = np.flatnonzero((apart == 0).all(axis=1))
    if len(same):
        raise ModelError(f"pair {same[0]} joins {found[same[0]].tolist()}, which are in one place: the spring has no direction")
    return found.astype(np.int64)


def stiffnesses(value: Any, many: int) -> Float:
    """Stiffnesses that are not negative, shape (m,), from one or m."""
    try:
        found = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise ModelError(f"k is a number [N/m] or {many} of them, not {value!r}") from None
    if found.shape not in ((), (many,)):
        raise ModelError(f"k has shape {found.shape}; give one value or one for each of the {many} pairs")
    wrong = np.flatnonzero(~((found >= 0) & (found < np.inf)).ravel())
    if len(wrong):
        raise ModelError(f"k of spring {wrong[0]} is {found.ravel()[wrong[0]]}: a stiffness is a finite number, 0 or more [N/m]")
    return np.broadcast_to(found, many)
