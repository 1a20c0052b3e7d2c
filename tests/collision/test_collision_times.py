"""How far pairs can move: against exact integer arithmetic, and against dense sampling."""

import itertools

import numba
import numpy as np
import pytest

from benchmarks.collision_times import compute_free_parts, make_pairs, measure, tally_pairs
from taut.collision.proximity import Primitives, ProximityList, find_free_part
from taut.errors import SingularState
from taut.jit.compile import kernels
from tests.collision.test_distances import measure_edges

kinds = pytest.mark.parametrize("is_edges", [False, True], ids=["point-triangle", "edges"])


@kinds
@pytest.mark.parametrize(("size", "pairs"), [(2, 600), (100, 2200), (100_000, 2200)])
def test_no_meeting_is_missed(is_edges, size, pairs):
    """Together 10 000 pairs; those of a small size are often parallel, flat or touching."""
    tally = tally_pairs(np.random.default_rng(size), pairs, size, is_edges)
    assert tally.missed == 0
    assert tally.meetings > 80
    assert tally.flat < 30
    assert tally.early < 0.02 * tally.pairs


@kinds
def test_pairs_with_a_thickness_keep_a_tenth_of_their_gap(is_edges):
    x, move = make_pairs(np.random.default_rng(4), 300, 50)
    thickness = 7.0
    parts = compute_free_parts(x, move, is_edges, thickness)
    stopped = 0
    for own, way, part in zip(x, move, parts, strict=True):
        gap = measure(own.astype(float), is_edges) - thickness
        if gap <= 0.0:
            assert part == 0.0
            continue
        assert part > 0.0
        on_the_way = [measure(own + t * way, is_edges) for t in np.linspace(0.0, part, 40)]
        assert min(on_the_way) - thickness >= 0.1 * gap - 1e-10
        stopped += part < 1.0
    assert stopped > 50


def test_smoothed_edges_keep_a_tenth_of_their_gap():
    """√F, of which the barrier of edges is a function, stays a tenth above its pole as well."""
    x, move = make_pairs(np.random.default_rng(11), 300, 50)
    smoothing = 25.0
    thickness = 2.0 + (smoothing / 2) ** 0.5
    parts = compute_free_parts(x, move, True, thickness, smoothing)
    gaps = measure_edges(x, smoothing)[0] - thickness
    assert (parts[gaps <= 0.0] == 0.0).all()
    for t in np.linspace(0.0, 1.0, 30):
        at = measure_edges(x + (t * parts)[:, None, None] * move, smoothing)[0] - thickness
        assert (at >= 0.1 * gaps - 1e-10)[gaps > 0.0].all()
    assert np.sum((parts > 0.0) & (parts < 1.0)) > 50


@kinds
def test_free_part_converges_to_the_meeting(is_edges):
    """Head on, a pair uses nine tenths of its gap, within a thousandth of the way that is left."""
    if is_edges:
        x = np.array([[-1, 0, 0], [1, 0, 0], [0, 1, -1], [0, 1, 1]])
    else:
        x = np.array([[0, 0, 0], [-2, 1, -2], [2, 1, -2], [0, 1, 2]])
    move = np.zeros((4, 3), dtype=int)
    first = 2 if is_edges else 1
    move[:first, 1] = 4
    part = compute_free_parts(x[None], move[None], is_edges)[0]
    assert 0.9 / 4 - 2e-3 < part <= 0.9 / 4


@pytest.mark.parametrize(("is_edges", "smoothing"), [(False, 0.0), (True, 0.0), (True, 1e-14)])
def test_sides_that_slide_along_each_other_are_free(is_edges, smoothing):
    """A way of a million gaps: bounded by its length alone, an advance is a millionth of it."""
    if is_edges:
        x = np.array([[-1.0, 0, 0], [1, 0, 0], [0, 1e-6, -2], [0, 1e-6, 2]])
        touch = (smoothing / 2) ** 0.5
        x[2:, 1] += touch
    else:
        x, touch = np.array([[0, 1e-6, 0], [-2, 0, -2], [3, 0, -2], [0, 0, 4]]), 0.0
    move = np.zeros((4, 3))
    move[: 2 if is_edges else 1] = [0.5, 0.0, 0.5]
    assert compute_free_parts(x[None], move[None], is_edges, touch, smoothing) == 1.0
    # And it stops where it comes nearer: 0.9e-6 of 2e-6 are free.
    move[: 2 if is_edges else 1, 1] = 2e-6 if is_edges else -2e-6
    part = compute_free_parts(x[None], move[None], is_edges, touch, smoothing)[0]
    assert 0.44 < part <= 0.45


