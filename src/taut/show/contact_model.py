"""What of contact can be seen: planes, the thickness of bodies, and the forces between them.

The force on a particle is the sum of the pushes of all contacts in which it takes part, -∂V/∂x of
their barriers, without friction. The forces on all particles and planes add up to zero.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from taut.arrays import Float
from taut.scene import Scene
from taut.system.contact import Plane
from taut.system.obstacles import Obstacle
from taut.system.state import State
from taut.system.system import System
from taut.system.workspace import workspace_for

_UP = np.array([0.0, 1.0, 0.0])
_MAX_TILT = 1e-6  # of a ground: length of the horizontal part of its normal


def find_planes(scene: Scene) -> tuple[Plane, ...]:
    """Return the planes of a scene that nothing passes, with its ground.

    >>> from taut.scene import load
    >>> find_ground(find_planes(load("ropes"))), find_planes(load("cloth"))
    (0.0, ())
    """
    table = scene.file.contact
    if table is None:
        return ()
    given = [
        (f"plane {i}", np.array(plane.point), np.array(plane.normal))
        for i, plane in enumerate(table.planes)
    ]
    if table.ground is not None:
        given.append(("ground", table.ground * _UP, _UP))
    return tuple(Plane(name, at, normal / np.linalg.norm(normal)) for name, at, normal in given)


def find_ground(planes: Iterable[Plane]) -> float | None:
    """Return the height of the highest horizontal plane that is free above [m], or None."""
    heights = [float(plane.point[1]) for plane in planes if is_ground(plane)]
    return max(heights, default=None)


def is_ground(plane: Plane) -> bool:
    """Whether a plane is horizontal, with its free side above."""
    return bool(np.linalg.norm(plane.normal - _UP) < _MAX_TILT)


def make_square(plane: Plane, middle: Float, size: float) -> Float:
    """Return the corners of a square in a plane [m], (4, 3), in turn, as seen from its free side.

    middle : the square is around the point of the plane that is nearest to it [m], (3,)
    size : half of its sides [m]

    >>> plane = Plane("floor", np.zeros(3), np.array([0.0, 1.0, 0.0]))
    >>> corners = make_square(plane, np.array([2.0, 5.0, 0.0]), 1.0)
    >>> corners.mean(axis=0).tolist(), np.ptp(corners, axis=0).tolist()
    ([2.0, 0.0, 0.0], [2.0, 0.0, 2.0])
    """
    centre = middle - plane.measure_gaps(middle[None])[0] * plane.normal
    across = np.cross(plane.normal, np.eye(3)[np.argmin(np.abs(plane.normal))])
    e1 = across / np.linalg.norm(across)
    e2 = np.cross(plane.normal, e1)
    ways = ((-1, -1), (1, -1), (1, 1), (-1, 1))
    return np.array([centre + size * (a * e1 + b * e2) for a, b in ways])


def find_thickness(scene: Scene, body: str, obstacle: Obstacle | None) -> float:
    """Return the thickness with which a body of a scene touches others [m].

    obstacle : what the body is, if it is an exact shape, or None
    """
    table = scene.file.contact
    if table is None or (table.bodies is not None and body not in table.bodies):
        return 0.0
    if obstacle is not None:
        return 2.0 * obstacle.radius
    if isinstance(table.thickness, dict):
        return table.thickness.get(body, 0.0)
    return table.thickness


class ContactForces:
    """The forces of contact in a system, which must have contact.

    >>> import taut
    >>> ball = taut.System([[0, 5e-4, 0], [0, 1, 0]], mass=0.1, energies=[taut.laws.gravity()],
    ...     contact=taut.contact([0, 1], range=1e-3, planes=[([0, 0, 0], [0, 1, 0])]))
    >>> ContactForces(ball).at(ball.pose).round(1).tolist()
    [[0.0, 9.8, 0.0], [0.0, 0.0, 0.0]]
    """

    def __init__(self, system: System) -> None:
        self._contacts = system.with_(energies=[], damping=[], loads=[])

    def at(self, q: Float) -> Float:
        """Return the force on each particle [N], (n, 3), at positions q [m], (n, 3).

        SingularState if bodies intersect there.
        """
        _, gradient, _ = workspace_for(self._contacts).potential(State(0.0, q, np.zeros_like(q)))
        return -np.array(gradient) + 0.0  # -0 becomes 0
