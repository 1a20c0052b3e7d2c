"""The key `obstacle` of `[[body]]`: an exact sphere, capsule or box in place of a mesh."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from taut.scene._limits import NotNegative, Positive, SceneTable, Vector, create_tagged_union
from taut.system.obstacles import Obstacle, box, capsule, sphere


class SphereObstacle(SceneTable):
    """An exact sphere."""

    shape: Literal["sphere"] = Field(description="the shape")
    radius: Positive = Field(description="radius [m]")
    centre: Vector = Field([0.0, 0.0, 0.0], description="centre [m]")

    def build(self, name: str) -> Obstacle:
        """Return the sphere; what moves it is in [[body.hold]]."""
        return sphere(self.centre, self.radius, name=name)


class CapsuleObstacle(SceneTable):
    """All points within a radius of an axis; a long one is a cylinder."""

    shape: Literal["capsule"] = Field(description="the shape")
    ends: Annotated[list[Vector], Field(min_length=2, max_length=2)] = Field(
        description="the two ends of its axis [m]"
    )
    radius: Positive = Field(description="radius [m]")

    def build(self, name: str) -> Obstacle:
        """Return the capsule."""
        return capsule(self.ends, self.radius, name=name)


class BoxObstacle(SceneTable):
    """An exact box."""

    shape: Literal["box"] = Field(description="the shape")
    size: Annotated[list[Positive], Field(min_length=3, max_length=3)] = Field(
        description="lengths of its sides [m]"
    )
    centre: Vector = Field([0.0, 0.0, 0.0], description="centre [m]")
    rotate: Vector = Field([0.0, 0.0, 0.0], description="rotation vector (axis times angle) [rad]")
    rounding: NotNegative = Field(
        0.0, description="by which its surface is outside of these sides, with round edges [m]"
    )

    def build(self, name: str) -> Obstacle:
        """Return the box."""
        return box(self.centre, self.size, rotation=self.rotate, rounding=self.rounding, name=name)


OBSTACLE_MODELS: dict[str, type[SceneTable]] = {
    "obstacle:sphere": SphereObstacle,
    "obstacle:capsule": CapsuleObstacle,
    "obstacle:box": BoxObstacle,
}
"""The model of an obstacle's table by its tag."""


def _find_tag(value: Any) -> str | None:
    shape = value.get("shape") if isinstance(value, Mapping) else getattr(value, "shape", None)
    return f"obstacle:{shape}" if isinstance(shape, str) else None


if TYPE_CHECKING:
    AnyObstacleTable = SphereObstacle | CapsuleObstacle | BoxObstacle
else:
    AnyObstacleTable = create_tagged_union(OBSTACLE_MODELS, _find_tag)
