"""Equilibria of bodies that touch: the ground carries the weight; sheets lie on obstacles."""

import numpy as np
import pytest
from scipy.optimize import brentq

import taut
from taut import laws, obstacles
from taut.collision.intersections import find_intersections
from taut.errors import ModelError

GROUND = [([0, 0, 0], [0, 1, 0])]


def patch(n, height, size=0.3):
    sheet = taut.mesh.sheet(n, n, size=(size, size))
    points = np.array(sheet.points)[:, [0, 2, 1]]
    points -= points.mean(axis=0)
    energies = [
        laws.spring(sheet.edges, k=50.0),
        laws.spring(sheet.diagonals, k=10.0, name="shear"),
        laws.shell_bending(sheet.hinges, c=1e-3),
        laws.gravity(),
    ]
    return sheet, points + np.array([0, height, 0]), energies


def test_ground_carries_the_weight_of_a_ball():
    d, m = 1e-2, 0.2
    ball = taut.System(
        [[0, 0.5 * d, 0]],
        mass=m,
        energies=[laws.gravity()],
        contact=taut.contact([0], range=d, planes=GROUND),
        constraints=[taut.constraints.on_line([0], [0, 1, 0])],
    )
    rest = taut.equilibrium(ball)
    gap, k = rest.state.q[0, 1], ball.contact.k
    push = k * (2 * (gap - d) * np.log(gap / d) + (gap - d) ** 2 / gap)
    assert push == pytest.approx(m * 9.81, rel=1e-7)
    assert rest.stability.stable
    assert taut.stability(ball, rest.state).stable


def test_patch_rests_on_the_ground_with_its_whole_weight():
    sheet, points, energies = patch(4, 2e-3)
    system = taut.System(
        points,
        mass=1e-3,
        energies=energies,
        contact=taut.contact(sheet, range=5e-3, planes=GROUND),
        fixed=[],
    )
    rest = taut.equilibrium(system)
    without = system.with_(contact=None)
    push = system.f(rest.state) - without.f(rest.state)
    assert push[:, 1].sum() == pytest.approx(system.mass.sum() * 9.81, rel=1e-7)
    assert rest.stability.negative == 0
    assert rest.energies["contact"] > 0.0


def test_sheet_drapes_over_a_sphere():
    sheet, points, energies = patch(6, 0.105)
    ball = taut.mesh.sphere(3, radius=0.1)
    n = len(points)
    middle = int(np.argmin(np.linalg.norm(points[:, [0, 2]], axis=1)))
    system = taut.System(
        np.concatenate([points, ball.points]),
        mass=1e-3,
        energies=energies,
        fixed=np.arange(n, n + ball.n),
        constraints=[taut.constraints.on_line([middle], [0, 1, 0])],
        contact=taut.contact(sheet.triangles, ball.triangles + n, range=5e-3),
    )
    rest = taut.equilibrium(system)
    parts, q = system.contact.primitives, np.array(rest.state.q)
    assert not len(find_intersections(q, parts.edges, parts.triangles))
    assert q[:n, 1].min() < 0.09  # its corners hang
    push = (system.f(rest.state) - system.with_(contact=None).f(rest.state))[:n]
    assert push[:, 1].sum() == pytest.approx(1e-3 * n * 9.81, rel=1e-6)


def test_friction_paths_and_buckling_are_refused():
    ball = taut.System(
        [[0, 1e-3, 0]],
        mass=1.0,
        energies=[laws.gravity()],
        contact=taut.contact([0], range=2e-3, planes=GROUND, friction=0.1),
    )
    with pytest.raises(ModelError, match="friction of contacts depends on the way"):
        taut.equilibrium(ball)
    smooth = ball.with_(contact=taut.contact([0], range=2e-3, planes=GROUND))
    for find in (taut.buckling, taut.path):
        with pytest.raises(ModelError, match="does not follow contacts"):
            find(smooth)


def test_net_is_stretched_over_a_sphere():
    net = taut.mesh.net(8, 8)
    start = np.array(net.points) - np.mean(net.points, axis=0)
    rim = np.flatnonzero(np.abs(start[:, :2]).max(axis=1) > 0.5 - 1e-9)
    start[:, 2] = 0.32
    start[rim, 2] = 0.0
    radius, sphere = 0.3, obstacles.sphere([0, 0, 0], 0.3)
    form = taut.form_finding(
        start,
        fixed=rim,
        edges=net.edges,
        density=1.0,
        contact=taut.contact(net.edges, range=0.01, k=100.0),
        obstacles=[sphere],
    )
    ends = form.points[net.edges]
    along = ends[:, 1] - ends[:, 0]
    nearest = np.clip(-np.einsum("ei,ei->e", ends[:, 0], along)
                      / np.einsum("ei,ei->e", along, along), 0, 1)  # fmt: skip
    distance = np.linalg.norm(ends[:, 0] + nearest[:, None] * along, axis=1)
    assert radius < distance.min() < radius + 0.01
    assert len(form.points) == net.n
    assert form.solver_error < 1e-6


def test_film_over_a_sphere_is_a_catenoid():
    """Its force on the ring is 2πsa, a the throat of the catenoid."""
    disc = taut.mesh.disc(20, radius=1.0)
    q = np.array(disc.points)
    along = np.linalg.norm(q[:, :2], axis=1)
    rim = np.flatnonzero(along > 1 - 1e-9)
    q[:, 2] = 0.03 + np.clip((1 - along) / 1.4, 0, 0.5)
    q[rim, 2] = 0.0
    radius, height, reach = 0.3, 0.1, 3e-3
    form = taut.form_finding(
        q,
        fixed=rim,
        triangles=disc.triangles,
        stress=1.0,
        contact=taut.contact(disc.triangles, range=reach, k=200.0),
        obstacles=[obstacles.sphere([0, 0, height], radius)],
        accuracy=1.0,
    )

    def miss_ring(angle, rho=radius + 0.8 * reach):
        """Height at which the catenoid tangent to the sphere at an angle from its top has r = 1."""
        a, r = rho * np.sin(angle) ** 2, rho * np.sin(angle)
        top = height + rho * np.cos(angle)
        return top - a * (np.arccosh(1 / a) - np.arccosh(r / a))

    angle = brentq(miss_ring, 0.3, 1.3)
    throat = (radius + 0.8 * reach) * np.sin(angle) ** 2
    assert -form.reactions[:, 2].sum() == pytest.approx(2 * np.pi * throat, rel=0.01)


def test_form_finding_refuses_friction_and_struts_with_contact():
    points, edges = [[0, 0, 0], [1, 0.5, 0], [2, 0, 0]], [[0, 1], [1, 2]]
    for density, friction, message in ((1.0, 0.3, "friction"), ([1.0, -0.5], 0.0, "struts")):
        with pytest.raises(ModelError, match=message):
            taut.form_finding(
                points,
                fixed=[0, 2],
                edges=edges,
                density=density,
                contact=taut.contact(edges, range=1e-2, friction=friction),
            )
