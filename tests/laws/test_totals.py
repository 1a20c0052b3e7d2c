"""Energies of a total over all elements: the same checks, on whole systems."""

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.spatial.transform import Rotation

import taut
from taut import laws
from taut.formula import cross, dot, norm, total
from taut.linalg.linear import make_solver
from taut.linalg.low_rank import RankOne
from taut.system.assembly import Assembly
from taut.system.terms import Inputs, Term
from taut.system.workspace import workspace_for
from tests.laws import checks
from tests.laws.test_integrators import OBEYS

# law → its parameters, and its energy as a function of the enclosed volume v, at rest v0, in plain
# numbers
TOTALS = {
    "pressure": ({"p": 300.0}, lambda v, v0: -300.0 * v),
    "membrane_pressure": ({"p": 300.0}, lambda v, v0: -300.0 * (v - v0)),
    "gas": (
        {"p": 300.0, "ambient": 2000.0},
        lambda v, v0: 2000.0 * (v - v0) - 2300.0 * v0 * np.log(v / v0),
    ),
    "enclosed_volume": ({"k": 900.0}, lambda v, v0: 450.0 * (v - v0) ** 2 / v0),
}
every = pytest.mark.parametrize("name", TOTALS)
BALL = taut.mesh.sphere(2)


def system(name, *more, **parts):
    law = getattr(laws, name)(BALL.triangles, **TOTALS[name][0])
    return taut.System(BALL.points, mass=0.2, energies=[law, *more], **parts)


def crumple(body, seed=1):
    rng = np.random.default_rng(seed)
    state = body.initial_state()
    return state.with_(q=1.2 * state.q + 0.15 * rng.normal(size=state.q.shape)), rng


@every
def test_value_equals_the_formula(name):
    body = system(name)
    state, _ = crumple(body)
    volume = BALL.with_(points=state.q).enclosed_volume
    assert body.V(state) == pytest.approx(TOTALS[name][1](volume, BALL.enclosed_volume), rel=1e-12)


@every
def test_taylor_remainder_is_third_order(name):
    body = system(name)
    state, rng = crumple(body)
    d = rng.normal(size=state.q.shape)
    g, k = -body.f(state), body.K(state).toarray()
    first, second = np.vdot(g, d), d.ravel() @ k @ d.ravel()
    steps = 0.004 / 2.0 ** np.arange(5)
    rest = [
        abs(body.V(state.with_(q=state.q + s * d)) - body.V(state) - s * first - s * s / 2 * second)
        for s in steps
    ]
    assert abs(first) > 1e-2 * np.abs(g).max()
    assert 2.9 <= np.polyfit(np.log(steps), np.log(rest), 1)[0] <= 3.1
    assert np.abs(k - k.T).max() <= 1e-14 * np.abs(k).max()
    projected = body.K(state, project=True).toarray()
    assert np.linalg.eigvalsh(projected).min() >= -1e-12 * np.abs(projected).max()


def metric(body, state):
    assembly = Assembly(
        body.n, [Term(n, law, "energy", None) for n, law in body._placed_energies.items()]
    )
    matrix = assembly.hessian([Inputs.at(state)], np.zeros(body.n), metric=True)
    return matrix.to_scipy().toarray()


@every
def test_metric(name):
    """The total is the measure: |Φ''| g gᵀ, g the gradient of the enclosed volume."""
    body = system(name)
    state, _ = crumple(body)
    m = metric(body, state)
    checks.metric(body.K(state).toarray(), m)
    v, v0 = BALL.with_(points=state.q).enclosed_volume, BALL.enclosed_volume
    g = -(system("pressure").f(state) / -TOTALS["pressure"][0]["p"]).ravel()
    second = {
        "pressure": 0.0,
        "membrane_pressure": 0.0,
        "gas": 2300.0 * v0 / v**2,
        "enclosed_volume": 900.0 / v0,
    }[name]
    np.testing.assert_allclose(m, second * np.outer(g, g), atol=1e-11 * np.abs(m).max())


