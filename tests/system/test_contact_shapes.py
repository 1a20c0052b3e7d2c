"""Sharp and aligned shapes fall onto each other, after Erleben 2018: nothing ever intersects.

Spikes, wedges, cracks, holes, cliffs and internal edges, and shapes that meet vertex on vertex,
edge on edge and face on face: where normals are not unique, and rounding decides on closest
features.
"""

import numpy as np
import pytest
from scipy.spatial import ConvexHull

import taut
from taut import laws
from taut.collision.intersections import find_intersections

SQUARE = np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])


def hull(points):
    """Points and outer triangles of a convex body."""
    points = np.asarray(points, dtype=float)
    return points, ConvexHull(points, qhull_options="Qt").simplices.astype(np.int64)


def prism(corners, length):
    """A prism along z over corners (x, y)."""
    corners = np.asarray(corners, dtype=float)
    ends = [np.column_stack([corners, np.full(len(corners), z)]) for z in (-length, length)]
    return hull(np.concatenate(ends))


def box(size=1.0):
    return prism(size * SQUARE, size)


def spike():
    """A pyramid that points down, its apex at the origin."""
    base = np.column_stack([0.5 * SQUARE[:, 0], np.full(4, 2.0), 0.5 * SQUARE[:, 1]])
    return hull([[0.0, 0.0, 0.0], *base])


def wedge():
    """A prism whose edge points down, along z, at the origin."""
    return prism([[0.0, 0.0], [0.5, 2.0], [-0.5, 2.0]], 1.0)


def flip(body):
    points, triangles = body
    return points * [1.0, -1.0, 1.0], triangles


def turn(body):
    """By a right angle about the vertical."""
    points, triangles = body
    return points[:, [2, 1, 0]], triangles


def crack():
    """Two walls that lean apart from an edge, along z."""
    points = [[x, y, z] for z in (-1.5, 1.5) for x, y in ((-1.0, 1.0), (0.0, 0.0), (1.0, 1.0))]
    triangles = [[0, 1, 3], [1, 4, 3], [1, 2, 4], [2, 5, 4]]
    return np.array(points), np.array(triangles)


def hole():
    """An upside-down pyramid without a lid: four walls."""
    rim = np.column_stack([SQUARE[:, 0], np.full(4, 1.0), SQUARE[:, 1]])
    return np.array([[0.0, 0.0, 0.0], *rim]), np.array([[0, 1, 2], [0, 2, 3], [0, 3, 4], [0, 4, 1]])


def floor(n=6):
    """A flat sheet of 2n² triangles, whose inner edges must not catch anything."""
    mesh = taut.mesh.sheet(n, n, size=(6.0, 6.0))
    flat = np.array(mesh.points)[:, [0, 2, 1]] - [3.0, 0.0, 3.0]
    flat[:, 1] = 0.0
    return flat, np.array(mesh.triangles)


def shift(body, *by):
    return body[0] + np.array(by), body[1]


