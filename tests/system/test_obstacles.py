"""Exact spheres, capsules and boxes, and animated meshes: distances, forces, motion, friction."""

import numpy as np
import pytest
from scipy.optimize import nnls

import taut
from taut import laws, obstacles
from taut.errors import ModelError
from taut.run.metadata import fingerprint

G = 9.81
RANGE = 2e-3


def push(gap, k, d=RANGE):
    """Force of the barrier [N]."""
    return k * (2 * (gap - d) * np.log(gap / d) + (gap - d) ** 2 / gap)


def patch(n=6, size=0.3, height=0.0, k=200.0, **options):
    """A horizontal sheet of springs."""
    sheet = taut.mesh.sheet(n, n, size=(size, size))
    points = np.array(sheet.points)[:, [0, 2, 1]]
    points -= points.mean(axis=0) - [0.0, height, 0.0]
    options.setdefault("range", 4e-3)
    return taut.System(
        points,
        mass=1e-3,
        energies=[
            laws.spring(sheet.edges, k=k),
            laws.spring(sheet.diagonals, k=k / 4, name="shear"),
            laws.shell_bending(sheet.hinges, c=1e-3),
            laws.gravity(),
        ],
        contact=taut.contact(sheet, **options),
    )


def run(system, h, steps, **options):
    states = taut.simulate(system, taut.ImplicitEuler(), h=h, until=steps * h, **options)
    found = [state for state, _ in states]
    for state in found:
        assert taut.find_intersections(system, state) == []
    return found


def distance_of_hulls(a, b):
    """Distance of the convex hulls of points (k, 3) and (l, 3), by non-negative least squares."""
    big = 1e6  # weight of the equations that the parts of each hull add up to 1
    matrix = np.block(
        [
            [a.T, -b.T],
            [big * np.ones((1, len(a))), np.zeros((1, len(b)))],
            [np.zeros((1, len(a))), big * np.ones((1, len(b)))],
        ]
    )
    parts, _ = nnls(matrix, np.array([0.0, 0.0, 0.0, big, big]))
    return np.linalg.norm(parts[: len(a)] @ a - parts[len(a) :] @ b)


def axis_of(obstacle):
    """Points whose convex hull the shape is, within its radius."""
    kinds = {"sphere": 1, "capsule": 2, "box": 8}
    return obstacle.points[: kinds[obstacle.name]]