@pytest.mark.parametrize("stretched", [True, False])
def test_metric_of_shares_with_a_metric_of_their_own(stretched):
    """Of a total area, the norms of the triangles, where it is too large."""

    @taut.energy
    def film(x, k, area0):
        return k / 2 * (total(norm(cross(x[1] - x[0], x[2] - x[0])) / 2) - area0) ** 2

    body = taut.System(BALL.points, mass=0.2, energies=[film(BALL.triangles, k=3.0, area0=8.0)])
    state, _ = crumple(body)
    state = state.with_(q=(1.0 if stretched else 0.3) * state.q)
    m = metric(body, state)
    checks.metric(body.K(state).toarray(), m)
    assert (np.linalg.matrix_rank(m) > 1) == stretched


@every
def test_energy_is_invariant_under_rigid_motion(name):
    body = system(name)
    state, rng = crumple(body)
    turn = Rotation.random(random_state=np.random.RandomState(3)).as_matrix()
    moved = state.with_(q=state.q @ turn.T + rng.normal(size=3))
    if name != "membrane_pressure":  # invariant on this closed surface, not on an open one
        assert getattr(laws, name).invariant == "rigid motion"
    assert body.V(moved) == pytest.approx(body.V(state), rel=1e-12)
    f = body.f(state)
    assert np.abs(f.sum(axis=0)).max() <= 1e-13 * np.abs(f).sum()
    assert np.abs(np.cross(state.q, f).sum(axis=0)).max() <= 1e-12 * np.abs(f).sum()


@every
@pytest.mark.parametrize("solver", ["direct", "cg"])
def test_linear_solvers_include_the_low_rank_term(name, solver):
    """Against a dense solution; solvers also report whether the full matrix is definite."""
    body = system(name, laws.spring(BALL.edges, k=300.0), fixed=[0, 1, 2, 3])
    state, rng = crumple(body)
    for project in (True, False):
        matrix = workspace_for(body).stiffness(state, project=project).copy()
        assert len(matrix.low_rank) == (
            "pressure" not in name
        )  # constant pressure has no low-rank term
        matrix.data[matrix.pattern.diagonal] += (50.0 if project else 2e4) * np.eye(3)
        body._projector.apply_to_matrix(matrix)
        dense = matrix.to_scipy().toarray()
        b = body._projector.project(rng.normal(size=(body.n, 3)))
        linear = make_solver(solver)
        linear.analyse(matrix.pattern)
        assert linear.factor(matrix)
        solution = linear.solve(b, np.full(body.n, 1e-11))
        assert solution.definite
        assert solution.residuals.max() <= 1e-11
        np.testing.assert_allclose(
            solution.x.ravel(), np.linalg.solve(dense, b.ravel()), rtol=1e-8, atol=1e-12
        )
        np.testing.assert_allclose(
            matrix.multiply(b).ravel(), dense @ b.ravel(), rtol=1e-12, atol=1e-9
        )
    matrix.low_rank = (RankOne(-1e6, b),)
    assert not linear.factor(matrix)
    assert np.linalg.eigvalsh(matrix.to_scipy().toarray()).min() < 0.0


@every
@pytest.mark.parametrize("integrator", list(OBEYS), ids=lambda i: i.__name__)
def test_every_integrator_balances_energy(name, integrator):
    damping = [
        laws.spring_damping(BALL.edges, c=0.05),
        *([laws.rayleigh(beta=1e-4)] if name == "gas" else []),
    ]
    body = system(name, laws.spring(BALL.edges, k=100.0), laws.gravity(), damping=damping)
    state = body.initial_state()
    state = state.with_(
        q=1.05 * state.q + 0.02 * np.random.default_rng(0).normal(size=state.q.shape)
    )
    ledger = taut.Ledger()
    run = taut.simulate(body, integrator(), h=5e-4, until=5e-3, state=state, ledger=ledger)
    *_, (end, _) = run
    assert max(abs(e.gap) / e.scale for e in ledger.entries) <= 1e-13
    total = ledger.total()
    assert abs(total.numerical) <= (0.02 if run.integrator.order > 1 else 0.5) * total.kinetic
    if body._rayleigh is None:
        assert (
            np.abs(body.momentum(end) - body.mass.sum() * np.array([0, -9.81 * 5e-3, 0])).max()
            <= 1e-9
        )


