"""Filling of closed surfaces with tetrahedra, for any face orientation; open surfaces
are rejected.
"""

import sys
from importlib.util import find_spec

import numpy as np
import pytest

from taut.errors import MeshError, MissingExtra
from taut.mesh.filling.fill import fill
from taut.mesh.filling.winding import Winding, _choose_rotation
from taut.mesh.mesh import Mesh
from taut.mesh.reading import read
from taut.mesh.shapes.solids import block
from taut.mesh.shapes.surfaces import cylinder, sheet, sphere, torus
from tests.mesh.meshes import real
from tests.mesh.quality import euler_characteristic, order, within_the_proven_angles


def _cube(low, side):
    """The surface of a cube of outward quads."""
    solid = block(1, 1, 1, size=side)
    return Mesh(
        solid.points - solid.points.min(axis=0) + low, {"quad": solid.boundary_faces["quad"]}
    )


def _together(*meshes):
    starts = np.cumsum([0, *(m.n for m in meshes[:-1])])
    quads = np.concatenate(
        [m.cells["quad"] + start for m, start in zip(meshes, starts, strict=True)]
    )
    return Mesh(np.concatenate([m.points for m in meshes]), {"quad": quads})


def _inside_out(mesh):
    return mesh.with_(cells={kind: cells[:, ::-1] for kind, cells in mesh.cells.items()}, uv=None)


def test_filled_volume_converges_at_second_order():
    spot = read(real("spot.obj"))
    filled = [fill(spot, spacing) for spacing in (0.13, 0.065)]
    for mesh in filled:
        assert within_the_proven_angles(mesh)
        assert euler_characteristic(mesh) == 2
        assert mesh.components.max() == 0
    errors = np.array([mesh.volumes.sum() / spot.enclosed_volume - 1 for mesh in filled])
    assert order(errors) == pytest.approx(2.0, abs=0.1)
    assert abs(errors[-1]) < 0.01


def test_boundary_lies_on_the_surface():
    mesh = fill(_cube([0, 0, 0], 1.0), 0.23)
    skin = mesh.points[mesh.boundary]
    assert np.minimum(np.abs(skin), np.abs(skin - 1)).min(axis=1).max() < 1e-7
    assert within_the_proven_angles(mesh)


def test_a_torus_keeps_its_hole():
    mesh = fill(torus(40, 24, 1.0, 0.4), 0.15)
    assert euler_characteristic(mesh) == 0


def test_inward_faces_fill_the_same_volume():
    ball = sphere(12)
    one, other = fill(ball, 0.3), fill(_inside_out(ball), 0.3)
    assert (one.points == other.points).all()
    assert (one.cells["tet"] == other.cells["tet"]).all()


def test_triangle_soup_fills_the_same_volume():
    """As an STL file holds them."""
    ball = sphere(12)
    loose = Mesh(
        ball.points[ball.triangles].reshape(-1, 3),
        {"triangle": np.arange(ball.triangles.size).reshape(-1, 3)},
    )
    one, other = fill(ball, 0.3), fill(loose, 0.3)
    assert one.n == other.n
    assert np.abs(one.points - other.points).max() < 1e-6


def test_overlapping_parts_are_filled_as_one_and_a_cavity_stays_empty():
    """Exact, because the faces are planes of the lattice."""
    overlap = _together(_cube([0, 0, 0], 1.0), _cube([0.5, 0, 0], 1.0))
    assert fill(overlap, 0.25).volumes.sum() == pytest.approx(1.5, rel=1e-7)
    hollow = _together(_cube([0, 0, 0], 3.0), _inside_out(_cube([1, 1, 1], 1.0)))
    assert fill(hollow, 0.5).volumes.sum() == pytest.approx(26.0, rel=1e-7)


def test_winding_numbers_of_a_convex_surface():
    """At random points, and at points whose rays run through corners and edges."""
    ball = sphere(4)
    x, triangles = ball.positions, ball.triangles
    ray = _choose_rotation()[:, 2]
    middles = x[ball.edges].mean(axis=1)
    random = np.random.default_rng(0).uniform(-1.2, 1.2, (2000, 3))
    points = np.concatenate(
        [random, *(q + step * ray for q in (x, middles) for step in (-1.5, -0.5, 0.5, 1.5))]
    )
    normals = np.cross(
        x[triangles[:, 1]] - x[triangles[:, 0]], x[triangles[:, 2]] - x[triangles[:, 0]]
    )
    above = np.einsum("pti,ti->pt", points[:, None] - x[triangles[:, 0]], normals).max(axis=1)
    clear = np.abs(above) > 1e-12
    number, distance = Winding(x, triangles).at(points)
    assert (number[clear] == (above < 0)[clear]).all()
    assert clear.sum() > 2000
    assert np.isfinite(distance[number != 0]).all()


