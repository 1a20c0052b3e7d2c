"""GLB files: transforms, instances, strides, round trips; damaged files raise MeshError."""

import base64
import copy
import json
import logging
import struct
from pathlib import Path

import numpy as np
import pytest

from taut.errors import MeshError
from taut.mesh import UV, Mesh
from taut.mesh.files import glb

HERE = Path("some.glb")
CODES = {"i1": 5120, "u1": 5121, "i2": 5122, "u2": 5123, "u4": 5125, "f4": 5126}
TYPES = {1: "SCALAR", 2: "VEC2", 3: "VEC3", 4: "VEC4"}
CORNERS = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [2, 0, 0]]


class DocumentBuilder:
    """Builds a glTF document and its buffer by hand."""

    def __init__(self):
        self.bytes = b""
        self.document = {
            "asset": {"version": "2.0"},
            "buffers": [{"byteLength": 0}],
            "bufferViews": [],
            "accessors": [],
            "meshes": [],
        }

    def view(self, content, **more):
        self.bytes += b"\0" * (-len(self.bytes) % 4)
        self.document["bufferViews"].append(
            {"buffer": 0, "byteOffset": len(self.bytes), "byteLength": len(content), **more}
        )
        self.bytes += content
        return len(self.document["bufferViews"]) - 1

    def accessor(self, values, dtype="f4", **more):
        array = np.array(values, "<" + dtype)
        entry = {
            "componentType": CODES[dtype],
            "count": len(array),
            "type": TYPES[1 if array.ndim == 1 else array.shape[1]],
        }
        self.document["accessors"].append(
            {"bufferView": self.view(array.tobytes()), **entry, **more}
        )
        return len(self.document["accessors"]) - 1

    def mesh(self, *primitives, **more):
        self.document["meshes"].append({"primitives": list(primitives), **more})
        return len(self.document["meshes"]) - 1

    def packed(self):
        self.document["buffers"][0].setdefault("byteLength", len(self.bytes))
        return pack(json.dumps(self.document).encode(), self.bytes)

    def read(self):
        return glb.read(HERE, self.packed())


def pack(text, content):
    text += b" " * (-len(text) % 4)
    content += b"\0" * (-len(content) % 4)
    chunks = (
        struct.pack("<2I", len(text), 0x4E4F534A)
        + text
        + struct.pack("<2I", len(content), 0x004E4942)
        + content
    )
    return struct.pack("<4s2I", b"glTF", 2, 12 + len(chunks)) + chunks


def one(order=(0, 1, 2), mode=None, dtype="u2"):
    """A builder with one mesh on the corners."""
    maker = DocumentBuilder()
    primitive = {
        "attributes": {"POSITION": maker.accessor(CORNERS)},
        "indices": maker.accessor(order, dtype),
    }
    maker.mesh(primitive | ({} if mode is None else {"mode": mode}), name="thing")
    return maker


def scene():
    """A builder with nodes, data of many kinds, and texture coordinates."""
    maker = one([0, 1, 2, 0, 2, 3])
    attributes = maker.document["meshes"][0]["primitives"][0]["attributes"]
    attributes["TEXCOORD_0"] = maker.accessor([[0, 0], [1, 0], [1, 1], [0, 1], [0.5, 0.25]])
    attributes["COLOR_0"] = maker.accessor([[255, 0, 51, 255]] * 5, "u1", normalized=True)
    attributes["_HEAT"] = maker.accessor([1, 2, 3, 4, 5.5])
    maker.document["nodes"] = [
        {"children": [1, 2]},
        {"mesh": 0, "name": "left"},
        {"mesh": 0, "translation": [0, 0, 3]},
    ]
    maker.document["scenes"] = [{"nodes": [0]}]
    return maker


def lists(by_kind):
    return {kind: array.tolist() for kind, array in by_kind.items()}


@pytest.mark.parametrize("dtype", ["u1", "u2", "u4"])
def test_indexed_triangles(dtype):
    mesh = one([0, 1, 2, 0, 2, 3], dtype=dtype).read()
    assert mesh.points.tolist() == CORNERS
    assert lists(mesh.cells) == {"triangle": [[0, 1, 2], [0, 2, 3]]}
    assert lists(mesh.groups["thing"]) == {"triangle": [0, 1]}


