"""Topology against definitions with sets and dictionaries, on random, generated and
scanned meshes.
"""

from collections import Counter, defaultdict
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings

import taut
from taut.mesh import Mesh
from taut.mesh.kinds import find_kind
from tests.mesh.meshes import EVERY, LINES, SOLIDS, SURFACES, delaunay, real, triangle_soups

REAL = [
    "spot.obj",
    "horse_quad.obj",
    "suzanne.obj",
    "octopus-low.mesh",
    "inspired_mesh_quads_Smooth.off",
]


def edges_of(mesh):
    found = set()
    for name, cells in mesh.cells.items():
        for cell in cells.tolist():
            found |= {frozenset((cell[i], cell[j])) for i, j in find_kind(name).edges}
    return {e for e in found if len(e) == 2}


def hinges_of(triangles):
    """For each undirected edge the opposite corners."""
    found = defaultdict(list)
    for a, b, c in triangles.tolist():
        if len({a, b, c}) < 3:
            continue
        for i, j, k in ((a, b, c), (b, c, a), (c, a, b)):
            found[frozenset((i, j))].append(k)
    return found


def check_topology(mesh):
    edges = [frozenset(e) for e in mesh.edges.tolist()]
    assert len(edges) == len(set(edges))
    assert set(edges) == edges_of(mesh)
    assert (mesh.edges[:, 0] < mesh.edges[:, 1]).all()
    opposite = hinges_of(mesh.triangles)
    hinges = Counter(frozenset(h[2:]) for h in mesh.hinges.tolist())
    for c, d, a, b in mesh.hinges.tolist():
        assert {c, d} <= set(opposite[frozenset((a, b))])
        assert len({a, b, c, d}) == 4
    for edge, corners in opposite.items():
        if len(corners) == 2 and corners[0] != corners[1]:
            assert hinges[edge] == 1, "each interior edge is in exactly one hinge"
        if len(corners) == 1:
            assert hinges[edge] == 0
    for name, pairs in (
        ("diagonals", mesh.diagonals),
        ("skips", mesh.skips),
        ("body_diagonals", mesh.body_diagonals),
    ):
        assert len(np.unique(pairs, axis=0)) == len(pairs), name
        assert not set(map(frozenset, pairs.tolist())) & set(edges), f"{name} must not be edges"
    parent = list(range(mesh.n))

    def root(i):
        while parent[i] != i:
            i = parent[i]
        return i

    for e in edges:
        a, b = map(root, e)
        parent[max(a, b)] = min(a, b)
    roots = [root(i) for i in range(mesh.n)]
    order = {r: i for i, r in enumerate(dict.fromkeys(roots))}
    assert mesh.components.tolist() == [order[r] for r in roots]


@pytest.mark.parametrize("name", EVERY)
def test_generated_meshes(name):
    check_topology(EVERY[name]())


@pytest.mark.parametrize("name", REAL)
def test_real_meshes(name):
    check_topology(taut.mesh.read(real(name)))


@pytest.mark.parametrize("name", [*REAL, "bunny.mesh", "hand.msh", "stanford-bunny.obj"])
def test_mass_of_scanned_meshes_adds_up(name):
    mesh = taut.mesh.read(real(name))
    np.testing.assert_allclose(taut.areal_mass(mesh, 0.3).sum(), 0.3 * mesh.areas.sum(), rtol=1e-12)
    if len(mesh.volumes):
        solid = taut.mesh.clean(mesh, inverted=True).mesh
        np.testing.assert_allclose(
            taut.volume_mass(solid, 900.0).sum(), 900.0 * np.abs(mesh.volumes).sum(), rtol=1e-12
        )
        skin = Mesh(solid.points, solid.boundary_faces)
        np.testing.assert_allclose(skin.enclosed_volume, solid.volumes.sum(), rtol=1e-10)


