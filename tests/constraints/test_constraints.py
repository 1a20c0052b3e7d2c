"""Free, fixed, scripted, on a line, on a plane: per particle, in every integrator."""

import numpy as np
import pytest

import taut
from taut import laws
from taut.constraints import fixed, on_line, on_plane, scripted

INTEGRATORS = [taut.ImplicitEuler, taut.LinearlyImplicitEuler]
every = pytest.mark.parametrize("integrator", INTEGRATORS, ids=lambda i: i.__name__)
solvers = pytest.mark.parametrize("solver", ["direct", "cg"])


def chain(n=5, **more):
    x = np.column_stack([np.arange(n), np.zeros(n), np.zeros(n)]).astype(float)
    edges = np.column_stack([np.arange(n - 1), np.arange(1, n)])
    return taut.System(x, mass=0.3, energies=[laws.spring(edges, k=80.0), laws.gravity()], **more)


@every
@solvers
def test_each_kind_of_constraint_holds_exactly(integrator, solver):
    direction, normal = np.array([1.0, -2.0, 0.5]), np.array([0.2, 1.0, -0.3])

    def path(t):
        return np.sin(3 * t), 0.1 * t, t**2

    system = chain(
        fixed=[4],
        velocity=np.full((5, 3), 0.5),
        constraints=[
            scripted([0], path),
            on_line([1], direction),
            on_plane([2], normal, through=(2.0, 0.0, 0.0)),
        ],
    )
    start = system.initial_state()
    for state, report in taut.simulate(system, integrator(solver=solver), 0.05, 1.0):
        assert state.q[4].tolist() == [4.0, 0.0, 0.0]
        np.testing.assert_allclose(state.q[0], path(state.t), atol=1e-14)
        np.testing.assert_allclose(np.cross(state.q[1] - start.q[1], direction), 0.0, atol=1e-12)
        assert abs((state.q[2] - [2.0, 0, 0]) @ normal) < 1e-12
        assert report.residual <= max(report.tolerance, report.floor)
    moved = np.abs(state.q - start.q).max(axis=1)
    assert (moved[:4] > 0.01).all()


@every
def test_a_bead_on_a_slope_accelerates_by_g_sin(integrator):
    """On a line at 30°, first-order methods give v = -g sin(30°) t exactly for a constant force."""
    slope = np.radians(30)
    system = taut.System(
        [[0, 0, 0]],
        mass=2.0,
        energies=[laws.gravity()],
        constraints=[on_line([0], (np.cos(slope), np.sin(slope)))],
    )
    *_, (state, _) = taut.simulate(system, integrator(), 0.1, 1.0)
    np.testing.assert_allclose(
        state.v[0], -9.81 * 0.5 * np.array([np.cos(slope), np.sin(slope), 0.0]), rtol=1e-12
    )


@every
def test_scripted_end_drags_its_neighbour(integrator):
    """One linear step with a moving support, solved by hand: (m/h² + k) x' = m x̃/h² + k (b' +
    1)."""
    h, m, k, speed = 0.1, 0.7, 90.0, 2.0
    system = taut.System(
        [[0, 0, 0], [1, 0, 0]],
        mass=m,
        energies=[laws.spring([[0, 1]], k=k)],
        constraints=[scripted([0], lambda t: (speed * t, 0, 0)), on_line([1], (1, 0, 0))],
    )
    state, _ = integrator().step(system, system.initial_state(), h)
    expected = (m / h**2 * 1.0 + k * (speed * h + 1.0)) / (m / h**2 + k)
    assert state.q[1, 0] == pytest.approx(expected, rel=1e-13)
    assert state.v[0, 0] == pytest.approx(speed, rel=1e-13)


def test_damping_acts_between_a_scripted_and_a_free_particle():
    """Pᵀ on both sides: hD couples to the prescribed velocity. (m/h + c) v' = c v_b, from rest."""
    h, m, c, speed = 0.1, 0.7, 3.0, 2.0
    for integrator in INTEGRATORS:
        system = taut.System(
            [[0, 0, 0], [1, 0, 0]],
            mass=m,
            damping=[laws.spring_damping([[0, 1]], c=c)],
            velocity=[[speed, 0, 0], [0, 0, 0]],
            constraints=[scripted([0], lambda t: (speed * t, 0, 0)), on_line([1], (1, 0, 0))],
        )
        state, _ = integrator().step(
            system, system.initial_state().with_(v=[[speed, 0, 0], [0, 0, 0]]), h
        )
        assert state.v[1, 0] == pytest.approx(c * speed / (m / h + c), rel=1e-12)