@pytest.mark.parametrize(
    ("mode", "kind", "cells"),
    [
        (1, "line", [[0, 1], [2, 3]]),
        (2, "line", [[0, 1], [1, 2], [2, 3], [3, 0]]),
        (3, "line", [[0, 1], [1, 2], [2, 3]]),
        (5, "triangle", [[0, 1, 2], [1, 3, 2]]),
        (6, "triangle", [[1, 2, 0], [2, 3, 0]]),
    ],
)
def test_primitive_modes(mode, kind, cells):
    assert lists(one([0, 1, 2, 3], mode).read().cells) == {kind: cells}


def test_a_strip_in_two_pieces():
    # the triangle 3, 4, 1 is the sixth of the strip, and each second one runs the other way
    assert one([0, 1, 2, 2, 3, 3, 4, 1], 5).read().cells["triangle"].tolist() == [
        [0, 1, 2],
        [3, 1, 4],
    ]


def test_primitives_without_indices_or_faces():
    maker = DocumentBuilder()
    positions = maker.accessor(CORNERS[:3])
    maker.mesh(
        {"attributes": {"POSITION": positions}},
        {"attributes": {"POSITION": positions}, "mode": 0},
        name="dots",
    )
    mesh = maker.read()
    assert lists(mesh.cells) == {"triangle": [[0, 1, 2]]}
    assert lists(mesh.groups["dots"]) == {"point": [0, 1, 2], "triangle": [0]}


def test_nodes_transform_meshes():
    maker = one()
    half = np.sqrt(0.5)
    maker.document["nodes"] = [
        {
            "mesh": 0,
            "name": "turned",
            "rotation": [0, 0, half, half],
            "scale": [2, 3, 4],
            "translation": [10, 0, 0],
            "children": [2],
        },
        {"mesh": 0, "name": "not in the scene"},
        {"mesh": 0, "name": "below", "matrix": [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 5, 1]},
    ]
    maker.document["scenes"] = [{"nodes": [1]}, {"nodes": [0]}]
    maker.document["scene"] = 1
    mesh = maker.read()
    # a quarter turn about z takes (x, y) to (-y, x)
    expected = [[10 - 3 * y, 2 * x, 4 * z] for x, y, z in CORNERS] + [
        [10 - 3 * y, 2 * x, 20] for x, y, _ in CORNERS
    ]
    np.testing.assert_allclose(mesh.points, expected, atol=1e-14)
    assert mesh.cells["triangle"].tolist() == [[0, 1, 2], [5, 6, 7]]
    groups = {name: lists(group) for name, group in mesh.groups.items()}
    assert groups == {
        "turned": {"triangle": [0]},
        "below": {"triangle": [1]},
        "thing": {"triangle": [0, 1]},
    }


def test_a_mirrored_node_keeps_its_faces_outwards():
    maker = one()
    maker.document["nodes"] = [{"mesh": 0, "scale": [-1, 1, 1]}]
    assert maker.read().cells["triangle"].tolist() == [[0, 2, 1]]


def test_data_and_texture_coordinates():
    mesh = scene().read()
    assert mesh.n == 10
    assert mesh.cells["triangle"].tolist() == [[0, 1, 2], [0, 2, 3], [5, 6, 7], [5, 7, 8]]
    np.testing.assert_allclose(
        mesh.point_data["color"], np.tile([1, 0, 0.2, 1], (10, 1)), rtol=1e-15
    )
    assert mesh.point_data["heat"].tolist() == [1, 2, 3, 4, 5.5] * 2
    assert mesh.uv.coordinates.tolist() == [[0, 1], [1, 1], [1, 0], [0, 0], [0.5, 0.75]]
    assert mesh.uv.corners["triangle"].tolist() == [[0, 1, 2], [0, 2, 3]] * 2


