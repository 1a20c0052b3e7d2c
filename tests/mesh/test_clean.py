"""Cleaning: requested repairs are made and counted; data and groups follow their points
and cells.
"""

import numpy as np
import pytest

import taut
from taut.mesh import UV, Mesh, clean
from tests.mesh.meshes import real
from tests.mesh.test_topology import uv_sphere


def soup(mesh):
    """Triangles that share no points."""
    t = mesh.triangles
    return Mesh(mesh.positions[t.ravel()], {"triangle": np.arange(t.size).reshape(-1, 3)})


def test_welded_triangle_soup_is_the_original_surface():
    sphere = taut.mesh.sphere(3)
    done = clean(soup(sphere), weld=0.0)
    assert done.mesh.n == sphere.n
    assert done.welded == sphere.triangles.size - sphere.n
    assert len(done.mesh.boundary_edges) == 0
    np.testing.assert_array_equal(done.mesh.positions[done.old_to_new], soup(sphere).positions)


def test_welding_within_a_distance():
    points = np.array(
        [[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [1 + 1e-7, 0, 0], [1, 1, 0], [0, 1, 1e-7]]
    )
    mesh = Mesh(points, {"triangle": [[0, 1, 2], [3, 4, 5]]})
    assert clean(mesh, weld=1e-8).mesh.n == 6
    done = clean(mesh, weld=1e-6)
    assert done.mesh.cells["triangle"].tolist() == [[0, 1, 2], [1, 3, 2]]
    np.testing.assert_array_equal(done.mesh.points, points[[0, 1, 2, 4]])


@pytest.mark.parametrize("weld", [-1.0, np.nan, np.inf, "a", True])
def test_reject_bad_weld_distances(weld):
    with pytest.raises(taut.errors.MeshError, match="weld must be a distance"):
        clean(taut.mesh.sphere(1), weld=weld)


def test_reject_weld_distance_that_merges_everything():
    with pytest.raises(taut.errors.MeshError, match="too large"):
        clean(taut.mesh.sphere(8), weld=10.0)


def test_degenerate_cells_are_dropped_with_their_data():
    mesh = Mesh(
        [[0, 0, 0], [1, 0, 0], [2, 0, 0], [0, 1, 0], [1, 1, 0]],
        {"triangle": [[0, 1, 2], [0, 1, 3], [1, 1, 4], [1, 4, 3]], "line": [[0, 0], [0, 1]]},
        groups={"some": {"triangle": [0, 1, 3], "line": [1]}},
        cell_data={"thickness": {"triangle": [1.0, 2.0, 3.0, 4.0]}},
        uv=UV([[0, 0]], {"triangle": np.zeros((4, 3), int)}),
    )
    done = clean(mesh, degenerate=True)
    assert done.degenerate == 3
    assert done.mesh.cells["triangle"].tolist() == [[0, 1, 3], [1, 4, 3]]
    assert {k: v.tolist() for k, v in done.mesh.groups["some"].items()} == {
        "triangle": [0, 1],
        "line": [0],
    }
    assert done.mesh.cell_data["thickness"]["triangle"].tolist() == [2.0, 4.0]
    assert done.mesh.uv.corners["triangle"].shape == (2, 3)
    assert str(done) == "3 degenerate cells dropped"


def test_collapsed_quads_with_area_are_kept():
    globe = uv_sphere()
    done = clean(globe, degenerate=True)
    assert done.degenerate == 0
    assert len(done.mesh.boundary_edges) == 0


def test_small_cells_are_not_degenerate():
    tiny = taut.mesh.block(2, 2, 2, size=1e-9, cells="tet")
    assert clean(tiny, degenerate=True).degenerate == 0


def test_inverted_solids_are_turned_over():
    block = taut.mesh.block(2, 1, 1)
    wrong = block.with_(
        cells={
            "hex": np.where(
                [[True], [False]],
                block.cells["hex"][:, [0, 3, 2, 1, 4, 7, 6, 5]],
                block.cells["hex"],
            )
        }
    )
    done = clean(wrong, inverted=True)
    assert done.inverted == 1
    assert (done.mesh.volumes > 0).all()


def test_largest_component_of_a_scan():
    bunny = taut.mesh.read(real("stanford-bunny.obj"))
    done = clean(bunny, largest=True)
    assert (done.mesh.n, done.components, done.unused) == (34834, 0, 1113)
    assert done.mesh.components.max() == 0
    monkey = taut.mesh.read(real("suzanne.obj"))
    parts = clean(monkey, largest=True)
    assert parts.components == 2
    assert parts.mesh.components.max() == 0


def test_point_data_and_groups_are_renumbered():
    mesh = Mesh(
        [[9, 9, 9], [0, 0, 0], [1, 0, 0], [0, 1, 0]],
        {"triangle": [[1, 2, 3]]},
        groups={"held": [0, 3]},
        point_data={"weight": [0.0, 0.1, 0.2, 0.3]},
    )
    done = clean(mesh, unused=True)
    assert done.old_to_new.tolist() == [-1, 0, 1, 2]
    assert done.mesh.groups["held"]["point"].tolist() == [2]
    assert done.mesh.point_data["weight"].tolist() == [0.1, 0.2, 0.3]


def test_default_changes_nothing():
    mesh = Mesh([[0, 0, 0], [0, 0, 0], [1, 0, 0]], {"triangle": [[0, 1, 2]]})
    done = clean(mesh)
    assert str(done) == "nothing to clean"
    assert done.mesh is mesh