@pytest.mark.parametrize("name", ["gas", "enclosed_volume"])
def test_newton_converges_quickly_with_a_stiff_total(name):
    """The Hessian is complete: a stiff filling costs a few iterations per step, not hundreds."""
    parameters = {"p": 300.0, "ambient": 1e7} if name == "gas" else {"k": 1e7}
    body = taut.System(
        BALL.points,
        mass=0.2,
        energies=[
            getattr(laws, name)(BALL.triangles, **parameters),
            laws.spring(BALL.edges, k=100.0),
        ],
        velocity=np.cross([0.0, 0.0, 2.0], BALL.points) * [2.0, 1.0, 1.0],
    )
    run = taut.simulate(body, taut.ImplicitEuler(), h=5e-3, until=5e-2)
    *_, (end, _) = run
    assert run.summary.iterations <= 8 * run.summary.steps
    assert BALL.with_(points=end.q).enclosed_volume == pytest.approx(BALL.enclosed_volume, rel=1e-3)


ICOSAHEDRON = taut.mesh.sphere(1)


def breathing(k, m, energy):
    """Rest radius and angular frequency of a breathing icosahedron of springs with a
    volume energy.
    """
    a, v = ICOSAHEDRON.lengths[0], ICOSAHEDRON.enclosed_volume  # at radius 1

    def slope(r, e=1e-6):
        return 30 * k * a * a * (r - 1) + (energy(v * (r + e) ** 3) - energy(v * (r - e) ** 3)) / (
            2 * e
        )

    r = brentq(slope, 0.5, 3.0, xtol=1e-14)
    bend = (slope(r + 1e-4) - slope(r - 1e-4)) / 2e-4
    return r, np.sqrt(bend / (12 * m))


@pytest.mark.parametrize("name", ["gas", "enclosed_volume"])
def test_breathing_icosahedron_matches_its_ode(name):
    v0 = 1.3 * ICOSAHEDRON.enclosed_volume
    parameters, phi = TOTALS[name]
    law = getattr(laws, name)(ICOSAHEDRON.triangles, volume0=v0, **parameters)
    body = taut.System(
        ICOSAHEDRON.points, mass=0.05, energies=[laws.spring(ICOSAHEDRON.edges, k=80.0), law]
    )
    radius, omega = breathing(80.0, 0.05, lambda v: phi(v, v0))
    rest = taut.equilibrium(body)
    np.testing.assert_allclose(
        np.linalg.norm(rest.state.q - rest.state.q.mean(axis=0), axis=1), radius, rtol=1e-8
    )
    found = taut.modes(body, rest.state, n=36)
    assert np.abs(found.omega / omega - 1.0).min() <= 1e-6


def test_torn_balloon_loses_its_gas():
    """With the first triangle all of the gas leaves, and its energy is recorded."""
    springs = laws.spring(
        ICOSAHEDRON.edges, k=80.0, breaking_strain=np.where(np.arange(30) == 7, 0.05, 10.0)
    )
    law = laws.gas(ICOSAHEDRON.triangles, p=3000.0, ambient=0.0)
    body = taut.System(ICOSAHEDRON.points, mass=0.05, energies=[springs, law])
    ledger = taut.Ledger()
    run = taut.simulate(body, taut.ImplicitEuler(), h=1e-3, until=0.1, ledger=ledger)
    states = [state for state, _ in run]
    assert run.summary.torn == 1
    assert not states[-1].active["gas"].any()
    assert "gas" in ledger.total().torn
    assert max(abs(e.gap) / e.scale for e in ledger.entries) <= 1e-13


