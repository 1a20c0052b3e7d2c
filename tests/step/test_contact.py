"""Steps with contact: same bits on one thread and two and after a resume; the books close."""

import numba
import numpy as np
import pytest

import taut
from taut import laws
from taut.collision.intersections import find_intersections

GROUND = [([0, 0, 0], [0, 1, 0])]


def falling_patch(friction=0.3, **options):
    """A patch of cloth that falls askew over a held triangle, and on the ground."""
    sheet = taut.mesh.sheet(4, 4, size=(0.3, 0.3))
    points = np.array(sheet.points)[:, [0, 2, 1]] + [0, 0.03, 0]
    points[:, 1] += 0.1 * points[:, 0]
    spike = np.array([[0.1, 0.001, 0.1], [0.2, 0.001, 0.15], [0.13, 0.025, 0.2]])
    n = len(points)
    energies = [
        laws.spring(sheet.edges, k=50.0),
        laws.spring(sheet.diagonals, k=10.0, name="shear"),
        laws.shell_bending(sheet.hinges, c=1e-4),
        laws.gravity(),
    ]
    contact = taut.contact(
        sheet.triangles,
        [[n, n + 1, n + 2]],
        range=3e-3,
        friction=friction,
        slip_speed=0.01,
        planes=GROUND,
    )
    return taut.System(
        np.concatenate([points, spike]),
        mass=1e-3,
        energies=energies,
        fixed=[n, n + 1, n + 2],
        contact=contact,
        **options,
    )


def run(system, steps, state=None, integrator=None):
    integrator = taut.ImplicitEuler() if integrator is None else integrator
    states = [system.initial_state() if state is None else state]
    for _ in range(steps):
        states.append(integrator.step(system, states[-1], 0.01)[0])
    return states


def test_same_bits_on_one_thread_and_two_and_after_a_resume():
    before = numba.get_num_threads()
    try:
        numba.set_num_threads(1)
        one = run(falling_patch(), 9)
        numba.set_num_threads(min(2, before))
        two = run(falling_patch(), 9)
    finally:
        numba.set_num_threads(before)
    resumed = run(falling_patch(), 3, state=one[6])
    for other in (two[-1], resumed[-1]):
        assert (one[-1].q == other.q).all()
        assert (one[-1].v == other.v).all()


@pytest.mark.parametrize(
    "integrator", [taut.ImplicitEuler(), taut.BDF2(), taut.TRBDF2()], ids=lambda i: type(i).__name__
)
def test_nothing_passes_and_the_books_close(integrator):
    system, ledger = falling_patch(), taut.Ledger()
    parts = system.contact.primitives
    for state, _ in taut.simulate(system, integrator, h=0.01, until=0.09, ledger=ledger):
        assert not len(find_intersections(np.array(state.q), parts.edges, parts.triangles))
        assert state.q[:, 1].min() > 0.0
    total = ledger.total()
    assert total.dissipated["friction"] > 0.0
    assert abs(total.gap) < 1e-12 * total.scale
    assert total.stored["contact"] > 0.0


def test_end_beyond_the_stage_is_tested():
    """The implicit midpoint rule ends beyond its stage: into the ground, if the step is long."""
    ball = taut.System(
        [[0, 0.006, 0]],
        mass=1.0,
        velocity=[[0, -1.0, 0]],
        contact=taut.contact([0], range=1e-3, k=1e6, planes=GROUND),
    )
    with pytest.raises(taut.NotConverged, match="a contact is in the way between the last stage"):
        taut.ImplicitMidpoint().step(ball, ball.initial_state(), 0.01)
    states = [s for s, _ in taut.simulate(ball, taut.Adaptive(taut.ImplicitMidpoint()), 0.01, 0.05)]
    assert min(s.q[0, 1] for s in states) > 0.0
    assert states[-1].v[0, 1] > 0.5  # it rebounds


def test_plate_that_moves_pushes_what_is_in_its_way():
    plate = np.array([[-0.01, -0.1, -0.1], [-0.01, 0.1, -0.1], [-0.01, 0.1, 0.1]])
    ball = [[0.0, 0.05, 0.0]]

    def path(t):
        return plate + np.array([0.5 * t, 0.0, 0.0])

    system = taut.System(
        [*plate, *ball],
        mass=0.01,
        constraints=[taut.constraints.scripted([0, 1, 2], path)],
        contact=taut.contact([[0, 1, 2]], [3], range=2e-3),
    )
    state = run(system, 8)[-1]
    gap = state.q[3, 0] - state.q[0, 0]
    assert gap > 0.0
    assert state.v[3, 0] >= 0.5 * (1 - 1e-6)