def test_primitives_that_share_positions_share_points():
    maker = one()
    positions = maker.document["meshes"][0]["primitives"][0]["attributes"]["POSITION"]
    first = maker.document["meshes"][0]["primitives"][0]
    first["attributes"] |= {
        "TEXCOORD_0": maker.accessor([[0, 0]] * 5),
        "_A": maker.accessor([1, 1, 1, 1, 1]),
    }
    other = {
        "attributes": {"POSITION": positions, "_A": maker.accessor([2, 2, 2, 2, 2])},
        "indices": maker.accessor([3, 4], "u1"),
    }
    maker.document["meshes"][0]["primitives"].append(other | {"mode": 1})
    apart = {"attributes": {"POSITION": maker.accessor(CORNERS)}}
    maker.document["meshes"][0]["primitives"].append(
        apart | {"indices": maker.accessor([0, 1, 3], "u1")}
    )
    mesh = maker.read()
    assert (mesh.n, lists(mesh.cells)) == (
        10,
        {"line": [[3, 4]], "triangle": [[0, 1, 2], [5, 6, 8]]},
    )
    np.testing.assert_array_equal(mesh.point_data["a"], [1, 1, 1, 2, 2] + [np.nan] * 5)
    assert mesh.uv.corners["triangle"].tolist() == [[0, 1, 2], [-1, -1, -1]]


def test_interleaved_normalised_and_sparse():
    maker = DocumentBuilder()
    rows = b"".join(
        struct.pack("<3h2xI", 32767 * x, 32767 * y, -32768 * z, 7)
        for x, y, z in ((0, 0, 1), (1, 0, 0), (0, 1, 0))
    )
    view = maker.view(b"skip" + rows, byteStride=12)
    where, what = maker.view(bytes([2, 0])), maker.view(struct.pack("<3f", 4, 5, 6))
    short = {
        "bufferView": view,
        "byteOffset": 4,
        "componentType": 5122,
        "normalized": True,
        "type": "VEC3",
        "count": 3,
    }
    sparse = {
        "count": 1,
        "indices": {"bufferView": where, "componentType": 5121},
        "values": {"bufferView": what},
    }
    maker.document["accessors"] = [
        short,
        {"componentType": 5126, "type": "VEC3", "count": 3, "sparse": sparse},
    ]
    maker.mesh({"attributes": {"POSITION": 0}}, {"attributes": {"POSITION": 1}})
    assert maker.read().points.tolist() == [
        [0, 0, -1],
        [1, 0, 0],
        [0, 1, 0],
        [0, 0, 0],
        [0, 0, 0],
        [4, 5, 6],
    ]


def test_base64_buffers():
    maker = one()
    maker.document["buffers"][0]["uri"] = (
        "data:application/octet-stream;base64," + base64.b64encode(maker.bytes).decode()
    )
    maker.bytes = b""
    assert maker.read().points.tolist() == CORNERS


def everything():
    rng = np.random.default_rng(2)
    return Mesh(
        rng.normal(size=(9, 3)).astype("f4"),
        {
            "line": rng.integers(0, 9, (3, 2)),
            "triangle": np.array([rng.permutation(9)[:3] for _ in range(6)]),
        },
        groups={
            "pins": [1, 4],
            "both": {"line": [0], "triangle": [2, 5], "point": [8]},
            "none": {},
            "äß": {"triangle": [1]},
        },
        point_data={
            "Temp": rng.normal(size=9).astype("f4"),
            "temp": np.arange(9),
            "color": rng.random((9, 3)).astype("f4"),
            "v": rng.normal(size=(9, 2)).astype("f4"),
            "stress": rng.normal(size=(9, 9)).astype("f4"),
        },
    )


def test_write_read_round_trip():
    mesh = everything()
    back = glb.read(HERE, glb.write(mesh))
    np.testing.assert_array_equal(back.points, mesh.points)
    assert lists(back.cells) == lists(mesh.cells)
    assert {n: lists(group) for n, group in back.groups.items()} == {
        n: lists(group) for n, group in mesh.groups.items()
    }
    assert back.point_data.keys() == mesh.point_data.keys()
    for name, values in mesh.point_data.items():
        np.testing.assert_array_equal(back.point_data[name], values)
    assert glb.write(back) == glb.write(mesh)