@settings(max_examples=60, deadline=None)
@given(triangle_soups())
def test_random_triangle_soups(mesh):
    check_topology(mesh)
    once = {
        e
        for e, c in Counter(
            frozenset(p)
            for t in mesh.triangles.tolist()
            for p in zip(t, t[1:] + t[:1], strict=True)
        ).items()
        if c == 1
    }
    assert {frozenset(e) for e in mesh.boundary_edges.tolist()} == {e for e in once if len(e) == 2}


@settings(max_examples=30, deadline=None)
@given(delaunay(2))
def test_random_plane_meshes(mesh):
    check_topology(mesh)
    used = len(np.unique(mesh.triangles))
    assert used - len(mesh.edges) + len(mesh.triangles) == 1, "Euler characteristic of a disc"
    assert len(mesh.hinges) + len(mesh.boundary_edges) == len(mesh.edges)
    np.testing.assert_allclose(taut.areal_mass(mesh, 0.7).sum(), 0.7 * mesh.areas.sum(), rtol=1e-12)


@settings(max_examples=30, deadline=None)
@given(delaunay(3))
def test_random_solid_meshes(mesh):
    check_topology(mesh)
    skin = Mesh(mesh.points, mesh.boundary_faces)
    assert len(skin.boundary_edges) == 0, "the boundary has no boundary"
    used = len(np.unique(skin.triangles))
    assert used - len(skin.edges) + len(skin.triangles) == 2, "Euler characteristic of a sphere"
    assert (mesh.volumes > 0).all()
    np.testing.assert_allclose(skin.enclosed_volume, mesh.volumes.sum(), rtol=1e-12)
    np.testing.assert_allclose(
        taut.volume_mass(mesh, 3.0).sum(), 3.0 * mesh.volumes.sum(), rtol=1e-12
    )
    faces = 4 * len(mesh.cells["tet"])
    interior = (faces - len(skin.triangles)) // 2
    assert (
        mesh.n - len(mesh.edges) + interior + len(skin.triangles) - len(mesh.cells["tet"]) == 1
    ), "Euler characteristic of a ball"


@pytest.mark.parametrize(
    ("name", "euler", "loops"),
    [
        ("quad sheet", 1, 1),
        ("one-diagonal sheet", 1, 1),
        ("alternating sheet", 1, 1),
        ("equilateral sheet", 1, 1),
        ("disc", 1, 1),
        ("cylinder", 0, 2),
        ("alternating cylinder", 0, 2),
        ("sphere", 2, 0),
        ("torus", 0, 0),
        ("triangulated torus", 0, 0),
    ],
)
def test_euler_characteristic_and_number_of_boundary_loops(name, euler, loops):
    mesh = SURFACES[name]()
    assert mesh.n - len(mesh.edges) + sum(len(c) for c in mesh.cells.values()) == euler
    boundary = mesh.boundary_edges
    outline = Mesh(mesh.points, {"line": boundary}) if len(boundary) else None
    assert (0 if outline is None else len(np.unique(outline.components[boundary]))) == loops
    if outline is not None:
        assert (np.bincount(boundary.ravel())[mesh.boundary] == 2).all()


@pytest.mark.parametrize("name", SURFACES | SOLIDS | LINES)
def test_lumped_mass_adds_up(name):
    mesh = EVERY[name]()
    for weigh, dimension in ((taut.line_mass, 1), (taut.areal_mass, 2), (taut.volume_mass, 3)):
        total = sum(mesh.measure(k.name).sum() for k, _ in mesh.blocks(dimension))
        if total:
            np.testing.assert_allclose(weigh(mesh, 2.5).sum(), 2.5 * total, rtol=1e-12)


