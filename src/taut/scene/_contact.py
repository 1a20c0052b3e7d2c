"""The table `[contact]`: which bodies touch, and how they repel and rub each other."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

from pydantic import Field, model_validator

from taut.errors import did_you_mean
from taut.scene._body import Part
from taut.scene._errors import ErrorCollector
from taut.scene._limits import MAX_TABLES, Name, NotNegative, Number, Positive, SceneTable, Vector
from taut.system.contact import Contact, contact
from taut.system.contact_surfaces import find_surface


class PlaneTable(SceneTable):
    """A plane that nothing passes."""

    point: Vector = Field(description="a point of the plane [m]")
    normal: Vector = Field(description="direction towards the free side [any unit]")

    @model_validator(mode="after")
    def _check(self) -> PlaneTable:
        if not any(self.normal):
            raise ValueError("normal must not be zero")
        return self


class ContactTable(SceneTable):
    """Bodies that touch each other and themselves, and pass through nothing.

    Bodies whose points are all held are obstacles.
    """

    bodies: Annotated[list[Name], Field(min_length=1, max_length=MAX_TABLES)] | None = Field(
        None, description="names of the bodies that touch; default: all"
    )
    range: Positive | None = Field(
        None,
        description="gap below which surfaces repel each other [m]; default: 0.2% of the size of "
        "all bodies, at most a quarter of the shortest edge",
    )
    thickness: NotNegative = Field(0.0, description="of the bodies [m]")
    k: Positive | None = Field(
        None,
        description="stiffness [N/m]; default: at half the range ten times the mean weight of a "
        "particle",
    )
    friction: NotNegative = Field(0.0, description="coefficient of Coulomb's law [1]")
    slip_speed: Positive | None = Field(
        None,
        description="sliding speed at which friction is fully developed [m/s]; default: 0.1% of "
        "the size of all bodies in a second",
    )
    ground: Number | None = Field(
        None, description="height y of a horizontal ground [m]; default: none"
    )
    planes: Annotated[list[PlaneTable], Field(max_length=MAX_TABLES)] = Field(
        [], description="planes that nothing passes"
    )


def build_contact(
    table: ContactTable, parts: Iterable[Part], names: list[str], errors: ErrorCollector
) -> Contact | None:
    """Build the contact of a scene, or collect an error for each unknown name.

    parts : bodies without errors in their mesh; names : of all bodies
    """
    chosen = names if table.bodies is None else table.bodies
    unknown = [name for name in chosen if name not in names]
    for name in unknown:
        message = f"unknown body '{name}'{did_you_mean(name, names)}"
        errors.add(("contact", "bodies"), message)
    surfaces = []
    for part in parts:
        if part.name in chosen:
            surfaces += [own + part.start for own in find_surface(part.mesh)]
    if unknown or not surfaces:
        return None
    planes = [(plane.point, plane.normal) for plane in table.planes]
    if table.ground is not None:
        planes.append(([0.0, table.ground, 0.0], [0.0, 1.0, 0.0]))
    return contact(
        *surfaces,
        range=table.range,
        k=table.k,
        thickness=table.thickness,
        friction=table.friction,
        slip_speed=table.slip_speed,
        planes=planes,
    )
