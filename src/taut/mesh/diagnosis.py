"""What is unusual about a mesh: holes, seams, duplicates, branches, loose parts. Counts only."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from taut.arrays import Int, Mask
from taut.mesh.kinds import sort_key
from taut.mesh.measure import DEGENERATE_TOLERANCE
from taut.mesh.mesh import Mesh
from taut.mesh.topology import edge_balance


@dataclass(frozen=True)
class Diagnosis:
    """Counts of what is unusual about a mesh; all zero for a clean one, with `parts` 1.

    parts : connected parts of the cells; largest : cells of the largest part
    coincident : points at the position of another point
    unused : points that belong to no cell of the highest dimension
    degenerate : cells of that dimension without length, area or volume
    inverted : solids of negative volume
    open_edges : edges of one face only; branching_edges : edges of three faces or more
    duplicate_faces : faces with the same corners as another face
    disagreeing_edges : edges of two faces that do not face the same way

    The last four are those of meshes of faces.
    """

    parts: int = 1
    largest: int = 0
    coincident: int = 0
    unused: int = 0
    degenerate: int = 0
    inverted: int = 0
    open_edges: int = 0
    branching_edges: int = 0
    duplicate_faces: int = 0
    disagreeing_edges: int = 0

    def __str__(self) -> str:
        counts = {
            "parts": self.parts,
            "coincident points": self.coincident,
            "unused points": self.unused,
            "degenerate cells": self.degenerate,
            "inverted cells": self.inverted,
            "open edges": self.open_edges,
            "branching edges": self.branching_edges,
            "duplicate faces": self.duplicate_faces,
            "disagreeing edges": self.disagreeing_edges,
        }
        return ", ".join(f"{count} {what}" for what, count in counts.items() if count)

    @property
    def closed(self) -> bool:
        """Whether the faces enclose a volume: no hole, no branch, no disagreement."""
        return not (self.open_edges or self.branching_edges or self.disagreeing_edges)


def diagnose(mesh: Mesh) -> Diagnosis:
    """Count what is unusual about the cells of the highest dimension of a mesh.

    >>> from taut.mesh.shapes.surfaces import sheet
    >>> found = diagnose(sheet(2, 2))
    >>> found.open_edges, found.parts, found.closed
    (8, 1, False)
    """
    dimension = next((d for d in (3, 2, 1) if mesh.blocks(d)), 0)
    blocks = mesh.blocks(dimension)
    is_used = find_used_points(mesh, dimension)
    labels = [mesh.components[cells[:, 0]] for _, cells in blocks]
    count = np.bincount(np.concatenate(labels)) if labels else np.zeros(1, np.int64)
    degenerate = inverted = 0
    for kind, cells in blocks:
        degenerate += int(find_degenerate(mesh, kind.name, cells).sum())
        if dimension == 3:
            inverted += int((mesh.measure(kind.name) < 0).sum())
    found = {
        "parts": int((count > 0).sum()),
        "largest": int(count.max()),
        "coincident": int(is_used.sum()) - len(np.unique(mesh.positions[is_used], axis=0)),
        "unused": int((~is_used).sum()),
        "degenerate": degenerate,
        "inverted": inverted,
    }
    if dimension == 2:
        found |= _diagnose_faces(mesh)
    return Diagnosis(**found)


def _diagnose_faces(mesh: Mesh) -> dict[str, int]:
    triangles = mesh.triangles
    _, faces, balance = edge_balance(triangles, mesh.n)
    corners = np.sort(triangles, axis=1)
    return {
        "open_edges": int((faces == 1).sum()),
        "branching_edges": int((faces > 2).sum()),
        "duplicate_faces": len(corners) - len(np.unique(corners, axis=0)),
        "disagreeing_edges": int(((faces == 2) & (balance != 0)).sum()),
    }


def find_used_points(mesh: Mesh, dimension: int) -> Mask:
    """Return which points belong to a cell of this dimension, shape (n,)."""
    is_used = np.zeros(mesh.n, dtype=bool)
    for _, cells in mesh.blocks(dimension):
        is_used[cells] = True
    return is_used


def find_degenerate(mesh: Mesh, name: str, cells: Int) -> Mask:
    """Return which cells have a negligible measure for their size."""
    p = mesh.positions[cells]
    side = np.linalg.norm(p - p[:, :1], axis=2).max(axis=1)
    return np.abs(mesh.measure(name)) <= DEGENERATE_TOLERANCE * side ** sort_key(name)[0]