def test_quad_grid_has_structural_shear_and_bending_springs():
    nx, ny = 5, 4
    sheet = taut.mesh.sheet(nx, ny)
    number = np.arange((nx + 1) * (ny + 1)).reshape(ny + 1, nx + 1)
    structural = {
        frozenset(p)
        for a, b in ((number[:, :-1], number[:, 1:]), (number[:-1], number[1:]))
        for p in zip(a.flat, b.flat, strict=True)
    }
    shear = {
        frozenset(p)
        for a, b in ((number[:-1, :-1], number[1:, 1:]), (number[1:, :-1], number[:-1, 1:]))
        for p in zip(a.flat, b.flat, strict=True)
    }
    bending = {
        frozenset(p)
        for a, b in ((number[:, :-2], number[:, 2:]), (number[:-2], number[2:]))
        for p in zip(a.flat, b.flat, strict=True)
    }
    assert {frozenset(e) for e in sheet.edges.tolist()} == structural
    assert {frozenset(e) for e in sheet.diagonals.tolist()} == shear
    assert {frozenset(e) for e in sheet.skips.tolist()} == bending


def test_hex_grid_has_diagonals_and_skips():
    nx, ny, nz = 3, 4, 2
    block = taut.mesh.block(nx, ny, nz, size=(nx, ny, nz))
    place = block.points.astype(int)

    def steps(pairs):
        return Counter(tuple(sorted(abs(place[a] - place[b]).tolist())) for a, b in pairs.tolist())

    def faces(n):
        return sum(n[i] * n[j] * (n[3 - i - j] + 1) for i, j in combinations(range(3), 2))

    assert steps(block.edges) == {
        (0, 0, 1): nx * (ny + 1) * (nz + 1) + (nx + 1) * ny * (nz + 1) + (nx + 1) * (ny + 1) * nz
    }
    assert steps(block.diagonals) == {(0, 1, 1): 2 * faces((nx, ny, nz))}
    assert steps(block.body_diagonals) == {(1, 1, 1): 4 * nx * ny * nz}
    lines = (
        (nx - 1) * (ny + 1) * (nz + 1)
        + (nx + 1) * (ny - 1) * (nz + 1)
        + (nx + 1) * (ny + 1) * (nz - 1)
    )
    assert steps(block.skips) == {(0, 0, 2): lines}
    assert {k: len(v) for k, v in block.boundary_faces.items()} == {
        "quad": 2 * (nx * ny + ny * nz + nz * nx)
    }
    assert len(block.boundary) == (nx + 1) * (ny + 1) * (nz + 1) - (nx - 1) * (ny - 1) * (nz - 1)


def test_hinge_edge_has_the_direction_of_the_first_triangle():
    mesh = Mesh(np.eye(4, 3), {"triangle": [[2, 0, 1], [1, 0, 3]]})
    assert mesh.hinges.tolist() == [[2, 3, 0, 1]]


def test_edge_of_three_triangles_has_two_hinges():
    mesh = Mesh(np.zeros((5, 3)), {"triangle": [[0, 1, 2], [0, 1, 3], [0, 1, 4]]})
    assert mesh.hinges[:, :2].tolist() == [[2, 3], [3, 4]]


def uv_sphere(around=12, along=8):
    """Quads between circles of latitude, collapsed to triangles at the poles."""
    i, j = (a.ravel() for a in np.meshgrid(np.arange(around), np.arange(along + 1)))
    u, w = 2 * np.pi * i / around, np.pi * j / along
    points = np.column_stack([np.sin(w) * np.cos(u), np.cos(w), np.sin(w) * np.sin(u)])
    cell = np.array(
        [
            [
                j * around + i,
                j * around + (i + 1) % around,
                (j + 1) * around + (i + 1) % around,
                (j + 1) * around + i,
            ]
            for j in range(along)
            for i in range(around)
        ]
    )
    cell[cell < around] = 0
    cell[cell >= along * around] = along * around
    return taut.mesh.clean(Mesh(points, {"quad": cell}), unused=True).mesh


def test_degenerate_faces_do_not_remove_hinges():
    stray = Mesh(np.eye(4, 3), {"triangle": [[0, 1, 2], [0, 1, 1], [1, 0, 3]]})
    assert stray.hinges.tolist() == [[2, 3, 0, 1]]
    globe = uv_sphere()
    check_topology(globe)
    triangles = [t for t in globe.triangles.tolist() if len(set(t)) == 3]
    assert len(globe.hinges) == 3 * len(triangles) // 2


