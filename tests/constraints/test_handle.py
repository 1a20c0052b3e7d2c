"""Rigid handles: particles moved as one body."""

import numpy as np
import pytest
from scipy.spatial.distance import pdist
from scipy.spatial.transform import Rotation

import taut
from taut import laws
from taut.constraints import handle, scripted

SHAPE = np.array([[0.0, 0, 0], [1.0, 0, 0], [0.3, 0.8, 0], [0.2, 0.1, 0.7], [2.0, 1.0, -0.5]])


def system(*constraints, points=SHAPE, **more):
    return taut.System(points, mass=1.0, constraints=constraints, **more)


def helix(t):
    """Displacement and rotation vector of a motion along and about a fixed axis."""
    return np.array([0.4 * np.sin(t), 0.1 * t, -t * t]), np.array([0.3, -0.5, 0.8]) * 1.7 * t


def test_positions_follow_the_rigid_motion():
    """Against scipy's rotations, about the centroid and about a point, and with the same rotation
    as a matrix."""
    for about in (None, (0.3, -2.0, 1.0)):
        c = SHAPE[:4].mean(axis=0) if about is None else np.array(about)
        turns = {
            "vector": lambda t: helix(t)[1],
            "matrix": lambda t: Rotation.from_rotvec(helix(t)[1]).as_matrix(),
        }
        for turn in turns.values():
            held = system(
                handle([3, 1, 0, 2], move=lambda t: helix(t)[0], turn=turn, about=about)
            )._projector
            for t in (0.0, 1e-9, 0.7, 50.0):
                u, w = helix(t)
                expected = c + u + Rotation.from_rotvec(w).apply(SHAPE[:4] - c)
                np.testing.assert_allclose(
                    held.anchors(t)[:4], expected, rtol=0, atol=4e-15 * (1 + np.abs(u).max())
                )
                assert (held.anchors(t)[4] == SHAPE[4]).all()


@pytest.mark.parametrize(
    "integrator", [taut.ImplicitEuler(), taut.TRBDF2(), taut.RK4()], ids=lambda i: type(i).__name__
)
def test_distances_are_constant_through_a_run(integrator):
    """To rounding of the coordinates, for any motion of the other particles."""
    moving = system(
        handle([0, 1, 2, 3], move=lambda t: helix(t)[0], turn=lambda t: helix(t)[1]),
        energies=[laws.spring([[1, 4], [2, 4]], k=30.0), laws.gravity()],
    )
    for state, _ in taut.simulate(moving, integrator, 0.05, 1.0):
        np.testing.assert_allclose(
            pdist(state.q[:4]), pdist(SHAPE[:4]), rtol=0, atol=8 * np.spacing(np.abs(state.q).max())
        )
        assert np.abs(state.q[4] - SHAPE[4]).max() > 1e-4


def test_velocities_match_the_motion():
    """v_i = u̇ + ω × (x_i - c - u), ω along the fixed axis, at the start and after a step.

    TR-BDF2 takes the slope of a quartic through five points of the step: the error is (h/4)⁴ of the
    fifth derivative, here 1e-9.
    """
    h, c = 0.01, SHAPE[:4].mean(axis=0)
    moving = system(handle([0, 1, 2, 3], move=lambda t: helix(t)[0], turn=lambda t: helix(t)[1]))
    start = moving.initial_state()
    later, _ = taut.TRBDF2().step(moving, start, h)
    omega = helix(1.0)[1]
    for state in (start, later):
        rate = np.array([0.4 * np.cos(state.t), 0.1, -2 * state.t])
        expected = rate + np.cross(omega, state.q[:4] - c - helix(state.t)[0])
        np.testing.assert_allclose(state.v[:4], expected, rtol=0, atol=1e-9)


