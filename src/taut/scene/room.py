"""How many points the meshes of a scene may have: each of them, and all together, counted before they are made.

What is refused later counts as well, so that a short scene cannot have a thousand large meshes made one after the other.
"""

from __future__ import annotations

from taut.errors import MeshError
from taut.scene.bounds import MOST_PARTICLES

TIMES = 2  # so many times the particles of a scene may be made in all: bodies, what is drawn in their place, what is refused


class Room:
    """Room for points.

    most : particles that a scene may have

    >>> room = Room(100)
    >>> room.take(90), room.take(90)
    (None, None)
    >>> room.take(90)
    Traceback (most recent call last):
    taut.errors.MeshError: with it the meshes of the scene would have 270 points in all; it may make at most 200
    """

    def __init__(self, most: int = MOST_PARTICLES) -> None:
        self.most = most
        self._taken = 0.0

    def take(self, points: float) -> None:
        """Refuse a mesh of about so many points, or count it."""
        refuse_many(points, self.most)
        self._taken += points
        if self._taken > TIMES * self.most:
            raise MeshError(
                f"with it the meshes of the scene would have {self._taken:,.0f} points in all; "
                f"it may make at most {TIMES * self.most:,}"
            )


def refuse_many(points: float, most: int) -> None:
    """Refuse more points than a scene may have."""
    if points > most:
        raise MeshError(f"it would have {points:,.0f} points; a scene has at most {most:,}")
