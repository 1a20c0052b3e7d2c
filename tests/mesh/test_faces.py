"""Triangulation of quads with their data, and the surface of solids."""

import numpy as np
import pytest

import taut
from taut.mesh import UV, Mesh, ball, block, sheet, surface, triangulated


def test_data_groups_and_uv_follow_triangulation():
    mesh = Mesh(
        np.random.default_rng(1).normal(size=(9, 3)),
        {
            "line": [[0, 8]],
            "triangle": [[0, 1, 2]],
            "quad": [[0, 2, 3, 4]],
            "polygon5": [[4, 5, 6, 7, 8]],
        },
        groups={
            "some": {"quad": [0], "line": [0], "point": [3]},
            "last": {"polygon5": [0], "triangle": [0]},
        },
        cell_data={
            "thickness": {"triangle": [1.0], "quad": [2.0], "polygon5": [3.0]},
            "only": {"quad": [7.0]},
        },
        uv=UV(
            np.random.default_rng(2).random((12, 2)),
            {"triangle": [[0, 1, 2]], "quad": [[3, 4, 5, 6]], "polygon5": [[7, 8, 9, 10, 11]]},
        ),
    )
    cut = triangulated(mesh)
    np.testing.assert_array_equal(cut.cells["triangle"], mesh.triangles)
    assert set(cut.cells) == {"line", "triangle"}
    assert {k: v.tolist() for k, v in cut.groups["some"].items()} == {
        "point": [3],
        "line": [0],
        "triangle": [1, 2],
    }
    assert cut.groups["last"]["triangle"].tolist() == [0, 3, 4, 5]
    assert cut.cell_data["thickness"]["triangle"].tolist() == [1, 2, 2, 3, 3, 3]
    np.testing.assert_array_equal(
        cut.cell_data["only"]["triangle"], [np.nan, 7, 7, np.nan, np.nan, np.nan]
    )
    place = {}  # texture coordinate of each point in each face
    for kind, cells in mesh.cells.items():
        for cell, texture in zip(
            cells.tolist(), mesh.uv.corners.get(kind, np.zeros((0, 0))).tolist(), strict=False
        ):
            place |= {(frozenset(cell), p): t for p, t in zip(cell, texture, strict=True)}
    faces = [
        frozenset(c) for kind in ("triangle", "quad", "polygon5") for c in mesh.cells[kind].tolist()
    ]
    for triangle, texture in zip(
        cut.cells["triangle"].tolist(), cut.uv.corners["triangle"].tolist(), strict=True
    ):
        face = next(f for f in faces if set(triangle) <= f)
        assert [place[face, p] for p in triangle] == texture


def test_quads_can_be_written_to_triangle_formats(tmp_path):
    cloth = sheet(3, 3).with_(groups={"left": {"quad": [0, 3, 6]}})
    with pytest.raises(taut.errors.MeshError, match="GLB cannot hold the 9 quad cells"):
        taut.mesh.write(cloth, tmp_path / "x.glb")
    taut.mesh.write(triangulated(cloth), tmp_path / "x.glb")
    assert len(taut.mesh.read(tmp_path / "x.glb").groups["left"]["triangle"]) == 6


def test_surface_of_solids():
    solid = ball(1.0, spacing=0.3)
    skin = surface(
        solid.with_(
            groups={"top": solid.select("y > 0.8*max")}, point_data={"height": solid.points[:, 1]}
        )
    )
    assert len(skin.boundary_edges) == 0
    assert skin.enclosed_volume == pytest.approx(solid.volumes.sum(), rel=1e-12)
    np.testing.assert_array_equal(skin.point_data["height"], skin.points[:, 1])
    assert (skin.points[skin.select("top"), 1] > 0.7).all()
    assert surface(block(2, 2, 2)).n == 26


def test_mesh_without_quads_or_faces_is_unchanged():
    rope = taut.mesh.rope(3)
    assert triangulated(rope) is rope
