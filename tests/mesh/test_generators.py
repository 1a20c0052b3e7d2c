"""Generated shapes: sizes, counts and rejected arguments."""

import numpy as np
import pytest

import taut
from taut.mesh import block, cylinder, disc, lattice, net, ring, rope, sheet, sphere, torus, truss


def measured_order(error, ns):
    e = np.array([error(n) for n in ns])
    return np.log(e[:-1] / e[1:]) / np.log(np.array(ns[1:]) / np.array(ns[:-1]))


def test_curved_surfaces_converge_to_their_areas_and_volumes():
    for error in (
        lambda n: abs(disc(n, 2.0).areas.sum() - 4 * np.pi),
        lambda n: abs(cylinder(4 * n, 2, 0.5, 3.0).areas.sum() - 3 * np.pi),
        lambda n: abs(sphere(n, 2.0).areas.sum() - 16 * np.pi),
        lambda n: abs(sphere(n, 2.0).enclosed_volume - 32 / 3 * np.pi),
        lambda n: abs(
            torus(8 * n, 4 * n, 2.0, 0.5, pattern="one-diagonal").enclosed_volume
            - 2 * np.pi**2 * 2.0 * 0.25
        ),
    ):
        np.testing.assert_allclose(measured_order(error, [8, 16, 32]), 2.0, atol=0.05)


def test_sphere_points_and_triangle_quality():
    mesh = sphere(6, 1.5)
    np.testing.assert_allclose(np.linalg.norm(mesh.points, axis=1), 1.5, rtol=1e-15)
    assert (mesh.n, len(mesh.triangles)) == (10 * 36 + 2, 20 * 36)
    assert mesh.lengths.max() / mesh.lengths.min() < 1.35


def test_equilateral_triangles_are_equilateral():
    mesh = sheet(5, 6, size=2.0, pattern="equilateral")
    np.testing.assert_allclose(mesh.lengths, 0.4, rtol=1e-14)
    np.testing.assert_allclose(
        mesh.points.max(axis=0), [2.0, 6 * 0.4 * np.sqrt(3) / 2, 0], atol=1e-15
    )


@pytest.mark.parametrize("plane", ["xy", "xz", "yz"])
def test_sheet_planes_and_normals(plane):
    up = {"xy": [0, 0, 1], "xz": [0, 1, 0], "yz": [1, 0, 0]}[plane]
    for mesh in (sheet(2, 3, plane=plane), disc(3, plane=plane)):
        x = mesh.positions[mesh.triangles]
        normal = np.cross(x[:, 1] - x[:, 0], x[:, 2] - x[:, 0])
        np.testing.assert_allclose(
            normal / np.linalg.norm(normal, axis=1, keepdims=True),
            np.broadcast_to(up, normal.shape),
            atol=1e-12,
        )
    assert not (ring(5, plane=plane).points @ up).any()


def test_patterns_split_every_quad_in_two():
    for pattern in ("one-diagonal", "alternating"):
        mesh = sheet(4, 4, size=4.0, pattern=pattern)
        np.testing.assert_allclose(mesh.areas, 0.5, rtol=1e-14)
    valence = np.bincount(sheet(4, 4, pattern="alternating").edges.ravel()).reshape(5, 5)[
        1:-1, 1:-1
    ]
    assert set(valence.ravel()) == {4, 8}
    assert set(
        np.bincount(sheet(4, 4, pattern="one-diagonal").edges.ravel())
        .reshape(5, 5)[1:-1, 1:-1]
        .ravel()
    ) == {6}


def test_texture_coordinates_of_a_sheet():
    mesh = sheet(2, 2, size=(3.0, 5.0))
    np.testing.assert_allclose(mesh.uv.coordinates * [3.0, 5.0], mesh.points[:, :2], rtol=1e-15)