def test_long_triangles_use_bounded_memory():
    n = 1000
    angle = 2 * np.pi * np.arange(n) / n
    rim = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    points = np.concatenate(
        [np.insert(rim, 1, 0.0, axis=1), np.insert(rim, 1, 5.0, axis=1), [[0, 0, 0], [0, 5, 0]]]
    )
    i, j = np.arange(n), np.roll(np.arange(n), -1)
    low, high = np.full(n, 2 * n), np.full(n, 2 * n + 1)
    faces = [(i, i + n, j), (j, i + n, j + n), (i, j, low), (j + n, i + n, high)]
    drum = Mesh(points, {"triangle": np.concatenate([np.stack(f, axis=1) for f in faces])})
    assert len(Winding(drum.positions, drum.triangles)._triangle) < 400_000
    filled = fill(drum, 0.25)  # its two rims are rounded over about one spacing
    assert filled.volumes.sum() == pytest.approx(5 * np.pi, rel=0.015)


@pytest.mark.parametrize("count", [1, 7])
def test_reject_open_surface_and_count_its_edges(count):
    ball = sphere(8)
    hole = Mesh(ball.points, {"triangle": ball.triangles[count:]})
    with pytest.raises(
        MeshError,
        match=rf"not closed: {len(hole.boundary_edges)} of its edges .* such as that from",
    ) as caught:
        fill(hole, 0.3)
    a, b = (int(word) for word in caught.value.element.removeprefix("edge ").split("-"))
    assert sorted([a, b]) in np.sort(hole.boundary_edges, axis=1).tolist()


def test_reject_bunny_with_holes():
    with pytest.raises(MeshError, match="not closed: 223 of its edges"):
        fill(read(real("stanford-bunny.obj")))


def test_reject_inconsistently_oriented_face():
    ball = sphere(8)
    faces = ball.triangles.copy()
    faces[5] = faces[5, ::-1]
    with pytest.raises(MeshError, match=r"3 edges disagree.*taut\.mesh\.oriented"):
        fill(Mesh(ball.points, {"triangle": faces}), 0.3)


def test_reject_meshes_without_an_inside():
    with pytest.raises(MeshError, match="no faces"):
        fill(block(1, 1, 1))
    with pytest.raises(MeshError, match="in a plane"):
        fill(sheet(2, 2))
    with pytest.raises(MeshError, match="not closed"):
        fill(cylinder(8, 2))
    with pytest.raises(MeshError, match="spacing must be a positive length"):
        fill(sphere(8), 0.0)
    with pytest.raises(MeshError, match="did you mean 'tetwild'"):
        fill(sphere(8), 0.3, method="tetwid")


def test_missing_tetwild_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "pytetwild", None)
    with pytest.raises(
        MissingExtra, match=r"need the package pytetwild: pip install 'taut\[tetwild\]'"
    ):
        fill(sphere(8), 0.3, method="tetwild")


@pytest.mark.skipif(find_spec("pytetwild") is None, reason="pytetwild is not installed")
@pytest.mark.parametrize("missing", [0, 2])
def test_tetwild_fills_a_surface_even_with_a_hole(missing):
    ball = sphere(8)
    mesh = fill(Mesh(ball.points, {"triangle": ball.triangles[missing:]}), 0.5, method="tetwild")
    assert mesh.volumes.min() > 0
    assert mesh.volumes.sum() == pytest.approx(ball.enclosed_volume, rel=0.005)


def test_degenerate_face_is_not_a_hole():
    ball = sphere(6)
    stray = ball.with_(cells={"triangle": np.concatenate([ball.triangles, [[0, 0, 1]]])})
    np.testing.assert_array_equal(fill(stray, 0.4).points, fill(ball, 0.4).points)


def test_disconnected_result_is_reported(log):
    dumbbell = block(9, 3, 3, size=(9.0, 3.0, 3.0))
    bar = dumbbell.points.copy()
    thin = (bar[:, 0] > 3.5) & (bar[:, 0] < 5.5)
    bar[thin, 1:] = 1.3 + 0.02 * (bar[thin, 1:] - 1.5)
    surface = Mesh(bar, dumbbell.boundary_faces)
    assert fill(surface, 1.0).components.max() == 1
    assert "in 2 pieces where the surface has 1" in log.text
    log.clear()
    fill(sphere(8), 0.3)
    assert log.text == ""
