"""Pressure on a membrane held at its rim, V = -p v, v the volume that it has swept."""

from typing import Any

import numpy as np

from taut.arrays import Float, Int, Mask
from taut.binding.decorators import energy
from taut.formula import cross, dot, total
from taut.laws._geometry import area_ratio
from taut.mesh.topology import edge_balance

_SAME_PLACE = 1e-9  # of the size of the membrane: how far a rim particle may be from its reference


def _corners(x: Any) -> list[Any]:
    """The nine coordinates [m] of the corners of a triangle."""
    return [x[i][axis] for i in range(3) for axis in range(3)]


def _check_orientation(triangles: Int) -> str | None:
    """Return why triangles are no oriented surface, or None if they are one."""
    if triangles.shape[1] != 3:
        return (
            "elements must be triangles (see Mesh.triangles), "
            f"got {triangles.shape[1]} particles each"
        )
    edges, faces, balance = edge_balance(triangles, int(triangles.max(initial=-1)) + 1)
    wrong = (faces > 1) & (balance != 0)
    if wrong.any():
        example = edges[wrong][0].tolist()
        return f"{wrong.sum()} edges have the same direction in both triangles, such as {example}"
    return None


def _check_rim(elements: Int, parameters: Float, pose: Float, never_moves: Mask) -> str | None:
    """Return why the rim of a membrane is not held, or None if it is, or if there is no rim."""
    edges, faces, _ = edge_balance(elements, len(pose))
    rim = np.unique(edges[faces == 1])
    loose = rim[~never_moves[rim]]
    if len(loose):
        return (
            f"particle {loose[0]} of the rim is not fixed, and a pressure on a rim that moves has "
            "no energy; fix the rim for all time, or close the surface"
        )
    at_rim = np.isin(elements, rim)
    off = np.abs(parameters[:, -9:].reshape(-1, 3, 3) - pose[elements])[at_rim]
    extent = float(np.ptp(pose[elements].reshape(-1, 3), axis=0).max(initial=0.0))
    if (off > _SAME_PLACE * extent).any():
        particle = elements[at_rim][int(np.argmax(off.max(axis=1)))]
        return (
            f"particle {particle} of the rim starts elsewhere than at its reference; give points "
            "or `reference` with the rim where it is held"
        )
    return None


@energy(
    load=True,
    rest={"reference": _corners},
    proper={"has no area": area_ratio},
    check=_check_orientation,
    check_in_system=_check_rim,
)
def membrane_pressure(x, p, reference):
    """Pressure on a membrane held at its rim: V = -p v, v the volume swept since the rest shape.

    p : pressure difference [Pa], positive along the normals of the triangles: one number for all,
        or a function of time for inflating
    reference : corners [m] of the triangles from which v counts, shape (m, 9) (default: the rest
        shape)

    Elements are triangles oriented consistently, so that the normal is on the side from which
    their corners run counterclockwise. Every particle of the rim, the edges that belong to one
    triangle, must be fixed for all time: an error names one that is not. Each triangle pushes its
    corners with p A/3, those of the rim included, as the reactions show. For a closed surface use
    `pressure`, which does not lose digits far from its rest shape. Derived in
    docs/theory/06-areas-volumes-pressure.md.
    """
    corners = [reference[0:3], reference[3:6], reference[6:9]]
    mean_move = (x[0] - corners[0] + x[1] - corners[1] + x[2] - corners[2]) / 3
    first, second = corners[1] - corners[0], corners[2] - corners[0]
    new_first, new_second = x[1] - x[0], x[2] - x[0]
    # The mean of the vector area while the corners move along straight lines.
    ends = cross(first, second) + cross(new_first, new_second)
    mixed = cross(first, new_second) + cross(new_first, second)
    return -p * total(dot(mean_move, ends / 6 + mixed / 12))
