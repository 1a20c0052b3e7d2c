"""A cloth that tears in two: no file has an edge across the gap, read by other programs."""

import json
import struct

import numpy as np
import pytest

import taut
from taut.scene import read_text
from taut.show.export import export

SCENE = """
[time]
h = 0.005
duration = 0.2
[output]
every = 4
[[body]]
name = "cloth"
mesh = { shape = "sheet", nx = 4, ny = 2, size = [0.4, 0.2], plane = "xz" }
mass = 0.01
[[body.law]]
law = "spring"
on = "edges"
k = 5.0
breaking_strain = "0.2 + 1000*abs((x - 0.1)*(x - 0.2))"   # weak between 0.1 m and 0.2 m
[[body.hold]]
where = "x <= 0.11"
[[body.hold]]
where = "x >= 0.19"
move = [[0, 0, 0, 0], [0.2, 0.5, 0, 0]]
"""
MAX_EDGE = 0.1 * 1.35  # a whole edge of 0.1 m is stretched by at most 20% and one step


@pytest.fixture(scope="module")
def torn(tmp_path_factory):
    """The folder of a run of 4 × 2 quads; those in the second column tear, and the halves part."""
    folder = tmp_path_factory.mktemp("torn") / "run"
    read_text(SCENE).record(folder)
    with taut.open_run(folder) as run:
        last = run.frames[-1]
        assert (~last.active["spring"]).sum() == 3
        assert last.q[:, 0].max() == pytest.approx(0.4 + 0.5)
    return folder


def longest_edge(x, faces):
    """Of faces that have an area."""
    return max(
        np.linalg.norm(x[np.asarray(face)] - x[np.roll(face, -1)], axis=1).max() for face in faces
    )


def test_usd_leaves_torn_faces_out_from_their_frame_on(torn, tmp_path):
    pxr = pytest.importorskip("pxr.UsdGeom", reason="usd-core is not installed")
    from pxr import Usd

    export(torn, tmp_path / "x.usdc", fps=50)
    stage = Usd.Stage.Open(str(tmp_path / "x.usdc"))
    mesh = pxr.Mesh(stage.GetPrimAtPath("/World/cloth"))
    counts = mesh.GetFaceVertexCountsAttr()
    assert counts.GetNumTimeSamples() == 2
    number = {}
    for code in range(1, 12):
        number[code] = len(counts.Get(code))
        x = np.array(mesh.GetPointsAttr().Get(code))
        faces = np.array(mesh.GetFaceVertexIndicesAttr().Get(code)).reshape(-1, 4)
        assert longest_edge(x, faces) < MAX_EDGE
        assert len(x) == 15  # points keep their numbers
        normals = mesh.GetNormalsAttr().Get(code)
        np.testing.assert_allclose(np.abs(np.array(normals)[:, 1]), 1.0, atol=1e-6)
    assert (number[1], number[11]) == (8, 6)


def test_obj_files_and_vtkhdf_leave_torn_faces_out(torn, tmp_path):
    trimesh = pytest.importorskip("trimesh", reason="trimesh is not installed")
    files = export(torn, tmp_path / "x.obj").files
    first, last = (trimesh.load(files[i], process=False) for i in (0, -1))
    assert (len(first.faces), len(last.faces)) == (16, 12)
    assert longest_edge(last.vertices, last.faces) < np.sqrt(2) * MAX_EDGE
    np.testing.assert_allclose(np.abs(last.vertex_normals[:, 1]), 1.0, atol=1e-6)
    vtk = pytest.importorskip("vtk", reason="vtk is not installed")
    pytest.importorskip("h5py", reason="h5py is not installed")
    export(torn, tmp_path / "x.vtkhdf")
    reader = vtk.vtkHDFReader()
    reader.SetFileName(str(tmp_path / "x.vtkhdf"))
    counts = []
    for i in range(11):
        reader.UpdateTimeStep(0.02 * i)
        grid = reader.GetOutput()
        counts.append(grid.GetNumberOfCells())
        for c in range(counts[-1]):
            a, b, c, d = (np.array(grid.GetCell(c).GetPoints().GetPoint(k)) for k in range(4))
            assert max(map(np.linalg.norm, (b - a, c - b, d - c, a - d))) < MAX_EDGE
    assert (counts[0], counts[-1]) == (8, 6)
    assert sorted(counts, reverse=True) == counts


def test_faces_shrink_in_a_point_cache(torn, tmp_path, log):
    done = export(torn, tmp_path / "x.pc2")
    assert "2 faces or lines tear" in log.text
    mesh = taut.mesh.read(done.files[1])
    data = done.files[0].read_bytes()
    x = np.frombuffer(data, "<f4", offset=32).reshape(11, -1, 3)
    assert x.shape[1] == mesh.n == 15 + 2 * 4
    faces = mesh.cells["quad"]
    assert len(faces) == 8
    np.testing.assert_allclose(x[0], mesh.points, atol=1e-7)
    for frame in x:
        assert longest_edge(frame.astype(float), faces) < MAX_EDGE
    sizes = [np.ptp(x[-1][face], axis=0).max() for face in faces]
    assert sorted(sizes)[:2] == [0.0, 0.0]
    assert sorted(sizes)[2] > 0.09


def test_faces_shrink_in_glb(torn, tmp_path, log):
    export(torn, tmp_path / "x.glb")
    assert "2 faces or lines tear" in log.text
    data = (tmp_path / "x.glb").read_bytes()
    size = struct.unpack_from("<I", data, 12)[0]
    document, binary = json.loads(data[20 : 20 + size]), data[28 + size :]

    def array(number, dtype, width):
        accessor = document["accessors"][number]
        start = document["bufferViews"][accessor["bufferView"]]["byteOffset"]
        numbers = accessor["count"] * (1 if accessor["type"] == "SCALAR" else 3)
        return np.frombuffer(binary, dtype, numbers, start).reshape(-1, width)

    (primitive,) = document["meshes"][0]["primitives"]
    base = array(primitive["attributes"]["POSITION"], "<f4", 3)
    triangles = array(primitive["indices"], "<u4", 3)
    assert len(triangles) == 16
    moved = base + array(primitive["targets"][-1]["POSITION"], "<f4", 3)
    assert longest_edge(base.astype(float), triangles) == pytest.approx(np.sqrt(0.02))
    assert longest_edge(moved.astype(float), triangles) < np.sqrt(2) * MAX_EDGE
    area = np.linalg.norm(
        np.cross(*(moved[triangles[:, i]] - moved[triangles[:, 0]] for i in (1, 2))), axis=1
    )
    assert ((area < 1e-7).sum(), (area > 5e-3).sum()) == (4, 12)


def test_a_finer_mesh_tears_with_the_simulated_one(tmp_path):
    fine = 'render = { shape = "sheet", nx = 16, ny = 8, size = [0.4, 0.2], plane = "xz" }\n'
    read_text(SCENE.replace("mass =", fine + "mass =")).record(tmp_path / "run")
    last = taut.mesh.read(export(tmp_path / "run", tmp_path / "x.ply").files[-1])
    quads = last.cells["quad"]
    assert 64 < len(quads) < 16 * 8
    assert longest_edge(last.points, quads) < MAX_EDGE / 4