def test_written_file_satisfies_the_gltf_specification():
    data = glb.write(everything())
    magic, version, length, size, kind = struct.unpack_from("<4s4I", data)
    assert (magic, version, length, kind, size % 4, length % 4) == (
        b"glTF",
        2,
        len(data),
        0x4E4F534A,
        0,
        0,
    )
    document = json.loads(data[20 : 20 + size])
    position = document["accessors"][
        document["meshes"][0]["primitives"][0]["attributes"]["POSITION"]
    ]
    np.testing.assert_array_equal(position["min"], everything().points.min(axis=0))
    np.testing.assert_array_equal(position["max"], everything().points.max(axis=0))
    assert [p["mode"] for p in document["meshes"][0]["primitives"]] == [4, 1]
    assert len(data) == 28 + size + document["buffers"][0]["byteLength"]


def test_a_seam_splits_points_and_nothing_else():
    # two triangles over the edge 1-2, whose ends have other texture coordinates in the second one;
    # corner 0 of the first has none
    points, triangles = [[0, 0], [1, 0], [0, 1], [1, 1]], [[0, 1, 2], [1, 3, 2]]
    uv = UV(
        [[0.25, 0.5], [0.5, 0.5], [0.75, 0.5], [0.25, 0.5]], {"triangle": [[-1, 0, 1], [2, 2, 1]]}
    )
    mesh = Mesh(
        points,
        {"triangle": triangles},
        uv=uv,
        groups={"edge": [1, 2]},
        point_data={"id": [0, 1, 2, 3]},
    )
    back = glb.read(HERE, glb.write(mesh))
    assert back.cells["triangle"].tolist() == [[0, 1, 2], [4, 3, 2]]
    assert back.points[:, :2].tolist() == [*points, points[1]]
    assert (back.point_data["id"].tolist(), lists(back.groups["edge"])) == (
        [0, 1, 2, 3, 1],
        {"point": [1, 2, 4]},
    )
    shown = back.uv.coordinates[back.uv.corners["triangle"]].tolist()
    assert shown == [[[0, 0], [0.25, 0.5], [0.5, 0.5]], [[0.75, 0.5], [0.75, 0.5], [0.5, 0.5]]]
    # equal values with different indices are not a seam
    same = mesh.with_(uv=UV([[0.5, 0.5]] * 6, {"triangle": [[0, 1, 2], [3, 4, 5]]}))
    assert glb.read(HERE, glb.write(same)).n == 4


def test_reject_values_beyond_32_bit_floats():
    with pytest.raises(
        MeshError,
        match=r"point 1: the positions must fit 32-bit floats in GLB, got \[1e\+300, 0\.0, 0\.0\]",
    ) as caught:
        glb.write(Mesh([[0, 0, 0], [1e300, 0, 0]], {"line": [[0, 1]]}))
    assert caught.value.element == "point 1"
    with pytest.raises(
        MeshError,
        match=r"data in GLB must have \[1, 2, 3, 4, 9, 16\] numbers per point, got 5 in 'x'",
    ):
        glb.write(Mesh([[0, 0], [1, 0]], {"line": [[0, 1]]}, point_data={"x": np.zeros((2, 5))}))


def test_data_with_gaps_is_not_written(caplog):
    # only one of two meshes has heat
    maker = one()
    maker.mesh(
        {"attributes": {"POSITION": 0, "_HEAT": maker.accessor([1, 2, 3, 4, 5.5])}, "indices": 1}
    )
    mesh = maker.read()
    np.testing.assert_array_equal(mesh.point_data["heat"], [np.nan] * 5 + [1, 2, 3, 4, 5.5])
    given = mesh.with_(point_data=mesh.point_data | {"far": [np.inf] * 10, "id": np.arange(10)})
    with caplog.at_level(logging.INFO, "taut"):
        back = glb.read(HERE, glb.write(given))
    assert {name: values.tolist() for name, values in back.point_data.items()} == {
        "id": list(range(10))
    }
    message = (
        "left out what is not finite everywhere, as glTF requires: point_data.heat, point_data.far"
    )
    assert [r.getMessage() for r in caplog.records] == [message]


