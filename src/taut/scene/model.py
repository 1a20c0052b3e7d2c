"""The tables of a scene file. SI units; every field says its own."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, PlainValidator, WithJsonSchema, field_validator, model_validator

from taut.errors import did_you_mean
from taut.scene.bounds import (
    MOST_STEPS,
    MOST_TABLES,
    Model,
    Name,
    NotNegative,
    Positive,
    Selection,
    Text,
    Vector,
)
from taut.scene.catalogue import integrator_names, integrator_options
from taut.scene.holds_model import Hold
from taut.scene.laws_model import LawTable
from taut.scene.materials_model import MaterialTable
from taut.scene.meshes_model import MeshTable
from taut.scene.values import Components, Parameter
from taut.solve.linear import SolverName
from taut.solve.tolerance import Tolerance
from taut.step.implicit import MinimiserName

LISTS = ("body", "law", "hold", "stitch", "attach")  # keys whose values are lists of tables, wherever they stand


class Time(Model):
    """Steps and their end."""

    h: Positive = Field(description="length of a step [s]")
    duration: Positive = Field(description="until when [s]; the last step may be shorter")

    @model_validator(mode="after")
    def _countable(self) -> Time:
        if self.duration / self.h > MOST_STEPS:
            raise ValueError(f"it takes {self.duration / self.h:.3g} steps; the most are {MOST_STEPS:,}")
        return self


class Adapt(Model):
    """Steps that shorten themselves (`taut.Adaptive`)."""

    error: Positive | None = Field(None, description="error in positions [m] that a substep may make; default: only failures count")
    halvings: Annotated[int, Field(ge=0, le=60)] = Field(10, description="a substep shorter than h/2^halvings is given up")


class IntegratorTable(Model):
    """How a step is taken."""

    method: Text = Field(
        "ImplicitEuler", description="an integrator by its name: ImplicitEuler, TRBDF2, BDF2, VelocityVerlet, RK4…"
    )
    tolerance: Annotated[float, Field(ge=0.0, lt=1.0)] | None = Field(
        None, description="residual of each particle by its gross force [1]; default 1e-8"
    )
    force: NotNegative | None = Field(None, description="residual [N] that is always good enough; default 0")
    solver: SolverName | None = Field(None, description="linear solver; default auto")
    minimiser: MinimiserName | None = Field(None, description="default newton")
    adaptive: Adapt | None = Field(None, description="shorten steps that fail or err; default: none, a failed step ends the run")

    @field_validator("method")
    @classmethod
    def _known(cls, value: str) -> str:
        if value not in integrator_names():
            raise ValueError(f"there is no integrator '{value}'{did_you_mean(value, integrator_names())}")
        return value

    @model_validator(mode="after")
    def _takes(self) -> IntegratorTable:
        takes = integrator_options(integrator_names()[self.method])
        given: dict[str, Any] = {
            "tolerance": self.tolerance is not None or self.force is not None,
            "solver": self.solver,
            "minimiser": self.minimiser,
        }
        for option, value in given.items():
            if value and option not in takes:
                raise ValueError(f"{self.method} has no {option}")
        usual = {**takes, "tolerance": Tolerance().relative, "force": Tolerance().force}
        for option, value in usual.items():  # written out, so that a resolved scene does not change with ours
            if getattr(self, option) is None and ("tolerance" if option == "force" else option) in takes:
                setattr(self, option, value)
        return self


class Output(Model):
    """What is kept."""

    every: Annotated[int, Field(ge=1, le=MOST_STEPS)] = Field(1, description="steps from one frame to the next")


def _scaling(value: Any) -> Any:
    several = value if isinstance(value, list) else [value] * 3
    if len(several) == 3 and all(isinstance(v, (int, float)) and not isinstance(v, bool) and 0 < v <= 1e6 for v in several):
        return value
    raise ValueError("it is a positive factor, or three, up to 1e6")


class Pose(Model):
    """Where a body starts, seen from its rest shape: scaled and turned about a point, moved, and displaced point by point."""

    scale: Annotated[
        Any,
        PlainValidator(_scaling),
        WithJsonSchema({"anyOf": [{"type": "number"}, {"type": "array", "items": {"type": "number"}}]}),
    ] = Field(1.0, description="factor [1], one or three: an initial stretch")
    rotate: Vector = Field([0.0, 0.0, 0.0], description="rotation vector (axis times angle) [rad]")
    about: Vector | None = Field(None, description="the point [m] of both; default: the middle of the body")
    translate: Vector = Field([0.0, 0.0, 0.0], description="shift [m]")
    displace: Components | None = Field(None, description="displacement [m] as three expressions of x, y, z [m]")


class Velocity(Model):
    """How a body starts to move."""

    linear: Components = Field([0.0, 0.0, 0.0], description="velocity [m/s], three numbers or expressions of x, y, z [m]")
    angular: Vector = Field([0.0, 0.0, 0.0], description="angular velocity [rad/s]")
    about: Vector | None = Field(None, description="point [m] on the axis of it; default: the centre of mass")


class Body(Model):
    """One body: a mesh, its mass, what acts in it, and what holds it."""

    name: Name = Field(description="by which stitches, attachments and --set know it")
    mesh: MeshTable = Field(description="a generator, a file, or points and cells")
    render: MeshTable | None = Field(
        None, description="a mesh [m] in the same place, finer or textured, that rides on the simulated one and is shown for it"
    )
    density: Parameter | None = Field(
        None, description="of the solids [kg/m³], else of the faces [kg/m²], else of the lines [kg/m]"
    )
    mass: Parameter | None = Field(None, description="of each particle [kg]")
    total_mass: Positive | None = Field(None, description="masses are multiplied so that this is their sum [kg]")
    material: MaterialTable | None = Field(None, description="springs, bending and mass from moduli (taut.materials)")
    law: Annotated[list[LawTable], Field(max_length=MOST_TABLES)] = Field([], description="laws on the elements of this body")
    hold: Annotated[list[Hold], Field(max_length=MOST_TABLES)] = Field([], description="points held, moved or led")
    pose: Pose | None = Field(None, description="where it starts; default: in its rest shape")
    velocity: Velocity | None = Field(None, description="how it starts to move; default: at rest")

    @model_validator(mode="after")
    def _heavy(self) -> Body:
        weighed = self.material is not None and self.material.weighed
        if sum([self.density is not None, self.mass is not None, weighed]) != 1:
            raise ValueError("how heavy is it? give one of density, mass, or a density in material")
        return self


class Join(Model):
    """What stitches and attachments have in common."""

    bodies: Annotated[list[Name], Field(min_length=2, max_length=2)] = Field(description="names of the two bodies")
    k: Positive = Field(description="stiffness of each [N/m]")
    name: Name | None = Field(None, description="how it is called in energy tables")


class Stitch(Join):
    """Points of one body sewn to points of another by springs of length zero."""

    where: Annotated[list[Selection], Field(min_length=2, max_length=2)] = Field(
        description="points of the first, and of the second"
    )
    pair: Literal["order", "nearest"] = Field(
        "order", description="by their order, or each of the first with the nearest of the second"
    )


class Attach(Join):
    """Points of one body fastened to where they are in the cells of another."""

    where: Selection = Field(description="points of the first body; the second carries them")


class SceneFile(Model):
    """A scene of taut: bodies, what acts on them, and how time passes. SI units, y up."""

    title: Text = Field("", description="what it is")
    why: Text = Field("", description="what there is to see, in one line")
    dimensions: Literal[2, 3] = Field(3, description="2: everything stays in the plane z = 0")
    time: Time
    integrator: IntegratorTable = Field(
        default_factory=lambda: IntegratorTable.model_validate({}), description="how a step is taken"
    )
    output: Output = Field(default_factory=lambda: Output.model_validate({}), description="what is kept")
    body: Annotated[list[Body], Field(min_length=1, max_length=MOST_TABLES)] = Field(description="the bodies")
    stitch: Annotated[list[Stitch], Field(max_length=MOST_TABLES)] = Field([], description="seams between bodies")
    attach: Annotated[list[Attach], Field(max_length=MOST_TABLES)] = Field(
        [], description="points fastened to cells of another body"
    )
    law: Annotated[list[LawTable], Field(max_length=MOST_TABLES)] = Field([], description="laws on every particle of all bodies")
