"""Solid cells that are turned inside out: their edges, in a colour that nothing else has."""

from __future__ import annotations

from typing import Any

import numpy as np

from taut.arrays import Float, Int
from taut.mesh.inversion import collect_corner_tets, find_inverted
from taut.show.visual_model import VisualModel

COLOUR = (214, 0, 170)
_SIDES = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]  # of a tetrahedron
_MAX_SHOWN = 3_000  # tetrahedra whose edges are drawn


class InvertedCells:
    """The node of the edges of inverted cells.

    scene : of a ViserServer; model : what is drawn
    count : of the cells that are inside out now
    """

    def __init__(self, scene: Any, model: VisualModel) -> None:
        self._bodies: list[tuple[int, Float, Int, Int]] = []
        for piece in model.pieces:
            rest = piece.simulated.positions
            tets, owners = collect_corner_tets(piece.simulated.blocks(3))
            if len(tets):
                self._bodies.append((piece.start, rest, tets, owners))
        self.count = 0
        self._node = scene.add_line_segments(
            "/inverted",
            np.zeros((1, 2, 3)),
            COLOUR,
            thickness=2.5,
            thickness_units="screen",
            visible=False,
        )

    def show(self, q: Float) -> None:
        """Draw the cells that are inside out at positions q [m], (n, 3)."""
        segments, self.count = [], 0
        for start, rest, tets, owners in self._bodies:
            own = q[start : start + len(rest)]
            wrong = np.flatnonzero(find_inverted(rest, own, tets))
            self.count += len(np.unique(owners[wrong]))
            segments.append(own[tets[wrong[:_MAX_SHOWN]]][:, _SIDES].reshape(-1, 2, 3))
        if self.count:
            self._node.points = np.concatenate(segments)
        if self._node.visible != bool(self.count):
            self._node.visible = bool(self.count)
