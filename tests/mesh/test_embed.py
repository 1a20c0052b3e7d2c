"""Embedding: the containing tetrahedron is found if there is one, and motions are reproduced."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from taut.errors import MeshError
from taut.mesh import Mesh, read
from taut.mesh.embedding.embed import embed, find_outer_faces, tetrahedra
from taut.mesh.embedding.nearest import find_nearest_triangle
from taut.mesh.kinds import find_kind
from taut.mesh.measure import measures
from tests.mesh.meshes import real

SEEDS = st.integers(0, 2**32 - 1)
TET = find_kind("tet")


def _soup(rng, count, corners, spread):
    """Overlapping random cells of very different size and shape."""
    centre = rng.uniform(-1, 1, (count, 1, 3))
    size = 10 ** rng.uniform(-2, 0.3, (count, 1, 1)) * 10 ** rng.uniform(-spread, 0, (count, 1, 3))
    return (centre + size * rng.normal(size=(count, corners, 3))).reshape(-1, 3), np.arange(
        count * corners
    ).reshape(count, corners)


def _grid(cells, rng=None):
    """Hexahedra that fill the unit cube; inner points are perturbed if rng is given."""
    n = np.arange((cells + 1) ** 3).reshape((cells + 1,) * 3)
    low, high = slice(None, -1), slice(1, None)
    order = [(low, low), (high, low), (high, high), (low, high)]
    hexes = np.stack([n[i, j, k] for k in (low, high) for i, j in order], axis=-1).reshape(-1, 8)
    x = np.stack(np.meshgrid(*[np.linspace(0, 1, cells + 1)] * 3, indexing="ij"), axis=-1).reshape(
        -1, 3
    )
    if rng is not None:
        inside = ((x > 0) & (x < 1)).all(axis=1)
        x[inside] += rng.uniform(-0.2, 0.2, (inside.sum(), 3)) / cells
    return Mesh(x, {"hex": hexes})


def _weights(x, corners):
    """Barycentric weights of all points in all tetrahedra, shape (m, k, 4): brute force."""
    edges = np.swapaxes(corners[:, 1:] - corners[:, :1], 1, 2)
    last = np.linalg.solve(edges[None], (x[:, None] - corners[None, :, 0])[..., None])[..., 0]
    return np.concatenate([1 - last.sum(axis=-1, keepdims=True), last], axis=-1)


def _distance(x, corners):
    """Distance from a point to a simplex (k, 3), by projection onto faces of every dimension."""
    found = [np.linalg.norm(x - corner) for corner in corners]
    for subset in (
        [i for i in range(len(corners)) if bits >> i & 1] for bits in range(1, 2 ** len(corners))
    ):
        first, *rest = corners[subset]
        if rest:
            edges = (np.array(rest) - first).T
            w = np.linalg.lstsq(edges, x - first, rcond=None)[0]
            if (w >= 0).all() and w.sum() <= 1:
                found.append(np.linalg.norm(first + edges @ w - x))
    return min(found)


def _rotation(rng):
    turn, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    return turn * np.sign(np.linalg.det(turn))


@settings(max_examples=30, deadline=None)
@given(SEEDS, st.integers(1, 40), st.sampled_from([0.0, 1.0, 2.0]))
def test_containing_tetrahedron_is_found(seed, count, spread):
    rng = np.random.default_rng(seed)
    points, tets = _soup(rng, count, 4, spread)
    cage = Mesh(points, {"tet": tets})
    inside = points[tets[rng.integers(count, size=30)]] * rng.dirichlet(np.ones(4), 30)[..., None]
    x = np.concatenate([inside.sum(axis=1), rng.uniform(-2, 2, (30, 3))])
    found = embed(x, cage)
    deepest = _weights(x, points[tets]).min(axis=-1).max(axis=1)
    held = found.weights.min(axis=1)
    np.testing.assert_array_equal(held[deepest > 1e-9] > -1e-9, True)
    np.testing.assert_array_equal(held[deepest < -1e-9] < 0, True)
    np.testing.assert_allclose(held[deepest > 1e-9], deepest[deepest > 1e-9], atol=1e-8)


@settings(max_examples=15, deadline=None)
@given(SEEDS, st.integers(1, 12))
def test_a_point_outside_follows_the_nearest_tet(seed, count):
    rng = np.random.default_rng(seed)
    points, tets = _soup(rng, count, 4, 0.5)
    x = rng.uniform(-3, 3, (8, 3))
    found = embed(x, Mesh(points, {"tet": tets}))
    for i in range(len(x)):
        nearest = min(_distance(x[i], points[tet]) for tet in tets)
        assert _distance(x[i], points[found.indices[i]]) == pytest.approx(nearest, abs=1e-9)


@settings(max_examples=30, deadline=None)
@given(SEEDS, st.integers(1, 4))
def test_affine_motions_are_reproduced(seed, cells):
    rng = np.random.default_rng(seed)
    cage = _grid(cells, rng)
    x = rng.uniform(-0.2, 1.2, (200, 3))
    found = embed(x, cage)
    matrix, shift = rng.uniform(-1, 1, (3, 3)), rng.uniform(-1, 1, 3)
    error = np.abs(found(cage.points @ matrix.T + shift) - (x @ matrix.T + shift)).max(axis=1)
    assert (error <= 1e-12 * np.abs(found.weights).sum(axis=1)).all()
    np.testing.assert_allclose(found.weights.sum(axis=1), 1.0, atol=1e-12)
    within = ((x > 0) & (x < 1)).all(axis=1)
    assert found.weights[within].min() >= -1e-12  # the cells fill the cube


def test_affine_motions_are_reproduced_far_from_the_origin():
    cage = _grid(3)
    far = cage.with_(points=cage.points + 1e6)
    x = np.random.default_rng(0).uniform(0, 1, (100, 3))
    found = embed(x + 1e6, far)
    np.testing.assert_allclose(
        found(cage.points), x, atol=1e-9
    )  # positions there are known to 1e-10


@pytest.mark.parametrize("cells", [1, 3])
def test_neighbouring_cells_are_split_consistently(cells):
    """Six tetrahedra per cube with the same total volume, and no unmatched inner face.

    Each boundary quad gives two triangles.
    """
    mesh = _grid(cells)
    shuffled = np.random.default_rng(1).permutation(mesh.n)  # any numbering
    points = np.empty_like(mesh.points)
    points[shuffled] = mesh.points
    mesh = Mesh(points, {"hex": shuffled[mesh.cells["hex"]]})
    tets = tetrahedra(mesh)
    volume = measures(mesh.points, tets, TET)
    assert len(tets) == 6 * cells**3
    assert (volume > 0).all()
    assert volume.sum() == pytest.approx(1.0)
    faces = find_outer_faces(tets, volume > 0)
    assert len(faces) == 2 * 6 * cells**2
    assert np.isin(mesh.points[faces], [0.0, 1.0]).all(axis=1).any(axis=1).all()


@settings(max_examples=20, deadline=None)
@given(st.permutations(range(11)))
def test_mixed_solids_fill_their_volume(order):
    """A hexahedron with a wedge on its side and a pyramid on top, for any numbering."""
    cube = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [1, 1, 1], [0, 1, 1]]
    x = np.array([*cube, [0.4, 0.6, 2], [2, 0, 0], [2, 1, 0]])
    order = np.array(order)
    points = np.empty((11, 3))
    points[order] = x
    cells = {
        "hex": [[0, 1, 2, 3, 4, 5, 6, 7]],
        "pyramid": [[4, 5, 6, 7, 8]],
        "wedge": [[1, 9, 5, 2, 10, 6]],
    }
    mesh = Mesh(points, {name: order[np.array(c)] for name, c in cells.items()})
    tets = tetrahedra(mesh)
    volume = measures(points, tets, TET)
    assert len(tets) == 6 + 2 + 3
    assert sorted(np.sign(volume)) == sorted(np.repeat(np.sign(mesh.volumes), [2, 3, 6]))
    assert np.abs(volume).sum() == pytest.approx(1 + 1 / 3 + 0.5)
    found = embed([[0.5, 0.5, 1.3], [0.2, 0.3, 0.4], [1.3, 0.5, 0.2]], mesh)
    assert (found.weights >= -1e-12).all()


def test_flat_and_folded_tets_give_no_nan():
    points = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0], [0.2, 0.2, 0.2]])
    cells = [
        [0, 1, 2, 4],
        [0, 1, 2, 3],
        [0, 1, 2, 3],
        [0, 2, 1, 3],
        [0, 0, 1, 2],
    ]  # flat, whole, twice, mirrored, collapsed
    x = np.array([[0.1, 0.1, 0.1], [0.9, 0.9, 0.0], [0, 0, 0], [3, 3, 3], [0.2, 0.2, -1]])
    found = embed(x, Mesh(points, {"tet": cells}))
    assert np.isfinite(found.weights).all()
    np.testing.assert_allclose(found(points), x, atol=1e-12)
    with pytest.raises(MeshError, match="the solids of the cage must have a volume"):
        embed(x, Mesh(points, {"tet": cells[:1]}))
    with pytest.raises(MeshError, match="the faces of the cage must have an area"):
        embed(x, Mesh([[0, 0, 0], [1, 1, 1], [2, 2, 2]], {"triangle": [[0, 1, 2]]}))


@settings(max_examples=30, deadline=None)
@given(SEEDS, st.integers(1, 30))
def test_rigid_motions_are_reproduced_on_faces(seed, count):
    rng = np.random.default_rng(seed)
    points, triangles = _soup(rng, count, 3, 0.5)
    x = rng.uniform(-2, 2, (40, 3))
    found = embed(x, Mesh(points, {"triangle": triangles}))
    turn, shift = _rotation(rng), rng.uniform(-1, 1, 3)
    error = np.abs(found(points @ turn.T + shift) - (x @ turn.T + shift)).max(axis=1)
    assert (error <= 1e-12 * (np.abs(found.weights).sum(axis=1) + np.abs(found.offsets))).all()
    for i in range(0, len(x), 8):
        nearest = min(_distance(x[i], points[triangle]) for triangle in triangles)
        assert _distance(x[i], points[found.indices[i]]) == pytest.approx(nearest, abs=1e-9)


def test_height_above_a_face_is_constant():
    """Above the centre of quads the offset is the height along the normal.

    Stretching the face does not change it.
    """
    plate = Mesh(
        [[0, 0, 0], [2, 0, 0], [2, 0, -2], [0, 0, -2]], {"quad": [[0, 1, 2, 3]]}
    )  # its normal is +y
    found = embed([[0.5, 0.3, -0.2], [1.5, -0.1, -1.5]], plate)
    np.testing.assert_allclose(found.offsets, [0.3, -0.1])
    np.testing.assert_allclose(found(plate.points * 3), [[1.5, 0.3, -0.6], [4.5, -0.1, -4.5]])
    collapsed = found(np.zeros((4, 3)))
    np.testing.assert_array_equal(collapsed, 0.0)


def test_points_at_the_same_distance_from_many_triangles():
    """At the centre of a sphere all triangles are equally near."""
    mesh = Mesh(*_sphere(12))
    near, square = find_nearest_triangle(np.zeros((5, 3)), mesh.points[mesh.triangles])
    flat = np.array([_distance(np.zeros(3), corners) for corners in mesh.points[mesh.triangles]])
    np.testing.assert_allclose(np.sqrt(square), flat.min())
    np.testing.assert_allclose(flat[near], flat.min())


def _sphere(n):
    polar, around = np.meshgrid(
        np.pi * (np.arange(n) + 0.5) / n, 2 * np.pi * np.arange(2 * n) / (2 * n), indexing="ij"
    )
    x = np.stack(
        [np.sin(polar) * np.cos(around), np.cos(polar), np.sin(polar) * np.sin(around)], axis=-1
    ).reshape(-1, 3)
    i = np.arange(n * 2 * n).reshape(n, 2 * n)
    return x, {
        "quad": np.stack(
            [i[:-1], np.roll(i[:-1], -1, 1), np.roll(i[1:], -1, 1), i[1:]], axis=-1
        ).reshape(-1, 4)
    }


def test_lines_carry_the_points_on_them():
    rope = Mesh([[0, 0, 0], [1, 0, 0], [1, 2, 0], [1, 2, 0]], {"line": [[0, 1], [1, 2], [2, 3]]})
    found = embed([[0.25, 0, 0], [1, 1.5, 1e-10], [1, 2, 0]], rope)
    bent = np.array([[0, 0, 0], [0, 0, 4], [8, 0, 4], [8, 0, 4]])
    np.testing.assert_allclose(found(bent), [[0, 0, 1], [6, 0, 4], [8, 0, 4]], atol=1e-9)
    with pytest.raises(MeshError, match=r"point 1: .*the nearest line is 0\.1 m away"):
        embed([[0.5, 0, 0], [0.5, 0.1, 0]], rope)


def test_planar_meshes_can_be_cage_and_embedded_mesh():
    cage = Mesh([[0, 0], [1, 0], [1, 1], [0, 1]], {"quad": [[0, 1, 2, 3]]})
    fine = Mesh([[0.5, 0.25], [0.75, 0.5]], {"line": [[0, 1]]})
    found = embed(fine, cage)
    np.testing.assert_allclose(
        found(cage.positions + np.array([0, 0, 1])), [[0.5, 0.25, 1], [0.75, 0.5, 1]]
    )
    np.testing.assert_array_equal(embed(fine.points, cage).weights, found.weights)


def test_reject_mismatched_positions():
    cage = _grid(1)
    found = embed([[0.5, 0.5, 0.5]], cage)
    with pytest.raises(MeshError, match=r"must have shape \(8, 3\), got \(7, 3\)"):
        found(cage.points[:7])
    with pytest.raises(MeshError, match=r"shape \(8, 3\), got \(24,\)"):
        found(cage.points.ravel())
    with pytest.raises(MeshError, match=r"must be real numbers"):
        found(np.full((8, 3), "a"))
    with pytest.raises(MeshError, match="the cage must have cells"):
        embed([[0, 0, 0]], Mesh([[0, 0, 0]], {}))
    with pytest.raises(MeshError, match=r"point 0: position must be finite"):
        embed([[0, np.nan, 0]], cage)
    assert embed(np.empty((0, 3)), cage)(cage.points).shape == (0, 3)
    with pytest.raises(ValueError, match="read-only"):
        found.weights[0] = 0.0


def test_surface_is_embedded_in_its_bounding_block():
    spot = read(real("spot.obj"))
    low, extent = spot.points.min(axis=0), np.ptp(spot.points, axis=0)
    unit = _grid(4)
    cage = unit.with_(points=low + unit.points * extent)
    found = embed(spot, cage)
    assert found.weights.min() >= -1e-9
    np.testing.assert_allclose(found(cage.points), spot.points, atol=1e-12)
    bent = cage.points + 0.1 * np.sin(3 * cage.points[:, [1, 2, 0]])
    moved = np.linalg.norm(found(bent) - spot.points, axis=1)
    assert (
        moved.max() <= np.linalg.norm(bent - cage.points, axis=1).max() + 1e-12
    )  # a convex combination never moves farther than its terms


def test_points_outside_follow_the_best_shaped_tetrahedron():
    """A sliver and a well-shaped tetrahedron share a corner.

    A point outside near that corner follows the well-shaped one.
    """
    fair = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
    cage = Mesh(
        [*fair, [-1, 0, 0], [-1, 1, 0], [-0.5, 0.5, 1e-3]], {"tet": [[0, 1, 2, 3], [0, 4, 5, 6]]}
    )
    found = embed([[-0.2, -0.2, 0.2]], cage)
    assert set(found.indices[0]) == {0, 1, 2, 3}
    assert found.reach == pytest.approx(1.2)
    assert embed([[0.1, 0.1, 0.1]], cage).reach <= 1.0
    np.testing.assert_allclose(
        found(cage.points @ np.diag([2, 3, 4]) + 1), [[0.6, 0.4, 1.8]], rtol=1e-14
    )