def test_ignored_features_are_named_once(caplog):
    maker = scene()
    attributes = maker.document["meshes"][0]["primitives"][0]["attributes"]
    attributes |= dict.fromkeys(
        ("TEXCOORD_1", "COLOR_1", "WEIGHTS_0", "JOINTS_0", "NORMAL"), attributes["_HEAT"]
    )
    maker.document["meshes"][0]["primitives"][0]["targets"] = [{"POSITION": 0}]
    maker.document |= {"skins": [{"joints": [0]}], "animations": [{}]}
    with caplog.at_level(logging.INFO, "taut"):
        assert maker.read().n == 10
        named = "skins, animations, COLOR_1, JOINTS_0, TEXCOORD_1, WEIGHTS_0, morph targets"
        assert [r.getMessage() for r in caplog.records] == [f"some.glb: left out: {named}"]
        caplog.clear()
        attributes |= {f"MORE_{i}": 0 for i in range(93)}
        maker.read()
        assert caplog.records[0].getMessage().endswith(" and 80 more")
        caplog.clear()
        scene().read()
        assert not caplog.records


def change_document(change, maker=scene):
    made = maker()
    change(made.document)
    return made.packed()


def set_in(*path_and_value):
    *path, key, value = path_and_value

    def change(document):
        for step in path:
            document = document[step]
        document[key] = value

    return change