def test_skips_follow_straight_lines():
    net = taut.mesh.net(4, 3, size=(4.0, 3.0))
    steps = np.abs(net.points[net.skips[:, 1]] - net.points[net.skips[:, 0]])
    assert len(net.skips) == 3 * 4 + 2 * 5
    assert set(map(tuple, steps.round(9).tolist())) == {(2.0, 0.0, 0.0), (0.0, 2.0, 0.0)}
    block = taut.mesh.block(3, 2, 2)
    np.testing.assert_array_equal(taut.mesh.lattice(3, 2, 2, braces="none").skips, block.skips)
    braced = taut.mesh.lattice(3, 2, 2, braces="all").skips
    assert {frozenset(p) for p in block.skips.tolist()} <= {frozenset(p) for p in braced.tolist()}
    half_way = block.points[braced].mean(axis=1)  # a skip passes straight through a point
    assert np.abs(half_way[:, None] - block.points).max(axis=2).min(axis=1).max() < 1e-12
    assert len(taut.mesh.ring(5).skips) == 5
    assert len(taut.mesh.rope(5).skips) == 4


def test_lines_on_face_edges_add_no_skips():
    sheet = taut.mesh.sheet(3, 3, pattern="one-diagonal")
    rimmed = sheet.with_(cells=sheet.cells | {"line": sheet.boundary_edges})
    np.testing.assert_array_equal(rimmed.skips, sheet.skips)


def test_skips_across_the_edges_of_triangles():
    mesh = taut.mesh.sheet(1, 1, pattern="one-diagonal")
    assert mesh.skips.tolist() == [[1, 2]]


def test_rod_hinges_join_adjacent_segments():
    cross = Mesh(np.zeros((6, 3)), {"line": [[0, 1], [1, 2], [2, 3], [2, 4], [5, 0]]})
    assert cross.rod_hinges.tolist() == [[1, 0, 5], [0, 1, 2]]
    assert taut.mesh.ring(4).rod_hinges.tolist() == [[1, 0, 3], [0, 1, 2], [1, 2, 3], [0, 3, 2]]


def test_point_with_many_edges_has_no_skips():
    fan = Mesh(
        np.zeros((40_001, 3)),
        {"line": np.column_stack([np.zeros(40_000, int), np.arange(1, 40_001)])},
    )
    assert len(fan.skips) == 0
    assert len(fan.rod_hinges) == 0


def test_mixed_cells_share_their_edges():
    mesh = Mesh(
        np.random.default_rng(0).normal(size=(8, 3)),
        {
            "quad": [[0, 1, 2, 3]],
            "triangle": [[1, 4, 2]],
            "line": [[4, 5], [5, 6]],
            "polygon5": [[3, 2, 5, 6, 7]],
        },
    )
    check_topology(mesh)
    assert len(mesh.triangles) == 1 + 2 + 3
    assert {frozenset(d) for d in mesh.diagonals.tolist()} == {
        frozenset(p) for p in ((0, 2), (1, 3), (3, 5), (2, 6), (5, 7), (3, 6), (2, 7))
    }


def test_concave_polygons_are_split_by_inner_diagonals():
    dart = Mesh(
        [[0, 0], [2, 1], [0, 2], [1, 1]], {"quad": [[1, 2, 3, 0]]}
    )  # the diagonal 1-3 of its corners lies outside
    arrow = Mesh([[0, 0], [4, 0], [4, 4], [2, 1], [0, 4]], {"polygon5": [[4, 0, 1, 2, 3]]})
    for mesh, area in ((dart, 1.0), (arrow, 10.0)):
        cut = Mesh(mesh.points, {"triangle": mesh.triangles})
        np.testing.assert_allclose(cut.areas.sum(), area, rtol=1e-14)
        np.testing.assert_allclose(mesh.areas, area, rtol=1e-14)


