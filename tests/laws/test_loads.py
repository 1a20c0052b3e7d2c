"""Every load: finite, frame-indifferent, constant over a step, and its work is recorded."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import taut
from taut import laws
from taut.binding.placed_law import PlacedLoad
from taut.formula import norm
from tests.laws.specimens import LOADS
from tests.laws.test_integrators import OBEYS

every = pytest.mark.parametrize("specimen", LOADS.values(), ids=LOADS.keys())


def prepare(specimen, seed=3):
    """A placed load whose elements share no particles, positions and velocities."""
    rng = np.random.default_rng(seed)
    rest = np.tile(specimen.shape, (12, 1)) + 0.15 * rng.normal(size=(12 * specimen.particles, 3))
    bound = specimen.law(
        np.arange(len(rest)).reshape(-1, specimen.particles), **specimen.parameters(rng)
    )
    return bound, rest, rest + 0.2 * rng.normal(size=rest.shape), rng.normal(size=rest.shape), rng


def forces(bound, rest, q, v):
    return PlacedLoad(bound, rest, np.ones(len(rest)), flat=False).forces(q, v, 0.0)


@every
def test_force_is_frame_indifferent(specimen):
    """Rotating, translating and boosting everything, including the air, rotates the force."""
    bound, rest, q, v, rng = prepare(specimen)
    f = forces(bound, rest, q, v)
    assert np.abs(f).min(axis=0).max() > 0.0
    turn = Rotation.random(random_state=np.random.RandomState(5)).as_matrix()
    drift, shift = rng.normal(size=3), rng.normal(size=3)
    vectors = {name: bound.parameters[name] @ turn.T + drift for name in bound.law.vectors}
    seen = forces(bound.with_(**vectors), rest, q @ turn.T + shift, v @ turn.T + drift)
    np.testing.assert_allclose(seen, f @ turn.T, atol=1e-13 * np.abs(f).max())


@every
@pytest.mark.parametrize("integrator", list(OBEYS), ids=lambda i: i.__name__)
def test_load_is_constant_over_a_step_and_its_work_is_recorded(specimen, integrator):
    """A step under the load is bit-identical to a step under its constant force at the start.

    The energy ledger balances.
    """
    bound, rest, _, v, _ = prepare(specimen)
    springs = [
        laws.spring(
            np.array([[3 * e + i, 3 * e + (i + 1) % 3] for e in range(12) for i in range(3)]),
            k=50.0,
        )
    ]
    body = taut.System(rest, mass=0.3, energies=springs, velocity=v)
    state = body.initial_state()
    blown = body.with_(loads=[bound])
    given = laws.force(f=forces(bound, rest, rest, v), name=bound.name)
    ledger = taut.Ledger()
    (end, _), *_ = taut.simulate(blown, integrator(), h=0.01, until=0.01, ledger=ledger)
    same, _ = integrator().step(body.with_(energies=[*springs, given]), state, 0.01)
    assert end.q.tobytes() == same.q.tobytes()
    assert end.v.tobytes() == same.v.tobytes()
    entry = ledger.entries[0]
    assert bound.name not in entry.stored
    assert abs(entry.gap) <= 1e-13 * entry.scale
    assert entry.work[bound.name] == pytest.approx(
        np.vdot(given.parameters["f"], end.q - state.q), rel=1e-11
    )
    np.testing.assert_array_equal(blown.f(state), body.f(state) + given.parameters["f"])


def test_force_is_evaluated_at_every_step_and_substep():
    """A particle with air drag.

    With f = -c v at the start of each step, v' = v (1 - c h/m) each time.
    """

    @taut.load
    def against(x, v, c):
        return [-c * v[0]]

    ball = taut.System([[0.0, 0, 0]], mass=2.0, velocity=[[3.0, 0, 0]], loads=[against(c=0.5)])
    for integrator in (
        taut.ImplicitEuler(),
        taut.SymplecticEuler(),
        taut.Adaptive(taut.ImplicitEuler()),
    ):
        *_, (end, _) = taut.simulate(ball, integrator, h=0.1, until=1.0)
        assert end.v[0, 0] == pytest.approx(3.0 * (1 - 0.5 * 0.1 / 2.0) ** 10, rel=1e-12)
    ledger = taut.Ledger()
    *_, (end, _) = taut.simulate(
        ball, taut.Adaptive(taut.ImplicitEuler(), error=1e-4), h=0.1, until=1.0, ledger=ledger
    )
    assert end.v[0, 0] == pytest.approx(3.0 * np.exp(-0.25), rel=1e-3)
    total = ledger.total()
    assert total.work["against"] == pytest.approx(
        0.5 * 2.0 * (end.v[0, 0] ** 2 - 9.0) + total.numerical, rel=1e-9
    )
    assert abs(total.gap) <= 1e-12 * total.scale


def triangle(**parameters):
    points = np.array([[0.0, 0, 0], [1.0, 0, 0], [0.0, 2.0, 0]])  # area 1, normal +z
    return taut.System(points, mass=1.0, loads=[laws.wind([[0, 1, 2]], **parameters)])


def test_wind_on_a_plate_that_faces_it():
    """½ ρ C_D A U², whichever side it blows on, and no lift."""
    for sign in (1, -1):
        system = triangle(velocity=(0, 0, 10.0 * sign), density=1.2, drag=1.1, lift=0.7)
        f = system.f(system.initial_state())
        np.testing.assert_allclose(
            f.sum(axis=0), [0, 0, sign * 0.5 * 1.2 * 1.1 * 100.0], atol=1e-12
        )
        np.testing.assert_allclose(f, np.ones((3, 1)) * f[0])


@pytest.mark.parametrize("angle", [5.0, 30.0, 45.0, 80.0, 120.0])
def test_wind_drag_along_and_lift_across(angle):
    """Drag is proportional to the projected area; lift is normal to the wind and largest at 45°."""
    a = np.radians(angle)
    u = 7.0 * np.array([np.sin(a), 0, np.cos(a)])  # at this angle to the normal
    system = triangle(velocity=u, density=1.2, drag=0.9, lift=0.4)
    f = system.f(system.initial_state()).sum(axis=0)
    q = 0.5 * 1.2 * 49.0
    assert f @ u / 7.0 == pytest.approx(q * 0.9 * abs(np.cos(a)), rel=1e-13)
    across = f - (f @ u) * u / 49.0
    assert np.linalg.norm(across) == pytest.approx(q * 0.4 * abs(np.cos(a)) * np.sin(a), rel=1e-12)
    assert across[2] * np.cos(a) > 0.0, "lift must push away from the windward side"


def test_wind_that_varies_in_space_and_time():
    points = np.array(
        [[0.0, 0, 0], [1.0, 0, 0], [0.0, 2.0, 0], [5.0, 0, 0], [6.0, 0, 0], [5.0, 2.0, 0]]
    )

    def gust(x, t):
        return np.column_stack([0 * x[:, 0], 0 * x[:, 0], x[:, 0] * (1 + t)])

    system = taut.System(
        points,
        mass=1.0,
        loads=[laws.wind([[0, 1, 2], [3, 4, 5]], velocity=gust, density=2.0, drag=1.0)],
    )
    state = system.initial_state().with_(t=1.0)
    f = system.f(state)
    for triangle, x in ((slice(0, 3), 1 / 3), (slice(3, 6), 16 / 3)):
        np.testing.assert_allclose(f[triangle].sum(axis=0), [0, 0, (2 * x) ** 2], rtol=1e-13)
    moved = state.with_(q=state.q + np.array([1.0, 0, 0]))
    np.testing.assert_allclose(system.f(moved)[:3].sum(axis=0)[2], (2 * 4 / 3) ** 2, rtol=1e-13)


def test_falling_plate_reaches_terminal_velocity():
    """A falling plate: ½ ρ C_D A v² = m g."""
    points = np.array([[0.0, 0, 0], [1.0, 0, 0], [0.0, 0, 2.0]])
    edges = [[0, 1], [1, 2], [0, 2]]
    plate = taut.System(
        points,
        mass=0.01,
        energies=[laws.spring(edges, k=1e3), laws.gravity()],
        loads=[laws.wind([[0, 2, 1]], velocity=(0, 0, 0), density=1.2, drag=1.0, lift=0.0)],
    )
    *_, (end, _) = taut.simulate(plate, taut.ImplicitEuler(), h=0.01, until=2.0)
    np.testing.assert_allclose(end.v[:, 1], -np.sqrt(2 * 0.03 * 9.81 / 1.2), rtol=1e-6)


def test_reject_invalid_loads():
    points = np.array([[0.0, 0, 0], [1.0, 0, 0], [0.0, 2.0, 0]])

    def system(*loads):
        return taut.System(points, mass=1.0, loads=loads)

    with pytest.raises(taut.errors.LawError, match=r"element 0 .*at least 0"):
        system(laws.wind([[0, 1, 2]], velocity=(1, 0, 0), drag=[-1.0]))
    with pytest.raises(taut.errors.LawError, match="needs the parameter 'velocity'"):
        system(laws.wind([[0, 1, 2]]))
    with pytest.raises(taut.errors.LawError, match=r"of t, or of places .* got one of 3 arguments"):
        system(laws.wind([[0, 1, 2]], velocity=lambda x, y, t: x))
    with pytest.raises(
        taut.errors.ModelError, match=r"loads must be a list of loads, got <energy gravity"
    ):
        system(laws.gravity())
    with pytest.raises(
        taut.errors.ModelError, match=r"energies must be a list of energies, got <load wind"
    ):
        taut.System(points, mass=1.0, energies=[laws.wind([[0, 1, 2]], velocity=(1, 0, 0))])

    @taut.load
    def lopsided(x, v, c):
        return c * v[0]

    with pytest.raises(
        taut.errors.LawError,
        match=r"must return a force for each of its particles, shape \(1, 3\), got shape \(3,\)",
    ):
        system(lopsided(c=1.0))

    @taut.load
    def endless(x, v, c):
        return [c / norm(x[0]) * v[0]]

    with pytest.raises(taut.errors.SingularState, match=r"'endless': element 0 .* no finite force"):
        taut.ImplicitEuler().step(system(endless([0], c=1.0)), system().initial_state(), 0.1)
    blown = system(laws.wind([[0, 1, 2]], velocity=(1, 0, 0)))
    for call in (taut.equilibrium, taut.modes, taut.stability):
        with pytest.raises(taut.errors.ModelError, match="'wind' has no energy"):
            call(blown)


def test_joined_bodies_keep_their_loads():
    system = triangle(velocity=(0, 0, 3.0))
    two = taut.join(system, system.with_(pose=system.rest + 5.0))
    one = system.f(system.initial_state())
    np.testing.assert_allclose(two.f(two.initial_state()), np.concatenate([one, one]), rtol=1e-13)


def test_elements_of_a_load_switch_off():
    @taut.load
    def headwind(x, v, c):
        return [-c * v[0]]

    pair = taut.System(
        [[0, 0, 0], [1, 0, 0]], mass=1.0, loads=[headwind(c=1.0)], velocity=[[1, 0, 0], [1, 0, 0]]
    )
    state = pair.initial_state().with_(active={"headwind": [True, False]})
    *_, (end, _) = taut.simulate(pair, taut.ImplicitEuler(), h=0.1, until=1.0, state=state)
    np.testing.assert_allclose(end.v[:, 0], [0.9**10, 1.0], rtol=1e-12)
    assert pair.V(state) == 0.0
    with pytest.raises(
        taut.errors.ModelError, match=r"mask of 'headwind' must have the shape \(2,\), got \(1,\)"
    ):
        pair.f(state.with_(active={"headwind": [True]}))


@pytest.mark.parametrize("inner", [taut.RK4, taut.TRBDF2, taut.VelocityVerlet, taut.ImplicitEuler])
def test_adaptive_error_bound_holds_under_a_load(inner):
    """x'' = -x as a load: the true error of the worst substep, against the exact motion from its
    start, is within the bound.
    """

    @taut.load
    def pull(x, v, k):
        return [-k * x[0]]

    ball = taut.System([[1.0, 0, 0]], mass=1.0, loads=[pull(k=1.0)])
    steps = taut.Adaptive(inner(), error=1e-4)
    state, worst = ball.initial_state(), 0.0
    for _ in range(5):
        done = steps.advance(ball, state, 0.2)
        for part in zip(done.substeps[::2], done.substeps[1::2], strict=True):
            start, end = part[0].start, part[1].state
            t = end.t - start.t
            worst = max(
                worst, abs(end.q[0, 0] - (start.q[0, 0] * np.cos(t) + start.v[0, 0] * np.sin(t)))
            )
        state = done.state
    assert 1e-6 < worst <= 1e-4