SHAPES = {
    "sphere": lambda: obstacles.sphere([0.1, 0.0, 0.05], 0.02),
    "capsule": lambda: obstacles.capsule([[-0.1, 0.0, 0.0], [0.1, 0.05, 0.02]], 0.02),
    "box": lambda: obstacles.box([0, 0, 0], [0.2, 0.05, 0.1], rotation=(0.2, 0.3, 0.1)),
    "rounded box": lambda: obstacles.box([0, 0, 0], [0.2, 0.05, 0.1], rounding=0.01),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("corners", [1, 2, 3])
def test_energy_begins_at_the_exact_distance_of_points_edges_and_triangles(shape, corners):
    obstacle, rng = SHAPES[shape](), np.random.default_rng(corners)
    surface = [np.arange(1), np.array([[0, 1]]), np.array([[0, 1, 2]])][corners - 1]
    for _ in range(12):
        x = rng.normal(size=(corners, 3)) * 0.3
        x = x + 0.4 * np.array([0.0, 1.0, 0.3])
        gap = distance_of_hulls(x, axis_of(obstacle)) - obstacle.radius
        if not gap > 5e-3:
            continue
        towards = gap - 1.5e-3  # within the range of 2 mm; smoothed edges begin a little earlier
        for part, touches in ((towards, True), (gap - 3e-3, False)):
            moved = _approach(x, axis_of(obstacle), part)
            body = taut.System(moved, mass=1.0, contact=taut.contact(surface, range=RANGE, k=1.0))
            energy = taut.join(body, obstacle).V(taut.join(body, obstacle).initial_state())
            assert (energy > 0.0) == touches


def _approach(x, axis, way):
    """Move points straight towards an axis until their distance has fallen by a way."""
    start = distance_of_hulls(x, axis)
    aim = axis.mean(axis=0) - x.mean(axis=0)
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        shrunk = distance_of_hulls(x + middle * aim, axis)
        low, high = (middle, high) if start - shrunk < way else (low, middle)
    return x + low * aim


def test_triangle_cannot_straddle_a_small_sphere():
    triangle = [[-1, 0.2, -1], [1, 0.2, -1], [0, 0.2, 1.5]]
    body = taut.System(
        triangle,
        mass=0.1,
        energies=[laws.gravity(), laws.spring([[0, 1], [1, 2], [2, 0]], k=1e3)],
        contact=taut.contact([[0, 1, 2]], range=0.01),
    )
    system = taut.join(body, obstacles.sphere([0, 0, -0.1], 0.05))
    for state in run(system, 0.02, 20):
        heights = state.q[:3, 1]
        above = heights @ np.linalg.solve(np.column_stack([body.pose[:, [0, 2]], np.ones(3)]).T,
                                          [0.0, -0.1, 1.0])  # fmt: skip
        assert above > 0.05


def test_ball_on_top_of_a_sphere_is_balanced():
    ball = taut.System(
        [[0.3, 1.3 + 1e-3, 0.2]],
        mass=0.1,
        energies=[laws.gravity()],
        contact=taut.contact([0], range=RANGE, k=500.0, thickness=0.1),
        constraints=[taut.constraints.on_line([0], [0, 1, 0])],
    )
    system = taut.join(ball, obstacles.sphere([0.3, 0.25, 0.2], 1.0))
    rest = taut.equilibrium(system)
    gap = rest.state.q[0, 1] - 0.25 - 1.0 - 0.05
    assert push(gap, 500.0) == pytest.approx(0.1 * G, rel=1e-6)
    forces = system.f(rest.state)
    np.testing.assert_allclose(forces[0], 0.0, atol=1e-6)  # also sideways
    np.testing.assert_allclose(forces[1], [0.0, -0.1 * G, 0.0], atol=1e-6)  # the sphere carries it


def test_block_in_a_box_of_boxes_rests_on_its_floor():
    mesh = taut.mesh.block(1, 1, 1, size=0.1, cells="tet")
    n = mesh.n
    x = np.asarray(mesh.points) - np.mean(mesh.points, axis=0) + [0, 0.051, 0]
    pairs = [[i, j] for i in range(n) for j in range(i)]
    block = taut.System(
        x,
        mass=0.02,
        energies=[laws.spring(pairs, k=1e4), laws.gravity()],
        contact=taut.contact(mesh, range=RANGE),
    )
    wall, far = 0.01, 0.05 + 5e-4 + 0.005  # a little more room than the block needs
    sides = [
        obstacles.box([s * far, 0.1, 0], [wall, 0.3, 0.2], name=f"side {s}") for s in (-1, 1)
    ] + [obstacles.box([0, 0.1, s * far], [0.2, 0.3, wall], name=f"end {s}") for s in (-1, 1)]
    floor = obstacles.box([0, -0.01, 0], [0.2, 0.02, 0.2], name="floor")
    system = taut.join(block, floor, *sides)
    rest = taut.equilibrium(system, run(system, 0.01, 10)[-1])
    forces = system.f(rest.state)[n:].reshape(5, 8, 3).sum(axis=1)  # on each of the five boxes
    assert forces[:, 1].sum() == pytest.approx(-0.02 * n * G, rel=1e-6)
    assert forces[0, 1] < -0.9 * 0.02 * n * G  # most of it on the floor
    assert forces[1, 0] < 0.0 < forces[2, 0]  # the block is wider than the room less the range
    np.testing.assert_allclose(forces.sum(axis=0)[[0, 2]], 0.0, atol=1e-6)


def test_cloth_hangs_over_the_edge_of_a_box():
    box = obstacles.box([0.3, -0.05, 0], [0.6, 0.1, 0.6])
    system = taut.join(patch(height=0.004, friction=0.4), box)
    n = 49
    for state in run(system, 0.01, 30):
        inside = (np.abs(state.q[:n] - [0.3, -0.05, 0]) < [0.3, 0.05, 0.3]).all(axis=1)
        assert not inside.any()
    assert state.q[:n, 1].min() < -0.05
    assert state.q[:n, 1].max() > 0.0  # and not all of it


@pytest.mark.parametrize(("speed", "h"), [(5.0, 0.01), (100.0, 1e-3)])
def test_fast_capsule_pushes_a_sheet(speed, h):
    capsule = obstacles.capsule(
        [[-0.3, -0.03, 0.02], [0.3, -0.03, 0.02]], 0.02, move=lambda t: (0, speed * t, 0)
    )
    sheet = patch()
    states = run(taut.join(sheet, capsule), h, 3)
    n, middle = sheet.n, np.abs(sheet.pose[:, 2] - 0.02) < 0.025
    for state in states:
        assert (state.q[:n][middle, 1] > state.q[n, 1]).all()
    assert states[-1].q[n, 1] - (-0.03) == pytest.approx(3 * h * speed)


def test_turning_box_strikes_a_ball():
    door = obstacles.box(
        [0.5, 0, 0], [1.0, 0.3, 0.02], turn=lambda t: (0, 4 * t, 0), about=(0, 0, 0)
    )
    ball = taut.System(
        [[0.8, 0, -0.05]], mass=0.1, contact=taut.contact([0], range=5e-3, thickness=0.02)
    )
    system = taut.join(ball, door)
    states = run(system, 0.01, 6)
    # The door turns towards -z; the ball is on that side of it, and goes on at least as fast.
    assert states[-1].v[0, 2] < -0.8 * 4 * 0.9
    for state in states:
        normal = np.array([np.sin(4 * state.t), 0.0, np.cos(4 * state.t)])
        assert normal @ state.q[0] < -0.02


@pytest.mark.parametrize("quarters", [1, 2])
def test_turning_capsule_pulls_a_rope(quarters):
    """Capstan: T₂/T₁ = e^{μφ}; the cylinder slides under a rope that is held at both ends."""
    mu, radius, edges, reach = 0.3, 0.1, 12 * quarters, 1e-4
    angle = quarters * np.pi / 2
    turns = np.linspace(np.pi / 2 + angle / 2, np.pi / 2 - angle / 2, edges + 1)
    outwards = np.column_stack([np.cos(turns), np.sin(turns), 0 * turns])
    along = np.column_stack([np.sin(turns), -np.cos(turns), 0 * turns])
    rope = (radius / np.cos(angle / edges / 2) + reach / 2) * outwards
    tail = 0.02
    rope = np.concatenate([[rope[0] - tail * along[0]], rope, [rope[-1] + tail * along[-1]]])
    links = np.array([[i, i + 1] for i in range(len(rope) - 1)])
    rest = np.linalg.norm(np.diff(rope, axis=0), axis=1)
    k = 1e5
    body = taut.System(
        rope,
        mass=1e-6,
        energies=[laws.spring(links, k=k), laws.force([0], f=-along[0])],
        fixed=[len(rope) - 1],
        contact=taut.contact(links, range=reach, k=50.0, friction=mu, slip_speed=1e-3),
    )
    roller = obstacles.capsule(
        [[0, 0, -1], [0, 0, 1]], radius, turn=lambda t: (0, 0, 0.2 * t / radius)
    )  # its surface goes towards the first end, against the rope's pull there
    system = taut.join(body, roller)
    state = run(system, 0.01, 8)[-1]
    n = len(rope)
    tensions = k * (np.linalg.norm(np.diff(state.q[:n], axis=0), axis=1) - rest)
    assert tensions[-1] / tensions[0] == pytest.approx(np.exp(mu * angle), rel=0.02)


def test_book_closes_with_an_obstacle_that_turns_and_rubs():
    ledger = taut.Ledger()
    system = taut.join(
        patch(n=2, size=0.05, height=0.103, friction=0.3, slip_speed=1e-3),
        obstacles.sphere([0, 0, 0], 0.1, turn=lambda t: (0, 0, t)),
    )
    run(system, 0.005, 15, ledger=ledger)
    total = ledger.total()
    assert total.dissipated["friction"] > 0.0
    assert total.scripted > 0.0
    assert abs(total.gap) < 1e-12 * total.scale


def test_friction_of_each_obstacle_is_its_own():
    """Two blocks on two slopes of 0.4 rad: μ = 0.6 holds, μ = 0.2 slides as Coulomb says."""
    slope, mass, h, steps = 0.4, 0.1, 0.01, 20
    down = -np.array([np.cos(slope), np.sin(slope), 0.0])
    up = np.array([-np.sin(slope), np.cos(slope), 0.0])
    square = np.array([[0.0, 0.0], [0.1, 0.0], [0.1, 0.1], [0.0, 0.1]])
    lift = 8.14e-4 * up  # where the default stiffness carries the weight, roughly
    links = np.array([[0, 1], [1, 2], [2, 3], [3, 0], [0, 2], [1, 3]])
    start = [square[:, :1] * down + square[:, 1:] * [0, 0, 1] + z * np.array([0, 0, 1]) + lift
             for z in (-0.3, 0.2)]  # fmt: skip
    blocks = taut.System(
        np.concatenate(start),
        mass=mass,
        energies=[laws.spring(np.concatenate([links, links + 4]), k=1e4), laws.gravity()],
        contact=taut.contact(np.arange(8), range=1e-3, slip_speed=1e-4),
    )
    ramps = [
        obstacles.box(-0.5 * up + [0, 0, z], [6, 1, 0.3], rotation=(0, 0, slope), friction=mu,
                      name=name)
        for z, mu, name in ((-0.25, 0.6, "rough"), (0.25, 0.2, "smooth"))
    ]  # fmt: skip
    system = taut.join(blocks, *ramps)
    state = run(system, h, steps)[-1]
    ways = [((state.q[i : i + 4] - blocks.pose[i : i + 4]).mean(axis=0)) @ down for i in (0, 4)]
    growth = G * (np.sin(slope) - 0.2 * np.cos(slope))
    assert ways[1] == pytest.approx(growth * h**2 * steps * (steps + 1) / 2, rel=0.01)
    assert 0.0 < ways[0] < 1e-4 * steps * h


def test_animated_mesh_pushes():
    """A flat sheet that bulges into a dome lifts a ball."""
    flat = taut.mesh.sheet(4, 4, size=(0.4, 0.4))
    start = np.array(flat.points)[:, [0, 2, 1]]
    start -= start.mean(axis=0)
    mesh = taut.mesh.Mesh(start, dict(flat.cells))
    dome = start.copy()
    dome[:, 1] += 0.1 * np.cos(np.pi * start[:, 0] / 0.4) * np.cos(np.pi * start[:, 2] / 0.4)
    animated = obstacles.surface(mesh, path=([0.0, 0.02, 0.1], np.stack([start, start, dome])))
    ball = taut.System(
        [[0.01, 0.004, 0.0]],
        mass=0.01,
        energies=[laws.gravity()],
        contact=taut.contact([0], range=5e-3, thickness=2e-3),
    )
    states = run(taut.join(ball, animated), 0.01, 10)
    assert states[-1].q[0, 1] > 0.09
    np.testing.assert_allclose(states[-1].q[1:], dome, atol=1e-12)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: obstacles.sphere([0, 0, 0], -1.0), "radius of 'sphere' must be positive, got -1"),
        (lambda: obstacles.sphere([0, np.nan, 0], 1.0), "three finite numbers"),
        (lambda: obstacles.sphere([0, 0, 0], 1.0, friction=-1), "friction of 'sphere'"),
        (lambda: obstacles.capsule([[0, 0, 0], [0, 0, 0]], 1.0), "two different points"),
        (lambda: obstacles.box([0, 0, 0], [1, 0, 1]), "one or three positive numbers"),
        (lambda: obstacles.box([0, 0, 0], 1.0, rounding=-1), "rounding of 'box'"),
        (
            lambda: obstacles.surface(taut.mesh.sheet(1, 1), path=lambda t: 0, move=lambda t: 0),
            "either a path, or move and turn",
        ),
        (lambda: taut.join(taut.System([[0, 0, 0]], mass=1.0), SHAPES["box"]()), "with contact"),
        (lambda: taut.join(SHAPES["box"]()), "at least one system"),
        (lambda: taut.join(patch(), SHAPES["box"](), SHAPES["box"]()), "'box' twice"),
    ],
)
def test_wrong_arguments(make, message):
    with pytest.raises(ModelError, match=message):
        make()