@pytest.mark.parametrize("cells", ["hex", "tet"])
def test_blocks_fill_their_box(cells):
    mesh = block(3, 4, 5, size=(0.3, 2.0, 1.0), cells=cells)
    np.testing.assert_allclose(mesh.volumes.sum(), 0.6, rtol=1e-13)
    assert mesh.points.max(axis=0).tolist() == [0.3, 2.0, 1.0]
    if cells == "tet":
        assert (
            np.unique(mesh.volumes.round(12)).size == 2
        )  # four corners of a sixth of a cube each, a middle of a third
        assert len(taut.mesh.Mesh(mesh.points, mesh.boundary_faces).boundary_edges) == 0


def test_line_generators():
    mesh = rope(10, (0, 2, 0), (0, 0, 0))
    np.testing.assert_allclose(mesh.lengths, 0.2, rtol=1e-14)
    assert mesh.select("start").tolist() == [0]
    assert mesh.points[-1].tolist() == [0, 0, 0]
    np.testing.assert_allclose(ring(8, 2.0).lengths, 4 * np.sin(np.pi / 8), rtol=1e-14)
    assert len(net(4, 3).edges) == 4 * 4 + 5 * 3
    box = block(2, 2, 2)
    for braces, extra in (
        ("none", 0),
        ("face", len(box.diagonals)),
        ("body", 32),
        ("all", len(box.diagonals) + 32),
    ):
        assert len(lattice(2, 2, 2, braces=braces).edges) == len(box.edges) + extra


def test_truss_is_statically_determinate():
    """The number of members and supports equals the degrees of freedom.

    The equilibrium matrix is regular.
    """
    mesh = truss(6, 6.0, 1.0)
    x, edges = mesh.points, mesh.edges
    matrix = np.zeros((2 * mesh.n, len(edges) + 3))
    for m, (a, b) in enumerate(edges):
        d = (x[b] - x[a]) / np.linalg.norm(x[b] - x[a])
        matrix[2 * a : 2 * a + 2, m], matrix[2 * b : 2 * b + 2, m] = d, -d
    left, right = mesh.select("left")[0], mesh.select("right")[0]
    matrix[2 * left, -3] = matrix[2 * left + 1, -2] = matrix[2 * right + 1, -1] = 1
    assert matrix.shape[0] == matrix.shape[1]
    assert np.linalg.matrix_rank(matrix) == len(matrix)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: sheet(0, 3), "nx must be an integer of at least 1, got 0"),
        (lambda: sheet(2.5, 3), "nx must be an integer"),
        (lambda: sheet(10**9, 3), "at most 50,000,000"),
        (lambda: sheet(2, 2, size=-1.0), "size must be a positive length"),
        (lambda: sheet(2, 2, size=(1, 2, 3)), "size must be one length .* or 2"),
        (
            lambda: sheet(2, 2, pattern="diagonal"),
            "pattern must be one of .* did you mean 'one-diagonal'",
        ),
        (lambda: sheet(2, 2, (1, 2), pattern="equilateral"), "its height follows"),
        (lambda: sheet(2, 2, plane="zx"), "plane must be one of"),
        (lambda: disc(3, np.nan), "radius must be a positive length"),
        (lambda: cylinder(2, 2), "around must be an integer of at least 3"),
        (lambda: cylinder(5, 2, pattern="alternating"), "even number of cells"),
        (lambda: torus(8, 8, 1.0, 1.0), "would intersect itself"),
        (lambda: rope(3, (0, 0, 0), (0, 0, 0)), "start and end must differ"),
        (lambda: rope(3, (0, 0)), "start must be a point"),
        (lambda: block(1, 1, 1, cells="tets"), "cells must be one of hex, tet.*did you mean 'tet'"),
        (lambda: lattice(1, 1, 1, braces="faces"), "did you mean 'face'"),
        (lambda: truss(2, 1.0, 0.0), "positive length"),
        (lambda: sphere(True), "n must be an integer"),
        (lambda: block(40_000, 40_000, 40_000), "at most 50,000,000"),
        (lambda: net(10_000, 10_000), "at most 50,000,000"),
        (lambda: sheet(2, 2, pattern=np.array(["quad", "a"])), "pattern must be one of"),
    ],
)
def test_reject_bad_arguments(make, message):
    with pytest.raises(taut.errors.MeshError, match=message):
        make()
