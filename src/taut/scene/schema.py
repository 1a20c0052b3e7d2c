"""The JSON Schema of scene files, from the same models that check them: editors complete and explain from it."""

from __future__ import annotations

from typing import Any

from taut.scene.model import SceneFile


def schema() -> dict[str, Any]:
    """The JSON Schema of a scene file; every field has a description with its unit.

    >>> schema()["properties"]["time"]["$ref"], "SpringLaw" in schema()["$defs"]
    ('#/$defs/Time', True)
    """
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **SceneFile.model_json_schema()}
