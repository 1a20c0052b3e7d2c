"""Writing Wavefront OBJ; `obj` reads it."""

from __future__ import annotations

import logging

import numpy as np
from numpy.typing import NDArray

from taut.errors import MeshError
from taut.mesh.files.blocks import names_of
from taut.mesh.files.colours import rgb
from taut.mesh.files.numbers import rows as text_rows
from taut.mesh.mesh import Mesh

MATERIAL = "material:"  # how the name of a group begins that is a material
NO_GROUP, NO_MATERIAL = "default", "(null)"  # how exporters say that a group or a material ends
Label = tuple[tuple[str, ...], tuple[str, ...]]  # the groups and the materials that hold
_log = logging.getLogger("taut")


def write(mesh: Mesh) -> bytes:
    """The mesh as an OBJ file. In the names of groups, what OBJ cannot hold becomes an underscore."""
    color = rgb(mesh, "OBJ")
    out = text_rows(mesh.positions if color is None else np.column_stack([mesh.positions, color]), "v ")
    if mesh.uv is not None:
        out += text_rows(mesh.uv.coordinates, "vt ")
    words = _words(mesh)
    state: Label = ((), ())
    labels: dict[tuple[str, ...], Label] = {}  # millions of cells share few sets of names
    bare = 0
    for kind, cells in mesh.cells.items():
        corners = [list(map(str, column)) for column in (cells + 1).T.tolist()]
        texture = mesh.uv.corners.get(kind) if mesh.uv is not None else None
        if texture is not None:
            whole = (texture >= 0).all(axis=1) & (kind != "line")
            bare += int(((texture >= 0).any(axis=1) & ~whole).sum())
            corners = _textured(corners, texture, whole)
        word = "l " if kind == "line" else "f "
        for i, (line, names) in enumerate(zip(zip(*corners, strict=True), names_of(mesh.groups, kind, len(cells)), strict=True)):
            label = labels.get(names)
            if label is None:
                label = labels[names] = _label(names, words, f"{kind} {i}")
            if label != state:
                out += _lines(label, state)
                state = label
            out.append(word + " ".join(line))
    for name, by_kind in mesh.groups.items():
        if "point" in by_kind:
            label = _label((name,), words, "point")
            out += [*_lines(label, state), "p " + " ".join(map(str, (by_kind["point"] + 1).tolist()))]
            state = label
    if bare:
        _log.info("OBJ: left out the texture coordinates of %d lines, or faces that have them at some corners only", bare)
    return ("\n".join(out) + "\n").encode()


def _textured(corners: list[list[str]], texture: NDArray[np.int64], whole: NDArray[np.bool_]) -> list[list[str]]:
    """Corners with their texture coordinate, on the faces that have one at each: others would be refused by most programs."""
    flags = whole.tolist()
    return [
        [f"{v}/{t}" if flag else v for v, t, flag in zip(column, t_column, flags, strict=True)]
        for column, t_column in zip(corners, (texture + 1).T.tolist(), strict=True)
    ]


def _words(mesh: Mesh) -> dict[str, str]:
    """What stands for each group in the file; names that would become one, or none, are an error."""
    empty = [name for name, by_kind in mesh.groups.items() if not by_kind]
    if empty:
        _log.info("OBJ: left out groups without members: %s", ", ".join(map(repr, empty)))
    words = {name: _word(name) for name, by_kind in mesh.groups.items() if by_kind}
    owner: dict[str, str] = {}
    for name, word in words.items():
        if word in (NO_GROUP, MATERIAL + NO_MATERIAL):
            raise MeshError(f"OBJ cannot hold a group called '{name}': the word means that there is none; rename it")
        if owner.setdefault(word, name) != name:
            raise MeshError(f"the groups {owner[word]!r} and {name!r} would both be {word!r} in OBJ; rename one")
    renamed = [f"{name!r} to {word!r}" for name, word in words.items() if name != word]
    if renamed:
        _log.info("OBJ: renamed groups: %s", ", ".join(renamed))
    return words


def _word(name: str) -> str:
    """A name without what OBJ cannot hold: white space, # and backslash, which end or continue a line, and halves of characters."""
    before = MATERIAL if name.startswith(MATERIAL) else ""
    rest = name.removeprefix(before)
    return before + ("".join("_" if c.isspace() or c in "#\\" or "\ud800" <= c <= "\udfff" else c for c in rest) or "_")


def _label(names: tuple[str, ...], words: dict[str, str], element: str) -> Label:
    """The words for the groups and for the material of an element."""
    found = [words[name] for name in names]
    materials = tuple(word.removeprefix(MATERIAL) for word in found if word.startswith(MATERIAL))
    if len(materials) > 1:
        raise MeshError(f"it has {len(materials)} materials, {' and '.join(materials)}; OBJ holds one", element=element)
    return tuple(word for word in found if not word.startswith(MATERIAL)), materials


def _lines(label: Label, before: Label) -> list[str]:
    """The lines that make these groups hold from here on."""
    out = [f"g {' '.join(label[0]) or NO_GROUP}"] if label[0] != before[0] else []
    return out + ([f"usemtl {' '.join(label[1]) or NO_MATERIAL}"] if label[1] != before[1] else [])
