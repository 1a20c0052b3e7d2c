"""The table `[contact]`: which bodies touch, and how they repel and rub each other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Annotated, Any

import numpy as np
from pydantic import Field, model_validator

from taut.arrays import Int
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


class PairTable(SceneTable):
    """Two bodies, or a body and a plane, whose contact differs from that of the others."""

    bodies: Annotated[list[Name], Field(min_length=2, max_length=2)] = Field(
        description='names of two bodies, of one twice, or of a body and "ground" or "plane 0", …'
    )
    friction: NotNegative | None = Field(None, description="coefficient of Coulomb's law [1]")
    touch: bool = Field(True, description="false: they pass through each other")

    @model_validator(mode="after")
    def _check(self) -> PairTable:
        if (self.friction is None) == self.touch:
            raise ValueError("exactly one of friction, touch = false is required")
        return self


class ContactTable(SceneTable):
    """Bodies that touch each other and themselves, and pass through nothing.

    Bodies whose points are all held are obstacles, and so are those with the key `obstacle`.
    """

    bodies: Annotated[list[Name], Field(min_length=1, max_length=MAX_TABLES)] | None = Field(
        None, description="names of the bodies that touch; default: all"
    )
    range: Positive | None = Field(
        None,
        description="gap below which surfaces repel each other [m]; default: 0.2% of the size of "
        "all bodies, at most a quarter of the shortest edge",
    )
    thickness: NotNegative | Annotated[dict[Name, NotNegative], Field(max_length=MAX_TABLES)] = (
        Field(0.0, description="of the bodies [m], one number, or a table by name; default: 0")
    )
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
    pairs: Annotated[list[PairTable], Field(max_length=MAX_TABLES)] = Field(
        [], description="pairs of bodies with their own friction, or that do not touch"
    )
    one_sided: Annotated[list[Name], Field(max_length=MAX_TABLES)] = Field(
        [], description="closed bodies whose faces point outwards: to start inside is an error"
    )
    untangle: bool = Field(
        False,
        description="whether bodies that intersect at the start are moved apart; by how much is "
        "reported. Default: they are an error",
    )


def build_contact(
    table: ContactTable,
    parts: Iterable[Part],
    names: list[str],
    sewn: Sequence[Int],
    errors: ErrorCollector,
) -> Contact | None:
    """Build the contact of a scene, or collect an error for each unknown name.

    parts : bodies without errors in their mesh; names : of all bodies
    sewn : for each joint, a particle of one body and those of the other, (m, s)
    """
    chosen = names if table.bodies is None else table.bodies
    planes: dict[str, tuple[list[float], list[float]]] = {}
    for i, plane in enumerate(table.planes):
        planes[f"plane {i}"] = (plane.point, plane.normal)
    if table.ground is not None:
        planes["ground"] = ([0.0, table.ground, 0.0], [0.0, 1.0, 0.0])
    if not _check_names(table, names, chosen, planes, errors):
        return None
    surfaces: list[Int] = []
    bodies: dict[str, Int] = {}
    if isinstance(table.thickness, dict):
        thickness = {name: table.thickness.get(name, 0.0) for name in names}
    else:
        thickness = dict.fromkeys(names, table.thickness)
    one_sided, frames = list(table.one_sided), [np.empty((0, 5), dtype=np.int64)]
    for part in parts:
        bodies[part.name] = np.arange(part.start, part.stop)
        if part.name not in chosen:
            continue
        if part.obstacle is None:
            surfaces += [own + part.start for own in find_surface(part.mesh)]
            continue
        surfaces += [own + part.start for own in part.obstacle.surfaces]
        thickness[part.name] = 2.0 * part.obstacle.radius
        if part.obstacle.turns:
            frames.append(part.obstacle.frame + part.start)
        if part.obstacle.is_one_sided and part.name not in one_sided:
            one_sided.append(part.name)
    if not surfaces:
        return None
    made = contact(
        *surfaces,
        range=table.range,
        k=table.k,
        thickness=thickness,
        friction=table.friction,
        slip_speed=table.slip_speed,
        planes=planes,
        bodies=bodies,
        exempt=[
            *((rows[:, 0], rows[:, 1:].ravel()) for rows in sewn),
            *((pair.bodies[0], pair.bodies[1]) for pair in table.pairs if not pair.touch),
        ],
        friction_pairs=[
            (pair.bodies[0], pair.bodies[1], pair.friction)
            for pair in table.pairs
            if pair.friction is not None
        ],
        one_sided=one_sided,
    )
    return replace(made, frames=np.concatenate(frames))


def _check_names(
    table: ContactTable,
    names: list[str],
    chosen: list[str],
    planes: Iterable[str],
    errors: ErrorCollector,
) -> bool:
    """Collect an error for each name that is no body's; return whether there was none."""
    walls = [*names, *planes]
    given: list[tuple[Any, str, list[str]]] = [
        (("contact", "bodies"), name, names) for name in chosen
    ]
    given += [(("contact", "one_sided"), name, chosen) for name in table.one_sided]
    for i, pair in enumerate(table.pairs):
        given += [(("contact", "pairs", i, "bodies"), name, walls) for name in pair.bodies]
    if isinstance(table.thickness, dict):
        given += [(("contact", "thickness"), name, names) for name in table.thickness]
    unknown = [(path, name, known) for path, name, known in given if name not in known]
    for path, name, known in unknown:
        errors.add(path, f"unknown body '{name}'{did_you_mean(name, known)}")
    return not unknown
