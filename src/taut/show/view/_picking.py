"""The pointer on the body: a drag pulls the particle under it, a click pins or releases it.

A ray o + s d from the eye hits a triangle a, b, c at o + s d = a + u (b - a) + v (c - a) with
u, v ≥ 0 and u + v ≤ 1 (Möller and Trumbore). The picked particle is the one nearest to the first
hit, or, for a ray that hits no triangle, the one nearest to the ray.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from taut.arrays import Float, Int
from taut.show.view._appearance import find_obstacles
from taut.show.view._scene_graph import SceneGraph
from taut.show.view.live import Live

_MIN_DETERMINANT = 1e-14  # below this the triangle is seen edge on, and not hit


class Pointer:
    """Turns drags and clicks on the nodes of a scene graph into commands for a live simulation.

    is_pinning : called at each click, returns whether clicks pin and release
    """

    def __init__(self, graph: SceneGraph, live: Live, is_pinning: Callable[[], bool]) -> None:
        self.graph, self.live, self.is_pinning = graph, live, is_pinning
        # Neither moved nor released: a single point of an obstacle would only spoil its shape.
        self._is_obstacle = find_obstacles(graph.model)
        # client → the particle that it drags, and the position of that at the start [m]
        self._dragged: dict[int, tuple[int, Float]] = {}
        for node in graph.pickable_nodes():
            self._listen(node)

    def _listen(self, node: Any) -> None:
        async def on_drag(event: Any) -> None:
            self.drag(
                event.client_id,
                event.phase,
                node.name,
                event.instance_index,
                event.start_position,
                event.end_position,
            )

        async def on_click(event: Any) -> None:
            if self.is_pinning():
                self.click(node.name, event.instance_index, event.ray_origin, event.ray_direction)

        node.on_drag("left")(on_drag)
        node.on_click(on_click)

    def drag(
        self, client: int, phase: str, node: str, instance: int | None, start: Any, end: Any
    ) -> None:
        """Handle one event of a drag.

        phase : "start", "update" or "end"; node : its name; instance : of the particles, if it is
            one of these
        start, end : where the drag began, and where the pointer is now [m], (3,)
        """
        if phase == "end":
            self._dragged.pop(client, None)
            self.live.end_drag(client)
            return
        if client not in self._dragged:
            if phase != "start":
                return
            q = self.graph.snapshot.q
            if instance is not None and instance < len(q):
                particle = instance
            else:
                particle = self._find_nearest(node, start)
            if self._is_obstacle[particle]:
                return
            self._dragged[client] = (particle, np.array(q[particle]))
        particle, origin = self._dragged[client]
        self.live.drag(client, particle, origin + np.asarray(end) - np.asarray(start))

    def _find_nearest(self, node: str, place: Any) -> int:
        """Return the particle of a node that is nearest to a place [m], (3,)."""
        piece = self.graph.find_piece(node)
        low, high = 0, self.graph.model.n
        if piece is not None:
            low, high = piece.start, piece.stop
        return low + nearest_point(self.graph.snapshot.q[low:high], place)

    def click(self, node: str, instance: int | None, origin: Any, direction: Any) -> None:
        """Pin or release the particle that is clicked.

        node, instance : see `drag`; origin, direction : ray from the eye [m], (3,)
        """
        q = self.graph.snapshot.q
        if instance is not None:
            if instance < len(q) and not self._is_obstacle[instance]:
                self.live.toggle_pin(instance)
            return
        piece = self.graph.find_piece(node)
        if piece is not None and not piece.is_obstacle:
            particles = q[piece.start : piece.stop]
            surface = piece.positions(q)
            picked = pick_particle(origin, direction, surface, piece.triangles, particles)
            self.live.toggle_pin(piece.start + picked)


def nearest_point(points: Float, place: ArrayLike) -> int:
    """Return the index of the point, of (n, 3), that is nearest to a place (3,)."""
    d = points - np.asarray(place, dtype=np.float64)
    return int(np.argmin(np.einsum("ij,ij->i", d, d)))


def intersect_ray(
    origin: ArrayLike, direction: ArrayLike, points: Float, triangles: Int
) -> Float | None:
    """Return where a ray first hits triangles (m, 3) of points (n, 3), or None.

    >>> corners = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    >>> intersect_ray((0.25, 0.25, 5.0), (0, 0, -1), corners, np.array([[0, 1, 2]])).tolist()
    [0.25, 0.25, 0.0]
    """
    o, d = np.asarray(origin, dtype=np.float64), np.asarray(direction, dtype=np.float64)
    a, b, c = (points[triangles[:, i]] for i in range(3))
    ab, ac = b - a, c - a
    p = np.cross(d, ac)
    determinant = np.einsum("ij,ij->i", ab, p)
    with np.errstate(divide="ignore", invalid="ignore"):
        u = np.einsum("ij,ij->i", o - a, p) / determinant
        q = np.cross(o - a, ab)
        v = q @ d / determinant
        s = np.einsum("ij,ij->i", ac, q) / determinant
    is_inside = (u >= 0.0) & (v >= 0.0) & (u + v <= 1.0)
    is_hit = (np.abs(determinant) > _MIN_DETERMINANT) & is_inside & (s > 0.0)
    if not is_hit.any():
        return None
    return o + s[is_hit].min() * d


def pick_particle(
    origin: ArrayLike, direction: ArrayLike, points: Float, triangles: Int, q: Float
) -> int:
    """Return the particle, of positions q [m], (n, 3), that a ray picks.

    points, triangles : of the surface that is drawn
    """
    if len(triangles):
        hit = intersect_ray(origin, direction, points, triangles)
        if hit is not None:
            return nearest_point(q, hit)
    o, d = np.asarray(origin, dtype=np.float64), np.asarray(direction, dtype=np.float64)
    d = d / max(float(np.sqrt(d @ d)), 1e-300)
    way = q - o
    across = way - np.maximum(way @ d, 0.0)[:, None] * d
    return int(np.argmin(np.einsum("ij,ij->i", across, across)))
