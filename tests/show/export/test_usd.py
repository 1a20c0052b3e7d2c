"""USD, read back by usd-core."""

import numpy as np
import pytest

import taut
from taut.show.export import _usd, export
from taut.show.export._bodies import point_velocities
from taut.show.visual_model import model_from_run
from tests.show.export.scenes import PLAIN, cloth, fine, jelly

pxr = pytest.importorskip("pxr", reason="usd-core is not installed")
from pxr import Usd, UsdGeom, UsdShade  # noqa: E402

CODES = [1.0 + 24 * 0.02 * i for i in range(6)]
PRIMS = ["cloth", "___rod", "Jelly_cube/surface", "dust", "jelly_cube_2"]


@pytest.fixture(scope="module", params=["usdc", "usda", "usd"])
def stage(request, run, tmp_path_factory):
    path = tmp_path_factory.mktemp(request.param) / f"x.{request.param}"
    export(run, path)
    return Usd.Stage.Open(str(path))


def prim(stage, name):
    return stage.GetPrimAtPath(f"/World/{name}")


def test_stage_has_units_and_times(stage):
    assert UsdGeom.GetStageUpAxis(stage) == "Y"
    assert UsdGeom.GetStageMetersPerUnit(stage) == 1.0
    codes = stage.GetStartTimeCode(), stage.GetEndTimeCode()
    # frame 1 is the start, and 24 frames are a second, as in a new scene of most programs
    assert codes == pytest.approx((1.0, 1.0 + 0.1 * 24), rel=1e-12)
    assert (stage.GetTimeCodesPerSecond(), stage.GetFramesPerSecond()) == (24.0, 24.0)
    assert stage.GetDefaultPrim().GetPath() == "/World"
    children = [child.GetName() for child in stage.GetDefaultPrim().GetChildren()]
    assert children == ["materials", *PLAIN]
    assert prim(stage, "___rod").GetDisplayName() == "../rod"


@pytest.mark.parametrize("body", range(5))
def test_points_match_the_run_in_single_precision(stage, where, body):
    points = UsdGeom.PointBased(prim(stage, PRIMS[body])).GetPointsAttr()
    np.testing.assert_allclose(points.GetTimeSamples(), CODES, rtol=1e-12)
    for code, frame in zip(points.GetTimeSamples(), where, strict=True):
        np.testing.assert_array_equal(np.array(points.Get(code)), frame[body].astype(np.float32))


@pytest.mark.parametrize(
    ("name", "mesh"), [("cloth", cloth()), ("jelly_cube_2", fine())], ids=["cloth", "render"]
)
def test_faces_and_texture_are_kept(stage, name, mesh):
    found = UsdGeom.Mesh(prim(stage, name))
    faces = [face for cells in mesh.cells.values() for face in cells.tolist()]
    assert list(found.GetFaceVertexCountsAttr().Get()) == [len(face) for face in faces]
    assert list(found.GetFaceVertexIndicesAttr().Get()) == [
        corner for face in faces for corner in face
    ]
    assert found.GetSubdivisionSchemeAttr().Get() == "none"
    st = UsdGeom.PrimvarsAPI(found).GetPrimvar("st")
    assert st.GetInterpolation() == "faceVarying"
    wanted = np.concatenate(
        [mesh.uv.coordinates[corners.ravel()] for corners in mesh.uv.corners.values()]
    )
    np.testing.assert_array_equal(np.array(st.ComputeFlattened()), wanted.astype(np.float32))


def test_a_rod_is_one_curve(stage):
    curves = UsdGeom.BasisCurves(prim(stage, "___rod"))
    assert (curves.GetTypeAttr().Get(), list(curves.GetCurveVertexCountsAttr().Get())) == (
        "linear",
        [6],
    )
    assert list(UsdGeom.PrimvarsAPI(curves).GetPrimvar("point").Get()) == [0, 1, 2, 3, 4, 5]


def test_tetrahedra_and_their_surface(stage, where):
    solid = UsdGeom.TetMesh(prim(stage, "Jelly_cube/solid"))
    np.testing.assert_array_equal(
        np.array(solid.GetTetVertexIndicesAttr().Get()), jelly().cells["tet"]
    )
    np.testing.assert_array_equal(
        np.array(solid.GetPointsAttr().Get(CODES[3])), where[3][2].astype(np.float32)
    )
    theirs = UsdGeom.TetMesh.ComputeSurfaceFaces(
        solid, Usd.TimeCode(CODES[0])
    )  # oriented outwards, computed independently
    ours = solid.GetSurfaceFaceVertexIndicesAttr().Get()
    assert canonical_triangles(theirs) == canonical_triangles(ours)
    assert canonical_triangles(
        np.reshape(
            UsdGeom.Mesh(prim(stage, "Jelly_cube/surface")).GetFaceVertexIndicesAttr().Get(),
            (-1, 3),
        )
    ) == canonical_triangles(ours)


