"""The table `material` of a body: the keywords of `taut.materials.springs`, or a name of its table of materials."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, PlainValidator, WithJsonSchema, field_validator

from taut.errors import did_you_mean
from taut.materials import MATERIALS
from taut.scene.bounds import Model, NotNegative, Positive, Text, Vector, is_number
from taut.scene.values import Extent

_MODULUS = {"anyOf": [{"type": "number"}, {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2}]}


def _moduli(value: Any) -> Any:
    several = value if isinstance(value, list) else [value]
    if len(several) in (1, 2) and all(is_number(v) and v > 0 for v in several):
        return value
    raise ValueError("it is a positive number, or a pair for warp and weft")


Moduli = Annotated[Any, PlainValidator(_moduli), WithJsonSchema(_MODULUS)]


class MaterialTable(Model):
    """Moduli in, springs out: springs on the mesh, hinges if there is a rigidity, masses if there is a density."""

    name: Text | None = Field(
        None, description=f"of the table of materials: {', '.join(MATERIALS)}; what else is given goes before"
    )
    young: Moduli | None = Field(None, description="Young's modulus [Pa], one or a pair (warp, weft)")
    poisson: Annotated[float, Field(gt=-1.0, lt=1.0)] | None = Field(None, description="Poisson's ratio [1]")
    thickness: Positive | None = Field(None, description="of a sheet [m]")
    area: Positive | None = Field(None, description="cross-section of lines [m²]")
    density: Positive | None = Field(None, description="[kg/m³]")
    membrane: Moduli | None = Field(None, description="of a sheet, in place of young: modulus times thickness [N/m]")
    areal_density: Positive | None = Field(None, description="of a sheet, in place of density [kg/m²]")
    shear: Positive | None = Field(None, description="shear modulus of a sheet [Pa], with membrane [N/m]")
    warp: Vector | None = Field(None, description="direction of the warp")
    rigidity: Positive | None = Field(None, description="bending rigidity EI/b of a sheet [J]; default: E t³/12, or the table's")
    fit: bool = Field(True, description="false: Van Gelder's formula alone, quick and less exact")
    breaking_strain: Extent | None = Field(None, description="strain [1] beyond which a spring breaks; default: never")
    damping: NotNegative = Field(0.0, description="of each spring's change of length [s]: c = damping × k")

    @field_validator("name")
    @classmethod
    def _known(cls, value: str | None) -> str | None:
        if value is not None and value not in MATERIALS:
            raise ValueError(f"there is no material '{value}'{did_you_mean(value, MATERIALS)}; there are {', '.join(MATERIALS)}")
        return value

    @property
    def weighed(self) -> bool:
        """Whether it says how heavy the body is."""
        table = {} if self.name is None else MATERIALS[self.name].keywords
        return any(v is not None for v in (self.density, self.areal_density)) or "density" in table or "areal_density" in table

    @property
    def keywords(self) -> dict[str, Any]:
        """For `taut.materials.springs`."""
        table = {} if self.name is None else dict(MATERIALS[self.name].keywords)
        names = ("young", "poisson", "thickness", "area", "density", "membrane", "areal_density", "shear", "warp")
        own = {name: getattr(self, name) for name in names if getattr(self, name) is not None}
        return {name: tuple(v) if isinstance(v, list) else v for name, v in {**table, **own}.items()} | {"fit": self.fit}
