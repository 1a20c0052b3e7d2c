"""The table `[[body]]`: a mesh, its mass, laws and holds, its pose and velocity at the start."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np
from pydantic import Field, PlainValidator, WithJsonSchema, model_validator

from taut.arrays import Float
from taut.constraints.prescribed import rodrigues
from taut.errors import SceneError
from taut.mesh.mesh import Mesh
from taut.scene._errors import ErrorCollector
from taut.scene._fabric import FabricTable
from taut.scene._files import SceneFolder
from taut.scene._hold import Hold
from taut.scene._law import AnyLawTable
from taut.scene._limits import (
    MAX_TABLES,
    Name,
    PointBudget,
    Positive,
    SceneTable,
    Vector,
    is_number,
    show_value,
)
from taut.scene._material import MaterialTable
from taut.scene._mesh import AnyMeshTable, build_mesh, build_render_mesh
from taut.scene._obstacle import AnyObstacleTable
from taut.scene._parameter import Components, Parameter, evaluate_at_points, evaluate_vectors
from taut.scene._parts import JoinTable
from taut.system.building import areal_mass, line_mass, volume_mass
from taut.system.obstacles import Obstacle

_LUMPED_MASS = {3: volume_mass, 2: areal_mass, 1: line_mass}  # by the dimension of the cells
_MAX_SCALE = 1e6


def _check_scale(value: Any) -> Any:
    factors = value if isinstance(value, list) else [value] * 3
    if len(factors) == 3 and all(is_number(f) and 0 < f <= _MAX_SCALE for f in factors):
        return value
    raise ValueError(
        f"must be one or three positive factors up to {_MAX_SCALE:g}, got {show_value(value)}"
    )


_SCALE = {"anyOf": [{"type": "number"}, {"type": "array", "items": {"type": "number"}}]}


class Pose(SceneTable):
    """The start positions of a body, relative to its rest shape.

    The body is scaled and rotated about a point, then translated, then displaced point by point.
    """

    scale: Annotated[Any, PlainValidator(_check_scale), WithJsonSchema(_SCALE)] = Field(
        1.0, description="factor [1], one number or three: an initial stretch"
    )
    rotate: Vector = Field([0.0, 0.0, 0.0], description="rotation vector (axis times angle) [rad]")
    about: Vector | None = Field(
        None, description="centre of scaling and rotation [m]; default: the mean of the points"
    )
    translate: Vector = Field([0.0, 0.0, 0.0], description="translation [m]")
    displace: Components | None = Field(
        None, description="displacement [m] as three expressions of x, y, z [m]"
    )


class Velocity(SceneTable):
    """The velocity of a body at the start."""

    linear: Components = Field(
        [0.0, 0.0, 0.0], description="velocity [m/s], three numbers or expressions of x, y, z [m]"
    )
    angular: Vector = Field([0.0, 0.0, 0.0], description="angular velocity [rad/s]")
    about: Vector | None = Field(
        None, description="a point on the axis of rotation [m]; default: the centre of mass"
    )


class Body(SceneTable):
    """One body: a mesh, its mass, the laws that act on it, and the points that are held."""

    name: Name = Field(description="the name for stitches, attachments and --set")
    mesh: AnyMeshTable | None = Field(
        None, description="a generator, a file, or points and cells; required without obstacle"
    )
    obstacle: AnyObstacleTable | None = Field(
        None,
        description="instead of a mesh: an exact sphere, capsule or box, held, which has no mass",
    )
    render: AnyMeshTable | None = Field(
        None,
        description="a mesh [m] at the same place, finer or textured, that follows the simulated "
        "one and is drawn instead of it",
    )
    density: Parameter | None = Field(
        None, description="of the solid cells [kg/m³], else of faces [kg/m²], else of lines [kg/m]"
    )
    mass: Parameter | None = Field(None, description="mass of each particle [kg]")
    total_mass: Positive | None = Field(
        None, description="masses are scaled so that this is their sum [kg]"
    )
    material: MaterialTable | None = Field(
        None, description="springs, bending and mass from moduli (taut.materials)"
    )
    join: JoinTable | None = Field(
        None, description="springs that keep the parts of the mesh together; default: none"
    )
    fabric: FabricTable | None = Field(
        None, description="a fabric by its name: membrane, bending and mass (taut.materials)"
    )
    law: Annotated[list[AnyLawTable], Field(max_length=MAX_TABLES)] = Field(
        [], description="laws on the elements of this body"
    )
    hold: Annotated[list[Hold], Field(max_length=MAX_TABLES)] = Field(
        [], description="points that are held or moved"
    )
    pose: Pose | None = Field(None, description="positions at the start; default: the rest shape")
    velocity: Velocity | None = Field(None, description="velocity at the start; default: zero")

    @model_validator(mode="after")
    def _check_mass(self) -> Body:
        if (self.mesh is None) == (self.obstacle is None):
            raise ValueError("exactly one of mesh, obstacle is required")
        if self.obstacle is not None:
            extra = sorted(self.model_fields_set - {"name", "obstacle", "hold"})
            if extra:
                raise ValueError(f"an obstacle has a name and holds only, got {extra[0]}")
            return self
        has_material_density = self.material is not None and self.material.has_density
        if self.fabric is not None and self.material is not None:
            raise ValueError("material and fabric exclude each other")
        given = [
            self.density is not None,
            self.mass is not None,
            has_material_density,
            self.fabric is not None,
        ]
        if sum(given) != 1:
            raise ValueError("exactly one of density, mass, material.density, fabric is required")
        return self


@dataclass(frozen=True, eq=False)
class Part:
    """A body of a built scene: the particles from `start` up to `stop`.

    mesh : the simulated mesh; its points are the rest positions of the particles [m]
    render : the mesh that is drawn instead, or None
    obstacle : what it is, if it is an exact shape, or None
    """

    name: str
    mesh: Mesh
    start: int
    stop: int
    render: Mesh | None = None
    obstacle: Obstacle | None = None


def build_parts(
    bodies: Sequence[Body], dimensions: int, folder: SceneFolder, errors: ErrorCollector, limit: int
) -> dict[int, Part]:
    """Build the meshes of all bodies, by index; bodies with errors in their mesh are left out.

    limit : maximum number of particles
    """
    parts: dict[int, Part] = {}
    budget = PointBudget(limit)
    start = 0
    for i, body in enumerate(bodies):
        if body.obstacle is not None:
            with errors.collect("body", i, "obstacle"):
                parts[i] = _build_obstacle(body.obstacle, body, start, dimensions)
                budget.check(parts[i].stop)
                start = parts[i].stop
            continue
        assert body.mesh is not None
        with errors.collect("body", i, "mesh"):
            mesh = build_mesh(body.mesh, folder, budget)
            budget.check(start + mesh.n)
            if dimensions == 2 and np.any(mesh.positions[:, 2]):
                raise SceneError(["the scene has dimensions = 2, but the mesh leaves z = 0"])
            parts[i] = Part(body.name, mesh, start, start + mesh.n)
            start += mesh.n
            if body.render is not None:
                with errors.collect("body", i, "render"):
                    render = build_render_mesh(body.render, mesh, folder, budget)
                    parts[i] = replace(parts[i], render=render)
    return parts


def _build_obstacle(table: AnyObstacleTable, body: Body, start: int, dimensions: int) -> Part:
    if dimensions == 2:
        raise SceneError(["the scene has dimensions = 2, but obstacles are shapes in space"])
    turns = any(hold.rotate is not None for hold in body.hold)
    shape = replace(table.build(body.name), turns=turns)
    stop = start + len(shape.points)
    return Part(body.name, shape.cage, start, stop, shape.drawn, shape)


@dataclass
class StartValues:
    """Masses [kg], shape (n,), positions [m] and velocities [m/s], shape (n, 3), at the start."""

    mass: Float
    positions: Float
    velocities: Float


def build_start_values(
    i: int,
    body: Body,
    mesh: Mesh,
    material_mass: Float | None,
    folder: SceneFolder,
    errors: ErrorCollector,
) -> StartValues:
    """Compute the start values of body number i, with a default in place of each that fails."""
    mass = material_mass
    if body.obstacle is not None:
        return StartValues(np.ones(mesh.n), mesh.positions, np.zeros((mesh.n, 3)))
    if body.mass is not None or body.density is not None:
        with errors.collect("body", i, "density" if body.mass is None else "mass"):
            mass = _compute_masses(body, mesh, folder)
    if mass is None:
        mass = np.ones(mesh.n)
    elif body.total_mass is not None:
        mass = np.asarray(mass * (body.total_mass / mass.sum()))
    start = StartValues(mass, mesh.positions, np.zeros((mesh.n, 3)))
    if body.pose is not None:
        with errors.collect("body", i, "pose"):
            start.positions = _compute_positions(body.pose, mesh, folder)
    if body.velocity is not None:
        with errors.collect("body", i, "velocity"):
            start.velocities = _compute_velocities(body.velocity, mesh, start, folder)
    return start


def _compute_masses(body: Body, mesh: Mesh, folder: SceneFolder) -> Float:
    """Return the masses of the particles [kg], shape (n,), from `mass` or `density`."""
    if body.mass is not None:
        mass = evaluate_at_points(body.mass, mesh, folder)
    else:
        density = evaluate_at_points(body.density, mesh, folder)
        dimension = next((d for d in _LUMPED_MASS if mesh.blocks(d)), None)
        if dimension is None:
            raise SceneError(["the mesh has no cells: mass is required instead of density"])
        per_cell = [density[cells].mean(axis=1) for _, cells in mesh.blocks(dimension)]
        mass = _LUMPED_MASS[dimension](mesh, np.concatenate(per_cell))
    bad = np.flatnonzero(~(mass > 0.0))
    if len(bad):
        raise SceneError([f"masses must be positive, got {mass[bad[0]]:g} kg at point {bad[0]}"])
    return mass


def _compute_positions(pose: Pose, mesh: Mesh, folder: SceneFolder) -> Float:
    """Return the positions of the points at the start [m], shape (n, 3)."""
    x = mesh.positions
    about = x.mean(axis=0) if pose.about is None else np.array(pose.about)
    rotation = rodrigues(np.array(pose.rotate))
    positions = (x - about) * np.array(pose.scale) @ rotation.T + about + np.array(pose.translate)
    if pose.displace is not None:
        positions = positions + evaluate_vectors(pose.displace, mesh, folder)
    return positions


def _compute_velocities(
    velocity: Velocity, mesh: Mesh, start: StartValues, folder: SceneFolder
) -> Float:
    """Return the velocities of the points at the start [m/s], shape (n, 3)."""
    if velocity.about is None:
        about = (start.mass[:, None] * start.positions).sum(axis=0) / start.mass.sum()
    else:
        about = np.array(velocity.about)
    linear = evaluate_vectors(velocity.linear, mesh, folder)
    return linear + np.cross(np.array(velocity.angular), start.positions - about)
