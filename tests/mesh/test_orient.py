"""Consistent orientation."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import taut
from taut.mesh import UV, Mesh, oriented
from taut.mesh.orient import flip_cells
from tests.mesh.meshes import SOLIDS, SURFACES, real
from tests.mesh.test_topology import uv_sphere


def scramble(mesh, seed):
    rng = np.random.default_rng(seed)
    return flip_cells(mesh, {name: rng.random(len(c)) < 0.5 for name, c in mesh.cells.items()})


def is_consistent(mesh):
    """Whether no two faces traverse an edge in the same direction."""
    directed = np.concatenate(
        [c[:, [i, (i + 1) % c.shape[1]]] for c in mesh.cells.values() for i in range(c.shape[1])]
    )
    return len(np.unique(directed, axis=0)) == len(directed)


@pytest.mark.parametrize("name", SURFACES)
@settings(max_examples=5, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_scrambled_surfaces_are_restored(name, seed):
    mesh = SURFACES[name]()
    assert is_consistent(mesh)
    again = oriented(scramble(mesh, seed))
    assert is_consistent(again)
    if not len(mesh.boundary_edges):
        assert again.enclosed_volume > 0
        np.testing.assert_allclose(again.enclosed_volume, mesh.enclosed_volume, rtol=1e-12)


@pytest.mark.parametrize("name", SOLIDS)
def test_scrambled_solids_are_restored(name):
    mesh = SOLIDS[name]()
    again = oriented(scramble(mesh, 1))
    np.testing.assert_allclose(again.volumes, mesh.volumes, rtol=1e-14)
    assert (again.volumes > 0).all()


def test_generated_surfaces_are_oriented_already():
    for make in SURFACES.values():
        mesh = make()
        again = oriented(mesh)
        assert all((again.cells[name] == mesh.cells[name]).all() for name in mesh.cells)


def test_scanned_surface_is_restored():
    spot = taut.mesh.read(real("spot.obj"))
    again = oriented(scramble(spot, 7))
    assert is_consistent(again)
    np.testing.assert_allclose(again.enclosed_volume, spot.enclosed_volume, rtol=1e-12)


def test_two_closed_pieces_both_face_outwards():
    ball = taut.mesh.sphere(2)
    both = Mesh(
        np.concatenate([ball.points, ball.points + 5]),
        {"triangle": np.concatenate([ball.triangles, ball.triangles[:, ::-1] + ball.n])},
    )
    np.testing.assert_allclose(oriented(both).enclosed_volume, 2 * ball.enclosed_volume, rtol=1e-12)


def test_two_cubes_that_share_an_edge_both_face_outwards():
    box = Mesh(taut.mesh.block(1, 1, 1).points, taut.mesh.block(1, 1, 1).boundary_faces)
    inwards = box.cells["quad"][:, ::-1]
    beside = box.points + np.array([1, 1, 0])
    both = Mesh(
        np.concatenate([box.points, beside]), {"quad": np.concatenate([inwards, inwards + 8])}
    )
    joined = taut.mesh.clean(both, weld=0.0).mesh
    assert joined.n == 14
    assert oriented(joined).enclosed_volume == pytest.approx(2.0, rel=1e-14)


def test_a_globe_of_collapsed_quads_is_turned_outwards():
    globe = uv_sphere()
    inwards = (
        globe
        if globe.enclosed_volume < 0
        else flip_cells(globe, {"quad": np.ones(len(globe.cells["quad"]), bool)})
    )
    assert inwards.enclosed_volume < 0
    assert oriented(inwards).enclosed_volume == pytest.approx(-inwards.enclosed_volume, rel=1e-14)


def test_reject_non_orientable_strip():
    n = 12
    turn = 2 * np.pi * np.arange(n) / n
    rim = np.column_stack([np.cos(turn), np.sin(turn), np.zeros(n)])
    width = 0.2 * np.column_stack(
        [np.cos(turn / 2) * np.cos(turn), np.cos(turn / 2) * np.sin(turn), np.sin(turn / 2)]
    )
    points = np.concatenate([rim - width, rim + width])
    quads = [[i, (i + 1), n + i + 1, n + i] for i in range(n - 1)] + [[n - 1, n, 0, 2 * n - 1]]
    with pytest.raises(taut.errors.MeshError, match="quad 0: the surface has one side only"):
        oriented(Mesh(points, {"quad": quads}))


def test_texture_corners_turn_with_their_face():
    mesh = Mesh(
        [[0, 0], [1, 0], [1, 1], [0, 1]],
        {"triangle": [[0, 1, 2], [0, 3, 2]]},
        uv=UV([[0, 0], [1, 0], [1, 1], [0, 1]], {"triangle": [[0, 1, 2], [0, 3, 2]]}),
    )
    assert oriented(mesh).uv.corners["triangle"].tolist() == [[0, 1, 2], [0, 2, 3]]
