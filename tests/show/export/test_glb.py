"""glTF, read by trimesh and VTK, and parsed by hand where they ignore data."""

import json
import struct

import numpy as np
import pytest

from taut.show.export import export
from tests.show.export.scenes import cloth, fine

NAMES = ["cloth", "../rod", "Jelly cube", "dust", "jelly_cube"]
MODES = [[4], [1], [4], [0], [4]]


@pytest.fixture(scope="module")
def path(run, tmp_path_factory):
    path = tmp_path_factory.mktemp("glb") / "x.glb"
    export(run, path)
    return path


class Parts:
    """The two chunks of a file."""

    def __init__(self, path):
        data = path.read_bytes()
        magic, version, length = struct.unpack_from("<4sII", data)
        assert (magic, version, length) == (b"glTF", 2, len(data))
        size, kind = struct.unpack_from("<I4s", data, 12)
        assert kind == b"JSON"
        self.document = json.loads(data[20 : 20 + size])
        rest, kind = struct.unpack_from("<I4s", data, 20 + size)
        assert kind == b"BIN\0"
        self.binary = data[28 + size :]
        assert len(self.binary) == rest == self.document["buffers"][0]["byteLength"]

    def array(self, number):
        accessor = self.document["accessors"][number]
        view = self.document["bufferViews"][accessor["bufferView"]]
        width = {"SCALAR": 1, "VEC2": 2, "VEC3": 3}[accessor["type"]]
        dtype = {5126: "<f4", 5125: "<u4"}[accessor["componentType"]]
        assert view["byteOffset"] % 4 == 0
        assert view["byteLength"] == 4 * width * accessor["count"]
        found = np.frombuffer(
            self.binary, dtype, width * accessor["count"], view["byteOffset"]
        ).reshape(-1, width)
        if "min" in accessor:
            np.testing.assert_array_equal(found.min(axis=0), accessor["min"])
            np.testing.assert_array_equal(found.max(axis=0), accessor["max"])
        return found[:, 0] if width == 1 else found


@pytest.fixture(scope="module")
def parts(path):
    return Parts(path)


def test_document_satisfies_the_specification(parts):
    document = parts.document
    assert document["asset"]["version"] == "2.0"
    assert [node["name"] for node in document["nodes"]] == NAMES
    assert [[p["mode"] for p in mesh["primitives"]] for mesh in document["meshes"]] == MODES
    ends = np.cumsum([view["byteLength"] for view in document["bufferViews"]])
    assert [view["byteOffset"] for view in document["bufferViews"]] == [0, *ends[:-1].tolist()]
    assert ends[-1] == len(parts.binary)
    for mesh in document["meshes"]:
        assert len(mesh["weights"]) == len(mesh["extras"]["targetNames"]) == 5
        for primitive in mesh["primitives"]:
            assert len(primitive["targets"]) == 5
            for attributes in (primitive["attributes"], *primitive["targets"]):
                accessor = document["accessors"][attributes["POSITION"]]
                assert {"min", "max"} <= set(accessor)
                count = document["accessors"][primitive["attributes"]["POSITION"]]["count"]
                assert all(
                    document["accessors"][number]["count"] == count
                    for number in attributes.values()
                )
            if "indices" in primitive:
                assert parts.array(primitive["indices"]).max() < count


def test_animation_times_match_the_frames(parts):
    (animation,) = parts.document["animations"]
    (sampler,) = animation["samplers"]
    np.testing.assert_array_equal(parts.array(sampler["input"]), np.float32(0.02 * np.arange(6)))
    np.testing.assert_array_equal(parts.array(sampler["output"]).reshape(6, 5), np.eye(6)[:, 1:])
    assert sampler["interpolation"] == "LINEAR"
    assert [channel["target"] for channel in animation["channels"]] == [
        {"node": i, "path": "weights"} for i in range(5)
    ]


@pytest.mark.parametrize("body", range(5))
def test_base_and_offsets_are_rounded_to_single_precision(parts, where, body):
    (primitive,) = parts.document["meshes"][body]["primitives"]
    n = len(where[0][body])
    base = parts.array(primitive["attributes"]["POSITION"])
    np.testing.assert_array_equal(base[:n], where[0][body].astype(np.float32))
    for frame, target in zip(where[1:], primitive["targets"], strict=True):
        offset = parts.array(target["POSITION"])
        np.testing.assert_array_equal(
            offset[:n], (frame[body] - base[:n].astype(float)).astype(np.float32)
        )


def test_points_are_split_only_along_the_seam(parts, where):
    (primitive,) = parts.document["meshes"][0]["primitives"]
    points, texture = (
        parts.array(primitive["attributes"][key]) for key in ("POSITION", "TEXCOORD_0")
    )
    triangles = parts.array(primitive["indices"]).reshape(-1, 3)
    mesh = cloth()
    # the two points that both quads share; the pentagon agrees with one of them at each point
    assert len(points) == 7 + 2
    wanted = {}
    for kind, faces in mesh.cells.items():
        for face, corners in zip(faces.tolist(), mesh.uv.corners[kind].tolist(), strict=True):
            for point, corner in zip(face, corners, strict=True):
                u, v = mesh.uv.coordinates[corner]
                wanted.setdefault(tuple(np.float32(mesh.points[point])), set()).add(
                    (np.float32(u), np.float32(1 - v))
                )
    found = {}
    for corner in triangles.ravel():
        found.setdefault(tuple(points[corner]), set()).add(tuple(texture[corner]))
    assert found == wanted