def canonical_triangles(faces):
    """Triangles independent of their first corner."""
    return sorted(
        min(tuple(np.roll(face, i).tolist()) for i in range(3)) for face in np.asarray(faces)
    )


@pytest.mark.parametrize("name", [*PRIMS, "Jelly_cube/solid"])
def test_extents_are_what_usd_computes(stage, name):
    found = UsdGeom.PointBased(prim(stage, name))
    for code in (CODES[0], CODES[5]):
        theirs = UsdGeom.Boundable.ComputeExtentFromPlugins(found, Usd.TimeCode(code))
        # half the width of a curve is added in single or in double: one unit in the last place of 5
        # m
        np.testing.assert_allclose(
            np.array(found.GetExtentAttr().Get(code)), np.array(theirs), rtol=0, atol=5e-7
        )


def test_time_codes_of_a_part_at_another_rate(run, where, tmp_path):
    export(run, tmp_path / "x.usdc", fps=25, start=0.04)
    stage = Usd.Stage.Open(str(tmp_path / "x.usdc"))
    points = UsdGeom.Mesh(prim(stage, "cloth")).GetPointsAttr()
    assert points.GetTimeSamples() == [2.0, 3.0]
    assert stage.GetTimeCodesPerSecond() == 25.0
    np.testing.assert_array_equal(
        np.array(points.Get(points.GetTimeSamples()[1])), where[4][0].astype(np.float32)
    )


def test_flushed_frames_are_kept(run, where, tmp_path, monkeypatch):
    monkeypatch.setattr(_usd, "MAX_PENDING", 1)  # after each frame
    export(run, tmp_path / "x.usdc")
    stage = Usd.Stage.Open(str(tmp_path / "x.usdc"))
    for body, name in enumerate(PRIMS):
        attribute = UsdGeom.PointBased(prim(stage, name)).GetPointsAttr()
        for code, frame in zip(attribute.GetTimeSamples(), where, strict=True):
            points = attribute.Get(code)
            np.testing.assert_array_equal(np.array(points), frame[body].astype(np.float32))


def test_velocities_match_the_run(stage, run):
    with taut.open_run(run) as opened:
        pieces, frame = model_from_run(opened).pieces, opened.frames[3]
    for name, piece in zip(PRIMS, pieces, strict=True):
        found = UsdGeom.PointBased(prim(stage, name)).GetVelocitiesAttr().Get(CODES[3])
        wanted = point_velocities(piece, frame.q, frame.v).astype(np.float32)
        np.testing.assert_array_equal(np.array(found), wanted)


def test_normals_are_smooth_where_the_surface_is(stage, where):
    fine_mesh = UsdGeom.Mesh(prim(stage, "jelly_cube_2"))
    assert fine_mesh.GetNormalsInterpolation() == "vertex"
    x, faces = where[3][4], fine().cells["quad"]
    area = np.zeros((16, 3))
    for face in faces:
        a, b, c, d = x[face]
        area[face] += np.cross(c - a, d - b)  # twice the vector area of a quad
    found = np.array(fine_mesh.GetNormalsAttr().Get(CODES[3]))
    wanted = area / np.linalg.norm(area, axis=1, keepdims=True)
    np.testing.assert_allclose(found, wanted, rtol=0, atol=2e-7)
    corners = UsdGeom.Mesh(prim(stage, "Jelly_cube/surface"))
    assert corners.GetNormalsInterpolation() == "faceVarying"  # a tetrahedron has sharp edges
    normals = np.array(corners.GetNormalsAttr().Get(CODES[3])).reshape(4, 3, 3)
    np.testing.assert_array_equal(normals, normals[:, :1].repeat(3, axis=1))


def test_each_body_has_its_colour_as_a_material(stage):
    colours = []
    for name in PLAIN:
        material, _ = UsdShade.MaterialBindingAPI(prim(stage, name)).ComputeBoundMaterial()
        shader = UsdShade.Shader(material.GetPrim().GetChildren()[0])
        assert shader.GetIdAttr().Get() == "UsdPreviewSurface"
        colours.append(tuple(shader.GetInput("diffuseColor").Get()))
    assert len(set(colours)) == 5
    shown = UsdGeom.Mesh(prim(stage, "cloth")).GetDisplayColorAttr().Get()
    assert tuple(shown[0]) == colours[0]
    np.testing.assert_allclose(  # #5a92cb in linear light
        colours[0], (((np.array([0x5A, 0x92, 0xCB]) / 255) + 0.055) / 1.055) ** 2.4, rtol=1e-6
    )
