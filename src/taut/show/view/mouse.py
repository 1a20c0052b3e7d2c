"""The mouse on the body: a drag pulls the point under it, a click pins or releases it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taut.show.view.live import Live
from taut.show.view.picking import meant, nearest
from taut.show.view.stage import Stage

Float = NDArray[np.float64]


class Mouse:
    """Listens to a stage and steers a live simulation.

    clicks : says whether a click pins and releases
    """

    def __init__(self, stage: Stage, live: Live, clicks: Callable[[], bool]) -> None:
        self.stage, self.live, self.clicks = stage, live, clicks
        self._grips: dict[int, tuple[int, Float]] = {}  # client → particle, and where it was
        for node in stage.pickable():
            self._listen(node)

    def _listen(self, node: Any) -> None:
        async def dragged(event: Any) -> None:
            self.drag(event.client_id, event.phase, node.name, event.instance_index, event.start_position, event.end_position)

        async def clicked(event: Any) -> None:
            if self.clicks():
                self.click(node.name, event.instance_index, event.ray_origin, event.ray_direction)

        node.on_drag("left")(dragged)
        node.on_click(clicked)

    def drag(self, who: int, phase: str, name: str, instance: int | None, start: Any, end: Any) -> None:
        """A drag by a client has begun, gone on or ended; start, end : where the point was taken, and where the pointer is [m]."""
        if phase == "end":
            self._grips.pop(who, None)
            self.live.let_go(who)
            return
        if who not in self._grips:
            if phase != "start":
                return
            q = self.stage.shown.q
            particle = instance if instance is not None and instance < len(q) else self._near(name, start)
            self._grips[who] = (particle, np.array(q[particle]))
        particle, was = self._grips[who]
        self.live.pull(who, particle, was + np.asarray(end) - np.asarray(start))

    def _near(self, name: str, place: Any) -> int:
        piece = self.stage.piece_of(name)
        low, high = (0, self.stage.subject.n) if piece is None else (piece.start, piece.stop)
        return low + nearest(self.stage.shown.q[low:high], place)

    def click(self, name: str, instance: int | None, origin: Any, direction: Any) -> None:
        """A click along a ray from the eye: pin the particle that is meant, or release it."""
        q = self.stage.shown.q
        if instance is not None:
            if instance < len(q):
                self.live.flip(instance)
            return
        piece = self.stage.piece_of(name)
        if piece is not None:
            own = q[piece.start : piece.stop]
            self.live.flip(piece.start + meant(origin, direction, piece.positions(q), piece.triangles, own))
