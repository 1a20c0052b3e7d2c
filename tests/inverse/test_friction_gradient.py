"""Gradients through contact with friction: a block that stops, two bodies, ropes, a turning sphere.

Friction has the normal forces of the step's own end. Differences of whole runs tell whether the
derivative knows of all that they depend on: nothing is held.
"""

import numpy as np
import pytest

import taut
from taut import laws
from taut.inverse.targets import change_system, list_targets, read_value
from tests.inverse.differences import Weigh, directional, run_loss, slope

TIGHT = taut.Tolerance(relative=1e-12)
GROUND = [((0, 0, 0), (0, 1, 0))]
WORST = 1e-8  # relative error; without what weights and normals change, it is 1e-3 and more


def block():
    """A block of springs on a slope, pushed downhill: it slides, slows down and sticks."""
    corners = np.array([[x, y, z] for x in (0, 0.1) for y in (0, 0.1) for z in (0, 0.1)])
    pairs = np.array([[i, j] for i in range(8) for j in range(i)])
    angle = 0.2
    return taut.System(
        corners + np.array([0, 1.1e-3, 0]),
        mass=0.05,
        energies=[
            laws.spring(pairs, k=3e3),
            laws.gravity(g=(9.81 * np.sin(angle), -9.81 * np.cos(angle), 0.0)),
        ],
        damping=[laws.spring_damping(pairs, c=5.0)],
        contact=taut.contact(
            np.arange(8), range=2e-3, k=1e3, friction=0.6, slip_speed=0.02, planes=GROUND
        ),
        velocity=np.tile([0.1, 0.0, 0.05], (8, 1)),
    )


def bodies():
    """A ball of springs that falls onto the ground, and a net that lies across it."""
    ball, net = taut.mesh.sphere(1), taut.mesh.net(2, 2, size=0.16)
    lying = np.array(net.points)[:, [0, 2, 1]] - [0.08, -0.206, 0.08]
    points = np.concatenate([0.1 * ball.points + [0.0, 0.103, 0.0], lying])
    edges = np.concatenate([ball.edges, net.edges + ball.n])
    own = np.arange(len(points))
    return taut.System(
        points,
        mass=0.01,
        energies=[laws.spring(edges, k=50.0), laws.gravity()],
        contact=taut.contact(
            *(ball.triangles, net.edges + ball.n),
            range=2e-3,
            k=50.0,
            friction=0.4,
            slip_speed=5e-3,
            planes=GROUND,
            bodies={"ball": own[: ball.n], "net": own[ball.n :]},
            friction_pairs=[("ball", "net", 0.25)],
        ),
        velocity=np.where(own[:, None] < ball.n, [0.2, -1.0, 0.1], [0, -3.0, 0]),
    )


def rope():
    """A rope that is dragged along the ground, one end first."""
    line = taut.mesh.rope(5, start=(0, 0.02, 0), end=(0.25, 0.003, 0.1))
    return taut.System(
        line.points,
        mass=0.01,
        energies=[laws.spring(line.edges, k=200.0), laws.gravity()],
        contact=taut.contact(line.edges, range=2e-3, friction=0.3, slip_speed=0.3, planes=GROUND),
        velocity=np.tile([0.3, -0.5, 0.6], (6, 1)),
    )


def differentiate(system, method, h, steps, loss, names, **options):
    return taut.gradient(taut.simulate(system, method, h, steps * h), loss, names, **options)


def compare(system, method, h, steps, groups, size):
    """Compare the gradient with differences along a random direction in each group of names."""
    loss, rng = Weigh(system.n), np.random.default_rng(0)
    found = differentiate(
        system, method, h, steps, loss, [n for group in groups for n in group], certify=False
    )
    for group in groups:
        along, directions = 0.0, {}
        for name in group:
            if name == "h":
                directions[name] = rng.normal(size=steps)
                along += h * float(np.sum(found[name] * directions[name]))
                continue
            value = read_value(system, name)
            scale = 0.01 if name in ("pose", "velocity", "points") else np.abs(value)
            directions[name] = rng.normal(size=value.shape) * scale
            along += float(np.sum(found[name] * directions[name]))
        expected = directional(system, method, h, steps, loss, directions, size)
        assert along == pytest.approx(expected, rel=WORST), group


