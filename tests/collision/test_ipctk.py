"""Candidates, distances and collision times against the IPC Toolkit."""

import numpy as np
import pytest

import taut
from taut.collision.proximity import Primitives, ProximityList, find_free_part
from taut.jit.compile import kernels

ipctk = pytest.importorskip("ipctk", reason="ipctk has no wheel for this platform")


@pytest.fixture(scope="module")
def crumpled():
    """A crumpled sheet without neighbours, its primitives, and a move."""
    rng = np.random.default_rng(1)
    mesh = taut.mesh.sheet(14, 14, size=(1.0, 1.0))
    x = np.array(mesh.points)
    u, v = x[:, 0].copy(), x[:, 1].copy()
    x = np.stack([0.3 * np.sin(9 * u), 0.3 * np.cos(7 * v + u), 0.2 * u - 0.1 * v], axis=1)
    x += 0.02 * rng.normal(size=x.shape)
    triangles = np.asarray(mesh.triangles)
    sides = triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2)
    edges = np.unique(np.sort(sides, axis=1), axis=0)
    none = np.empty(0, dtype=np.int64)
    return x, Primitives(np.arange(len(x)), edges, none, triangles), 0.01 * rng.normal(size=x.shape)


def build(crumpled, reach):
    """Their candidates, and our pairs that are nearer than a reach."""
    x, primitives, _ = crumpled
    mesh = ipctk.CollisionMesh(x, primitives.edges, primitives.triangles)
    theirs = ipctk.Candidates()
    theirs.build(mesh, x, 0.5 * reach)
    ours = ProximityList(primitives, np.ones(len(x), dtype=bool), reach, skin=0.0).find_near(x)
    return theirs, ours


def test_near_pairs_are_the_same(crumpled):
    """Ours are those of their candidates, found by boxes, that are near."""
    x, primitives, _ = crumpled
    reach = 0.04
    theirs, ours = build(crumpled, reach)
    points = set()
    for c in theirs.fv_candidates:
        quadruple = (c.vertex_id, *primitives.triangles[c.face_id].tolist())
        if ipctk.point_triangle_distance(*x[list(quadruple)]) < reach**2:
            points.add(quadruple)
    edges = set()
    for c in theirs.ee_candidates:
        sides = sorted(tuple(primitives.edges[e].tolist()) for e in (c.edge0_id, c.edge1_id))
        if ipctk.edge_edge_distance(*x[[*sides[0], *sides[1]]]) < reach**2:
            edges.add(tuple(sides))
    assert {tuple(q) for q in ours.point_triangle.tolist()} == points
    pairs = ours.edge_edge.tolist()
    assert {tuple(sorted((tuple(q[:2]), tuple(q[2:])))) for q in pairs} == edges
    assert len(points) > 200
    assert len(edges) > 500


def test_distances_are_the_same(crumpled):
    x, _, _ = crumpled
    _, ours = build(crumpled, 0.04)
    loops = kernels("taut.collision.distance_kernels")
    m = len(ours.point_triangle)
    distances, features = np.empty(m), np.empty(m, dtype=np.int8)
    loops.measure_points_and_triangles(x, ours.point_triangle, distances, features)
    theirs = [ipctk.point_triangle_distance(*x[q]) ** 0.5 for q in ours.point_triangle]
    np.testing.assert_allclose(distances, theirs, rtol=1e-10)
    m = len(ours.edge_edge)
    distances, features = np.empty(m), np.empty(m, dtype=np.int8)
    loops.measure_edges(x, ours.edge_edge, np.full(m, 1e-24), distances, features)
    theirs = [ipctk.edge_edge_distance(*x[q]) ** 0.5 for q in ours.edge_edge]
    np.testing.assert_allclose(distances, theirs, rtol=1e-8)


def test_collision_times_are_before_theirs(crumpled):
    """Theirs are those of the collision, to their tolerance; ours keep a tenth of each gap."""
    x, primitives, move = crumpled
    search = ProximityList(primitives, np.ones(len(x), dtype=bool), 2e-6)
    ours = search.find_between(x, x + move)
    loops = kernels("taut.collision.distance_kernels")
    parts = np.empty(len(ours.point_triangle))
    none = np.zeros(len(parts)), np.zeros(len(ours.edge_edge))
    loops.write_free_parts(x, move, ours.point_triangle, none[0], False, none[0], parts)
    ccd = ipctk.TightInclusionCCD(conservative_rescaling=1.0)
    end, hits = x + move, 0
    for q, part in zip(ours.point_triangle, parts, strict=True):
        hit, time = ccd.point_triangle_ccd(*x[q], *end[q])
        if hit:
            hits += 1
            assert part <= time + 1e-6
    assert hits > 10
    whole = find_free_part(x, move, ours, none, none[1])
    mesh = ipctk.CollisionMesh(x, primitives.edges, primitives.triangles)
    theirs = ipctk.compute_collision_free_stepsize(mesh, x, end, narrow_phase_ccd=ccd)
    assert 0.0 < whole <= theirs + 1e-6
