"""Build one Mesh of all mesh instances of a glTF document."""

from __future__ import annotations

from collections.abc import Set
from typing import Any

import numpy as np

from taut.arrays import Float, Int
from taut.mesh.files.glb._accessors import ANY_TYPE, KINDS, make_cells, read_indices, read_values
from taut.mesh.files.glb._nodes import MeshInstance
from taut.mesh.files.glb.document import DRACO, GltfDocument, Object
from taut.mesh.files.text_reader import explain_unknown_point
from taut.mesh.mesh import Mesh
from taut.mesh.parts import UV

_UNLOGGED = ("POSITION", "NORMAL", "TANGENT")  # kept, or for shading only
EXTRAS_KEY = "taut"  # in `extras`: groups and names of data, for which glTF has no place


class MeshBuilder:
    """Collects points, cells, texture coordinates, data and groups of all instances."""

    def __init__(self, document: GltfDocument) -> None:
        self.document = document
        self.points: list[Float] = [np.empty((0, 3))]
        self.n = 0
        self.cells: dict[str, list[Int]] = {
            "line": [np.empty((0, 2), np.int64)],
            "triangle": [np.empty((0, 3), np.int64)],
        }
        self.counts = {"line": 0, "triangle": 0}
        # Texture coordinates by accessor, with the number of the first one.
        self.coordinates: dict[int, tuple[int, Float]] = {}
        self.uvs = 0
        self.corners: list[Int] = [np.empty((0, 3), np.int64)]
        self.data: dict[str, list[tuple[Any, Float]]] = {}  # rows and their values
        self.groups: dict[str, dict[str, list[Int]]] = {}
        # Names of what is not kept, without repetition.
        self.left_out = dict.fromkeys(
            key
            for key in ("skins", "animations")
            if document.get_list(document.root, key, "the file")
        )
        self._seen: set[int] = set()
        self._values: dict[tuple[int, tuple[str, ...]], Float] = {}

    def add(self, instance: MeshInstance) -> None:
        """Add one mesh in its place."""
        mesh = self.document.get_item("meshes", instance.mesh, instance.where)
        where = f"mesh {instance.mesh}"
        before, first = dict(self.counts), self.n
        extras = mesh.get("extras")
        own = (
            self.document.get_object(extras, EXTRAS_KEY, where) if isinstance(extras, dict) else {}
        )
        groups = self.document.get_object(own, "groups", where)
        primitives = self.document.get_list(mesh, "primitives", where)
        # Groups count from the second instance on: the first ones are bounded by the file.
        self.document.count_parts(
            where, max(1, len(primitives)) + (len(groups) if instance.mesh in self._seen else 0)
        )
        self._seen.add(instance.mesh)
        names = {name for name in (instance.name, self.document.get_name(mesh)) if name}
        # By accessor of POSITION: first point, number of points, accessors of data by name.
        blocks: dict[int, tuple[int, int, dict[str, int]]] = {}
        for i, primitive in enumerate(primitives):
            here = f"{where}, primitive {i}"
            if not isinstance(primitive, dict):
                raise self.document.error("a primitive must be an object", here)
            dots = self._add_primitive(
                primitive,
                instance,
                blocks,
                self.document.get_object(own, "point_data", where),
                here,
            )
            for name in sorted(names) if len(dots) else ():
                self.groups.setdefault(name, {}).setdefault("point", []).append(dots)
        for name in sorted(names):
            for kind, count in before.items():
                self._add_members(name, kind, np.arange(count, self.counts[kind]), where)
        self._add_extra_groups(groups, before | {"point": first}, where)

    def _add_members(self, name: str, kind: str, members: Int, where: str) -> None:
        self.document.spend(members.nbytes, where)
        group = self.groups.setdefault(name, {})
        if len(members):
            group.setdefault(kind, []).append(members)

    def _add_extra_groups(self, groups: Object, first: dict[str, int], where: str) -> None:
        """Add the groups that `write` stores in `extras`: indices within the mesh."""
        ends = self.counts | {"point": self.n}
        for name, by_kind in groups.items():
            for kind in self.document.get_object(groups, name, where):
                if kind not in first:
                    raise self.document.error(
                        f"group '{name}' must have points, lines or triangles, got '{kind}'", where
                    )
                listed = self.document.get_list(by_kind, kind, where)
                count = ends[kind] - first[kind]
                if not all(type(i) is int and 0 <= i < count for i in listed):
                    raise self.document.error(
                        f"members of group '{name}' must be indices of the {count} {kind}s", where
                    )
                self._add_members(name, kind, first[kind] + np.array(listed, np.int64), where)
            self.groups.setdefault(name, {})

    def _add_primitive(
        self,
        primitive: Object,
        instance: MeshInstance,
        blocks: dict[int, tuple[int, int, dict[str, int]]],
        names: Object,
        where: str,
    ) -> Int:
        """Add one primitive; return the points that it draws as dots."""
        document = self.document
        attributes = document.get_object(primitive, "attributes", where)
        document.count_parts(where, len(attributes) // 4)  # an attribute costs less than the rest
        position = document.get_int(attributes, "POSITION", where)
        compressed = DRACO in document.get_object(primitive, "extensions", where)
        if compressed and "bufferView" not in document.get_item("accessors", position, where):
            raise document.error(
                f"a primitive must not be compressed, got {DRACO}; save it without", where
            )
        if position not in blocks:
            blocks[position] = (self.n, self._add_points(position, instance, where), {})
        first, count, known = blocks[position]
        order = np.arange(count)
        if "indices" in primitive:
            index = document.get_int(primitive, "indices", where)
            order = read_indices(document, index, where)
            bad = np.flatnonzero(order >= count)
            if len(bad):
                raise document.error(
                    f"{explain_unknown_point(int(order[bad[0]]), count)} at index {bad[0]}", where
                )
        kind, local = make_cells(
            document, document.get_int(primitive, "mode", where, 4), order, where
        )
        if kind == "triangle" and instance.transform.is_mirror:
            local = local[:, [0, 2, 1]]  # glTF requires that faces keep facing outwards
        document.spend(2 * local.nbytes, where)
        if kind == "triangle":
            self.corners.append(self._add_uv(attributes, local, count, where))
        if kind in KINDS:
            self.cells[kind].append(first + local)
            self.counts[kind] += len(local)
        data = _name_data(attributes, names)
        self._leave_out(
            primitive,
            attributes.keys() - data.keys() - ({"TEXCOORD_0"} if kind == "triangle" else set()),
        )
        for key, name in data.items():
            index = document.get_int(attributes, key, where)
            if known.get(name) != index:
                found = self._read_attribute(index, count, key, where)
                rows: Any = slice(first, first + count)
                if name in known:
                    # Another primitive on these points has other values: set those drawn here.
                    rows, found = first + order, found[order]
                self.data.setdefault(name, []).append((rows, found))
                known.setdefault(name, index)
        return first + local[:, 0] if kind == "point" else np.empty(0, np.int64)

    def _leave_out(self, primitive: Object, attributes: Set[str]) -> None:
        """Record what of a primitive is not kept."""
        self.left_out |= dict.fromkeys(sorted(attributes - set(_UNLOGGED)))
        if "targets" in primitive:
            self.left_out["morph targets"] = None

    def _add_points(self, position: int, instance: MeshInstance, where: str) -> int:
        """Add the points of an accessor, transformed; return how many there are."""
        found = self._read(position, where, ("VEC3",))
        self.document.spend(found.nbytes, where)
        if not instance.transform.is_identity:
            matrix = instance.transform.matrix
            with np.errstate(all="ignore"):
                found = found @ matrix[:3, :3].T + matrix[:3, 3]
            if not np.isfinite(found).all():
                raise self.document.error(
                    "points must be finite once they are transformed", instance.where
                )
        self.points.append(found)
        self.n += len(found)
        return len(found)

    def _add_uv(self, attributes: Object, local: Int, count: int, where: str) -> Int:
        """Return the texture coordinates of triangle corners, shape (m, 3); -1 for none."""
        if "TEXCOORD_0" not in attributes:
            return np.full(local.shape, -1)
        index = self.document.get_int(attributes, "TEXCOORD_0", where)
        if index not in self.coordinates:
            self.coordinates[index] = (
                self.uvs,
                self._read_attribute(index, count, "TEXCOORD_0", where, ("VEC2",)) * [1, -1]
                + [0, 1],
            )
            self.uvs += len(self.coordinates[index][1])
        first, coordinates = self.coordinates[index]
        self._check_count(len(coordinates), count, "TEXCOORD_0", where)
        return first + local

    def _read_attribute(
        self, index: int, count: int, key: str, where: str, types: tuple[str, ...] = ANY_TYPE
    ) -> Float:
        found = self._read(index, where, types)
        self._check_count(len(found), count, key, where)
        return found

    def _check_count(self, found: int, count: int, key: str, where: str) -> None:
        if found != count:
            raise self.document.error(
                f"{key} must have {count} entries, one per point, got {found}", where
            )

    def _read(self, index: int, where: str, types: tuple[str, ...]) -> Float:
        """Return an accessor's values, read once for all instances."""
        if (index, types) not in self._values:
            self._values[index, types] = read_values(self.document, index, where, types)
        return self._values[index, types]

    def build(self) -> Mesh:
        """Return the mesh."""
        cells = {kind: np.concatenate(found) for kind, found in self.cells.items()}
        uv = None
        if self.coordinates:
            uv = UV(
                np.concatenate([c for _, c in self.coordinates.values()]),
                {"triangle": np.concatenate(self.corners)},
            )
        groups = {
            n: {k: np.concatenate(found) for k, found in by_kind.items()}
            for n, by_kind in self.groups.items()
        }
        data = {name: self._fill(name, found) for name, found in self.data.items()}
        return Mesh(np.concatenate(self.points), cells, groups=groups, point_data=data, uv=uv)

    def _fill(self, name: str, found: list[tuple[Any, Float]]) -> Float:
        """Return values of all points, NaN where there are none, shape (n,) or (n, k)."""
        widths = {array.shape[1] for _, array in found}
        width = max(widths)
        if len(widths) > 1 and not (name == "color" and widths == {3, 4}):
            raise self.document.error(
                f"'{name}' must have equally many numbers per point, got {min(widths)} and {width}"
            )
        self.document.spend(8 * self.n * width, f"data '{name}'")
        result = np.full((self.n, width), np.nan)
        for rows, array in found:
            result[rows, : array.shape[1]] = array
            result[rows, array.shape[1] :] = 1.0  # a colour without alpha is opaque
        return result[:, 0] if width == 1 else result


def _name_data(attributes: Object, names: Object) -> dict[str, str]:
    """Return names of data by attribute: COLOR_0, and those of applications, "_NAME"."""
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