def test_a_block_that_slides_to_a_stop():
    """By everything that there is, and by friction and slip speed alone."""
    system, method = block(), taut.ImplicitEuler(tolerance=TIGHT)
    states = [state for state, _ in taut.simulate(system, method, 5e-3, 10 * 5e-3)]
    across = [np.linalg.norm(s.v[:, [0, 2]].mean(axis=0)) for s in states]
    assert across[1] > 0.05
    assert across[-1] < system.contact.slip_speed  # what sticks creeps with less
    friction = ["contact.friction", "contact.slip_speed"]
    # "mass" has that of gravity in it, "points" that of the pose.
    without = ("paths", "gravity.mass", "points", *friction)
    rest = [name for name in list_targets(system) if name not in without]
    compare(system, method, 5e-3, 10, [friction], 1e-4)
    compare(system, method, 5e-3, 10, [rest], 1e-5)


def test_two_bodies():
    """Edges on edges and points on triangles, where normals and weights turn with the bodies."""
    pairs, friction = "contact.friction_pairs", "contact.friction"
    groups = [[pairs, friction, "contact.range", "pose", "spring.k"]]
    # Differences over 1e-4 are off by 4e-8: their higher derivatives are large here.
    compare(bodies(), taut.ImplicitEuler(tolerance=TIGHT), 2e-3, 9, groups, 1e-5)


@pytest.mark.parametrize("method", [taut.BDF2, taut.TRBDF2])
def test_a_rope_on_the_ground(method):
    """Methods whose friction acts as a rate; TR-BDF2 has it at the start of the step too."""
    names = ["contact.friction", "contact.slip_speed", "contact.k", "mass", "velocity", "h"]
    compare(rope(), method(tolerance=TIGHT), 4e-3, 10, [names], 1e-4)


def test_particles_that_slide_with_the_midpoint_rule():
    system = taut.System(
        [[0, 8e-4, 0], [1.1e-3, 9e-4, 2e-4], [0.1, 7e-4, 0.01]],
        mass=0.1,
        velocity=[[0.3, -0.02, 0.1], [-0.2, 0.0, 0.004], [0.001, -0.01, 0.0]],
        energies=[laws.spring([[0, 2], [1, 2]], k=20.0), laws.gravity()],
        contact=taut.contact([0, 1, 2], range=2e-3, friction=0.4, slip_speed=0.05, planes=GROUND),
    )
    names = ["contact.friction", "contact.slip_speed", "contact.k", "mass", "velocity", "h"]
    compare(system, taut.ImplicitMidpoint(tolerance=TIGHT), 2e-3, 5, [names], 1e-4)


def carried(a):
    """A net on a sphere that begins to turn, and carries it along."""
    net = taut.mesh.net(2, 2, size=0.08)
    lying = np.array(net.points)[:, [0, 2, 1]] + [-0.04, 0.1012, -0.04]
    cloth = taut.System(
        lying,
        mass=0.01,
        energies=[laws.spring(net.edges, k=50.0), laws.gravity()],
        contact=taut.contact(net.edges, range=3e-3, k=100.0, friction=0.5, slip_speed=0.02),
    )
    ball = taut.obstacles.sphere([0, 0, 0], 0.1, turn=lambda t: (0, 0, a * t**2), friction=0.4)
    return taut.join(cloth, ball)


