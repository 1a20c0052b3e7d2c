"""The table `fabric` of a body: a fabric by its name; membrane, hinges and masses out.

Hinges come with a barrier against the collapse of their triangles (`laws.area_barrier`).
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, PlainValidator, WithJsonSchema, field_validator

from taut import laws
from taut.errors import did_you_mean
from taut.materials import FABRICS, fabric
from taut.mesh.mesh import Mesh
from taut.scene._limits import MAX_TEXT, Positive, SceneTable, Text, is_number, show_value
from taut.scene._material import BuiltMaterial


def _check_warp(value: Any) -> Any:
    if isinstance(value, str) and 0 < len(value) <= MAX_TEXT:
        return value
    if isinstance(value, list) and len(value) == 3 and all(map(is_number, value)):
        return value
    raise ValueError(
        "must be a direction, three numbers, or the name of a vector map of the mesh, "
        f"got {show_value(value)}"
    )


_WARP = {
    "anyOf": [
        {"type": "string"},
        {"type": "array", "items": {"type": "number"}, "minItems": 3, "maxItems": 3},
    ]
}
Warp = Annotated[Any, PlainValidator(_check_warp), WithJsonSchema(_WARP)]


class FabricTable(SceneTable):
    """A fabric of taut.materials.FABRICS on the faces of the body."""

    name: Text = Field(description=f"a fabric: {', '.join(FABRICS)}", examples=list(FABRICS))
    warp: Warp | None = Field(
        None,
        description="direction of the warp, three numbers or the name of a vector map of the "
        "points; default: v of the texture coordinates",
    )
    strain_limit: Positive | None = Field(
        None, description="strain [1] that no edge ever exceeds; default: none"
    )

    @field_validator("name")
    @classmethod
    def _reject_unknown(cls, value: str) -> str:
        if value not in FABRICS:
            raise ValueError(
                f"unknown fabric '{value}'{did_you_mean(value, FABRICS)}; "
                f"known are {', '.join(FABRICS)}"
            )
        return value


def build_fabric(table: FabricTable, mesh: Mesh, start: int, prefix: str) -> BuiltMaterial:
    """Build the laws of a fabric on a mesh; start and prefix as in `build_material`."""
    cloth = fabric(table.name, mesh, warp=table.warp)
    triangles = mesh.triangles + start
    built: list[Any] = [
        laws.orthotropic_membrane(triangles, **cloth.membrane, name=f"{prefix}orthotropic_membrane")
    ]
    if len(mesh.hinges):
        hinges = mesh.hinges + start
        built += [
            laws.shell_bending(hinges, c=cloth.bending, name=f"{prefix}shell_bending"),
            laws.area_barrier(triangles, k=cloth.barrier, name=f"{prefix}area_barrier"),
        ]
    if table.strain_limit is not None:
        built.append(
            laws.strain_limit(
                mesh.edges + start,
                k=cloth.barrier,
                limit=table.strain_limit,
                name=f"{prefix}strain_limit",
            )
        )
    summary = f"{table.name}: {cloth.sample.what}"
    return BuiltMaterial(built, cloth.mass, None, summary)
