"""VTKHDF, read by VTK's reader."""

import numpy as np
import pytest

import taut
from taut.show.export import export
from taut.show.export._bodies import point_velocities
from taut.show.visual_model import model_from_run
from tests.show.export.scenes import cloth, fine, jelly

pytest.importorskip("h5py", reason="h5py is not installed")
vtk = pytest.importorskip("vtk", reason="vtk is not installed")


@pytest.fixture(scope="module")
def reader(run, tmp_path_factory):
    path = tmp_path_factory.mktemp("vtkhdf") / "x.vtkhdf"
    export(run, path)
    found = vtk.vtkHDFReader()
    assert found.CanReadFile(str(path))
    found.SetFileName(str(path))
    found.UpdateInformation()
    return found


def array(found):
    from vtk.util.numpy_support import vtk_to_numpy

    return vtk_to_numpy(found)


def times(reader):
    return reader.GetOutputInformation(0).Get(vtk.vtkStreamingDemandDrivenPipeline.TIME_STEPS())


def test_times_match_the_run(reader, run):
    with taut.open_run(run) as opened:
        assert list(times(reader)) == [frame.t for frame in opened.frames]


def test_points_are_bit_identical_to_the_run(reader, where):
    for t, frame in zip(times(reader), where, strict=True):
        reader.UpdateTimeStep(t)
        points = array(reader.GetOutput().GetPoints().GetData())
        assert points.dtype == np.float64
        np.testing.assert_array_equal(points, np.concatenate(frame))


def test_velocities_match_the_run(reader, run):
    with taut.open_run(run) as opened:
        pieces = model_from_run(opened).pieces
        for frame in opened.frames:
            reader.UpdateTimeStep(frame.t)
            found = array(reader.GetOutput().GetPointData().GetArray("velocity"))
            np.testing.assert_array_equal(found[: pieces[3].stop], frame.v[: pieces[3].stop])
            # embedded points are compared with difference quotients, whose error at this step is
            # about 1e-10
            e = 1e-5
            skin = pieces[4]
            quotient = (
                skin.positions(frame.q + e * frame.v) - skin.positions(frame.q - e * frame.v)
            ) / (2 * e)
            np.testing.assert_allclose(found[pieces[3].stop :], quotient, rtol=0, atol=1e-8)


def test_velocity_of_an_embedded_point_is_interpolated():
    from taut.mesh import Mesh, embed
    from taut.show.visual_model import VisualBody

    cage = Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], {"tet": [[0, 1, 2, 3]]})
    inner = Mesh([[0.25, 0.25, 0.25]], {})
    v = np.arange(12.0).reshape(4, 3)
    np.testing.assert_allclose(
        point_velocities(VisualBody("a", inner, 0, 4, embed(inner, cage)), cage.points, v),
        [v.mean(axis=0)],
        rtol=1e-15,
    )


def test_cells_of_all_bodies_at_each_time(reader):
    cells = [face for kind in cloth().cells.values() for face in kind.tolist()]
    cells += [[7 + i, 8 + i] for i in range(5)]
    cells += (jelly().cells["tet"] + 13).tolist()
    cells += [[18], [19], [20]]
    cells += (fine().cells["quad"] + 21).tolist()
    types = [9] * 2 + [7] + [3] * 5 + [10] * 4 + [1] * 3 + [9] * 9
    bodies = [0] * 3 + [1] * 5 + [2] * 4 + [3] * 3 + [4] * 9
    for t in times(reader):
        reader.UpdateTimeStep(t)
        grid = reader.GetOutput()
        assert [grid.GetCellType(i) for i in range(grid.GetNumberOfCells())] == types
        ids = []
        for i in range(grid.GetNumberOfCells()):
            points = grid.GetCell(i).GetPointIds()
            ids.append([points.GetId(j) for j in range(points.GetNumberOfIds())])
        assert ids == cells
        assert array(grid.GetCellData().GetArray("body")).tolist() == bodies
        assert (
            array(grid.GetPointData().GetArray("body")).tolist()
            == [0] * 7 + [1] * 6 + [2] * 5 + [3] * 3 + [4] * 16
        )


def test_cells_are_stored_once(run, tmp_path):
    import h5py

    export(run, tmp_path / "x.vtkhdf")
    with h5py.File(tmp_path / "x.vtkhdf") as file:
        assert len(file["VTKHDF/Types"]) == 24
        assert file["VTKHDF/Points"].shape == (6 * 37, 3)
        assert list(file["VTKHDF"].attrs["bodies"]) == [
            "cloth",
            "../rod",
            "Jelly cube",
            "dust",
            "jelly_cube",
        ]
