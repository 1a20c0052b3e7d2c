"""Cleaning on request, with counts of what was changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from taut.arrays import Int, Mask
from taut.errors import MeshError
from taut.mesh.diagnosis import find_degenerate
from taut.mesh.mesh import Mesh
from taut.mesh.orient import flip_cells
from taut.mesh.parts import UV

# A welding distance with more neighbours than this, on average, is taken for a mistake: the whole
# mesh would collapse into a few points.
MAX_MEAN_NEIGHBOURS = 100


@dataclass(frozen=True, eq=False)
class Cleaned:
    """The result of `clean`: the mesh, the new number of each point, and counts of changes."""

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
        return (
            ", ".join(f"{count} {what}" for what, count in counts.items() if count)
            or "nothing to clean"
        )


def clean(
    mesh: Mesh,
    *,
    weld: float | None = None,
    degenerate: bool = False,
    inverted: bool = False,
    largest: bool = False,
    unused: bool = False,
) -> Cleaned:
    """Clean a mesh: each option in the order below. Only what is requested is changed.

    weld : merge points within this distance [m] of each other (0: coincident ones); each cluster
        keeps the position and data of its first point
    degenerate : drop cells without length, area or volume; a quad with a repeated corner that still
        has an area is kept
    inverted : reverse solids with negative volume
    largest : keep only the connected component with the most cells; drops unused points too
    unused : drop points that belong to no cell

    Groups, data and texture coordinates are carried along.

    >>> points = [[0, 0], [1, 0], [0, 1], [1, 0], [1, 1], [0, 1]]
    >>> soup = Mesh(points, {"triangle": [[0, 1, 2], [3, 4, 5]]})
    >>> done = clean(soup, weld=1e-9)
    >>> print(done)
    2 welded points
    >>> done.mesh, done.old_to_new.tolist()
    (Mesh(4 points in the plane, 2 triangle), [0, 1, 2, 1, 3, 2])
    """
    counts = {}
    new = np.arange(mesh.n)
    if weld is not None:
        new = _merge_close_points(mesh, weld)
        mesh, counts["welded"] = _renumber(mesh, new), int(mesh.n - (new.max(initial=-1) + 1))
    if degenerate:
        keep = {k.name: ~find_degenerate(mesh, k.name, c) for k, c in mesh.blocks()}
        counts["degenerate"] = sum(int((~k).sum()) for k in keep.values())
        mesh = _keep_cells(mesh, keep)
    if inverted:
        flips = {k.name: mesh.measure(k.name) < 0 for k, _ in mesh.blocks(3)}
        counts["inverted"] = sum(int(f.sum()) for f in flips.values())
        mesh = flip_cells(mesh, flips)
    if largest and mesh.cells:
        of_cell = {name: mesh.components[c[:, 0]] for name, c in mesh.cells.items()}
        cells = np.bincount(np.concatenate(list(of_cell.values())))
        counts["components"] = int((cells > 0).sum()) - 1
        mesh = _keep_cells(mesh, {name: of == cells.argmax() for name, of in of_cell.items()})
    if largest or unused:
        used = np.zeros(mesh.n, bool)
        for c in mesh.cells.values():
            used[c] = True
        order = np.where(used, np.cumsum(used) - 1, -1)
        counts["unused"] = int((~used).sum())
        mesh, new = _renumber(mesh, order), np.where(new >= 0, order[new], -1)
    return Cleaned(mesh, new, **counts)


def _merge_close_points(mesh: Mesh, distance: float) -> Int:
    """Return the new number of each point when points within the distance merge.

    Clusters are numbered in the order of their first points.
    """
    if (
        isinstance(distance, bool)
        or not isinstance(distance, (int, float, np.number))
        or not 0 <= distance < np.inf
    ):
        raise MeshError(f"weld must be a distance [m], got {distance!r}")
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    # Adding 0.0 turns -0.0 into 0.0: the comparison below is of bytes.
    x = mesh.positions + 0.0
    _, first, same = np.unique(
        x.view(np.dtype((np.void, 24))).ravel(), return_index=True, return_inverse=True
    )
    same = same.ravel()
    if distance > 0:
        from scipy.spatial import cKDTree

        tree = cKDTree(x[first])
        near = tree.count_neighbors(tree, distance) / max(len(first), 1)
        if near > MAX_MEAN_NEIGHBOURS:
            raise MeshError(
                f"weld = {distance:g} m is too large: {near:.0f} neighbours per point on average"
            )
        pairs = tree.query_pairs(distance, output_type="ndarray")
        graph = coo_array(
            (np.ones(len(pairs), np.int8), (pairs[:, 0], pairs[:, 1])),
            shape=(len(first), len(first)),
        )
        same = connected_components(graph, directed=False)[1].astype(np.int64)[same]
    _, lead, label = np.unique(same, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(lead))[label]


def _renumber(mesh: Mesh, new: Int) -> Mesh:
    """Renumber the points; of several that become one, the first gives position and data."""
    kept = np.flatnonzero(new >= 0)
    _, first = np.unique(new[kept], return_index=True)
    old = kept[first]
    groups = {
        name: by_kind
        | ({"point": _find_surviving_points(new[by_kind["point"]])} if "point" in by_kind else {})
        for name, by_kind in mesh.groups.items()
    }
    return mesh.with_(
        points=mesh.points[old],
        cells={name: new[c] for name, c in mesh.cells.items()},
        groups=groups,
        point_data={name: values[old] for name, values in mesh.point_data.items()},
    )


def _find_surviving_points(new: Int) -> Int:
    return np.unique(new[new >= 0])


def _keep_cells(mesh: Mesh, keep: dict[str, Mask]) -> Mesh:
    """Keep only the marked cells (masks by kind)."""

    def of(blocks: dict[str, Any]) -> dict[str, Any]:
        return {name: values[keep[name]] for name, values in blocks.items() if keep[name].any()}

    groups = {
        name: {
            what: m if what == "point" else (np.cumsum(keep[what]) - 1)[m[keep[what][m]]]
            for what, m in by_kind.items()
        }
        for name, by_kind in mesh.groups.items()
    }
    return mesh.with_(
        cells=of(mesh.cells),
        groups=groups,
        cell_data={name: of(by_kind) for name, by_kind in mesh.cell_data.items()},
        uv=None if mesh.uv is None else UV(mesh.uv.coordinates, of(mesh.uv.corners)),
    )
