"""The tree of boxes against all pairs."""

import numba
import numpy as np
import pytest

from taut.collision.box_tree import BoxTree


def meet(first, second):
    """All pairs of boxes that have a point in common, sorted."""
    apart = (first[:, None, :3] > second[:, 3:]) | (second[:, :3] > first[:, None, 3:])
    return np.argwhere(~apart.any(axis=2))


def in_order(meetings):
    """The pairs of a tree, sorted."""
    pairs = meetings.join()
    return pairs[np.lexsort(pairs.T[::-1])]


def own_pairs(tree):
    """The pairs within a tree, the smaller index first, sorted."""
    pairs = np.sort(tree.find_pairs().join(), axis=1)
    return pairs[np.lexsort(pairs.T[::-1])]


def random_boxes(rng, m, size):
    low = rng.uniform(-1.0, 1.0, (m, 3))
    return np.hstack([low, low + rng.uniform(0.0, size, (m, 3))])


@pytest.mark.parametrize("m", [0, 1, 2, 3, 64, 65, 700])
def test_pairs_are_those_of_all_pairs(m):
    rng = np.random.default_rng(m)
    boxes, others = random_boxes(rng, m, 0.3), random_boxes(rng, 90, 0.3)
    tree = BoxTree(boxes)
    own = meet(boxes, boxes)
    np.testing.assert_array_equal(own_pairs(tree), own[own[:, 0] < own[:, 1]])
    found = BoxTree(others).find_meetings(tree)
    np.testing.assert_array_equal(in_order(found), meet(others, boxes))
    nobody = BoxTree(np.empty((0, 6)))
    assert tree.find_meetings(nobody).join().shape == (0, 2)
    assert nobody.find_meetings(tree).join().shape == (0, 2)


def test_degenerate_boxes():
    """Boxes without extent, all in one place, in one plane, touching, and very far away."""
    rng = np.random.default_rng(1)
    points = rng.integers(0, 3, (200, 3)).astype(float)  # many coincide
    points[:100, 1] = 0.0
    points[-3:] = [[1e90, 0, 0], [1e90, 0, 0], [-1e90, 1e-90, 0]]
    flat = np.hstack([points, points])
    own = meet(flat, flat)
    np.testing.assert_array_equal(own_pairs(BoxTree(flat)), own[own[:, 0] < own[:, 1]])
    unit = np.arange(5.0)[:, None] * np.ones(3)
    touching = np.hstack([unit, unit + 1.0])
    assert own_pairs(BoxTree(touching)).tolist() == [[0, 1], [1, 2], [2, 3], [3, 4]]


def test_more_pairs_than_there_is_room_for_at_first():
    same = BoxTree(np.zeros((300, 6)))
    for _ in range(2):  # the second time with the room of the first
        pairs = own_pairs(same)
        assert len(np.unique(pairs, axis=0)) == len(pairs) == 300 * 299 // 2


def test_refit_follows_boxes_that_moved():
    rng = np.random.default_rng(2)
    tree = BoxTree(random_boxes(rng, 300, 0.2))
    moved = random_boxes(rng, 300, 0.4)
    tree.refit(moved)
    own = meet(moved, moved)
    np.testing.assert_array_equal(own_pairs(tree), own[own[:, 0] < own[:, 1]])


def test_same_pairs_on_one_thread_and_two():
    boxes = random_boxes(np.random.default_rng(3), 2000, 0.2)
    before, found = numba.get_num_threads(), []
    try:
        for threads in (1, min(2, numba.config.NUMBA_NUM_THREADS)):
            numba.set_num_threads(threads)
            found.append(BoxTree(boxes).find_pairs().join().tobytes())
    finally:
        numba.set_num_threads(before)
    assert found[0] == found[1]
