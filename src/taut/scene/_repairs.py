"""What is done to a mesh file before it becomes a scene, and what is reported about it.

Repairs without which no springs could be made, or without which a mesh falls apart along its seams,
are made by default; the user asks for others. Each is a key of the scene's mesh table and has a
note, and so has what is unusual about the mesh and changes nothing, such as holes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from taut.collision.intersections import find_intersections
from taut.errors import SceneError
from taut.mesh import clean
from taut.mesh.diagnosis import Diagnosis, diagnose
from taut.mesh.mesh import Mesh

# Part of the points that coincide with others from which on they are seams, and are welded. A few
# are places where parts touch, which must not become hinges.
_MIN_SEAM = 0.01
_MAX_TESTED_FACES = 60_000  # for self-intersections, which then take about a second
_MIN_SIZE, _MAX_SIZE = 5e-3, 20.0  # [m] between which a size is plausible
_MILLIMETRES = 500.0  # [m]: a larger file is taken for one in millimetres, a smaller in centimetres
FILL_CELLS = 30  # spacings along the diagonal where none is given, as in `taut.mesh.fill`


@dataclass(frozen=True)
class Wishes:
    """What the user asks for: see `of_mesh`."""

    weld: float | None = None
    clean: bool = False
    largest: bool = False
    fill: float | Literal["auto"] | None = None
    loose: bool = False


def choose_repairs(
    mesh: Mesh, wishes: Wishes, notes: list[str]
) -> tuple[Mesh, Diagnosis, dict[str, Any]]:
    """Return the cleaned mesh, what is unusual about it, and keys of the mesh table; add notes."""
    found = diagnose(mesh)
    cleaning = _choose_cleaning(mesh, found, wishes, notes)
    table: dict[str, Any] = {}
    if cleaning:
        table["clean"] = cleaning
        mesh = clean(mesh, **cleaning).mesh
        found = diagnose(mesh)
    if wishes.fill is not None:
        table |= _choose_filling(mesh, found, wishes.fill, notes)
        return mesh, found, table
    if _has_concave_quads(mesh):
        table["triangulate"] = True
        notes.append("some quads are not convex: all faces are cut into triangles")
    notes += _describe(mesh, found)
    return mesh, found, table


def _choose_cleaning(
    mesh: Mesh, found: Diagnosis, wishes: Wishes, notes: list[str]
) -> dict[str, Any]:
    """Return the table `clean`."""
    cleaning: dict[str, Any] = {}
    if wishes.weld is not None:
        cleaning["weld"] = float(wishes.weld)
        notes.append(f"points within {wishes.weld:g} m of each other are welded")
    elif wishes.clean and found.coincident:
        cleaning["weld"] = 0.0
        notes.append(f"{found.coincident} points that coincide with others are welded")
    elif found.coincident > _MIN_SEAM * mesh.n:
        cleaning["weld"] = 0.0
        notes.append(
            f"{found.coincident} points coincide with others, as along seams: they are welded"
        )
    if found.degenerate or wishes.clean or "weld" in cleaning:
        cleaning["degenerate"] = True
        if found.degenerate:
            notes.append(f"{found.degenerate} cells have no extent: they are left out")
    if found.inverted:
        cleaning["inverted"] = True
        notes.append(f"{found.inverted} solid cells are inside out in the file: they are reversed")
    if wishes.largest:
        cleaning["largest"] = True
        if found.parts > 1:
            notes.append(f"the largest of {found.parts} parts is kept, with {found.largest} cells")
    elif found.unused or cleaning.get("degenerate"):
        cleaning["unused"] = True
        if found.unused:
            notes.append(f"{found.unused} points belong to no cell: they are left out")
    return cleaning


def _choose_filling(
    mesh: Mesh, found: Diagnosis, fill: float | Literal["auto"], notes: list[str]
) -> dict[str, Any]:
    """Return the keys with which a surface is filled with tetrahedra."""
    if not mesh.blocks(2) or mesh.blocks(3):
        raise SceneError(["--fill needs a surface of faces, and no solid cells"])
    holes = found.open_edges or found.branching_edges
    if holes:
        raise SceneError(
            [
                f"--fill needs a closed surface, but {holes} edges belong to one face or to more "
                "than two; --weld DISTANCE closes seams, --largest leaves open parts out, and "
                "without --fill the mesh is a shell"
            ]
        )
    table: dict[str, Any] = {}
    if found.disagreeing_edges:
        table["orient"] = True
        notes.append("faces are turned so that neighbours agree")
    spacing = float(np.linalg.norm(np.ptp(mesh.positions, axis=0))) / FILL_CELLS
    if fill != "auto":
        spacing = float(fill)
    table["fill"] = {"spacing": spacing}
    notes.append(f"the surface is filled with tetrahedra of edges up to {spacing:.3g} m")
    return table


def _has_concave_quads(mesh: Mesh) -> bool:
    # A corner is re-entrant where its normal is opposed to that of the quad (cross of diagonals).
    x = mesh.positions[np.asarray(mesh.cells.get("quad", np.empty((0, 4))), dtype=np.int64)]
    edges = np.roll(x, -1, axis=1) - x
    corner_normals = np.cross(np.roll(edges, 1, axis=1), edges)
    normals = np.cross(x[:, 2] - x[:, 0], x[:, 3] - x[:, 1])
    return bool(((corner_normals * normals[:, None]).sum(axis=2) <= 0.0).any())


def _describe(mesh: Mesh, found: Diagnosis) -> list[str]:
    """Return notes about what changes nothing and may surprise."""
    notes = []
    if found.open_edges:
        notes.append(
            f"the surface is open, with {found.open_edges} edges of one face only: it is a shell "
            "with holes, and cannot be filled"
        )
    elif mesh.blocks(2) and not mesh.blocks(3) and found.closed:
        notes.append("the surface is closed: it is a hollow shell; --fill auto makes it a solid")
    if found.branching_edges:
        notes.append(
            f"{found.branching_edges} edges belong to three faces or more: they are joints, "
            "stiffer than the sheet around them"
        )
    if found.duplicate_faces:
        notes.append(f"{found.duplicate_faces} faces are there twice, and count twice")
    if mesh.blocks(2) and not mesh.blocks(3):
        if len(mesh.triangles) > _MAX_TESTED_FACES:
            notes.append("whether the surface intersects itself was not tested: it has many faces")
        else:
            crossings = find_intersections(mesh.positions, mesh.edges, mesh.triangles)
            if len(crossings):
                faces = len(np.unique(crossings[:, 1]))
                notes.append(
                    f"the surface intersects itself at {faces} faces: nothing stops it from "
                    "passing through itself further; contact would be refused"
                )
    return notes


def describe_size(size: float, scale: float) -> list[str]:
    """Return a note if a size [m] is implausible, so that the file may have another unit.

    >>> describe_size(1020.0, 1.0)
    ['1.02e+03 m is an unusual size: if the file is in millimetres, --scale 0.001 makes it 1.02 m']
    """
    if _MIN_SIZE <= size <= _MAX_SIZE:
        return []
    if size < _MIN_SIZE:
        factor, unit = 1000.0, "kilometres"
    elif size < _MILLIMETRES:
        factor, unit = 0.01, "centimetres"
    else:
        factor, unit = 0.001, "millimetres"
    return [
        f"{size:.3g} m is an unusual size: if the file is in {unit}, --scale {scale * factor:g} "
        f"makes it {size * factor:.3g} m"
    ]
