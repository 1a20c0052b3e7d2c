"""The tables `[[body.hold]]`: points that are held, moved or led."""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated

from pydantic import Field, model_validator

from taut.scene.bounds import MOST_LISTED, Model, Number, Positive, Selection, Text, Vector

Rows = Annotated[list[Annotated[list[Number], Field(min_length=4, max_length=4)]], Field(min_length=1, max_length=MOST_LISTED)]


class Rotate(Model):
    """A turn of held points, as one body."""

    axis: Vector = Field(description="direction of the axis [any unit]")
    rate: Number | None = Field(None, description="angular velocity [rad/s]")
    angles: Annotated[list[Annotated[list[Number], Field(min_length=2, max_length=2)]], Field(min_length=1)] | None = Field(
        None, description="in place of rate: [[t, angle], …] [s, rad], joined by straight lines, beginning with angle 0"
    )
    centre: Vector | None = Field(None, description="point on the axis [m]; default: the middle of the held points")

    @model_validator(mode="after")
    def _one(self) -> Rotate:
        if (self.rate is None) == (self.angles is None):
            raise ValueError("it has rate or angles, one of them")
        if not any(self.axis):
            raise ValueError("axis is a vector other than zero")
        return self


class Follow(Model):
    """A motion from files: a table, or an animated mesh as one file a frame."""

    file: Text | None = Field(
        None, description="a table: t [s], then x, y, z [m]: one displacement, from zero on, or the place of every held point"
    )
    frames: Annotated[list[Text], Field(min_length=1, max_length=10_000)] | None = Field(
        None, description="mesh files, one a frame; held points follow the points of the same numbers"
    )
    rate: Positive = Field(24.0, description="frames per second [1/s]")

    @model_validator(mode="after")
    def _one(self) -> Follow:
        if (self.file is None) == (self.frames is None):
            raise ValueError("it has file or frames, one of them")
        return self


class Hold(Model):
    """Points that are held, moved or led; without more they stay where they start."""

    where: Selection = Field(description="which points")
    until: Positive | None = Field(None, description="released at this time [s]; default: never")
    move: Rows | None = Field(None, description="[[t, x, y, z], …]: displacement [m] at times [s], beginning with zero")
    rotate: Rotate | None = Field(None, description="turn about an axis")
    follow: Follow | None = Field(None, description="a motion from files")
    on_line: Vector | None = Field(None, description="free along a line with this direction")
    on_plane: Vector | None = Field(None, description="free in a plane with this normal")
    through: Vector | None = Field(None, description="point [m] of that line or plane; default: where each point starts")

    @model_validator(mode="after")
    def _one(self) -> Hold:
        given = [self.follow, self.on_line, self.on_plane, self.move or self.rotate]
        if sum(bool(g) for g in given) > 1:
            raise ValueError("it has one of follow, on_line, on_plane, or move and rotate")
        if self.through and not (self.on_line or self.on_plane):
            raise ValueError("through is for on_line and on_plane")
        if self.move and any(b[0] <= a[0] for a, b in pairwise(self.move)):
            raise ValueError("the times of move must increase")
        for vector in (self.on_line, self.on_plane):
            if vector and not any(vector):
                raise ValueError("a direction is a vector other than zero")
        return self