LIFT = 0.06
# what falls, what it falls on (held), and a velocity
DROPS = {
    "spike on spike: vertex on vertex": (shift(spike(), 0, LIFT, 0), flip(spike()), (0, -3, 0)),
    "spike on face": (shift(spike(), 0.01, 1 + LIFT, 0.02), box(), (0, -3, 0)),
    "spike on internal edge of a box": (shift(spike(), 0, 1 + LIFT, 0), box(), (0, -3, 0)),
    "spike on wedge: vertex on edge": (shift(spike(), 0, LIFT, 0), flip(wedge()), (0, -3, 0)),
    "wedge on parallel wedge: edge on edge": (
        shift(wedge(), 0, LIFT, 0),
        flip(wedge()),
        (0, -3, 0),
    ),
    "wedge on parallel wedge, shifted": (shift(wedge(), 0, LIFT, 0.7), flip(wedge()), (0, -3, 0)),
    "wedge on crossed wedge": (shift(turn(wedge()), 0, LIFT, 0), flip(wedge()), (0, -3, 0)),
    "wedge on face": (shift(wedge(), 0, 1 + LIFT, 0), box(), (0, -3, 0)),
    "face on equal face": (shift(box(), 0, 2 + LIFT, 0), box(), (0, -3, 0)),
    "face on smaller face": (shift(box(), 0, 1.5 + LIFT, 0), box(0.5), (0, -3, 0)),
    "cliff edge": (shift(box(0.5), 1.0, 1.5 + LIFT, 0), box(), (0, -3, 0)),
    "cliff edge, overhang": (shift(box(0.5), 0.8, 1.5 + LIFT, 0), box(), (0, -3, 0)),
    "spike in crack": (shift(spike(), 0, LIFT, 0), crack(), (0, -3, 0)),
    "spike in hole": (shift(spike(), 0, LIFT, 0), hole(), (0, -3, 0)),
    "wedge in crack": (shift(wedge(), 0, LIFT, 0), crack(), (0, -3, 0)),
    "wedge across crack": (shift(turn(wedge()), 0, 1 + LIFT, 0), crack(), (0, -3, 0)),
    "internal edges": (shift(box(0.5), -1, 0.5 + LIFT, 0), floor(), (8, -1, 1)),
    "sliding spike": (shift(spike(), -1, LIFT, 0), floor(), (8, -1, 0)),
    "sliding wedge": (shift(wedge(), -1, LIFT, 0), floor(), (8, -1, 0)),
}


def drop(body, obstacle, velocity, *, h=0.02, steps=12, friction=0.3):
    """Let a body of springs fall onto what is held; yields states that do not intersect."""
    (x, faces), (held, walls) = body, obstacle
    n = len(x)
    pairs = np.array([[i, j] for i in range(n) for j in range(i)])
    system = taut.System(
        np.concatenate([x, held]),
        mass=1.0 / n,
        energies=[laws.spring(pairs, k=2e4), laws.gravity()],
        fixed=np.arange(n, n + len(held)),
        velocity=np.concatenate([np.tile(velocity, (n, 1)), np.zeros_like(held)]).astype(float),
        contact=taut.contact(faces, walls + n, range=0.02, friction=friction),
    )
    touching = system.contact.primitives
    for state, _ in taut.simulate(system, taut.ImplicitEuler(), h, steps * h):
        found = find_intersections(np.array(state.q), touching.edges, touching.triangles)
        assert len(found) == 0, found
        yield state, n


@pytest.mark.parametrize("name", DROPS)
def test_nothing_intersects(name):
    body, obstacle, velocity = DROPS[name]
    lowest = body[0][:, 1].min()
    for state, n in drop(body, obstacle, velocity):
        fall = lowest + velocity[1] * state.t - 4.905 * state.t**2
        stopped = state.q[:n, 1].min() > fall + 0.05
    assert stopped, "the body must have touched something"


@pytest.mark.parametrize(
    "name",
    [
        "spike in hole",
        "wedge in crack",
        "cliff edge, overhang",
        "face on equal face",
        "internal edges",
    ],
)
def test_what_cannot_fall_over_comes_to_rest(name):
    """With friction of 0.6; a second and a half, by implicit Euler."""
    body, obstacle, velocity = DROPS[name]
    velocity = (0.0, velocity[1], 0.0)
    *_, (state, n) = drop(body, obstacle, velocity, h=0.05, steps=30, friction=0.6)
    assert np.linalg.norm(state.v[:n], axis=1).max() < 0.05  # of some 4 m/s at the impact
    assert state.q[:n, 1].min() > obstacle[0][:, 1].min()


def test_internal_edges_do_not_slow_what_slides():
    """Without friction the speed along a flat sheet of many triangles stays."""
    body, obstacle, velocity = DROPS["internal edges"]
    *_, (state, n) = drop(body, obstacle, velocity, friction=0.0)
    assert state.q[:n, 0].mean() > 0.5  # over several inner edges
    np.testing.assert_allclose(state.v[:n].mean(axis=0)[[0, 2]], [8.0, 1.0], rtol=2e-3)