def test_a_sphere_that_turns():
    """By its path: the weights of its frame follow the normals, and the frame itself."""
    method, h, steps, a = taut.ImplicitEuler(tolerance=TIGHT), 4e-3, 8, 400.0
    system, loss = carried(a), Weigh(carried(a).n)
    found = differentiate(system, method, h, steps, loss, ["paths", "contact.friction_pairs"])
    by, angles = found["paths"], a * found["paths"].times ** 2
    start = system.rest[by.particles]
    turned = -np.sin(angles)[:, None] * start[:, 0] - np.cos(angles)[:, None] * start[:, 1]
    lifted = np.cos(angles)[:, None] * start[:, 0] - np.sin(angles)[:, None] * start[:, 1]
    slopes = np.stack([turned, lifted, np.zeros_like(turned)], axis=2)
    along = float(np.sum(by.values * slopes * (by.times**2)[:, None, None]))
    expected = slope(lambda s: run_loss(carried(a + s), method, [h] * steps, loss), 1e-2)
    assert along == pytest.approx(expected, rel=WORST)
    frame = start[:, 1].argmax()
    assert np.abs(by.values[:, frame]).max() > 0.1 * np.abs(by.values).max()
    assert found["contact.friction_pairs"].shape == (1,)


@pytest.mark.parametrize("method", [taut.ImplicitEuler, taut.BDF2])
def test_sensitivities_equal_gradients(method):
    """The coupled matrix forward, and its transpose backward: to rounding."""
    system, method, loss = rope(), method(tolerance=TIGHT), Weigh(6)
    names = ["contact.friction", "contact.slip_speed", "contact.range", "spring.k", "h"]
    expected = differentiate(system, method, 4e-3, 8, loss, names, certify=False)
    found = taut.sensitivity(taut.simulate(system, method, 4e-3, 8 * 4e-3), names)
    for name in names:
        total = np.zeros_like(expected[name])
        for k, t in enumerate(found.t):
            _, by_q, by_v = loss(taut.State(t, found.q[k], found.v[k]))
            total = total + np.einsum("ni,ni...->...", by_q, found.dq[name][k])
            total = total + np.einsum("ni,ni...->...", by_v, found.dv[name][k])
        np.testing.assert_allclose(total, expected[name], rtol=1e-9)


def test_error_bound_holds_and_is_close():
    """Steps solved loosely, against steps solved to rounding."""
    system, loss, names = rope(), Weigh(6), ["contact.friction", "spring.k", "mass"]
    true = differentiate(system, taut.ImplicitEuler(tolerance=TIGHT), 4e-3, 10, loss, names)
    loose = taut.ImplicitEuler(tolerance=taut.Tolerance(relative=1e-6))
    found = differentiate(system, loose, 4e-3, 10, loss, names)
    for name in names:
        error = np.abs(found[name] - true[name]).max()
        assert error <= found.error[name].max() <= 10.0 * error, name


def test_friction_is_fitted():
    """From where the rope came to lie, without noise."""
    method = taut.ImplicitEuler(tolerance=taut.Tolerance(relative=1e-11))
    states = [state for state, _ in taut.simulate(rope(), method, 4e-3, 0.04)]
    seen, times = [s.q for s in states[5:]], [s.t for s in states[5:]]
    start = change_system(rope(), {"contact.friction": 0.2})
    found = taut.fit(taut.inverse.Motion(start, method, 4e-3, times, seen), ["contact.friction"])
    assert found.values[0] == pytest.approx(0.3, rel=1e-8)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("contact.friction", "the contact has no friction"),
        ("contact.friction_pairs", "the contact has no pairs with friction of their own"),
        ("contact.thickness", r"contact.k, contact.range, contact.friction"),
    ],
)
def test_what_a_contact_does_not_have_is_said(name, message):
    smooth = rope().with_(contact=taut.contact([0], range=2e-3, planes=GROUND))
    with pytest.raises(taut.TautError, match=message):
        differentiate(smooth, taut.ImplicitEuler(), 4e-3, 1, Weigh(6), [name])
