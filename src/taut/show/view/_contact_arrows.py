"""Contact forces as arrows: from each particle that is pushed, in the direction of the push.

The length of an arrow is proportional to its force. The force of the longest arrow grows with the
forces that occur, in steps of 1, 2 and 5.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from taut.arrays import Float
from taut.errors import SingularState
from taut.show.contact_model import ContactForces
from taut.show.view._appearance import Extent, find_obstacles, round_up
from taut.show.visual_model import VisualModel

# In radii of the scene: the longest arrow, and the parts of all
_LONGEST, _SHAFT, _HEAD, _HEAD_LENGTH = 0.4, 0.005, 0.013, 0.03
_COLOUR = (194, 65, 12)
_MIN_SHARE = 0.01  # of the longest arrow: shorter ones are not drawn


class ContactArrows:
    """The node of the arrows.

    scene : of a ViserServer; model : what is drawn, with contact; extent : of its first positions
    limit : force of the longest arrow [N]; 0 if there was none yet
    """

    def __init__(self, scene: Any, model: VisualModel, extent: Extent) -> None:
        self._forces, self._radius, self.limit = ContactForces(model.system), extent.radius, 0.0
        # Bodies push obstacles back with the same forces: arrows there would tell nothing new.
        self._is_shown = ~find_obstacles(model)
        self._node = scene.add_arrows(
            "/contact forces",
            np.zeros((1, 2, 3)),
            _COLOUR,
            shaft_radius=_SHAFT * extent.radius,
            head_radius=_HEAD * extent.radius,
            head_length=_HEAD_LENGTH * extent.radius,
            visible=False,
        )

    def show(self, q: Float, *, visible: bool) -> None:
        """Draw the forces at positions q [m], (n, 3), or hide the arrows."""
        if visible:
            try:
                forces = self._forces.at(q)
            except SingularState:  # a pinned particle may be where an obstacle has moved
                visible = False
            else:
                self._node.points = self._make_arrows(q, forces)
        if self._node.visible != visible:
            self._node.visible = visible

    def _make_arrows(self, q: Float, forces: Float) -> Float:
        """Return both ends of all arrows [m], (m, 2, 3).

        Without forces, one arrow of no length: the browser does not accept an empty list.
        """
        sizes = np.where(self._is_shown, np.sqrt(np.einsum("ij,ij->i", forces, forces)), 0.0)
        self.limit = max(self.limit, round_up(float(sizes.max())))
        drawn = sizes > _MIN_SHARE * self.limit
        if not drawn.any():
            return np.zeros((1, 2, 3))
        ways = _LONGEST * self._radius / self.limit * forces[drawn]
        return np.stack([q[drawn], q[drawn] + ways], axis=1)