def test_a_common_motion_is_free():
    """The motion of one side against the other counts, not that of both."""
    x, _ = make_pairs(np.random.default_rng(5), 50, 10)
    move = np.broadcast_to([10**6, -(10**6), 3], x.shape).copy()
    gaps = np.array([measure(own.astype(float), True) for own in x])
    parts = compute_free_parts(x, move, True)
    assert (parts[gaps > 1e-3] == 1.0).all()


def test_gaps_below_rounding_do_not_move():
    """Far from the origin the places on the way are not known well enough."""
    far = np.array([[0.0, 1e-10, 0], [-1, 0, -1], [1, 0, -1], [0, 0, 1]]) + 1e6
    far[0, 1] = np.nextafter(1e6, np.inf)  # the next number there is
    move = np.zeros((4, 3))
    move[0, 1] = -1.0
    parts = np.empty(1)
    loops = kernels("taut.collision.distance_kernels")
    loops.write_free_parts(far, move, np.arange(4)[None], np.zeros(1), False, np.zeros(1), parts)
    assert parts[0] == 0.0


def make_sheets(rng, n=5):
    """Two wavy sheets of triangles, one above the other, a thread and loose points."""
    u, v = (a.ravel() for a in np.meshgrid(np.linspace(0, 1, n), np.linspace(0, 1, n)))
    grid = np.arange(n * n).reshape(n, n)
    a, b, c, d = (
        grid[:-1, :-1].ravel(),
        grid[1:, :-1].ravel(),
        grid[:-1, 1:].ravel(),
        grid[1:, 1:].ravel(),
    )
    one = np.concatenate([np.stack([a, b, c], 1), np.stack([b, d, c], 1)])
    x = np.concatenate(
        [
            np.stack([u, 0.02 * rng.normal(size=n * n), v], axis=1),
            np.stack([u, 0.1 + 0.02 * rng.normal(size=n * n), v], axis=1),
            np.stack([np.linspace(0, 1, n), np.full(n, 0.2), np.linspace(0, 1, n)], axis=1),
            np.stack([rng.uniform(size=n), np.full(n, 0.05), rng.uniform(size=n)], axis=1),
        ]
    )
    triangles = np.concatenate([one, one + n * n])
    sides = triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2)
    thread = 2 * n * n + np.stack([np.arange(n - 1), np.arange(1, n)], axis=1)
    edges = np.unique(np.sort(np.concatenate([sides, thread]), axis=1), axis=0)
    loose = np.arange(2 * n * n + n, len(x))
    return x, Primitives(np.arange(len(x)), edges, loose, triangles)


def find_nearer(x, primitives, reach):
    """Pairs without a common particle that are nearer than a reach, by trying all of them."""
    found = set()
    for point in primitives.points:
        for triangle in primitives.triangles:
            quadruple = np.array([point, *triangle])
            if point not in triangle and measure(x[quadruple], False) < reach:
                found.add(tuple(quadruple.tolist()))
    edges = primitives.segments
    for i, j in itertools.combinations(range(len(edges)), 2):
        quadruple = np.array([*edges[i], *edges[j]])
        if not set(edges[i]) & set(edges[j]) and measure(x[quadruple], True) < reach:
            found.add(tuple(quadruple.tolist()))
    return found


def as_set(candidates):
    return {tuple(q) for q in (*candidates.point_triangle.tolist(), *candidates.edge_edge.tolist())}


def test_without_a_skin_the_list_has_the_near_pairs_and_no_others():
    x, primitives = make_sheets(np.random.default_rng(6))
    near = ProximityList(primitives, np.ones(len(x), dtype=bool), 0.06, skin=0.0)
    assert as_set(near.find_near(x)) == find_nearer(x, primitives, 0.06)