def test_work_of_a_turning_handle():
    """A crank, particle 1 on a circle of radius 1 about particle 0, pulls a spring whose other end
    is held: W = ∫F·dx.

    The reference integrates over the crank angle. The motion begins and ends at rest, so inertia
    does no work.
    """
    points = np.array([[0.0, 0, 0], [1.0, 0, 0], [3.0, 0.0, 0]])

    def angle(t):
        return 0.6 * (1 - np.cos(np.pi * t))

    crank = system(
        handle([0, 1], turn=lambda t: (0, 0, angle(t)), about=(0, 0, 0)),
        points=points,
        fixed=[2],
        energies=[laws.spring([[1, 2]], k=50.0, l0=1.5)],
    )
    ledger = taut.Ledger()
    *_, (state, _) = taut.simulate(crank, taut.ImplicitMidpoint(), 1 / 200, 1.0, ledger=ledger)
    theta = np.linspace(0.0, angle(1.0), 20001)
    tip = np.column_stack([np.cos(theta), np.sin(theta), 0 * theta])
    gap = points[2] - tip
    length = np.linalg.norm(gap, axis=1, keepdims=True)
    pull = -50.0 * (length - 1.5) * gap / length  # the force of the crank on the spring at its tip
    across = np.column_stack([-np.sin(theta), np.cos(theta), 0 * theta])
    moment = np.einsum("ij,ij->i", pull, across)
    expected = np.sum((moment[1:] + moment[:-1]) / 2 * np.diff(theta))
    total = ledger.total()
    np.testing.assert_allclose(state.q[1], tip[-1], atol=1e-14)
    # midpoint evaluates the force half-way along the chord: an error of h², here 1.1e-5
    assert total.scripted == pytest.approx(expected, rel=2e-5)
    assert abs(total.gap) < 1e-13 * total.scale


def test_ledger_records_the_work_of_lifting():
    """A rigid bar of two particles, each of 1 kg, lifted from rest to rest by 0.5 m: W = 2·9.81·0.5
    J for any integrator."""
    lift = system(
        handle([0, 1], move=lambda t: (0, 0.25 * (1 - np.cos(np.pi * t)), 0)),
        points=SHAPE[:2],
        energies=[laws.gravity()],
    )
    ledger = taut.Ledger()
    for _ in taut.simulate(lift, taut.ImplicitEuler(), 0.02, 1.0, ledger=ledger):
        pass
    total = ledger.total()
    # implicit Euler's last velocity is a difference over the step, so a little kinetic
    # energy remains in the ledger
    assert total.scripted - total.kinetic == pytest.approx(2 * 9.81 * 0.5, rel=1e-12)


def test_samples_are_interpolated_linearly():
    held = system(
        handle(
            [0, 1],
            move=([0.0, 2.0], [[0, 0, 0], [0, 4, 0]]),
            turn=([0.0, 1.0], [[0, 0, 0], [0, 0, np.pi]]),
        )
    )
    np.testing.assert_allclose(
        held._projector.anchors(0.5)[:2], [[0.5, 0.5, 0], [0.5, 1.5, 0]], atol=1e-15
    )
    np.testing.assert_allclose(held._projector.anchors(3.0)[:2], [[1, 4, 0], [0, 4, 0]], atol=1e-15)


def test_in_the_plane_an_angle_turns_about_z():
    flat = system(
        handle([0, 1], move=lambda t: (t, 0), turn=lambda t: t, about=(0, 0)), points=SHAPE[:3, :2]
    )
    np.testing.assert_allclose(flat._projector.anchors(np.pi / 2)[1], [np.pi / 2, 1, 0], atol=1e-15)
    state, _ = taut.ImplicitEuler().step(flat, flat.initial_state(), 0.1)
    assert not state.q[:, 2].any()
    with pytest.raises(taut.errors.ModelError, match="particle 0 at t = 1 s leaves the plane"):
        system(
            handle([0, 1], turn=lambda t: (t, 0, 0), about=(0, 1)), points=SHAPE[:3, :2]
        )._projector.anchors(1.0)


def test_joined_bodies_keep_their_handles():
    """The second body's handle follows its own pose after the particles are renumbered; so does a
    mask.
    """
    turned = system(handle([True, True, False, False, False], turn=lambda t: (0, 0, t)))
    moved = turned.with_(pose=SHAPE + np.array([5.0, 0, 0]))
    joined = taut.join(turned, moved)
    expected = np.concatenate([turned._projector.anchors(0.8), moved._projector.anchors(0.8)])
    assert (joined._projector.anchors(0.8) == expected).all()
    np.testing.assert_allclose(expected[5:7], expected[:2] + np.array([5.0, 0, 0]), atol=2e-15)
    assert joined._projector.is_fixed.nonzero()[0].tolist() == [0, 1, 5, 6]


