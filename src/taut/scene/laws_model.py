"""The tables `[[law]]` and `[[body.law]]`: any law of the catalogue with its parameters, or a user's own from a Python file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import ConfigDict, Discriminator, Field, create_model

from taut.scene.bounds import Elements, Model, Name, Selection, Text
from taut.scene.catalogue import REQUIRED, law_arguments, law_names, says
from taut.scene.meshes_model import union
from taut.scene.values import Parameter, parameter

OWN = "law:own"


class LawBase(Model):
    """What every law has beside its parameters; `law` is its name, of which each model below has its own."""

    if TYPE_CHECKING:
        law: str
    on: Elements | None = Field(
        None,
        description="elements: points, edges, diagonals, body_diagonals, skips, triangles, hinges, rod_hinges, boundary_edges, "
        "boundary_triangles, springs (of the material), a kind of cells, or lists of point numbers; default: every particle",
    )
    where: Selection | None = Field(None, description="only the elements all of whose points are in this selection")
    name: Name | None = Field(None, description="how it is called in energy tables; default: the law's name")
    breaking_strain: Parameter | None = Field(None, description="strain l/l0 - 1 [1] beyond which an element breaks")


class OwnLaw(LawBase):
    """A law of a Python file beside the scene: law = "file.py:name". Only where code is allowed."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, Parameter]

    law: Text = Field(description="file.py:name", json_schema_extra={"pattern": r"\.py:\w+$"})


def _models() -> dict[str, type[LawBase]]:
    found: dict[str, type[LawBase]] = {OWN: OwnLaw}
    for name, law in law_names().items():
        fields: dict[str, Any] = {"law": (Literal[name], Field(description=says(law)))}
        for a in law_arguments(law):
            default = ... if a.default is REQUIRED else a.default
            kind = Parameter if default is not None else Parameter | None
            fields[a.name] = (kind, Field(default, description=a.says))
        made: Any = create_model(f"{name.title().replace('_', '')}Law", __base__=LawBase, __doc__=says(law), **fields)
        found[f"law:{name}"] = made
    return found


LAWS = _models()


def _tag(value: Any) -> str | None:
    name = getattr(value, "law", None) if isinstance(value, LawBase) else value.get("law") if isinstance(value, dict) else None
    if not isinstance(name, str):
        return None
    return OWN if ":" in name or name.endswith(".py") else f"law:{name}"


def parameters(law: LawBase) -> dict[str, Any]:
    """The parameters that are given, by name.

    >>> parameters(LAWS["law:spring"](law="spring", on="edges", k=3.0))
    {'k': 3.0}
    """
    own = {name: getattr(law, name) for name in type(law).model_fields if name not in (*LawBase.model_fields, "law")}
    extra = {name: parameter(value) for name, value in (law.__pydantic_extra__ or {}).items()}
    return {name: value for name, value in {**own, **extra}.items() if value is not None}


if TYPE_CHECKING:
    LawTable = LawBase
else:
    LawTable = Annotated[union(LAWS), Discriminator(_tag)]
