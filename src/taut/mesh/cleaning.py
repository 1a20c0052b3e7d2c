"""Cleaning, on request only, with an account of what was changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taut.errors import MeshError
from taut.mesh.kinds import rank
from taut.mesh.measure import FLAT
from taut.mesh.mesh import Mesh
from taut.mesh.orient import flipped
from taut.mesh.parts import UV

Int = NDArray[np.int64]
CROWD = 100  # neighbours of a point, on average, beyond which welding is a slip


@dataclass(frozen=True, eq=False)
class Cleaned:
    """What `clean` did: the mesh, what became of the points, and how much of what was changed."""

    mesh: Mesh
    old_to_new: Int  # shape (n before,): the new number of each point, -1 if it was dropped
    welded: int = 0  # points merged into others
    degenerate: int = 0  # cells dropped
    inverted: int = 0  # solids turned over
    components: int = 0  # connected components dropped
    unused: int = 0  # points of no cell dropped

    def __str__(self) -> str:
        counts = {
            "welded points": self.welded,
            "degenerate cells dropped": self.degenerate,
            "inverted cells flipped": self.inverted,
            "components dropped": self.components,
            "unused points dropped": self.unused,
        }
        return ", ".join(f"{count} {what}" for what, count in counts.items() if count) or "nothing to clean"


def clean(
    mesh: Mesh,
    *,
    weld: float | None = None,
    degenerate: bool = False,
    inverted: bool = False,
    largest: bool = False,
    unused: bool = False,
) -> Cleaned:
    """Do what is asked for, in this order, and say how much there was to do.

    weld : merge points that are this close [m] to another (0: that coincide); close points merge into their first one, whose data
        stay
    degenerate : drop cells without length, area or volume; a quad with a repeated corner that has area stays
    inverted : turn over solids with negative volume
    largest : keep only the connected component with the most cells
    unused : drop points of no cell

    Groups, data and texture coordinates follow. `largest` drops unused points too.

    >>> soup = Mesh([[0, 0], [1, 0], [0, 1], [1, 0], [1, 1], [0, 1]], {"triangle": [[0, 1, 2], [3, 4, 5]]})
    >>> done = clean(soup, weld=1e-9)
    >>> print(done)
    2 welded points
    >>> done.mesh, done.old_to_new.tolist()
    (Mesh(4 points in the plane, 2 triangle), [0, 1, 2, 1, 3, 2])
    """
    counts = {}
    new = np.arange(mesh.n)
    if weld is not None:
        new = _close(mesh, weld)
        mesh, counts["welded"] = _renumbered(mesh, new), int(mesh.n - (new.max(initial=-1) + 1))
    if degenerate:
        keep = {k.name: ~_degenerate(mesh, k.name, c) for k, c in mesh.blocks()}
        counts["degenerate"] = sum(int((~k).sum()) for k in keep.values())
        mesh = _kept(mesh, keep)
    if inverted:
        flips = {k.name: mesh.measure(k.name) < 0 for k, _ in mesh.blocks(3)}
        counts["inverted"] = sum(int(f.sum()) for f in flips.values())
        mesh = flipped(mesh, flips)
    if largest and mesh.cells:
        of_cell = {name: mesh.components[c[:, 0]] for name, c in mesh.cells.items()}
        cells = np.bincount(np.concatenate(list(of_cell.values())))
        counts["components"] = int((cells > 0).sum()) - 1
        mesh = _kept(mesh, {name: of == cells.argmax() for name, of in of_cell.items()})
    if largest or unused:
        used = np.zeros(mesh.n, bool)
        for c in mesh.cells.values():
            used[c] = True
        order = np.where(used, np.cumsum(used) - 1, -1)
        counts["unused"] = int((~used).sum())
        mesh, new = _renumbered(mesh, order), np.where(new >= 0, order[new], -1)
    return Cleaned(mesh, new, **counts)


def _close(mesh: Mesh, distance: float) -> Int:
    """The new number of each point when those within the distance are one, counted in the order of their first."""
    if isinstance(distance, bool) or not isinstance(distance, (int, float, np.number)) or not 0 <= distance < np.inf:
        raise MeshError(f"weld is a distance [m], not {distance!r}")
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    x = mesh.positions + 0.0  # -0.0 is 0.0
    _, first, same = np.unique(x.view(np.dtype((np.void, 24))).ravel(), return_index=True, return_inverse=True)
    same = same.ravel()
    if distance > 0:
        from scipy.spatial import cKDTree

        tree = cKDTree(x[first])
        near = tree.count_neighbors(tree, distance) / max(len(first), 1)
        if near > CROWD:
            raise MeshError(f"weld = {distance:g} m is too far: a point has {near:.0f} others within it on average")
        pairs = tree.query_pairs(distance, output_type="ndarray")
        graph = coo_array((np.ones(len(pairs), np.int8), (pairs[:, 0], pairs[:, 1])), shape=(len(first), len(first)))
        same = connected_components(graph, directed=False)[1].astype(np.int64)[same]
    _, lead, label = np.unique(same, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(lead))[label]


def _degenerate(mesh: Mesh, name: str, cells: Int) -> NDArray[np.bool_]:
    """Which cells have no measure to speak of beside their size."""
    p = mesh.positions[cells]
    side = np.linalg.norm(p - p[:, :1], axis=2).max(axis=1)
    return np.abs(mesh.measure(name)) <= FLAT * side ** rank(name)[0]


def _renumbered(mesh: Mesh, new: Int) -> Mesh:
    """The mesh with other numbers of points; several may become one, which then has the position and data of the first."""
    kept = np.flatnonzero(new >= 0)
    _, first = np.unique(new[kept], return_index=True)
    old = kept[first]
    groups = {
        name: by_kind | ({"point": _numbers(new[by_kind["point"]])} if "point" in by_kind else {})
        for name, by_kind in mesh.groups.items()
    }
    return mesh.with_(
        points=mesh.points[old],
        cells={name: new[c] for name, c in mesh.cells.items()},
        groups=groups,
        point_data={name: values[old] for name, values in mesh.point_data.items()},
    )


def _numbers(new: Int) -> Int:
    return np.unique(new[new >= 0])


def _kept(mesh: Mesh, keep: dict[str, NDArray[np.bool_]]) -> Mesh:
    """The mesh with the marked cells only (masks by kind)."""

    def of(blocks: dict[str, Any]) -> dict[str, Any]:
        return {name: values[keep[name]] for name, values in blocks.items() if keep[name].any()}

    groups = {
        name: {what: m if what == "point" else (np.cumsum(keep[what]) - 1)[m[keep[what][m]]] for what, m in by_kind.items()}
        for name, by_kind in mesh.groups.items()
    }
    return mesh.with_(
        cells=of(mesh.cells),
        groups=groups,
        cell_data={name: of(by_kind) for name, by_kind in mesh.cell_data.items()},
        uv=None if mesh.uv is None else UV(mesh.uv.coordinates, of(mesh.uv.corners)),
    )
