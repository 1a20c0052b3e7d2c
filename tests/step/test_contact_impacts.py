"""Hard impacts: long steps and fast, thin bodies; every step converges, and nothing passes."""

import numpy as np
import pytest

import taut
from benchmarks.contact_drops import drop
from taut import laws
from taut.collision.intersections import find_intersections

GROUND = [([0, 0, 0], [0, 1, 0])]


@pytest.mark.parametrize("seed", [0, 7])
def test_drops_that_used_to_jam(seed):
    """Without damping a pair with a tiny gap holds up all else: 1,500 iterations are not enough."""
    run = drop(seed)
    assert run.outcome == "free"
    assert max(run.iterations) < 500
    assert run.blocked > 0


def crossing_ropes(speed, **options):
    """Two ropes of five particles each, 0.1 mm thick; the upper one flies down across the other."""
    along = np.linspace(-0.1, 0.1, 5)
    zero = np.zeros(5)
    below = np.stack([along, zero, zero + 0.003], axis=1)
    above = np.stack([zero + 0.007, zero + 0.02, along], axis=1)
    links = np.stack([np.arange(4), np.arange(1, 5)], axis=1)
    links = np.concatenate([links, links + 5])
    velocity = np.zeros((10, 3))
    velocity[5:] = [0.1 * speed, -speed, 0.0]
    return taut.System(
        np.concatenate([below, above]),
        mass=2e-3,
        velocity=velocity,
        energies=[laws.spring(links, k=300.0)],
        contact=taut.contact(links, range=2e-4, thickness=1e-4, **options),
    )


@pytest.mark.parametrize(
    ("speed", "h", "friction"),
    [
        (100.0, 1 / 24, 0.0),
        (100.0, 1e-3, 0.0),
        (100.0, 1 / 24, 0.3),
        (100.0, 0.01, 0.3),
        (100.0, 1e-3, 0.3),
        (1.0, 1 / 24, 0.3),
    ],
)
def test_fast_ropes_keep_their_momentum(speed, h, friction):
    """No step takes thousands of iterations, as those did whose friction slid on closed gaps."""
    system, ledger = crossing_ropes(speed, friction=friction), taut.Ledger()
    momentum = system.mass @ system.initial_state().v
    has_touched = False
    for state, report in taut.simulate(
        system, taut.ImplicitEuler(), h=h, until=4.5 * h, ledger=ledger
    ):
        has_touched |= report.blocked_steps > 0
        assert report.iterations < 600
        assert report.residual <= report.limit
        drift = np.linalg.norm(system.mass @ state.v - momentum)
        assert drift < 1e-5 * np.linalg.norm(momentum)
    assert has_touched
    total = ledger.total()
    assert abs(total.gap) < 1e-10 * total.scale
    if friction:
        assert total.dissipated["friction"] >= 0.0


def test_friction_of_an_impact_is_at_most_mu_times_its_push():
    """A ball hits the ground at 50 m/s, askew: one step takes all of its vertical momentum."""
    mu, speed = 0.3, 50.0
    ball = taut.System(
        [[0, 0.01, 0]],
        mass=0.1,
        velocity=[[speed, -speed, 0]],
        contact=taut.contact([0], range=1e-4, k=1e3, friction=mu, planes=GROUND, slip_speed=1e-3),
    )
    state, report = taut.ImplicitEuler().step(ball, ball.initial_state(), 1 / 24)
    push = state.v[0, 1] + speed
    drag = speed - state.v[0, 0]
    assert report.outcome in ("converged", "rounding floor")
    assert state.q[0, 1] > 0.0
    assert push > 0.9 * speed
    assert drag == pytest.approx(mu * push, rel=1e-5)


def test_blocked_steps_are_counted():
    sheet = taut.mesh.sheet(3, 3, size=(0.1, 0.1))
    points = np.array(sheet.points)[:, [0, 2, 1]] + [0, 0.05, 0]
    velocity = np.tile([0.0, -20.0, 0.0], (len(points), 1))
    system = taut.System(
        points,
        mass=1e-3,
        velocity=velocity,
        energies=[laws.spring(sheet.edges, k=100.0)],
        contact=taut.contact(sheet.triangles, range=1e-3, planes=GROUND),
    )
    state, report = taut.ImplicitEuler().step(system, system.initial_state(), 0.01)
    assert report.blocked_steps > 0
    assert 0.0 < report.free_part < 1.0
    parts = system.contact.primitives
    assert not len(find_intersections(np.array(state.q), parts.edges, parts.triangles))
    free = system.with_(contact=None)
    _, report = taut.ImplicitEuler().step(free, free.initial_state(), 0.01)
    assert (report.blocked_steps, report.free_part) == (0, 1.0)


@pytest.mark.parametrize(("h", "growth"), [(0.01, 0.0), (1e-3, 0.0), (1e-3, 3.0)])
def test_obstacle_at_100_metres_per_second_carries_a_cloth(h, growth):
    """It goes 1 m in a step, 10 times its size, and may grow: what it meets goes with it."""
    sheet = taut.mesh.sheet(6, 6, size=0.3, plane="xz")
    ball = taut.mesh.sphere(2, radius=0.05)
    middle = sheet.points.mean(axis=0)

    def path(t):
        return (1.0 + growth * t) * ball.points + middle + [0.0, 100.0 * t - 0.06, 0.0]

    cloth = taut.System(
        sheet.points,
        mass=1e-3,
        energies=[laws.spring(sheet.edges, k=50.0), laws.gravity()],
        contact=taut.contact(sheet, range=4e-3, friction=0.3),
    )
    system = taut.join(cloth, taut.obstacles.surface(ball, path=path))
    start = system.initial_state()
    states = [s for s, _ in taut.simulate(system, taut.ImplicitEuler(), h=h, until=3.5 * h)]
    for state in states:
        assert not taut.find_intersections(system, state)
    touched = cloth.n // 2
    assert states[-1].q[: cloth.n, 1].max() - start.q[touched, 1] > 0.9 * 100.0 * 3 * h