@pytest.mark.parametrize(("body", "mesh"), [(0, cloth()), (4, fine())])
def test_normals_are_the_mean_of_the_faces_around(parts, where, body, mesh):
    """Weighted by area, and equal on both sides of a seam; to single precision."""
    (primitive,) = parts.document["meshes"][body]["primitives"]
    n = mesh.n
    base = parts.array(primitive["attributes"]["POSITION"]).tolist()
    origin = np.array([base.index(point) for point in base])  # including the copies
    assert origin.max() < n
    first = parts.array(primitive["attributes"]["NORMAL"]).astype(float)
    for target, frame in zip([None, *primitive["targets"]], where, strict=True):
        normal = first + (0 if target is None else parts.array(target["NORMAL"]))
        area = np.zeros((n, 3))
        for face in [face for cells in mesh.cells.values() for face in cells]:
            x = frame[body][face]
            area[face] += np.cross(x, np.roll(x, -1, axis=0)).sum(axis=0)
        wanted = area[origin] / np.linalg.norm(area[origin], axis=1, keepdims=True)
        np.testing.assert_allclose(normal, wanted, rtol=0, atol=1.5e-7)


def test_sharp_edges_have_a_normal_on_each_side(parts):
    """Each face of the tetrahedral jelly has points and a normal of its own."""
    (primitive,) = parts.document["meshes"][2]["primitives"]
    x, normals = (parts.array(primitive["attributes"][key]) for key in ("POSITION", "NORMAL"))
    triangles = parts.array(primitive["indices"]).reshape(-1, 3)
    assert len(np.unique(triangles)) == 4 * 3
    for face in triangles:
        a, b, c = x[face].astype(float)
        area = np.cross(b - a, c - a)
        np.testing.assert_allclose(normals[face], [area / np.linalg.norm(area)] * 3, atol=1e-6)


def test_trimesh_reads_the_first_frame(path, where):
    trimesh = pytest.importorskip("trimesh", reason="trimesh is not installed")
    scene = trimesh.load(path, process=False)
    assert sorted(scene.geometry) == sorted(NAMES)
    for name, x in zip(NAMES, where[0], strict=True):
        np.testing.assert_array_equal(
            np.float32(scene.geometry[name].vertices[: len(x)]), np.float32(x)
        )
    assert len(scene.geometry["cloth"].faces) == 2 + 2 + 3
    corners = scene.geometry["cloth"].visual.uv[
        scene.geometry["cloth"].faces[:2]
    ]  # of the first quad, cut along 0-2
    np.testing.assert_array_equal(
        np.unique(np.float32(corners).reshape(-1, 2), axis=0),
        np.float32([[0, 0], [0, 0.7], [0.3, 0], [0.3, 0.7]]),
    )


def test_vtk_moves_the_points(path, where):
    vtk = pytest.importorskip("vtk", reason="vtk is not installed")
    from vtk.util.numpy_support import vtk_to_numpy

    reader = vtk.vtkGLTFReader()
    reader.SetFileName(str(path))
    reader.SetApplyDeformationsToGeometry(True)
    reader.SetFrameRate(50)
    reader.UpdateInformation()
    assert reader.GetNumberOfAnimations() == 1
    reader.EnableAnimation(0)
    for i, frame in enumerate(where):
        reader.UpdateTimeStep(0.02 * i)
        tree = reader.GetOutput().NewIterator()
        found = []
        while not tree.IsDoneWithTraversal():
            found.append(vtk_to_numpy(tree.GetCurrentDataObject().GetPoints().GetData()))
            tree.GoToNextItem()
        assert len(found) == 5
        for x, wanted in zip(found, frame, strict=True):
            # VTK interpolates weights and adds in singles: a few units in the last place of 6 m
            np.testing.assert_allclose(x[: len(wanted)], wanted, rtol=0, atol=1e-6)


def test_many_frames_are_thinned_evenly_and_reported(run, tmp_path):
    done = export(run, tmp_path / "a.glb", at_most=3)
    assert (done.frames, done.recorded, done.thinned) == (3, 6, False)  # as requested
    parts = Parts(tmp_path / "a.glb")
    keys = parts.array(parts.document["animations"][0]["samplers"][0]["input"])
    np.testing.assert_array_equal(keys, np.float32([0.0, 0.04, 0.1]))


def test_single_frame_has_no_animation(run, where, tmp_path):
    export(run, tmp_path / "a.glb", start=0.1)
    parts = Parts(tmp_path / "a.glb")
    assert "animations" not in parts.document
    (primitive,) = parts.document["meshes"][1]["primitives"]
    assert "targets" not in primitive
    np.testing.assert_array_equal(
        parts.array(primitive["attributes"]["POSITION"]), np.float32(where[5][1])
    )
