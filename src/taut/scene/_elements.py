"""The keys `on` and `where`: elements and points of a mesh by words, selections or indices."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from pydantic import PlainValidator, WithJsonSchema

from taut.arrays import Int
from taut.errors import SceneError, did_you_mean
from taut.mesh.kinds import find_kind
from taut.mesh.mesh import Mesh
from taut.mesh.selection.select import EmptySelection
from taut.scene._limits import MAX_ENTRIES, MAX_PARTICLES, MAX_ROW, MAX_TEXT, show_value
from taut.scene.expression import check_expression

_MESH_ATTRIBUTES = (
    "edges",
    "diagonals",
    "body_diagonals",
    "skips",
    "triangles",
    "hinges",
    "rod_hinges",
    "boundary_edges",
    "corner_tets",
)


class MissingElements(SceneError):
    """The mesh has none of the elements that a law names; a law of all bodies skips such a body."""


def _is_index(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < MAX_PARTICLES


def _is_row(value: Any) -> bool:
    return isinstance(value, list) and 0 < len(value) <= MAX_ROW and all(map(_is_index, value))


def _is_list_of(value: Any, is_entry: Any) -> bool:
    return isinstance(value, list) and len(value) <= MAX_ENTRIES and all(map(is_entry, value))


def _check_selection(value: Any) -> Any:
    if isinstance(value, str):
        return check_expression(value)
    if _is_list_of(value, _is_index):
        return value
    raise ValueError(
        "a selection must be a string such as 'y > 0.9*max' or a list of point indices, "
        f"got {show_value(value)}"
    )


def _check_elements(value: Any) -> Any:
    if isinstance(value, str) and len(value) <= MAX_TEXT:
        return value
    if _is_list_of(value, _is_row):
        return value
    raise ValueError(
        "elements must be a word such as 'edges', or a list of lists of point indices such as "
        f"[[0, 1], [1, 2]], got {show_value(value)}"
    )


def _check_cells(value: Any) -> Any:
    if _is_list_of(value, _is_row) and len({len(row) for row in value}) == 1:
        return value
    raise ValueError(
        "cells must be lists of point indices, all of the same length, such as [[0, 1], [1, 2]], "
        f"got {show_value(value)}"
    )


_STRING = {"type": "string"}
_INDICES = {"type": "array", "items": {"type": "integer", "minimum": 0}}
_ROWS = {"type": "array", "items": _INDICES}

Selection = Annotated[
    Any, PlainValidator(_check_selection), WithJsonSchema({"anyOf": [_STRING, _INDICES]})
]
Elements = Annotated[
    Any, PlainValidator(_check_elements), WithJsonSchema({"anyOf": [_STRING, _ROWS]})
]
Cells = Annotated[Any, PlainValidator(_check_cells), WithJsonSchema(_ROWS)]


def select_points(mesh: Mesh, where: Any) -> Int:
    """Return the indices of the points in a selection; raise SceneError if there are none."""
    points = mesh.select(where)
    if not len(points):
        raise SceneError(["the selection contains no points"])
    return points


def find_elements(on: Any, where: Any, mesh: Mesh, springs: Int | None) -> Int | None:
    """Return the elements that `on` names within the selection `where`, shape (m, s).

    None means all points: neither key is given.

    springs : point indices of the springs of the material, shape (m, 2), or None

    >>> import taut
    >>> find_elements("edges", "x < 0.6", taut.mesh.rope(4), None).tolist()
    [[0, 1], [1, 2]]
    """
    if on is None and where is None:
        return None
    elements = _name_elements(on, mesh, springs)
    outside = elements[(elements < 0) | (elements >= mesh.n)]
    if len(outside):
        raise SceneError(
            [f"point indices must be from 0 to {mesh.n - 1}, got {outside[0]} in an element"]
        )
    if where is None:
        return elements
    try:
        points = mesh.select(where)
    except EmptySelection as error:
        raise MissingElements([error.message]) from None
    is_selected = np.zeros(mesh.n, bool)
    is_selected[points] = True
    elements = elements[is_selected[elements].all(axis=1)]
    if not len(elements):
        raise MissingElements(["no element has all of its points in the selection"])
    return elements


def _name_elements(on: Any, mesh: Mesh, springs: Int | None) -> Int:
    """Return the elements for a value of `on`, shape (m, s)."""
    if on in (None, "points"):
        return np.arange(mesh.n)[:, None]
    if not isinstance(on, str):
        if len({len(row) for row in on}) != 1:
            raise SceneError(["all elements must have the same number of points"])
        return np.array(on, dtype=np.int64)
    if on == "springs":
        if springs is None:
            raise MissingElements(["'springs' are those of the material; this body has none"])
        return springs
    if on == "boundary_triangles":
        return _boundary_triangles(mesh)
    is_kind = find_kind(on) is not None
    if is_kind and on in mesh.cells:
        return mesh.cells[on]
    if on not in _MESH_ATTRIBUTES:
        words = ("points", *_MESH_ATTRIBUTES, "boundary_triangles", "springs", *mesh.cells)
        hint = f"{did_you_mean(on[:60], words)}; known are {', '.join(words)}"
        if is_kind:
            raise MissingElements([f"the mesh has no cells of the kind '{on}'{hint}"])
        raise SceneError([f"unknown elements '{on[:60]}'{hint}"])
    elements: Int = getattr(mesh, on)
    if not len(elements):
        raise MissingElements([f"the mesh has no {on}"])
    return elements


def _boundary_triangles(mesh: Mesh) -> Int:
    """Return the triangles on the boundary of the solid cells, facing outwards, shape (m, 3)."""
    faces = mesh.boundary_faces
    if not faces:
        raise MissingElements(["'boundary_triangles' are those of solids; the mesh has none"])
    return Mesh(mesh.positions, faces).triangles
