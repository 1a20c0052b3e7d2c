"""A body of a scene as particles among those of all."""

from __future__ import annotations

from dataclasses import dataclass

from taut.mesh.mesh import Mesh


@dataclass(frozen=True, eq=False)
class Part:
    """A body among the particles of the whole: those from `start` up to `stop`, on a mesh whose points are the rest shape [m].

    render : the mesh that is looked at in its place, or None
    """

    name: str
    mesh: Mesh
    start: int
    stop: int
    render: Mesh | None = None
