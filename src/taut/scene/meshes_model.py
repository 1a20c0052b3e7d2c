"""The table `mesh` of a body: a generator with its own arguments, a file, or points and cells written out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag, create_model

from taut.mesh.kinds import NAMES
from taut.scene.bounds import (
    MOST_LISTED,
    MOST_PARTICLES,
    Cells,
    Model,
    Name,
    NotNegative,
    Number,
    Positive,
    Selection,
    Text,
    Vector,
)
from taut.scene.catalogue import REQUIRED, Argument, says, shape_arguments, shape_names
from taut.scene.values import Components, Extent

Points = Annotated[
    list[Annotated[list[Number], Field(min_length=2, max_length=3)]],
    Field(min_length=1, max_length=MOST_LISTED),
]


class Clean(Model):
    """What `taut.mesh.clean` shall do."""

    weld: NotNegative | None = Field(None, description="merge points this close [m]; 0: coinciding ones")
    degenerate: bool = Field(False, description="drop cells without length, area or volume")
    inverted: bool = Field(False, description="turn over solids with negative volume")
    largest: bool = Field(False, description="keep only the connected component with the most cells")
    unused: bool = Field(False, description="drop points of no cell")


class Fill(Model):
    """Fill a closed surface with tetrahedra."""

    spacing: Positive | None = Field(None, description="length of the longest edges inside [m]; default: a 30th of the diagonal")


class MeshBase(Model):
    """What is done to any mesh, in this order: clean, orient, fill, surface, triangulate, displace, rotate, translate."""

    clean: Clean | None = Field(None, description="cleaning, nothing unless asked for")
    orient: bool = Field(False, description="turn faces so that neighbours agree and closed surfaces look outwards")
    fill: Fill | None = Field(None, description="fill the closed surface with tetrahedra")
    surface: bool = Field(False, description="take the boundary of the solids in their place")
    triangulate: bool = Field(False, description="cut quads and polygons into triangles")
    displace: Components | None = Field(None, description="bends the rest shape: displacement [m] as expressions of x, y, z [m]")
    rotate: Vector | None = Field(None, description="rotation vector (axis times angle) [rad] about the origin")
    translate: Vector | None = Field(None, description="shift [m]")
    groups: Annotated[dict[Name, Selection], Field(max_length=100)] = Field({}, description="names for selections of points")


class FileMesh(MeshBase):
    """A mesh file, in the scene's folder."""

    file: Text = Field(description="name of a mesh file (OBJ, PLY, STL, OFF, VTK, VTU, MSH, MESH, NODE, GLB…)")
    scale: Positive = Field(1.0, description="metres per unit of the file")
    up: Literal["x", "y", "z"] = Field("y", description="the axis that points up in the file")


class InlineMesh(MeshBase):
    """A mesh written out."""

    points: Points = Field(description="positions [m], three each, or two in the plane")
    cells: Annotated[dict[str, Cells], Field(max_length=20)] = Field(
        {}, description=f"point numbers by kind: {', '.join(NAMES)}; for example {{ line = [[0, 1]] }}"
    )


def _field(argument: Argument) -> tuple[Any, Any]:
    kinds = {
        "int": Annotated[int, Field(ge=1, le=MOST_PARTICLES)], "float": Positive, "float | None": Positive | None, "str": Text,
    }  # fmt: skip
    kind: Any = kinds.get(argument.annotation, Extent)
    default = list(argument.default) if isinstance(argument.default, tuple) else argument.default
    return kind, Field(... if default is REQUIRED else default, description=argument.says)


def _models() -> dict[str, type[MeshBase]]:
    """A model for each generator, and those for files and points, by tag."""
    found: dict[str, type[MeshBase]] = {"mesh:file": FileMesh, "mesh:points": InlineMesh}
    for name, shape in shape_names().items():
        fields: dict[str, Any] = {"shape": (Literal[name], Field(description=says(shape)))}
        fields |= {a.name: _field(a) for a in shape_arguments(shape)}
        made: Any = create_model(f"{name.capitalize()}Mesh", __base__=MeshBase, __doc__=says(shape), **fields)
        found[f"mesh:{name}"] = made
    return found


MESHES = _models()


def _tag(value: Any) -> str | None:
    if isinstance(value, MeshBase):
        value = value.model_dump()
    if not isinstance(value, dict):
        return None
    if "shape" in value:
        return f"mesh:{value['shape']}" if isinstance(value["shape"], str) else None
    return next((f"mesh:{key}" for key in ("file", "points") if key in value), None)


def union(models: dict[str, Any]) -> Any:
    """One type of several models, told apart by their tags."""
    several = tuple(Annotated[model, Tag(tag)] for tag, model in models.items())
    union: Any = several[0]
    for other in several[1:]:
        union = union | other
    return union


if TYPE_CHECKING:
    MeshTable = MeshBase
else:
    MeshTable = Annotated[union(MESHES), Discriminator(_tag)]
