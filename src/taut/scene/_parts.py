"""The key `join` of a body: springs across the gaps between the parts of its mesh."""

from __future__ import annotations

from typing import Any

import numpy as np
from pydantic import Field

from taut import laws
from taut.errors import SceneError
from taut.mesh.bridging import bridge_parts
from taut.mesh.mesh import Mesh
from taut.scene._limits import Positive, SceneTable
from taut.scene._material import BuiltMaterial


class JoinTable(SceneTable):
    """Springs that keep the parts of a mesh together, such as the lid and the body of a pot."""

    k: Positive | None = Field(
        None, description="stiffness of each spring [N/m]; default: from the material"
    )
    ratio: Positive = Field(
        1.0,
        description="without k: stiffness in multiples of the median of the material's springs [1]",
    )


def build_join(
    table: JoinTable,
    mesh: Mesh,
    material: BuiltMaterial | None,
    damping: float,
    start: int,
    prefix: str,
) -> tuple[list[Any], str]:
    """Build the springs between the parts of a mesh, and their damping; say what is joined.

    damping : of each spring's length rate [s]: c = damping × k
    start : index of the body's first particle in the system; prefix : of the names of the laws
    """
    k = table.k
    if k is None:
        known = [] if material is None else material.laws
        springs = [law for law in known if getattr(law, "law", None) is laws.spring]
        if not springs:
            raise SceneError(["k is required without a material of springs"])
        k = table.ratio * float(np.median(springs[0].parameters["k"]))
    bridges = bridge_parts(mesh)
    if not len(bridges.pairs):
        return [], "its mesh has one part, there is nothing to join"
    pairs = bridges.pairs + start
    built: list[Any] = [laws.spring(pairs, k=k, name=f"{prefix}join")]
    if damping:
        built.append(laws.spring_damping(pairs, c=damping * k, name=f"{prefix}join_damping"))
    return built, (
        f"{bridges.parts} parts are joined by {len(pairs)} springs of {k:.3g} N/m, across gaps of "
        f"at most {bridges.gap:.3g} m"
    )
