"""The Mesh that the placed primitives of a glTF document make together."""

from __future__ import annotations

from collections.abc import Set
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taut.mesh.files.glb_accessors import ANY, indices, values
from taut.mesh.files.glb_document import DRACO, Document, Object
from taut.mesh.files.glb_nodes import Placed
from taut.mesh.files.glb_topology import KINDS, cells_of
from taut.mesh.mesh import Mesh
from taut.mesh.parts import UV

Float = NDArray[np.float64]
Int = NDArray[np.int64]

_QUIET = ("POSITION", "NORMAL", "TANGENT")  # kept, or a matter of shading
OWN = "taut"  # the key in `extras` of what glTF itself has no place for


class Builder:
    """Points, cells, texture coordinates, data and groups, one placed mesh after the other."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.points: list[Float] = [np.empty((0, 3))]
        self.n = 0
        self.cells: dict[str, list[Int]] = {"line": [np.empty((0, 2), np.int64)], "triangle": [np.empty((0, 3), np.int64)]}
        self.counts = {"line": 0, "triangle": 0}
        self.coordinates: dict[int, tuple[int, Float]] = {}  # by accessor, with the number of the first
        self.uvs = 0
        self.corners: list[Int] = [np.empty((0, 3), np.int64)]
        self.data: dict[str, list[tuple[Any, Float]]] = {}  # rows and their values
        self.groups: dict[str, dict[str, list[Int]]] = {}
        # what is not kept, each thing once
        self.left_out = dict.fromkeys(key for key in ("skins", "animations") if document.array(document.root, key, "the file"))
        self._met: set[int] = set()
        self._values: dict[tuple[int, tuple[str, ...]], Float] = {}

    def add(self, placed: Placed) -> None:
        """Add one mesh where it stands."""
        mesh = self.document.item("meshes", placed.mesh, placed.where)
        where = f"mesh {placed.mesh}"
        before, first = dict(self.counts), self.n
        extras = mesh.get("extras")
        own = self.document.object(extras, OWN, where) if isinstance(extras, dict) else {}
        groups = self.document.object(own, "groups", where)
        primitives = self.document.array(mesh, "primitives", where)
        # the first time groups are but a part of the file
        self.document.part(where, max(1, len(primitives)) + (len(groups) if placed.mesh in self._met else 0))
        self._met.add(placed.mesh)
        names = {name for name in (placed.name, self.document.name(mesh)) if name}
        blocks: dict[int, tuple[int, int, dict[str, int]]] = {}  # by POSITION: first point, count, accessor by name
        for i, primitive in enumerate(primitives):
            here = f"{where}, primitive {i}"
            if not isinstance(primitive, dict):
                raise self.document.error("it is not an object", here)
            dots = self._primitive(primitive, placed, blocks, self.document.object(own, "point_data", where), here)
            for name in sorted(names) if len(dots) else ():
                self.groups.setdefault(name, {}).setdefault("point", []).append(dots)
        for name in sorted(names):
            for kind, count in before.items():
                self._join(name, kind, np.arange(count, self.counts[kind]), where)
        self._own_groups(groups, before | {"point": first}, where)

    def _join(self, name: str, kind: str, members: Int, where: str) -> None:
        self.document.use(members.nbytes, where)
        group = self.groups.setdefault(name, {})
        if len(members):
            group.setdefault(kind, []).append(members)

    def _own_groups(self, groups: Object, first: dict[str, int], where: str) -> None:
        """Groups as `write` notes them: indices within the mesh."""
        ends = self.counts | {"point": self.n}
        for name, by_kind in groups.items():
            for kind in self.document.object(groups, name, where):
                if kind not in first:
                    raise self.document.error(f"group '{name}' has members of the unknown kind '{kind}'", where)
                listed = self.document.array(by_kind, kind, where)
                count = ends[kind] - first[kind]
                if not all(type(i) is int and 0 <= i < count for i in listed):
                    raise self.document.error(f"group '{name}' names a {kind} that is not there; there are {count}", where)
                self._join(name, kind, first[kind] + np.array(listed, np.int64), where)
            self.groups.setdefault(name, {})

    def _primitive(
        self, primitive: Object, placed: Placed, blocks: dict[int, tuple[int, int, dict[str, int]]], names: Object, where: str
    ) -> Int:
        """Add one primitive; the points that it draws as dots are returned."""
        document = self.document
        attributes = document.object(primitive, "attributes", where)
        document.part(where, len(attributes) // 4)  # an attribute costs less than the rest
        position = document.whole(attributes, "POSITION", where)
        compressed = DRACO in document.object(primitive, "extensions", where)
        if compressed and "bufferView" not in document.item("accessors", position, where):
            raise document.error(f"it is compressed by {DRACO}, which is not read; save it without", where)
        if position not in blocks:
            blocks[position] = (self.n, self._points(position, placed, where), {})
        first, count, known = blocks[position]
        order = np.arange(count)
        if "indices" in primitive:
            index = document.whole(primitive, "indices", where)
            order = indices(document, index, where)
            bad = np.flatnonzero(order >= count)
            if len(bad):
                raise document.error(f"index {bad[0]} names point {order[bad[0]]}; there are {count} (0 to {count - 1})", where)
        kind, local = cells_of(document, document.whole(primitive, "mode", where, 4), order, where)
        if kind == "triangle" and placed.place.mirrors:
            local = local[:, [0, 2, 1]]  # a mirror turns faces inside out, and glTF says that they are not
        document.use(2 * local.nbytes, where)
        if kind == "triangle":
            self.corners.append(self._uv(attributes, local, count, where))
        if kind in KINDS:
            self.cells[kind].append(first + local)
            self.counts[kind] += len(local)
        data = _data_names(attributes, names)
        self._leave_out(primitive, attributes.keys() - data.keys() - ({"TEXCOORD_0"} if kind == "triangle" else set()))
        for key, name in data.items():
            index = document.whole(attributes, key, where)
            if known.get(name) != index:
                # points shared with another primitive that has other values there: only those drawn here
                rows = slice(first, first + count) if name not in known else first + order
                found = self._attribute(index, count, key, where)
                self.data.setdefault(name, []).append((rows, found if name not in known else found[order]))
                known.setdefault(name, index)
        return first + local[:, 0] if kind == "point" else np.empty(0, np.int64)

    def _leave_out(self, primitive: Object, attributes: Set[str]) -> None:
        """Note what of a primitive is not kept."""
        self.left_out |= dict.fromkeys(sorted(attributes - set(_QUIET)))
        if "targets" in primitive:
            self.left_out["morph targets"] = None

    def _points(self, position: int, placed: Placed, where: str) -> int:
        """Add the points of an accessor, placed; how many there are."""
        found = self._read(position, where, ("VEC3",))
        self.document.use(found.nbytes, where)
        if placed.place.moves:
            matrix = placed.place.matrix
            with np.errstate(all="ignore"):
                found = found @ matrix[:3, :3].T + matrix[:3, 3]
            if not np.isfinite(found).all():
                raise self.document.error("a point is not finite once it is placed", placed.where)
        self.points.append(found)
        self.n += len(found)
        return len(found)

    def _uv(self, attributes: Object, local: Int, count: int, where: str) -> Int:
        """The texture coordinates of the corners of triangles, shape (m, 3); -1 if there are none."""
        if "TEXCOORD_0" not in attributes:
            return np.full(local.shape, -1)
        index = self.document.whole(attributes, "TEXCOORD_0", where)
        if index not in self.coordinates:
            self.coordinates[index] = self.uvs, self._attribute(index, count, "TEXCOORD_0", where, ("VEC2",)) * [1, -1] + [0, 1]
            self.uvs += len(self.coordinates[index][1])
        first, coordinates = self.coordinates[index]
        self._same_count(len(coordinates), count, "TEXCOORD_0", where)
        return first + local

    def _attribute(self, index: int, count: int, key: str, where: str, types: tuple[str, ...] = ANY) -> Float:
        found = self._read(index, where, types)
        self._same_count(len(found), count, key, where)
        return found

    def _same_count(self, found: int, count: int, key: str, where: str) -> None:
        if found != count:
            raise self.document.error(f"it has {found} entries of {key} for {count} points", where)

    def _read(self, index: int, where: str, types: tuple[str, ...]) -> Float:
        """An accessor's values, read once, though there may be many instances."""
        if (index, types) not in self._values:
            self._values[index, types] = values(self.document, index, where, types)
        return self._values[index, types]

    def mesh(self) -> Mesh:
        """All of it."""
        cells = {kind: np.concatenate(found) for kind, found in self.cells.items()}
        uv = None
        if self.coordinates:
            uv = UV(np.concatenate([c for _, c in self.coordinates.values()]), {"triangle": np.concatenate(self.corners)})
        groups = {n: {k: np.concatenate(found) for k, found in by_kind.items()} for n, by_kind in self.groups.items()}
        data = {name: self._filled(name, found) for name, found in self.data.items()}
        return Mesh(np.concatenate(self.points), cells, groups=groups, point_data=data, uv=uv)

    def _filled(self, name: str, found: list[tuple[Any, Float]]) -> Float:
        """Values of all points, NaN where there are none, shape (n,) or (n, k)."""
        widths = {array.shape[1] for _, array in found}
        width = max(widths)
        if len(widths) > 1 and not (name == "color" and widths == {3, 4}):
            raise self.document.error(f"'{name}' has {min(widths)} and elsewhere {width} numbers per point")
        self.document.use(8 * self.n * width, f"data '{name}'")
        result = np.full((self.n, width), np.nan)
        for rows, array in found:
            result[rows, : array.shape[1]] = array
            result[rows, array.shape[1] :] = 1.0  # a colour without alpha is opaque
        return result[:, 0] if width == 1 else result


def _data_names(attributes: Object, names: Object) -> dict[str, str]:
    """What an attribute is called as data, for those that are: COLOR_0, and the ones of an application, which begin with "_"."""
    found: dict[str, str] = {}
    taken = {"color"} if "COLOR_0" in attributes else set()
    for key in attributes:
        if key == "COLOR_0":
            found[key] = "color"
        elif key.startswith("_"):
            noted = names.get(key)
            name = noted if isinstance(noted, str) else key[1:].lower()
            found[key] = key if name in taken else name
            taken.add(found[key])
    return found
