"""OBJ and PLY sequences, read back by trimesh and VTK."""

import numpy as np
import pytest

from taut.errors import ModelError
from taut.mesh import UV, Mesh, read
from taut.show.export import export
from taut.show.export._bodies import list_polygons, surface_mesh
from taut.show.export._sequence import merge_meshes
from taut.show.visual_model import VisualBody
from tests.show.export.scenes import PLAIN, cloth, fine, jelly

SURFACE = [[1, 3, 2], [1, 2, 4], [2, 3, 4], [1, 4, 3]]  # of the jelly, outward


def faces_of_all():
    """Faces of all bodies on the points of all, by kind."""
    return {
        "triangle": {tuple(face) for face in (np.array(SURFACE) + 13).tolist()},
        "quad": {
            tuple(face)
            for face in [*cloth().cells["quad"].tolist(), *(fine().cells["quad"] + 21).tolist()]
        },
        "polygon5": {tuple(face) for face in cloth().cells["polygon5"].tolist()},
    }


@pytest.fixture(scope="module", params=["obj", "ply"])
def files(request, run, tmp_path_factory):
    done = export(run, tmp_path_factory.mktemp(request.param) / f"x.{request.param}")
    assert [file.name for file in done.files] == [f"x_{i:04}.{request.param}" for i in range(6)]
    return done.files


def polydata(path):
    vtk = pytest.importorskip("vtk", reason="vtk is not installed")
    reader = {".obj": vtk.vtkOBJReader, ".ply": vtk.vtkPLYReader}[path.suffix]()
    reader.SetFileName(str(path))
    reader.Update()
    return reader.GetOutput()


def test_taut_reads_back_bit_identical_positions(files, where):
    for file, frame in zip(files, where, strict=True):
        mesh = read(file)
        np.testing.assert_array_equal(mesh.points, np.concatenate(frame))
        assert {
            kind: set(map(tuple, mesh.cells[kind].tolist()))
            for kind in mesh.cells
            if kind != "line"
        } == faces_of_all()
        assert mesh.cells["line"].tolist() == [[7 + i, 8 + i] for i in range(5)]
        assert {name for name in mesh.groups if name in PLAIN} == {
            name for name in PLAIN if name != "dust"
        }  # it has no cells


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of trimesh: faces without texture
def test_trimesh_reads_the_points(run, where, tmp_path):
    """OBJ only: trimesh reads no binary PLY with faces of different sizes."""
    trimesh = pytest.importorskip("trimesh", reason="trimesh is not installed")
    for file, frame in zip(export(run, tmp_path / "x.obj").files, where, strict=True):
        found = trimesh.load(file, force="mesh", process=False, maintain_order=True)
        # trimesh splits points at texture seams: compare as sets
        assert {tuple(point) for point in found.vertices.tolist()} == {
            tuple(point) for point in np.concatenate(frame).tolist()
        }
        assert len(found.faces) == 2 * 2 + 3 + 4 + 9 * 2


def test_vtk_reads_points_quads_and_texture(files, where):
    from vtk.util.numpy_support import vtk_to_numpy

    for file, frame in zip(files, where, strict=True):
        found = polydata(file)
        sizes = sorted(
            found.GetCell(i).GetNumberOfPoints() for i in range(found.GetNumberOfCells())
        )
        assert [size for size in sizes if size > 2] == [3] * 4 + [4] * 11 + [5]
        x = vtk_to_numpy(found.GetPoints().GetData())
        wanted = np.concatenate(frame).astype(np.float32)  # what VTK's readers take points for
        if file.suffix == ".ply":
            np.testing.assert_array_equal(np.float32(x)[: len(wanted)], wanted)
        else:
            texture = vtk_to_numpy(found.GetPointData().GetTCoords())
            pairs = {
                (*point, *uv)
                for point, uv in zip(
                    np.float32(x).tolist(), np.float32(texture).tolist(), strict=True
                )
            }
            mesh = cloth()
            for kind, faces in mesh.cells.items():
                for point, corner in zip(faces.ravel(), mesh.uv.corners[kind].ravel(), strict=True):
                    assert (
                        *wanted[point].tolist(),
                        *np.float32(mesh.uv.coordinates[corner]).tolist(),
                    ) in pairs


def test_texture_is_at_the_same_corners(files):
    mesh = read(files[3])
    for source, first in ((cloth(), 0), (fine(), 21)):
        for kind, faces in source.cells.items():
            for face, corners in zip(
                (faces + first).tolist(), source.uv.corners[kind], strict=True
            ):
                row = mesh.cells[kind].tolist().index(face)
                np.testing.assert_array_equal(
                    mesh.uv.coordinates[mesh.uv.corners[kind][row]], source.uv.coordinates[corners]
                )


def test_reject_mixing_sequences_of_different_length(run, tmp_path):
    export(run, tmp_path / "x.ply")
    with pytest.raises(
        ModelError, match=r"exists: x_0000\.ply, x_0001\.ply, x_0002\.ply and 3 more;"
    ):
        export(run, tmp_path / "x.ply")
    with pytest.raises(
        ModelError, match=r"x_0003\.ply, x_0004\.ply, x_0005\.ply would be read with the new files"
    ):
        export(run, tmp_path / "x.ply", every=2, overwrite=True)
    assert len(export(run, tmp_path / "x.ply", overwrite=True).files) == 6
    assert len(list(tmp_path.iterdir())) == 6


def test_materials_follow_their_faces():
    paint = cloth().with_(groups={"material:red": {"quad": [1]}, "left": {"quad": [0]}})
    both = merge_meshes(
        [surface_mesh(VisualBody("a", paint, 0, 7)), surface_mesh(VisualBody("b", paint, 7, 14))],
        ["a", "b"],
    )
    assert {
        name: {kind: found.tolist() for kind, found in members.items()}
        for name, members in both.groups.items()
    } == {
        "a": {"quad": [0, 1], "polygon5": [0]},
        "b": {"quad": [2, 3], "polygon5": [1]},
        "material:red": {"quad": [1, 3]},
    }
    assert both.uv.corners["quad"].tolist() == [
        [0, 1, 2, 3],
        [4, 5, 6, 7],
        [9, 10, 11, 12],
        [13, 14, 15, 16],
    ]


def test_solid_with_explicit_faces():
    """Faces of the mesh come first and keep their texture.

    Boundary faces of the solid have none.
    """
    solid = jelly()
    uv = UV([[0, 0], [1, 0], [0, 1]], {"triangle": [[0, 1, 2]]})
    mesh = Mesh(solid.points, {"tet": solid.cells["tet"], "triangle": [[0, 1, 2]]}, uv=uv)
    found = list_polygons(VisualBody("a", mesh, 0, 5))
    assert found.counts.tolist() == [3] * 5
    assert found.corners[:3].tolist() == [0, 1, 2]
    assert found.texture.tolist() == [0, 1, 2] + [-1] * 12
