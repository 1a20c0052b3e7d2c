"""The elements of a mesh by their words: edges, hinges, triangles, cells of a kind…"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from taut.errors import SceneError, did_you_mean
from taut.mesh.kinds import kind
from taut.mesh.mesh import Mesh
from taut.mesh.selection.select import EmptySelection

Int = NDArray[np.int64]
WORDS = ("edges", "diagonals", "body_diagonals", "skips", "triangles", "hinges", "rod_hinges", "boundary_edges")


class NoElements(SceneError):
    """A mesh that has none of the elements that a law is for."""


def _selected(mesh: Mesh, where: Any) -> Int:
    try:
        return mesh.select(where)
    except EmptySelection as error:
        raise NoElements([error.message]) from None


def elements_of(on: Any, where: Any, mesh: Mesh, springs: Int | None) -> Int | None:
    """Point numbers (m, s) of what `on` names, within the selection `where`; None for every point.

    >>> import taut
    >>> elements_of("edges", "x < 0.6", taut.mesh.rope(4), None).tolist()
    [[0, 1], [1, 2]]
    """
    if on is None and where is None:
        return None
    found = np.arange(mesh.n)[:, None] if on in (None, "points") else _named(on, mesh, springs)
    outside = found[(found < 0) | (found >= mesh.n)]
    if len(outside):
        raise SceneError([f"an element names point {outside[0]}; the body has {mesh.n} (0 to {mesh.n - 1})"])
    if where is not None:
        inside = np.zeros(mesh.n, bool)
        inside[_selected(mesh, where)] = True
        found = found[inside[found].all(axis=1)]
        if not len(found):
            raise NoElements(["no element has all its points in the selection"])
    return found


def _named(on: Any, mesh: Mesh, springs: Int | None) -> Int:
    if not isinstance(on, str):
        if len({len(row) for row in on}) != 1:
            raise SceneError(["elements have the same number of points each, and there is at least one"])
        return np.array(on, dtype=np.int64)
    if on == "springs":
        if springs is None:
            raise NoElements(["'springs' are those of the material, and the body has none"])
        return springs
    if on == "boundary_triangles":
        return surface_triangles(mesh)
    known = kind(on)
    if known is not None and on in mesh.cells:
        return mesh.cells[on]
    if on not in WORDS:
        words = ("points", *WORDS, "boundary_triangles", "springs", *mesh.cells)
        why = f"the mesh has no cells of the kind '{on}'" if known is not None else f"there are no elements '{on[:60]}'"
        kind_of_error = SceneError if known is None else NoElements
        raise kind_of_error([f"{why}{did_you_mean(on[:60], words)}; there are {', '.join(words)}"])
    found: Int = getattr(mesh, on)
    if not len(found):
        raise NoElements([f"the mesh has no {on}"])
    return found


def surface_triangles(mesh: Mesh) -> Int:
    """The triangles of the boundary of the solids, facing outwards, in the numbers of the whole mesh."""
    faces = mesh.boundary_faces
    if not faces:
        raise NoElements(["boundary_triangles are those of solids, and the mesh has none"])
    return Mesh(mesh.positions, faces).triangles