def test_reject_invalid_totals():
    points = [[0.0, 0, 0], [1.0, 0, 0], [2.0, 0, 0]]

    def place(law, **parameters):
        return taut.System(points, mass=1.0, energies=[law([[0, 1], [1, 2]], **parameters)])

    @taut.energy
    def length(x, k, l0=0.0):
        return k / 2 * (total(norm(x[1] - x[0])) - l0) ** 2

    body = place(length, k=2.0, l0=1.5)
    assert body.V(body.initial_state()) == 0.25
    with pytest.raises(
        taut.errors.LawError,
        match="same parameters for all elements, but those of element 1 differ",
    ):
        place(length, k=[1.0, 2.0])

    @taut.energy
    def outside(x, k):
        return k * total(norm(x[1] - x[0])) * norm(x[1] - x[0])

    with pytest.raises(taut.errors.LawError, match=r"positions must not occur outside of total"):
        place(outside, k=1.0)

    @taut.energy
    def twice(x, k):
        return k * total(norm(x[1] - x[0])) * total(dot(x[1], x[0]))

    with pytest.raises(taut.errors.LawError, match=r"must occur only once in an energy"):
        place(twice, k=1.0)

    @taut.dissipation
    def dissipated(x, c):
        return c * taut.formula.rate(total(norm(x[1] - x[0]))) ** 2

    with pytest.raises(taut.errors.LawError, match="no meaning in a dissipation"):
        taut.System(points, mass=1.0, damping=[dissipated([[0, 1]], c=1.0)])

    @taut.load
    def loaded(x, v, c):
        return [c * total(norm(x[0])) * v[0]]

    with pytest.raises(taut.errors.LawError, match="no meaning in a load"):
        taut.System(points, mass=1.0, loads=[loaded([0], c=1.0)])

    @taut.energy
    def inverted(x, k):
        return k * taut.formula.log(total(dot(x[0], cross(x[1], x[0] + x[1]))) - 1.0)

    body = place(inverted, k=1.0)
    with pytest.raises(taut.errors.SingularState, match="law 'inverted' has no finite energy"):
        body.V(body.initial_state())


@pytest.mark.parametrize("name", TOTALS)
@pytest.mark.parametrize("far", [0.3, 1e4])
def test_distance_from_the_origin_does_not_affect_convergence(name, far):
    """Volume shares are measured from the centre of the body.

    Neither iterations nor tolerances grow with the distance.
    """
    points = 1e-3 * BALL.points
    law = getattr(laws, name)(BALL.triangles, **TOTALS[name][0])
    ball = taut.System(
        points, mass=1e-6, energies=[law, laws.spring(BALL.edges, k=10.0)], pose=1.05 * points
    )
    here = taut.ImplicitEuler().step(ball, ball.initial_state(), 1e-3)[1]
    scale = 1.0 if far < 1.0 else 1e3  # a metre-sized ball ten kilometres away
    rest, pose = (scale * factor * points + [0.0, far, 0.0] for factor in (1.0, 1.05))
    moved = taut.System(
        rest, mass=1e-6 * scale, energies=[law, laws.spring(BALL.edges, k=10.0 * scale)], pose=pose
    )
    there = taut.ImplicitEuler().step(moved, moved.initial_state(), 1e-3)[1]
    assert there.outcome in ("converged", "rounding floor")
    assert there.iterations <= here.iterations + 4
    assert there.tolerance <= 2.0 * here.tolerance * scale**2


def test_reject_pressure_below_vacuum():
    with pytest.raises(taut.errors.LawError, match="'p' must be at least -ambient, got -3000"):
        taut.System(
            BALL.points, mass=1.0, energies=[laws.gas(BALL.triangles, p=-3000.0, ambient=2000.0)]
        )


def test_lbfgs_converges_with_a_stiff_filling():
    """The constant matrix includes the low-rank term.

    Tens of iterations per step, not thousands.
    """
    ball = taut.System(
        BALL.points,
        mass=0.2,
        fixed=[0],
        energies=[
            laws.enclosed_volume(BALL.triangles, k=1e7),
            laws.spring(BALL.edges, k=100.0),
            laws.gravity(),
        ],
    )
    run = taut.simulate(ball, taut.ImplicitEuler(minimiser="lbfgs"), h=0.01, until=0.03)
    *_, (end, _) = run
    newton = taut.simulate(ball, taut.ImplicitEuler(), h=0.01, until=0.03)
    *_, (same, _) = newton
    assert run.summary.iterations <= 150 * run.summary.steps
    np.testing.assert_allclose(end.q, same.q, atol=1e-7)


def test_reject_switching_off_part_of_a_surface():
    body = system("gas")
    with pytest.raises(taut.errors.ModelError, match="'gas' has one energy for all its elements"):
        body.V(body.initial_state().with_(active={"gas": np.arange(80) > 3}))
    assert body.V(body.initial_state().with_(active={"gas": np.zeros(80, dtype=bool)})) == 0.0