def test_equilibrium_has_a_torque_on_the_handle():
    """A handle turned by 30° holds a spring of 1 m at its tip: torque of the reactions about the
    hub = -r × f of the spring."""
    points = np.array([[0.0, 0, 0], [1.0, 0, 0], [1.0, 1.0, 0]])
    lever = system(
        handle([0, 1], turn=([0.0, 1.0], [[0, 0, 0], [0, 0, -np.pi / 6]]), about=(0, 0, 0)),
        points=points,
        fixed=[2],
        energies=[laws.spring([[1, 2]], k=200.0)],
    )
    start = lever.initial_state()
    rest = taut.equilibrium(lever, start.with_(t=1.0, q=lever._projector.anchors(1.0)))
    tip = np.array([np.cos(np.pi / 6), -0.5, 0])
    gap = points[2] - tip
    length = np.linalg.norm(gap)
    force = 200.0 * (length - 1) * gap / length
    np.testing.assert_allclose(
        np.cross(rest.state.q[1], rest.reactions[1]), -np.cross(tip, force), rtol=1e-12
    )


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (
            {"move": lambda t: (1e-3, 0, 0)},
            "must be zero at t = 0 s, but particle 0 jumps by 0.001 m",
        ),
        ({"turn": lambda t: (0, 0, 0.1)}, r"particle \d jumps by 0\.0[45]"),
        ({"move": lambda t: (np.nan, 0, 0)}, "`move` at t = 0 s must be a vector"),
        ({"move": lambda t: (0, 0, 0, 0)}, "`move` at t = 0 s must be a vector"),
        ({"move": lambda t: np.zeros((2, 3))}, "`move` at t = 0 s must be a vector"),
        ({"move": lambda t: "up"}, "`move` at t = 0 s must consist of numbers"),
        ({"move": 3.0}, "`move` must be a function of time or a pair"),
        ({"move": ([0.0, 0.0], np.zeros((2, 3)))}, "`move` by samples needs increasing times"),
        ({"move": ([0.0, np.nan], np.zeros((2, 3)))}, "`move` by samples needs increasing times"),
        ({"turn": lambda t: (0, np.inf, 0)}, "`turn` at t = 0 s must be a rotation vector"),
        ({"turn": lambda t: (0, 0)}, "`turn` at t = 0 s must be a rotation vector"),
        (
            {"turn": lambda t: 1.001 * np.eye(3)},
            "`turn` at t = 0 s must be a rotation: RᵀR differs from I by 0.002",
        ),
        (
            {"turn": lambda t: np.diag([1.0, 1.0, -1.0])},
            "`turn` at t = 0 s must be a rotation: it is a reflection",
        ),
        ({"turn": lambda t: (0, 0, t), "about": (1, 2, np.nan)}, "`about` must be a vector"),
        ({"turn": lambda t: (0, 0, t), "about": "hub"}, "`about` must consist of numbers"),
    ],
)
def test_reject_invalid_motions(wrong, message):
    with pytest.raises(taut.errors.ModelError, match=message):
        system(handle([0, 1], **wrong))


def test_motion_invalid_at_a_later_time_raises_then():
    held = system(handle([0, 1], turn=lambda t: np.eye(3) * (1 + max(t - 1.0, 0.0))))._projector
    held.anchors(1.0)
    with pytest.raises(taut.errors.ModelError, match="`turn` at t = 2 s must be a rotation"):
        held.anchors(2.0)


def test_reject_invalid_particles():
    with pytest.raises(taut.errors.ModelError, match="handle: it has no particles"):
        system(handle([]))
    with pytest.raises(taut.errors.ModelError, match="handle: there is no particle 9"):
        system(handle([0, 9]))
    with pytest.raises(taut.errors.ModelError, match="particle 1 is scripted twice"):
        system(handle([0, 1]), scripted([1], lambda t: (1, 0, 0)))
    with pytest.raises(
        taut.errors.ModelError, match=r"particle 0 contradict each other at t = 1 s"
    ):
        system(handle([0, 1], move=lambda t: (t, 0, 0)), fixed=[0])._projector.anchors(1.0)
