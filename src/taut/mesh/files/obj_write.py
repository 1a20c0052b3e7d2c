"""Writing Wavefront OBJ; `obj` reads it."""

from __future__ import annotations

import numpy as np

from taut.mesh.files.blocks import names_of, one_word
from taut.mesh.files.numbers import rows as text_rows
from taut.mesh.mesh import Mesh

MATERIAL = "material:"  # how the name of a group begins that is a material
NO_GROUP, NO_MATERIAL = "default", "(null)"  # how exporters say that a group or a material ends


def write(mesh: Mesh) -> bytes:
    """The mesh as an OBJ file. A space in the name of a group becomes an underscore."""
    color = mesh.point_data.get("color")
    if color is not None and color.shape != (mesh.n, 3):
        color = None
    out = text_rows(mesh.positions if color is None else np.column_stack([mesh.positions, color]), "v ")
    if mesh.uv is not None:
        out += text_rows(mesh.uv.coordinates, "vt ")
    state: tuple[str, ...] = ()
    for kind, cells in mesh.cells.items():
        corners = [list(map(str, column)) for column in (cells + 1).T.tolist()]
        texture = mesh.uv.corners.get(kind) if mesh.uv is not None else None
        if texture is not None and kind != "line":
            corners = [
                [f"{v}/{t + 1}" if t >= 0 else v for v, t in zip(column, t_column, strict=True)]
                for column, t_column in zip(corners, texture.T.tolist(), strict=True)
            ]
        word = "l " if kind == "line" else "f "
        for line, names in zip(zip(*corners, strict=True), names_of(mesh.groups, kind, len(cells)), strict=True):
            if names != state:
                out += _labels(names, state)
                state = names
            out.append(word + " ".join(line))
    for name, by_kind in mesh.groups.items():
        if len(by_kind.get("point", ())):
            out += [*_labels((name,), state), "p " + " ".join(map(str, (by_kind["point"] + 1).tolist()))]
            state = (name,)
    return ("\n".join(out) + "\n").encode()


def _labels(names: tuple[str, ...], before: tuple[str, ...]) -> list[str]:
    """The lines that make these groups hold from here on."""
    (plain, material), (old_plain, old_material) = _parted(names), _parted(before)
    out = [f"g {' '.join(plain) or NO_GROUP}"] if plain != old_plain else []
    return out + ([f"usemtl {' '.join(material) or NO_MATERIAL}"] if material != old_material else [])


def _parted(names: tuple[str, ...]) -> tuple[list[str], list[str]]:
    """Names of groups and of materials."""
    plain = [one_word(name) for name in names if not name.startswith(MATERIAL)]
    return plain, [one_word(name.removeprefix(MATERIAL)) for name in names if name.startswith(MATERIAL)]
