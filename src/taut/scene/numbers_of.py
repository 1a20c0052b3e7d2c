"""Parameters of a scene made into what a law takes: numbers, arrays of one value per element, or functions of time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taut.constraints.paths import timed
from taut.errors import SceneError
from taut.mesh.mesh import Mesh
from taut.scene.folder import Folder
from taut.scene.maps import Map
from taut.scene.table_files import table, timeline

Float = NDArray[np.float64]
Int = NDArray[np.int64]


def parameter_of(value: Any, mesh: Mesh, elements: Int, folder: Folder, *, vector: bool) -> Any:
    """The value of a parameter on elements (m, s).

    vector : whether the law takes three components for all elements alike, so that a list of three is one vector
    """
    if isinstance(value, str):
        return _mapped(Map(value, mesh), elements)
    if isinstance(value, dict):
        return _tabled(value, elements, folder, mesh)
    if isinstance(value, list) and any(isinstance(entry, str) for entry in value):
        if not vector:
            raise SceneError(["a list of expressions is for a vector; this parameter has one value for each element"])
        return _stacked([parameter_of(entry, mesh, elements, folder, vector=False) for entry in value], len(elements))
    if isinstance(value, list) and len({len(v) if isinstance(v, list) else 0 for v in value}) > 1:
        raise SceneError(["the rows of the list have different lengths"])
    return value


def points_of(value: Any, mesh: Mesh, folder: Folder) -> Float:
    """The value of a parameter at each point of a mesh, shape (n,)."""
    found = parameter_of(value, mesh, np.arange(mesh.n)[:, None], folder, vector=False)
    if callable(found):
        raise SceneError(["it does not depend on time"])
    array = np.asarray(found, dtype=np.float64)
    if array.shape not in ((), (mesh.n,)):
        raise SceneError([f"it has the shape {array.shape} for {mesh.n} points"])
    return np.broadcast_to(array, mesh.n).copy()


def _on(values: Float, elements: Int) -> Float:
    """Per-vertex values (n,) as means over the particles of each element (m,)."""
    return values if values.ndim == 0 else values[elements].mean(axis=1)


def _mapped(expression: Map, elements: Int) -> Any:
    if not expression.timed:
        return _on(expression.at(0.0), elements)
    return lambda t: _on(expression.at(t), elements)


def _tabled(value: dict[str, Any], elements: Int, folder: Folder, mesh: Mesh) -> Any:
    if "times" in value:
        return timed((value["times"], value["values"]), "a table over time", "values")
    name, per = value["file"], value["per"]
    rows = table(folder, name)
    if per == "time":
        times, values = timeline(rows, name)
        return timed((times, values[:, 0] if values.shape[1] == 1 else values), "a table over time", "values")
    count = mesh.n if per == "points" else len(elements)
    if len(rows) != count:
        raise SceneError([f"the file '{name}' has {len(rows)} rows; there are {count} {per}"])
    if per == "points":
        rows = rows[elements].mean(axis=1)
    return rows[:, 0] if rows.shape[1] == 1 else rows


def _stacked(components: list[Any], m: int) -> Any:
    """Components, some of them functions of time, as vectors (3,) or (m, 3) or a function that gives them."""

    def at(t: float) -> Float:
        found = [np.asarray(c(t) if callable(c) else c, dtype=np.float64) for c in components]
        wide = any(f.ndim for f in found)
        return np.stack([np.broadcast_to(f, m) for f in found], axis=1) if wide else np.array([float(f) for f in found])

    over: Callable[[float], Float] = at
    return over if any(callable(c) for c in components) else at(0.0)