PRIMITIVE = ("meshes", 0, "primitives", 0)
DRACO = {"KHR_draco_mesh_compression": {"bufferView": 0}}
WRONG = {
    "an index too large": (
        one([0, 1, 9]).packed(),
        "point indices must be 0 to 4, got 9 at index 2",
        "mesh 0, primitive 0",
    ),
    "two corners": (
        one([0, 1]).packed(),
        "the number of corners must be a multiple of 3, got 2",
        "mesh 0, primitive 0",
    ),
    "a mode to come": (
        one(mode=7).packed(),
        "the mode must be 0 to 6, got 7",
        "mesh 0, primitive 0",
    ),
    "cycle": (
        change_document(set_in("nodes", 1, "children", [0])),
        "a node must have one parent and no cycle, since a scene is a tree",
        "node 0",
    ),
    "cycle without scene": (
        change_document(lambda d: (set_in("nodes", 1, "children", [0])(d), d.pop("scenes"))),
        "a scene must have a root, got nodes that all have parents",
        "node 0",
    ),
    "two parents": (
        change_document(set_in("nodes", 1, "children", [2])),
        "a node must have one parent and no cycle, since a scene is a tree",
        "node 2",
    ),
    "no node": (
        change_document(set_in("nodes", 0, "children", [9])),
        "must name one of 3 'nodes', got 9",
        "the scene",
    ),
    "draco": (
        change_document(set_in("extensionsRequired", ["KHR_draco_mesh_compression"])),
        "without compression",
        None,
    ),
    "draco in use": (
        change_document(
            lambda d: (
                set_in(*PRIMITIVE, "extensions", DRACO)(d),
                d["accessors"][0].pop("bufferView"),
            )
        ),
        "a primitive must not be compressed, got KHR_draco_mesh_compression; save it without",
        "mesh 0, primitive 0",
    ),
    "meshopt": (
        change_document(set_in("extensionsRequired", ["EXT_meshopt_compression"])),
        "without compression",
        None,
    ),
    "instancing": (
        change_document(set_in("nodes", 1, "extensions", {"EXT_mesh_gpu_instancing": {}})),
        "instances must be nodes, got EXT_mesh_gpu_instancing",
        "node 1",
    ),
    "another file": (
        change_document(set_in("buffers", 0, "uri", "more.bin")),
        r"the bytes must be in this file; save all in one \.glb, uncompressed",
        "buffer 0",
    ),
    "bad base64": (
        change_document(set_in("buffers", 0, "uri", "data:;base64,a*b")),
        "the data: address must be valid base64",
        "buffer 0",
    ),
    "no POSITION": (
        change_document(lambda d: d["meshes"][0]["primitives"][0]["attributes"].pop("POSITION")),
        "'POSITION' must be a non-negative integer, got none",
        "mesh 0, primitive 0",
    ),
    "too many entries": (
        change_document(set_in("accessors", 0, "count", 10**12)),
        "must fit into bufferView 0 of 60 bytes, got 1000000000000 entries of 12 bytes",
        "accessor 0",
    ),
    "zeros without end": (
        change_document(
            lambda d: (
                set_in("accessors", 0, "count", 10**12)(d),
                d["accessors"][0].pop("bufferView"),
            )
        ),
        "times as large as the file",
        "accessor 0",
    ),
    "fewer colours": (
        change_document(set_in("accessors", 3, "count", 4)),
        "COLOR_0 must have 5 entries, one per point, got 4",
        "mesh 0, primitive 0",
    ),
    "a small stride": (
        change_document(set_in("bufferViews", 0, "byteStride", 4)),
        "the stride must be at least 12 bytes, got 4",
        "accessor 0",
    ),
    "past the buffer": (
        change_document(set_in("bufferViews", 0, "byteOffset", 10**6)),
        "must end within its buffer of 152 bytes, got byte 1000060",
        "bufferView 0",
    ),
    "no rotation": (
        change_document(set_in("nodes", 1, "rotation", [0, 0, 0, 0])),
        "quaternion",
        "node 1",
    ),
    "no matrix": (
        change_document(set_in("nodes", 1, "matrix", [1, 2])),
        "'matrix' must be 16 finite numbers",
        "node 1",
    ),
    "must be finite": (
        change_document(set_in("nodes", 1, "scale", [1e200, 1e999, 1])),
        "'scale' must be 3 finite numbers",
        "node 1",
    ),
    "too far": (
        change_document(lambda d: [set_in("nodes", i, "scale", [1e300] * 3)(d) for i in (0, 1)]),
        "must be finite",
        "node 1",
    ),
    "a NaN": (
        one().packed().replace(struct.pack("<3f", 1, 1, 0), struct.pack("<3f", 1, np.nan, 0)),
        "must be finite",
        "accessor 0, entry 2",
    ),
    "a signalling NaN": (
        one().packed().replace(struct.pack("<3f", 1, 1, 0), struct.pack("<3I", 0, 0x7F800001, 0)),
        "must be finite",
        "accessor 0, entry 2",
    ),
    "nested": (pack(b"[" * 100_000, b""), "the JSON chunk must be valid JSON", None),
    "nested in a document": (
        pack(b'{"extras":' + b'{"a":' * 100_000, b""),
        "the JSON chunk must be valid JSON",
        None,
    ),
    "no JSON": (pack(b"{", b""), "the JSON chunk must be valid JSON", None),
    "no text": (pack(b'{"a": "\xff"}', b""), "the JSON chunk must be valid JSON", None),
    "a list": (pack(b"[]", b""), "the JSON chunk must be an object", None),
    "glTF 1": (b"glTF" + struct.pack("<2I", 1, 12), "the version must be 2, got 1", None),
    "cut": (one().packed()[:-30], "the file must have 528 bytes, got 498", None),
    "no GLB": (
        b'{"asset": {"version": "2.0"}}',
        r"the file must start with 'glTF'; save a \.gltf file as \.glb",
        None,
    ),
    "short": (b"glTF", "the file ends", None),
    "a group of ours": (
        change_document(
            set_in("meshes", 0, "extras", {"taut": {"groups": {"a": {"triangle": [7]}}}})
        ),
        "mesh 0: members of group 'a' must be indices of the 2 triangles",
        "mesh 0",
    ),
}


@pytest.mark.parametrize("what", WRONG)
def test_invalid_files_raise_and_name_the_element(what):
    data, message, element = WRONG[what]
    with pytest.raises(MeshError, match=message) as caught:
        glb.read(HERE, data)
    assert (caught.value.path, caught.value.element) == (HERE, element)


def test_reject_too_many_instances():
    maker = DocumentBuilder()
    maker.mesh({"attributes": {"POSITION": maker.accessor(np.zeros((30_000, 3)))}})
    maker.document["nodes"] = [{"mesh": 0}] * 5000
    with pytest.raises(MeshError, match="got too many instances"):
        maker.read()