@pytest.mark.parametrize("shape", SHAPES)
def test_start_inside_is_an_error_that_names_the_obstacle(shape):
    obstacle = SHAPES[shape]()
    inside = axis_of(obstacle).mean(axis=0)
    ball = taut.System([inside], mass=1.0, contact=taut.contact([0], range=1e-3))
    with pytest.raises(ModelError, match=f"of '{obstacle.name}'"):
        taut.join(ball, obstacle)


def test_path_with_a_nan_is_an_error_before_the_first_step():
    frames = np.zeros((2, 9, 3))
    frames[0] = taut.mesh.sheet(2, 2).points
    frames[1] = np.nan
    with pytest.raises(ModelError, match="finite"):
        obstacles.surface(taut.mesh.sheet(2, 2), path=([0.0, 1.0], frames))


def test_fingerprint_depends_on_frames_and_friction_of_obstacles():
    ball = taut.System([[0, 2, 0]], mass=1.0, contact=taut.contact([0], range=1e-3))
    prints = [
        fingerprint(taut.join(ball, obstacles.sphere([0, 0, 0], 1.0, friction=mu)), 0.0, 1.0)
        for mu in (0.1, 0.2)
    ]
    assert [part for part in prints[0] if prints[0][part] != prints[1][part]] == ["contact"]