def test_sampled_paths_are_interpolated_and_clamped():
    system = taut.System(
        [[0, 0, 0]],
        mass=1.0,
        constraints=[scripted([0], ([0.0, 1.0, 3.0], [[0, 0, 0], [1, 0, 0], [1, 4, 0]]))],
    )
    got = [system._projector.anchors(t)[0].tolist() for t in (-1.0, 0.25, 1.0, 2.0, 9.0)]
    assert got == [[0, 0, 0], [0.25, 0, 0], [1, 0, 0], [1, 2, 0], [1, 4, 0]]


def test_constraints_combine():
    """Two planes give a line, a line and a transverse plane a point; fixed overrides what contains
    it.
    """
    x = np.zeros((4, 3))
    system = taut.System(
        x,
        mass=1.0,
        fixed=[3],
        energies=[laws.force(f=(1.0, 1.0, 1.0))],
        constraints=[
            on_plane([0, 1, 3], (0, 1, 0)),
            on_plane([0], (0, 0, 1)),
            on_line([2], (1, 0, 0)),
            on_plane([2], (1, 0, 0)),
        ],
    )
    state, _ = taut.ImplicitEuler().step(system, system.initial_state(), 1.0)
    np.testing.assert_allclose(state.q, [[1, 0, 0], [1, 0, 1], [0, 0, 0], [0, 0, 0]], atol=1e-12)


@pytest.mark.parametrize(
    ("constraints", "message"),
    [
        ([on_plane([0], (0, 1, 0), through=(0, 1, 0)), fixed([0])], "particle 0 contradict"),
        ([scripted([0], lambda t: (0, 1, 0)), fixed([0])], "particle 0 contradict"),
        (
            [scripted([0], lambda t: (t, 0, 0)), scripted([0], lambda t: (0, 0, 0))],
            "scripted twice",
        ),
        ([scripted([0], lambda t: (0, 0, 0, 0))], "path at t = 0 s must have the shape"),
        ([scripted([0], lambda t: (np.nan, 0, 0))], "not finite"),
        ([scripted([0], lambda t: "left")], "must consist of numbers"),
        ([scripted([0, 0], lambda t: (0, 0, 0))], "named twice"),
        ([on_plane([0], (0, 1, 0), through="here")], "must consist of numbers"),
        ([on_line([1], (1, 0, 0))], "no particle 1"),
    ],
)
def test_reject_contradicting_constraints(constraints, message):
    with pytest.raises(taut.errors.ModelError, match=message):
        taut.System([[0.0, 0, 0]], mass=1.0, constraints=constraints)


@pytest.mark.parametrize("bad", [(0, 0, 0), (1,), "up", (np.inf, 0, 0)])
def test_reject_bad_directions(bad):
    with pytest.raises(taut.errors.ModelError, match=r"normal must (be three|consist of numbers)"):
        on_plane([0], bad)


def test_paths_follow_the_order_of_the_particles():
    rows = np.array([[1.0, 0, 0], [2.0, 0, 0]])
    system = taut.System(np.zeros((2, 3)), mass=1.0, constraints=[scripted([1, 0], lambda t: rows)])
    assert system._projector.anchors(0.0)[:, 0].tolist() == [2.0, 1.0]


def test_samples_are_copied():
    points = np.zeros((2, 3))
    system = taut.System([[0, 0, 0]], mass=1.0, constraints=[scripted([0], ([0.0, 1.0], points))])
    points += 5.0
    assert not system._projector.anchors(1.0).any()
    with pytest.raises(taut.errors.ModelError, match="a function of time or a pair"):
        scripted([0], (1, 2, 3))


def test_script_leaving_its_plane_raises_at_that_time():
    system = taut.System(
        [[0, 0, 0]],
        mass=1.0,
        constraints=[scripted([0], lambda t: (0, max(t - 0.1, 0), 0)), on_plane([0], (0, 1, 0))],
    )
    state, _ = taut.ImplicitEuler().step(system, system.initial_state(), 0.1)
    with pytest.raises(taut.errors.ModelError, match=r"contradict each other at t = 0\.2 s"):
        taut.ImplicitEuler().step(system, state, 0.1)


def test_reject_state_off_its_constraint():
    system = chain(fixed=[0])
    state = system.initial_state()
    with pytest.raises(
        taut.errors.ModelError, match=r"constraint of particle 0 at t = 0 s by 0\.5"
    ):
        taut.ImplicitEuler().step(system, state.with_(q=state.q + 0.5), 0.1)


def test_particles_are_held_at_the_pose_not_the_rest_shape():
    system = chain(fixed=[0], pose=np.column_stack([np.arange(5), np.full(5, 7.0), np.zeros(5)]))
    state, _ = taut.ImplicitEuler().step(system, system.initial_state(), 0.1)
    assert state.q[0].tolist() == [0.0, 7.0, 0.0]