def test_lists_have_every_pair_that_comes_near(monkeypatch):
    """On a way on which all move far, near it, and where a few particles move far or all do."""
    rng = np.random.default_rng(6)
    x, primitives = make_sheets(rng, 4)
    reach, movable = 0.06, np.ones(len(x), dtype=bool)
    movable[:16] = False  # the lower sheet is held; it moves all the same
    near = ProximityList(primitives, movable, reach)
    searches = []
    for name in ("_search_all", "_search_strays"):
        search = getattr(ProximityList, name)

        def record(self, *given, name=name, search=search):
            searches.append(name)
            return search(self, *given)

        monkeypatch.setattr(ProximityList, name, record)
    common = np.broadcast_to([0.3, -0.2, 0.1], x.shape) + 0.02 * rng.normal(size=x.shape)
    few = np.zeros_like(x)
    few[[5, 20]] = [[0.0, 0.2, 0.0], [0.1, -0.3, 0.1]]
    tiny = 0.002 * rng.normal(size=x.shape)
    for move in (common, tiny, few, few[::-1], -few, tiny, 0.1 * rng.normal(size=x.shape), tiny):
        listed = as_set(near.find_between(x, x + move))
        for part in (0.0, 0.3, 0.7, 1.0):
            at = x + part * move
            needed = {q for q in find_nearer(at, primitives, reach) if movable[np.array(q)].any()}
            assert needed <= listed
            assert needed <= as_set(near.find_near(at))
        x = x + move
    assert {"_search_all", "_search_strays"} == set(searches)
    assert len(searches) < 16


def test_a_list_does_not_depend_on_what_came_before():
    rng = np.random.default_rng(12)
    x, primitives = make_sheets(rng, 6)
    used, fresh = (ProximityList(primitives, np.ones(len(x), dtype=bool), 0.06) for _ in range(2))
    for _ in range(3):
        used.find_between(x, x + 0.05 * rng.normal(size=x.shape))
    used.forget()
    assert used.find_near(x).keys.tobytes() == fresh.find_near(x).keys.tobytes()


def test_pairs_that_cannot_move_or_share_a_particle_are_left_out():
    x, primitives = make_sheets(np.random.default_rng(7))
    movable = np.zeros(len(x), dtype=bool)
    assert len(ProximityList(primitives, movable, 1.0).find_near(x).keys) == 0
    movable[:] = True
    found = ProximityList(primitives, movable, 1.0).find_near(x)
    assert len(np.unique(found.keys)) == len(found.keys)
    for quadruples, split in ((found.point_triangle, 1), (found.edge_edge, 2)):
        sides = quadruples[:, :split, None] == quadruples[:, None, split:]
        assert not sides.any()
    ends = found.edge_edge[found.loose == 2]
    assert (ends[:, 0] == ends[:, 1]).all()
    assert (ends[:, 2] == ends[:, 3]).all()


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e200])
def test_positions_that_are_no_numbers_are_no_absence_of_contact(bad):
    x, primitives = make_sheets(np.random.default_rng(8))
    near = ProximityList(primitives, np.ones(len(x), dtype=bool), 0.06)
    near.find_near(x)
    broken = x.copy()
    broken[3, 1] = bad
    with pytest.raises(SingularState, match="of particle 3"):
        near.find_near(broken)
    with pytest.raises(SingularState, match="of particle 3"):
        near.find_between(x, broken)


def test_same_bits_on_one_thread_and_two():
    rng = np.random.default_rng(9)
    x, primitives = make_sheets(rng, 14)
    move = 0.3 * rng.normal(size=x.shape)
    before, found = numba.get_num_threads(), []
    loops = kernels("taut.collision.distance_kernels")
    try:
        for threads in (1, min(2, numba.config.NUMBA_NUM_THREADS)):
            numba.set_num_threads(threads)
            search = ProximityList(primitives, np.ones(len(x), dtype=bool), 0.1)
            near = search.find_between(x, x + move)
            few = np.zeros_like(move)
            few[3] = 1.0
            stray = ProximityList(primitives, np.ones(len(x), dtype=bool), 0.1)
            stray.find_near(x)
            strays = stray.find_between(x, x + few).keys.tobytes()
            m = len(near.edge_edge)
            distances, features = np.empty(m), np.empty(m, dtype=np.int8)
            loops.measure_edges(x, near.edge_edge, np.full(m, 1e-6), distances, features)
            none = np.zeros(len(near.point_triangle)), np.zeros(m)
            part = find_free_part(x, move, near, none, none[1])
            found.append(
                (near.keys.tobytes(), strays, distances.tobytes(), features.tobytes(), part)
            )
    finally:
        numba.set_num_threads(before)
    assert found[0] == found[1]
    assert len(near.keys) > 10_000