def test_many_attributes_are_read():
    # comparing each name with all before would take 2e8 comparisons
    maker = one()
    heat = maker.accessor([1, 2, 3, 4, 5.5], "f4")
    maker.document["meshes"][0]["primitives"][0]["attributes"] |= {
        f"_A{i}": heat for i in range(20_000)
    }
    assert len(maker.read().point_data) == 20_000


def many(nodes=(), primitives=1, attributes=0, **more):
    """A builder with many instances of one mesh, in few bytes."""
    maker = one()
    mesh = maker.document["meshes"][0]
    mesh["primitives"][0]["attributes"] |= {f"A{i}": 0 for i in range(attributes)}
    mesh |= {"primitives": mesh["primitives"] * primitives, **more}
    maker.document["nodes"] = list(nodes)
    return maker


@pytest.mark.parametrize(
    ("maker", "where"),
    [
        (lambda: many([{"mesh": 0}] * 20_000), "mesh 0"),
        (lambda: many([{"mesh": 0}] * 2000, primitives=2000), "mesh 0"),
        (lambda: many([{"mesh": 0}] * 2000, primitives=0), None),
        (lambda: many([{"mesh": 0}] * 2000, attributes=5000), "mesh 0, primitive 0"),
        (
            lambda: many(
                [{"mesh": 0}] * 2000,
                extras={"taut": {"groups": {f"g{i}": {} for i in range(5000)}}},
            ),
            "mesh 0",
        ),
    ],
)
def test_number_of_meshes_and_instances_is_bounded(maker, where):
    made = maker()
    if where is None:
        assert made.read().n == 0
        return
    with pytest.raises(
        MeshError, match="there must be at most 10000 meshes, primitives and groups; join them"
    ) as caught:
        made.read()
    assert caught.value.element == where


def test_long_chain_of_identity_nodes():
    chain = [{"children": [i + 1]} for i in range(30_000)]
    mesh = many(
        [
            *chain,
            {"mesh": 0, "rotation": [0, 0, 2, 2], "scale": [1, 1, -3], "translation": [5, 0, 0]},
        ]
    ).read()
    assert mesh.points.tolist() == [[5 - y, x, -3 * z] for x, y, z in CORNERS]
    assert mesh.cells["triangle"].tolist() == [[0, 2, 1]]


def places(value, path=()):
    """The paths to all values in a document."""
    for key, inner in (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    ):
        yield (*path, key)
        yield from places(inner, (*path, key))


ODD = [
    None,
    -1,
    0,
    3,
    2**31,
    10**30,
    1.5,
    1e308,
    float("nan"),
    True,
    "",
    "x",
    [],
    [0],
    [[]],
    {},
    {"a": 1},
]


def test_damaged_documents_are_meshes_or_mesh_errors():
    rng = np.random.default_rng(6)
    makers = [scene(), scene()]
    data = glb.write(everything())
    size = struct.unpack_from("<I", data, 12)[0]
    makers[1].document, makers[1].bytes = json.loads(data[20 : 20 + size]), data[28 + size :]
    refused = 0
    for i in range(1500):
        maker = makers[i % 2]
        document = copy.deepcopy(maker.document)
        found = list(places(document))
        *path, key = found[rng.integers(len(found))]
        inner = document
        for step in path:
            inner = inner[step]
        if rng.random() < 0.2:
            del inner[key]
        else:
            inner[key] = ODD[rng.integers(len(ODD))]
        refused += is_refused(pack(json.dumps(document).encode(), maker.bytes))
    assert refused > 500


def test_damaged_bytes_are_meshes_or_mesh_errors():
    rng = np.random.default_rng(7)
    refused = 0
    for data in (scene().packed(), glb.write(everything())):
        for _ in range(300):
            at = int(rng.integers(len(data)))
            made = data[:at]
            if rng.random() < 0.7:
                made += (
                    bytes(rng.integers(0, 256, int(rng.integers(1, 9)), np.uint8))
                    + data[at + int(rng.integers(9)) :]
                )
            refused += is_refused(made)
    assert refused > 200


def is_refused(data):
    try:
        mesh = glb.read(HERE, data)
    except MeshError as error:
        return error.path == HERE
    assert np.isfinite(mesh.points).all()
    return False
