"""An overhand knot of a thick rope pulled tight with 10 N: every step converges, nothing touches.

Coarse ropes are the hard ones: in a tight knot their edges are nearly as long as the rope is thick.
"""

import numpy as np
import pytest

import taut
from taut import laws, scene

D, PULL = 0.018, 10.0  # diameter [m], and the pull at both ends [N]


def lay_knot(n):
    """Return n points along the knot of the built-in scene, equally far apart along it."""
    knot = np.asarray(scene.load("knot").build().system.pose)
    way = np.concatenate([[0.0], np.linalg.norm(np.diff(knot, axis=0), axis=1).cumsum()])
    places = np.linspace(0.0, way[-1], n)
    return np.column_stack([np.interp(places, way, column) for column in knot.T])


def pull_tight(n, friction, *, h=0.01, until=0.5):
    """Yield the system and its states, while the pull grows from zero."""
    points = lay_knot(n)
    links = np.column_stack([np.arange(n - 1), np.arange(1, n)])
    mesh = taut.mesh.Mesh(points, {"line": links})
    length = np.linalg.norm(np.diff(points, axis=0), axis=1).sum()
    knot = taut.System(
        points,
        mass=0.1 * length / n,
        energies=[
            laws.spring(links, k=5000.0 * 0.0245 * (n - 1) / length),
            laws.rod_bending(mesh.rod_hinges, EI=1e-4, theta0=0.0),
            laws.force([0], f=lambda t: np.array([-PULL * np.tanh(6.0 * t), 0.0, 0.0])),
            laws.force([n - 1], f=lambda t: np.array([PULL * np.tanh(6.0 * t), 0.0, 0.0])),
        ],
        damping=[laws.drag(alpha=8.0)],
        contact=taut.contact(links, range=0.005, thickness=D, friction=friction, slip_speed=0.01),
    )
    before = knot.initial_state()
    for state, _ in taut.simulate(knot, taut.ImplicitEuler(), h, until):
        # Also on the way: ropes that pass through each other leave no trace in one state.
        assert not taut.find_intersections(knot, state, since=before)
        before = state
        yield knot, state


@pytest.mark.parametrize(("n", "friction"), [(41, 0.1), (47, 0.1), (47, 0.0)])
def test_a_tight_knot_holds(n, friction):
    *_, (knot, last) = pull_tight(n, friction)
    q = np.asarray(last.q)
    in_knot = np.linalg.norm(np.diff(q, axis=0), axis=1).sum() - np.linalg.norm(q[-1] - q[0])
    # A tight open trefoil takes some ten diameters (Pierański, Przybył and Stasiak, "Tight open
    # knots", 2001); a rope that resists bending, with gaps of up to the range, takes more.
    assert 10 * D < in_knot < 14 * D
    pull = PULL * np.tanh(6.0 * last.t)
    assert knot.members(last).force[[0, -1]] == pytest.approx(pull, rel=1e-3)
