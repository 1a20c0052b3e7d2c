"""The table `material` of a body: moduli in; springs, hinges, damping and masses out.

Hinges come with a barrier against the collapse of their triangles (`laws.area_barrier`), solids
with one against their inversion (`laws.volume_barrier`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field, PlainValidator, WithJsonSchema, field_validator

from taut import laws
from taut.arrays import Float, Int
from taut.errors import did_you_mean
from taut.materials import MATERIALS, bending, springs
from taut.mesh.mesh import Mesh
from taut.scene._limits import (
    NotNegative,
    Positive,
    SceneTable,
    Text,
    Vector,
    is_number,
    show_value,
)
from taut.scene._parameter import FewNumbers

_KEYWORDS = (  # of `taut.materials.springs`
    "young",
    "poisson",
    "thickness",
    "area",
    "density",
    "membrane",
    "areal_density",
    "shear",
    "warp",
)


def _check_moduli(value: Any) -> Any:
    moduli = value if isinstance(value, list) else [value]
    if len(moduli) in (1, 2) and all(is_number(v) and v > 0 for v in moduli):
        return value
    raise ValueError(
        f"must be a positive number, or two for warp and weft, got {show_value(value)}"
    )


_MODULI = {
    "anyOf": [
        {"type": "number"},
        {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2},
    ]
}
Moduli = Annotated[Any, PlainValidator(_check_moduli), WithJsonSchema(_MODULI)]


class MaterialTable(SceneTable):
    """Springs from moduli; hinges if there is a bending rigidity, masses if there is a density."""

    name: Text | None = Field(
        None, description=f"a material: {', '.join(MATERIALS)}; other keys override its values"
    )
    young: Moduli | None = Field(
        None, description="Young's modulus [Pa], one number or two (warp, weft)"
    )
    poisson: Annotated[float, Field(gt=-1.0, lt=1.0)] | None = Field(
        None, description="Poisson's ratio [1]"
    )
    thickness: Positive | None = Field(None, description="thickness of a sheet [m]")
    area: Positive | None = Field(None, description="cross-section of lines [m²]")
    density: Positive | None = Field(None, description="density [kg/m³]")
    membrane: Moduli | None = Field(
        None, description="of a sheet, instead of young: modulus times thickness [N/m]"
    )
    areal_density: Positive | None = Field(
        None, description="of a sheet, instead of density [kg/m²]"
    )
    shear: Positive | None = Field(
        None, description="shear modulus of a sheet [Pa]; with membrane [N/m]"
    )
    warp: Vector | None = Field(None, description="direction of the warp")
    rigidity: Positive | None = Field(
        None,
        description="bending rigidity EI/b of a sheet [J]; default: E t³/12, or the material's",
    )
    fit: bool = Field(
        True, description="false: Van Gelder's formula without fitting; faster, less accurate"
    )
    breaking_strain: FewNumbers | None = Field(
        None, description="strain [1] at which a spring breaks; default: never"
    )
    strain_limit: Positive | None = Field(
        None, description="strain [1] that no spring ever exceeds; default: none"
    )
    damping: NotNegative = Field(
        0.0, description="damping of each spring's length rate [s]: c = damping × k"
    )

    @field_validator("name")
    @classmethod
    def _reject_unknown(cls, value: str | None) -> str | None:
        if value is not None and value not in MATERIALS:
            raise ValueError(
                f"unknown material '{value}'{did_you_mean(value, MATERIALS)}; "
                f"known are {', '.join(MATERIALS)}"
            )
        return value

    @property
    def has_density(self) -> bool:
        """Whether the material determines the masses of the body."""
        return "density" in self.keywords or "areal_density" in self.keywords

    @property
    def keywords(self) -> dict[str, Any]:
        """Arguments of `taut.materials.springs`: those of the named material, then the table's."""
        keywords: dict[str, Any] = {}
        if self.name is not None:
            keywords |= MATERIALS[self.name].keywords
        for key in _KEYWORDS:
            value = getattr(self, key)
            if value is not None:
                keywords[key] = tuple(value) if isinstance(value, list) else value
        return keywords | {"fit": self.fit}


@dataclass(frozen=True, eq=False)
class BuiltMaterial:
    """What a material contributes to a body.

    laws : energies, then damping
    mass : masses [kg], shape (n,), or None without a density
    springs : point indices of the springs, shape (m, 2); None if there are none
    summary : the moduli that the springs reach, in words
    """

    laws: list[Any]
    mass: Float | None
    springs: Int | None
    summary: str


def build_material(table: MaterialTable, mesh: Mesh, start: int, prefix: str) -> BuiltMaterial:
    """Build the laws of a material on a mesh.

    start : index of the body's first particle in the system
    prefix : begins the names of the laws
    """
    fitted = springs(mesh, **table.keywords)
    pairs = fitted.pairs + start
    built: list[Any] = [
        laws.spring(
            pairs, k=fitted.k, breaking_strain=table.breaking_strain, name=f"{prefix}spring"
        )
    ]
    if table.strain_limit is not None:
        built.append(
            laws.strain_limit(
                pairs, k=fitted.k, limit=table.strain_limit, name=f"{prefix}strain_limit"
            )
        )
    rigidity = table.rigidity
    if rigidity is None and table.name:
        rigidity = MATERIALS[table.name].rigidity
    c = fitted.bending
    if rigidity is not None and len(mesh.triangles):
        c = bending(mesh, rigidity)
    if c is not None and len(mesh.hinges):
        name = f"{prefix}shell_bending"
        built.append(laws.shell_bending(mesh.hinges + start, c=c, name=name))
        if fitted.reached is not None and fitted.reached.dimension == 2:
            # Where a triangle collapses, the angles of its hinges have no value.
            k = fitted.reached.young * table.keywords.get("thickness", 1.0)
            name = f"{prefix}area_barrier"
            built.append(laws.area_barrier(mesh.triangles + start, k=k, name=name))
    if fitted.reached is not None and fitted.reached.dimension == 3:
        # Springs alone do not resist that a cell turns inside out: its edges keep their lengths.
        k = fitted.reached.young
        name = f"{prefix}volume_barrier"
        built.append(laws.volume_barrier(mesh.corner_tets + start, k=k, name=name))
    if table.damping:
        name = f"{prefix}spring_damping"
        built.append(laws.spring_damping(pairs, c=table.damping * fitted.k, name=name))
    return BuiltMaterial(built, fitted.mass, fitted.pairs, str(fitted))