def test_volumes_of_every_solid():
    x = np.array(
        [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [1, 1, 1], [0, 1, 1]]
    ) * (2.0, 3.0, 5.0)
    mesh = Mesh(
        x,
        {
            "hex": [range(8)],
            "wedge": [[0, 1, 3, 4, 5, 7]],
            "pyramid": [[0, 1, 2, 3, 4]],
            "tet": [[0, 1, 3, 4]],
        },
    )
    for name, part in (("hex", 1), ("wedge", 1 / 2), ("pyramid", 1 / 3), ("tet", 1 / 6)):
        np.testing.assert_allclose(mesh.measure(name), 30.0 * part, rtol=1e-14)
        mirrored = mesh.cells[name][:, list(find_kind(name).mirror)]
        np.testing.assert_allclose(Mesh(x, {name: mirrored}).volumes, -30.0 * part, rtol=1e-14)
    np.testing.assert_allclose(mesh.volumes.sum(), 30.0 * (1 + 1 / 2 + 1 / 3 + 1 / 6), rtol=1e-14)


def test_twisted_hex_has_the_volume_of_its_bilinear_faces():
    x = np.random.default_rng(3).normal(size=(8, 3)) * 0.1 + [
        [0, 0, 0],
        [1, 0, 0],
        [1, 1, 0],
        [0, 1, 0],
        [0, 0, 1],
        [1, 0, 1],
        [1, 1, 1],
        [0, 1, 1],
    ]
    node, weight = np.polynomial.legendre.leggauss(3)
    u, w = (node + 1) / 2, weight / 2
    signs = np.array(
        [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [1, 1, 1], [0, 1, 1]]
    )
    volume = 0.0
    for a, wa in zip(u, w, strict=True):
        for b, wb in zip(u, w, strict=True):
            for c, wc in zip(u, w, strict=True):
                at = np.array([a, b, c])
                factor = np.where(signs, at, 1 - at)
                slope = np.where(signs, 1.0, -1.0)
                gradient = np.column_stack(
                    [
                        slope[:, i] * factor[:, (i + 1) % 3] * factor[:, (i + 2) % 3]
                        for i in range(3)
                    ]
                )
                volume += wa * wb * wc * np.linalg.det(x.T @ gradient)
    np.testing.assert_allclose(Mesh(x, {"hex": [range(8)]}).volumes[0], volume, rtol=1e-13)


def test_measures_are_accurate_far_from_the_origin():
    far = taut.mesh.block(1, 1, 1, cells="tet").with_(
        points=taut.mesh.block(1, 1, 1).points * 0.5 + 2.0**20
    )
    np.testing.assert_allclose(far.volumes.sum(), 0.125, rtol=1e-14)
    ball = taut.mesh.sphere(3)
    np.testing.assert_allclose(
        ball.with_(points=ball.points + 1e6).enclosed_volume, ball.enclosed_volume, rtol=1e-8
    )


def test_boundary_of_closed_surfaces_lines_and_sheets():
    assert len(taut.mesh.sphere(2).boundary) == 0
    assert taut.mesh.rope(4).boundary.tolist() == [0, 4]
    assert len(taut.mesh.ring(5).boundary) == 0
    assert taut.mesh.sheet(2, 2).boundary.tolist() == [0, 1, 2, 3, 5, 6, 7, 8]


def test_enclosed_volume_requires_a_closed_surface():
    with pytest.raises(taut.errors.MeshError, match="4 edges belong to one face only, such as 0-1"):
        taut.mesh.sheet(1, 1).enclosed_volume  # noqa: B018
    ball = taut.mesh.sphere(2)
    turned = ball.with_(
        cells={"triangle": np.concatenate([ball.triangles[:1, ::-1], ball.triangles[1:]])}
    )
    with pytest.raises(
        taut.errors.MeshError,
        match=r"3 edges have the same direction in both faces .*taut.mesh.oriented",
    ):
        turned.enclosed_volume  # noqa: B018
    with pytest.raises(taut.errors.MeshError, match="a mesh without faces encloses no volume"):
        taut.mesh.rope(1).enclosed_volume  # noqa: B018
