"""The tables `[[stitch]]` and `[[attach]]`: springs between two bodies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field, model_validator

from taut import laws
from taut.arrays import Float
from taut.errors import SceneError, did_you_mean
from taut.mesh import embed
from taut.scene._body import Part
from taut.scene._elements import Selection, select_points
from taut.scene._errors import ErrorCollector
from taut.scene._limits import MAX_ENTRIES, Name, Positive, SceneTable
from taut.scene._mesh import MIN_EMBEDDING_WEIGHT

_Pair = Annotated[list[Annotated[int, Field(ge=0)]], Field(min_length=2, max_length=2)]

_NO_OFFSET = 1e-9  # relative to the size of the carrier: a smaller height is rounding


class Joint(SceneTable):
    """Keys that stitches and attachments share."""

    bodies: Annotated[list[Name], Field(min_length=2, max_length=2)] = Field(
        description="names of the two bodies"
    )
    k: Positive = Field(description="stiffness of each spring [N/m]")
    name: Name | None = Field(None, description="the name in energy tables")


class Stitch(Joint):
    """Points of one body sewn to points of another by springs of zero rest length."""

    where: Annotated[list[Selection], Field(min_length=2, max_length=2)] | None = Field(
        None, description="points of the first body, and of the second"
    )
    pair: Literal["order", "nearest"] = Field(
        "order",
        description="pair points in order, or each point of the first body with the nearest one",
    )
    pairs: Annotated[list[_Pair], Field(min_length=1, max_length=MAX_ENTRIES)] | None = Field(
        None,
        description="instead of where: [[i, j], …], a point of the first body and one of the "
        "second; both may be the same body",
    )

    @model_validator(mode="after")
    def _check(self) -> Stitch:
        if (self.where is None) == (self.pairs is None):
            raise ValueError("exactly one of where, pairs is required")
        return self


class Attach(Joint):
    """Points of one body attached to their places in or above the cells of another."""

    where: Selection = Field(description="points of the first body; the second one carries them")


@dataclass(frozen=True, eq=False)
class JoinedBody:
    """A body, and the positions of its points at the start [m], shape (n, 3)."""

    part: Part
    positions: Float


def build_joints(
    key: str,
    joints: Sequence[Joint],
    bodies: Mapping[int, JoinedBody],
    names: list[str],
    errors: ErrorCollector,
) -> dict[int, Any]:
    """Return the springs of each joint by its index; collect errors under `key`.

    bodies : by index; those with errors are missing, and so are their joints
    names : of all bodies
    """
    springs: dict[int, Any] = {}
    for j, joint in enumerate(joints):
        unknown = [name for name in joint.bodies if name not in names]
        for name in unknown:
            message = f"unknown body '{name}'{did_you_mean(name, names)}"
            errors.add((key, j, "bodies"), message)
        indices = [names.index(name) for name in joint.bodies if name in names]
        if unknown or any(i not in bodies for i in indices):
            continue
        first, second = (bodies[i] for i in indices)
        with errors.collect(key, j):
            if isinstance(joint, Stitch):
                springs[j] = _build_stitch(joint, first, second)
            elif isinstance(joint, Attach):
                springs[j] = _build_attachment(joint, first, second)
    return springs


def _build_stitch(table: Stitch, first: JoinedBody, second: JoinedBody) -> Any:
    """Build springs of zero rest length between pairs of points, ½ k |x_j - x_i|²."""
    name = table.name or "stitch"
    if table.where is None:
        pairs = np.array(table.pairs, dtype=np.int64)
        for column, body in zip(pairs.T, (first, second), strict=True):
            if column.max() >= body.part.mesh.n:
                raise SceneError(
                    [f"'{body.part.name}' has {body.part.mesh.n} points, got point {column.max()}"]
                )
        starts = np.array([first.part.start, second.part.start])
        return laws.zero_length_spring(pairs + starts, k=table.k, name=name)
    a = select_points(first.part.mesh, table.where[0])
    b = select_points(second.part.mesh, table.where[1])
    if table.pair == "nearest":
        from scipy.spatial import cKDTree

        b = b[cKDTree(second.positions[b]).query(first.positions[a])[1]]
    if len(a) != len(b):
        raise SceneError(
            [
                f"stitched points must be equal in number, got {len(a)} of '{first.part.name}' "
                f"and {len(b)} of '{second.part.name}'; pair = \"nearest\" does not need that"
            ]
        )
    pairs = np.column_stack([a + first.part.start, b + second.part.start])
    return laws.zero_length_spring(pairs, k=table.k, name=name)


def _build_attachment(table: Attach, first: JoinedBody, second: JoinedBody) -> Any:
    """Build springs from points to their places in cells of the other, ½ k |x - Σ wᵢ xᵢ - d n|².

    On faces they keep their height d above the nearest triangle.
    """
    if first.part is second.part:
        raise SceneError(["a body cannot be attached to itself"])
    points = select_points(first.part.mesh, table.where)
    carrier = second.part.mesh.with_(points=second.positions)
    embedding = embed(first.positions[points], carrier)
    far = np.flatnonzero((embedding.weights < MIN_EMBEDDING_WEIGHT).any(axis=1))
    if len(far):
        raise SceneError(
            [
                f"point {points[far[0]]} of '{first.part.name}' is far outside of "
                f"'{second.part.name}'"
            ]
        )
    rows = np.column_stack([points + first.part.start, embedding.indices + second.part.start])
    name, weights = table.name or "attach", embedding.weights
    size = float(np.linalg.norm(np.ptp(carrier.positions, axis=0)))
    if (np.abs(embedding.offsets) <= _NO_OFFSET * size).all():
        return laws.attachment(rows, k=table.k, weights=weights, name=name)
    return laws.offset_attachment(
        rows, k=table.k, weights=weights, offset=embedding.offsets, name=name
    )
