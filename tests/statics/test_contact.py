"""Equilibria of bodies that touch: the ground carries the weight; sheets lie on obstacles."""

import numpy as np
import pytest

import taut
from taut import laws
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
