"""Ropes that pass through ropes between two states, which no test of one state can see."""

import numpy as np
import pytest

import taut
from taut.collision.crossings import find_crossings
from taut.errors import ModelError

PAIR = np.array([[0, 1, 2, 3]])


def crossed(height):
    return np.array([[-1.0, 0, 0], [1, 0, 0], [0, height, -1], [0, height, 1]])


@pytest.mark.parametrize("speed", [1e-6, 1.0, 1e6])
def test_edges_that_pass_are_found_at_any_speed(speed):
    before, after = crossed(0.3 * speed), crossed(-0.7 * speed)
    assert find_crossings(before, after, PAIR, 2).tolist() == [True]
    assert find_crossings(before, crossed(0.3 * speed * 1e-3), PAIR, 2).tolist() == [False]


def test_random_pairs_against_the_roots_of_the_cubic():
    """Coplanar at a time in [0, 1], with the crossing within both edges: by polynomial roots."""
    rng = np.random.default_rng(4)
    wrong = meets = 0
    for _ in range(300):
        x, end = rng.normal(size=(4, 3)), rng.normal(size=(4, 3))
        truth, margin = _crosses(x, end)
        if margin < 1e-3:
            continue  # near an end of an edge or of the time: rounding decides
        meets += truth
        wrong += find_crossings(x, end, PAIR, 2)[0] != truth
    assert meets > 20
    assert wrong == 0


def _crosses(x, end):
    """Whether edges meet, and how far from the limits of edges and time the nearest root is."""
    times = np.linspace(0.0, 1.0, 4)
    volumes = [np.linalg.det((x + t * (end - x))[1:] - (x + t * (end - x))[0]) for t in times]
    roots = np.roots(np.polyfit(times, volumes, 3))
    truth, margin = False, np.inf
    for t in roots[np.abs(roots.imag) < 1e-6].real:
        p = x + t * (end - x)
        e, f, r = p[1] - p[0], p[3] - p[2], p[2] - p[0]
        (s, u), *_ = np.linalg.lstsq(np.column_stack([e, -f]), r, rcond=None)
        limits = np.array([t, 1 - t, s, 1 - s, u, 1 - u])
        truth |= bool((limits > 0.0).all())
        margin = min(margin, float(np.abs(limits).min()))
    return truth, margin


def test_point_that_passes_a_triangle():
    x = np.array([[0.2, 0.2, 1.0], [0, 0, 0], [1, 0, 0], [0, 1, 0]])
    through, beside = x.copy(), x.copy()
    through[0], beside[0] = [0.2, 0.2, -1.0], [2.0, 2.0, -1.0]
    assert find_crossings(x, through, PAIR, 1).tolist() == [True]
    assert find_crossings(x, beside, PAIR, 1).tolist() == [False]


def test_ropes_of_a_step_never_pass_and_a_teleported_one_is_seen():
    rope = np.column_stack([np.linspace(-1, 1, 9), np.zeros(9), np.zeros(9)])
    links = np.array([[i, i + 1] for i in range(8)])
    points = np.concatenate([rope, rope[:, [2, 1, 0]] + [0.03, 0.05, 0.0]])
    system = taut.System(
        points,
        mass=1e-2,
        fixed=[0, 8],
        energies=[taut.laws.spring(np.concatenate([links, links + 9]), k=500.0)],
        velocity=np.repeat([[0.0, 0, 0], [0.0, -20.0, 0]], 9, axis=0),
        contact=taut.contact(
            links, links + 9, range=5e-3, thickness=0.02, bodies={"a": range(9), "b": range(9, 18)}
        ),
    )
    before = system.initial_state()
    for state, _ in taut.simulate(system, taut.ImplicitEuler(), h=0.01, until=0.05):
        assert taut.find_intersections(system, state, since=before) == []
        before = state
    q = np.array(system.pose)
    q[9:, 1] = -0.05
    passed = system.initial_state().with_(q=q)
    assert taut.find_intersections(system, passed) == []  # apart before and after
    found = taut.find_intersections(system, passed, since=system.initial_state())
    assert found  # one edge through another, or through two at their common end
    assert "of 'a' and edge" in found[0]


def test_system_without_contact_is_an_error():
    with pytest.raises(ModelError, match="must have contact"):
        taut.find_intersections(taut.System([[0, 0, 0]], mass=1.0))
