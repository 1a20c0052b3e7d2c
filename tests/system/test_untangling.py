"""Starts that intersect are moved apart on request, or named."""

import numpy as np
import pytest

import taut
from taut import laws, obstacles
from taut.errors import ModelError

SHEET = taut.mesh.sheet(8, 8, size=(0.4, 0.4))
FLAT = np.array(SHEET.points)[:, [0, 2, 1]] - np.array([0.2, 0.0, 0.2])
N = SHEET.n
UPPER = {
    "waves": FLAT + np.array([0, 0.01, 0]) + 0.02 * np.column_stack(
        [0 * FLAT[:, 0], np.sin(20 * FLAT[:, 0]) * np.cos(15 * FLAT[:, 2]), 0 * FLAT[:, 0]]
    ),
    "tilted": FLAT + np.column_stack([0 * FLAT[:, 0], 0.1 * FLAT[:, 0] + 3e-3, 0 * FLAT[:, 0]]),
    "nearer than its thickness": FLAT + np.array([0, 1e-5, 0]),
}  # fmt: skip


def layers(upper, **options):
    system = taut.System(
        np.concatenate([FLAT, upper]),
        mass=1e-3,
        energies=[laws.spring(np.concatenate([SHEET.edges, SHEET.edges + N]), k=10.0)],
        **options,
    )
    contact = taut.contact(
        SHEET.triangles,
        SHEET.triangles + N,
        range=2e-3,
        thickness=1e-3,
        bodies={"lower": range(N), "upper": range(N, 2 * N)},
    )
    return system, contact


@pytest.mark.parametrize("name", UPPER)
def test_layers(name):
    system, contact = layers(UPPER[name])
    with pytest.raises(ModelError, match="must be apart"):
        system.with_(contact=contact)
    free = taut.untangle(system, contact)
    assert taut.find_intersections(free.system) == []
    start = np.array(system.pose)
    np.testing.assert_array_equal(free.system.pose - start, free.moves)
    # Not more than the overlap: its depth, the thickness, and the range.
    depth = max(0.0, float(-UPPER[name][:, 1].min()))
    assert np.abs(free.moves).max() < 1.5 * depth + 3e-3
    assert f"{len(free.moved)} particles were moved" in str(free)
    state, _ = taut.ImplicitEuler().step(free.system, free.system.initial_state(), 0.01)
    assert taut.find_intersections(free.system, state) == []


def test_held_particles_and_constrained_directions_stay():
    system, contact = layers(UPPER["tilted"], fixed=range(N))
    free = taut.untangle(system, contact)
    assert free.moved.min() >= N
    sideways = layers(
        UPPER["tilted"], constraints=[taut.constraints.on_line(np.arange(2 * N), [0, 1, 0])]
    )[0]
    assert not taut.untangle(sideways, contact).moves[:, [0, 2]].any()


def test_start_that_is_free_stays():
    system, contact = layers(FLAT + np.array([0, 0.1, 0]))
    free = taut.untangle(system, contact)
    assert not free.moves.any()
    assert str(free) == "the start is free; nothing was moved"


@pytest.mark.parametrize(
    "obstacle",
    [
        obstacles.sphere([0, 0, 0], 0.1),
        obstacles.capsule([[-0.5, 0, 0], [0.5, 0, 0]], 0.1),
        obstacles.box([0, 0, 0], [0.24, 0.2, 0.24]),
    ],
    ids=lambda obstacle: obstacle.name,
)
def test_cloth_that_starts_in_an_obstacle_is_moved_out(obstacle):
    cloth = taut.System(FLAT + np.array([0, 0.09, 0]), mass=1e-3)
    contact = taut.contact(SHEET, range=4e-3)
    free = taut.untangle(cloth, contact, obstacle)
    assert taut.find_intersections(free.system) == []
    assert not free.moves[N:].any()
    assert free.system.pose[:N, 1].min() > 0.08
    assert np.abs(free.moves).max() < 0.05  # the length of an edge


def test_particles_beyond_a_plane_come_back():
    ball = taut.System([[0, -0.1, 0], [1, 0.5, 0]], mass=1.0)
    contact = taut.contact([0, 1], range=1e-2, planes=[([0, 0, 0], [0, 1, 0])])
    free = taut.untangle(ball, contact)
    assert free.moved.tolist() == [0]
    assert 0.0 < free.system.pose[0, 1] < 0.05


def test_what_cannot_be_untangled_is_named():
    profile = [[0, 0], [2, 0], [2, 1], [1, 1], [1, -1]]  # the last side passes through the first
    points = [[x, y, z] for x, y in profile for z in (0.0, 1.0)]
    strip = [[2 * i + j for j in t] for i in range(4) for t in ((0, 1, 2), (1, 3, 2))]
    with pytest.raises(ModelError, match=r"could not free the start in 500 rounds: .* of 'strip'"):
        taut.untangle(
            taut.System(points, mass=1.0),
            taut.contact(strip, range=1e-3, bodies={"strip": range(10)}),
        )


def test_system_must_be_without_contact():
    system, contact = layers(FLAT + np.array([0, 0.1, 0]))
    with pytest.raises(ModelError, match="without contact"):
        taut.untangle(system.with_(contact=contact), contact)
