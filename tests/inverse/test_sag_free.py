"""Bodies that start where they were modelled."""

import numpy as np
import pytest

import taut
from taut import laws


def curtain(n=12, bending=True):
    """A folded curtain, held along its upper edge."""
    sheet = taut.mesh.sheet(n, n)
    points = np.array(sheet.points, dtype=float)
    along, down = points[:, 0], points[:, 1] if np.ptp(points[:, 1]) else points[:, 2]
    shape = np.stack([0.7 * along, down, 0.06 * np.sin(12 * along)], 1)
    energies = [laws.spring(sheet.edges, k=400.0), laws.gravity()]
    if bending:
        energies.append(laws.shell_bending(sheet.hinges, c=2e-3))
    return taut.System(
        shape,
        mass=0.3 / len(points),
        fixed=np.flatnonzero(down > down.max() - 1e-9),
        energies=energies,
        damping=[laws.rayleigh(alpha=0.5)],
    )


def move(system, seconds=1.0):
    """How far particles get from where they start [m]."""
    start = system.initial_state()
    run = taut.simulate(system, taut.ImplicitEuler(), 0.02, seconds)
    return max(float(np.abs(state.q - start.q).max()) for state, _ in run)


def test_a_folded_curtain_stays():
    system = curtain()
    found = taut.sag_free(system)
    assert found.balanced
    assert found.unbalanced.max() <= 1e-10 * found.weight
    assert found.stability.stable
    assert move(system) > 1e-3
    assert move(found.system) < 1e-6


def test_a_hammock_of_springs_alone_cannot_be_balanced():
    net = taut.mesh.net(6, 6)
    flat = np.array(net.points)[:, [0, 2, 1]]
    system = taut.System(
        flat,
        mass=0.01,
        fixed=net.corners(),
        energies=[laws.spring(net.edges, k=300.0), laws.gravity()],
    )
    found = taut.sag_free(system)
    assert not found.balanced
    assert "laws.shell_bending" in str(found)
    # In a plane springs carry nothing across it: all of the weight is left.
    free = system.n - 4
    assert found.unbalanced.sum() == pytest.approx(free * 0.01 * 9.81, rel=1e-6)


def test_friction_does_not_count():
    """It has no energy: the shape and its stability are those without."""
    rope = taut.mesh.rope(4, start=(0, 2e-3, 0), end=(0, -0.5, 0))

    def hanging(friction):
        return taut.System(
            rope.points,
            mass=0.1,
            fixed=[0],
            energies=[laws.spring(rope.edges, k=200.0), laws.gravity()],
            contact=taut.contact(
                rope.edges,
                range=2e-3,
                k=10.0,
                friction=friction,
                slip_speed=0.01 if friction else None,
                bodies={"end": [4]},
                planes={"floor": ((0, -0.501, 0), (0, 1, 0))},
                friction_pairs=[("end", "floor", 2.0 * friction)],
            ),
        )

    found, expected = taut.sag_free(hanging(0.5)), taut.sag_free(hanging(0.0))
    assert found.balanced
    assert found.stability.stable == expected.stability.stable is True
    np.testing.assert_array_equal(found.changes["spring.l0"], expected.changes["spring.l0"])
    assert found.system.contact.friction == 0.5


def test_rest_values_change_as_little_as_possible():
    """Two springs in parallel share the load by their stiffness."""
    system = taut.System(
        [[0, 0, 0], [0, -1, 0]],
        mass=1.0,
        fixed=[0],
        energies=[laws.spring([[0, 1], [0, 1]], k=[100.0, 300.0]), laws.gravity()],
    )
    changes = taut.sag_free(system).changes["spring.l0"]
    assert 100.0 * changes[0] + 300.0 * changes[1] == pytest.approx(-9.81, rel=1e-9)
    assert changes[1] == pytest.approx(3.0 * changes[0], rel=1e-6)


def test_a_system_without_rest_values_is_an_error():
    ball = taut.System([[0, 0, 0]], mass=1.0, energies=[laws.gravity()])
    with pytest.raises(taut.TautError, match="no law of the system has a rest length"):
        taut.sag_free(ball)


@pytest.mark.parametrize("below", [False, True])
def test_cables_are_tightened(below):
    """At their own length they carry nothing yet; one below the weight cannot help and goes slack.

    Two cables at tan α = 1/2 carry m·g/(2 sin α) each.
    """
    system = taut.System(
        [[0, 0, 0], [1, -0.5, 0], [2, 0, 0], [1, -1.5, 0]],
        mass=1.0,
        fixed=[0, 2, 3],
        energies=[laws.cable([[0, 1], [1, 2], [1, 3]][: 2 + below], k=1000.0), laws.gravity()],
    )
    found = taut.sag_free(system)
    assert found.balanced
    assert found.stability.stable
    carried = 9.81 / 2 * np.sqrt(5.0)
    assert found.changes["cable.l0"][:2] == pytest.approx(-carried / 1000.0, rel=1e-9)
    assert (found.changes["cable.l0"][2:] >= 0.0).all()


def test_a_shape_without_loads_is_balanced():
    """Forces that rounding of rest lengths causes are none."""
    ball = taut.mesh.sphere(1)
    lengths = np.linalg.norm(np.diff(ball.points[ball.edges], axis=1)[:, 0], axis=1)
    rounded = lengths * (1.0 + 2.0**-52)
    system = taut.System(
        ball.points, mass=1.0, energies=[laws.spring(ball.edges, k=1e3, l0=rounded)]
    )
    found = taut.sag_free(system)
    assert found.weight > 0.0
    assert found.balanced
    assert not found.changes["spring.l0"].any()
