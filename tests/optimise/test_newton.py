"""Newton's method: quadratic convergence, outcomes, and no claim beyond the accuracy reached."""

from itertools import pairwise

import numpy as np
import pytest

import taut
from taut import laws
from taut.constraints import on_line, on_plane
from taut.errors import SingularState
from taut.linalg.blocks import BlockMatrix, Pattern, row_norms
from taut.linalg.direct import Direct
from taut.linalg.multigrid import Multigrid
from taut.optimise.newton import minimise
from taut.optimise.tolerance import Tolerance, estimate_rounding_floors
from tests.optimise.springs import PROBLEMS, TIGHT, chain, net


def stretched_net(rng, scale=1.3, n=8):
    x = rng.normal(size=(n, 3))
    edges = [(i, j) for i in range(n) for j in range(i)]
    return taut.System(
        x,
        mass=1.0,
        energies=[laws.spring(edges, k=50.0), laws.gravity()],
        pose=scale * x + 0.3 * rng.normal(size=x.shape),
    )


@pytest.fixture
def points(monkeypatch):
    """The points at which minimisations begin their iterations."""
    visited = []
    monkeypatch.setattr(
        "taut.optimise.newton.report_iteration", lambda descent: visited.append(descent.point)
    )
    return visited


class Exact(Direct):
    """Minimises each model as far as rounding allows."""

    def model(self, hessian, b, targets):
        return super().model(hessian, b, np.full_like(targets, 1e-13 * float(row_norms(b).max())))


@pytest.mark.parametrize(("solver", "least"), [(Exact, 1.7), (Direct, 1.4), (Multigrid, 1.4)])
@pytest.mark.parametrize("seed", range(3))
def test_convergence_is_quadratic(seed, solver, least, points):
    """Its order is 2 with exact linear solves, and 3/2 as they are: η = √(w/w₀) is left."""
    objective = net(np.random.default_rng(seed), k=50.0, a=100.0, load=(0.0, -9.81, 0.0))
    m = minimise(objective, objective.start(), solver(), Tolerance(1e-14))
    assert m.outcome in ("converged", "rounding floor")
    r = [point.residuals.max() for point in points]
    logs = np.log([x for x in r if x > 1e-11])
    order = (logs[2:] - logs[1:-1]) / (logs[1:-1] - logs[:-2])
    assert least <= order[-1] <= 2.3, (r, order)


def test_a_saddle_is_left_in_few_iterations(points):
    """Tetrahedra flattened into a plane, light and stiff.

    The projected Hessian alone, which is the metric here, takes thousands of iterations.
    """
    block = taut.mesh.block(2, 2, 1, cells="tet")
    rng = np.random.default_rng(0)
    pose = block.points * [1, 1, 0] + 1e-9 * rng.normal(size=block.points.shape)
    system = taut.System(
        block.points, mass=2.4e-5, energies=[laws.spring(block.edges, k=2e5)], pose=pose, fixed=[0]
    )
    state, report = taut.ImplicitEuler().step(system, system.initial_state(), 5e-3)
    assert report.outcome in ("converged", "rounding floor")
    values = np.array([point.value for point in points])
    assert int((values > 0.1 * values[0]).sum()) < 20, "the body must unfold"
    assert report.iterations < 100
    matrix = system.K(state).toarray() + np.diag(np.repeat(system.mass, 3)) / 5e-3**2
    free = matrix[3:, 3:]  # the first particle is fixed
    assert np.linalg.eigvalsh(free)[0] > 0.0, "and end in a minimum, not on another saddle"


@pytest.mark.parametrize("solver", [Direct, Multigrid])
@pytest.mark.parametrize(
    "shake",
    [
        1e-7,
        1e-6,
        1e-4,
    ],
)
def test_a_straight_compressed_chain_leaves_its_saddle(solver, shake, points):
    """Squeezed to half and nearly straight: most of its energy goes when it buckles."""
    objective = chain(12, squeeze=0.5, shake=shake, k=1e3, a=1.0)
    start = objective.start()
    assert np.linalg.eigvalsh(objective.hessian(start.y).to_scipy().toarray())[0] < 0.0
    m = minimise(objective, start, solver(), TIGHT)
    assert m.outcome == "converged"
    assert np.linalg.eigvalsh(objective.hessian(m.point.y).to_scipy().toarray())[0] > 0.0
    values = np.array([point.value for point in points])
    assert int((values > 0.5 * start.value).sum()) < 20
    assert int((values > 0.05 * start.value).sum()) < 50


@pytest.mark.parametrize("solver", [Direct, Multigrid])
@pytest.mark.parametrize("name", PROBLEMS)
def test_objective_never_rises(name, solver, points):
    objective = PROBLEMS[name]()
    m = minimise(objective, objective.start(), solver(), Tolerance(1e-12))
    assert m.outcome in ("converged", "rounding floor")
    assert len(points) == m.iterations + (m.outcome == "converged")
    for before, after in pairwise(points):
        assert objective.change(before, after) <= after.noise_against(before)
        assert after.value <= points[0].value
    visible = [p for p in points if p.value - m.point.value > 2e-10 * p.magnitude]
    assert (np.diff([p.value for p in visible]) < 0.0).all()


@pytest.mark.parametrize("name", PROBLEMS)
def test_changes_are_summed_from_the_elements(name, points):
    """10¹² J more, which round all changes away: the same bits, since only `change` is used."""
    found = []
    for offset in (0.0, 1e12):
        points.clear()
        objective = PROBLEMS[name]()
        objective.offset = offset
        m = minimise(objective, objective.start(), Direct(), TIGHT)
        assert m.outcome == "converged"
        assert (m.point.residuals <= 1e-8 * m.point.gross).all()
        found.append([point.y.tobytes() for point in points])
    assert found[0] == found[1]


@pytest.mark.parametrize("name", PROBLEMS)
def test_large_magnitudes_leave_the_slopes(name):
    """10¹² J that count as magnitude hide all changes: the slopes at both ends tell them."""
    objective = PROBLEMS[name]()
    objective.constant = 1e12
    m = minimise(objective, objective.start(), Direct(), TIGHT)
    assert m.outcome == "converged"
    assert (m.point.residuals <= 1e-8 * m.point.gross).all()


def test_a_curved_valley_is_followed():
    """A light, stiff, slack cloth: every straight step must stretch it."""
    sheet = taut.mesh.sheet(4, 4, plane="xz")
    springs = laws.spring(np.concatenate([sheet.edges, sheet.diagonals]), k=1e7)
    pose = sheet.points * 0.7
    pose[:, 1] += 1e-3 * np.random.default_rng(0).normal(size=sheet.n)
    system = taut.System(
        sheet.points,
        mass=1e-3,
        energies=[springs, laws.gravity()],
        pose=pose,
        fixed=[0, sheet.n - 1],
    )
    for _, report in taut.simulate(system, taut.ImplicitEuler(), 0.01, 0.05):
        assert report.outcome in ("converged", "rounding floor")
        assert report.iterations < 400
        assert report.decrease >= 0.0


def test_a_step_follows_the_arcs_of_stiff_links():
    """A chain of three stiff links swings down: straight steps needed 36 iterations at first."""
    rod = taut.mesh.rope(3)
    system = taut.System(
        rod.points,
        mass=0.01,
        energies=[laws.spring(rod.edges, k=1e7), laws.gravity()],
        fixed=[0],
    )
    for _, report in taut.simulate(system, taut.ImplicitEuler(), 0.1, 0.3):
        assert report.outcome == "converged"
        assert report.iterations <= 12


def test_cables_at_their_slack_length_converge():
    """Rounding makes them alternately taut and slack: the taut stiffness defines the rounding
    floor.
    """
    block = taut.mesh.block(2, 2, 2)
    cables = laws.cable(np.concatenate([block.edges, block.diagonals]), k=6e3)
    system = taut.System(block.points / 3, mass=1e-3, energies=[cables])
    kick = system.initial_state().with_(
        v=1e-15 * np.random.default_rng(1).normal(size=(block.n, 3))
    )
    for _, report in taut.simulate(system, taut.ImplicitEuler(), 5e-4, 2e-3, state=kick):
        assert report.iterations < 60


def test_rounding_floor_is_a_separate_outcome():
    system = stretched_net(np.random.default_rng(1))
    _, report = taut.ImplicitEuler(tolerance=Tolerance(relative=0.0)).step(
        system, system.initial_state(), 0.05
    )
    assert report.outcome == "rounding floor"
    assert report.tolerance < report.residual <= report.floor < 1e-9


def test_far_from_the_origin_the_floor_rises_with_the_coordinates():
    """A body 1000 km from the origin cannot be balanced to 1e-12 N, and this is reported."""
    system = stretched_net(np.random.default_rng(1))
    far = system.with_(points=system.rest + 1e6, pose=system.pose + 1e6)
    _, near_report = taut.ImplicitEuler(tolerance=Tolerance(1e-13)).step(
        system, system.initial_state(), 0.05
    )
    _, report = taut.ImplicitEuler(tolerance=Tolerance(1e-13)).step(far, far.initial_state(), 0.05)
    assert report.outcome == "rounding floor"
    assert report.floor > 1e4 * max(near_report.floor, 1e-14)


def test_compressed_chain_buckles():
    """Exactly straight and compressed to half: the true Hessian is indefinite."""
    n = 12
    x = np.column_stack([np.linspace(0, 1, n), np.zeros(n), np.zeros(n)])
    edges = np.column_stack([np.arange(n - 1), np.arange(1, n)])
    pose = x * [0.5, 1, 1] + 1e-4 * np.random.default_rng(0).normal(size=x.shape)
    system = taut.System(
        x, mass=0.01, energies=[laws.spring(edges, k=1e3)], pose=pose, fixed=[0, n - 1]
    )
    stiffness = system.K(system.initial_state(), project=False).toarray()
    inertia = np.repeat(system.mass, 3) / 0.05**2
    assert np.linalg.eigvalsh(stiffness + np.diag(inertia))[0] < 0.0
    state, report = taut.ImplicitEuler().step(system, system.initial_state(), 0.05)
    assert report.outcome == "converged"
    assert system.V(state) < 1e-3 * system.V(system.initial_state()), "the chain must buckle"


def test_not_converged_is_raised_with_the_state_intact(monkeypatch):
    monkeypatch.setattr("taut.optimise.newton.MAX_ITERATIONS", 1)
    # The compiled stage of small systems has a limit of its own.
    monkeypatch.setattr(taut.step.Implicit, "_solve_compiled", lambda *_: None)
    system = stretched_net(np.random.default_rng(2))
    state = system.initial_state()
    before = state.q.copy()
    with pytest.raises(taut.NotConverged, match="1 Newton iterations were not enough") as caught:
        taut.ImplicitEuler().step(system, state, 0.2)
    assert caught.value.state is state
    np.testing.assert_array_equal(state.q, before)
    assert caught.value.report.residual > caught.value.report.tolerance
    assert caught.value.report.outcome == "not converged"


def test_inaccurate_linear_solution_raises(monkeypatch):
    monkeypatch.setattr("taut.linalg.multigrid.MAX_RESTARTS", 0)
    monkeypatch.setattr("taut.linalg.multigrid.Multigrid.solve", _solve_inaccurately(taut))
    system = stretched_net(np.random.default_rng(2))
    with pytest.raises(taut.NotConverged, match="linear solver stopped short"):
        taut.LinearlyImplicitEuler(solver="cg").step(system, system.initial_state(), 0.05)


def _solve_inaccurately(_):
    from taut.linalg.linear import Solution

    return lambda self, b, targets: Solution(0 * b, True, np.linalg.norm(b, axis=1), 1)


def test_step_avoids_undefined_energy():
    """A logarithmic barrier at y = 0 under strong gravity: the prediction lies beyond it."""

    @taut.energy
    def floor(x, k):
        return -k * taut.formula.log(x[0][1])

    system = taut.System(
        [[0, 0.1, 0]], mass=1.0, energies=[floor(k=1e-3), laws.gravity()], velocity=[[0, -5.0, 0]]
    )
    state, report = taut.ImplicitEuler().step(system, system.initial_state(), 0.1)
    assert report.outcome == "converged"
    assert 0 < state.q[0, 1] < 0.1
    with pytest.raises(SingularState):
        system.V(system.initial_state().with_(q=[[0, -1.0, 0]]))


def test_step_never_ends_above_its_starting_objective():
    """Springs under heavy compression with a bad prediction: the step never ends above
    its start.
    """
    rng = np.random.default_rng(8)
    for _ in range(20):
        system = stretched_net(rng, scale=rng.uniform(0.05, 3.0), n=4).with_(
            velocity=20 * rng.normal(size=(4, 3))
        )
        _, report = taut.ImplicitEuler().step(system, system.initial_state(), 0.5)
        assert report.decrease >= 0.0 or abs(report.decrease) < 1e-9


def test_reject_bad_tolerances():
    for bad in (-1.0, np.nan, np.inf, 1.0, 2.0, True, np.bool_(False), "1e-8", np.float32(1.0)):
        with pytest.raises(taut.errors.ModelError, match="relative"):
            Tolerance(relative=bad)
    for bad in (-1.0, np.nan, np.inf, True, 10**400):
        with pytest.raises(taut.errors.ModelError, match="force"):
            Tolerance(force=bad)
    kept = Tolerance(np.float32(2.0**-20), force=np.int64(3))
    assert (kept.relative, kept.force) == (2.0**-20, 3.0)
    assert type(kept.relative) is type(kept.force) is float
    assert Tolerance(1e-2, force=5.0).targets(*2 * [np.array([100.0, 1000.0])]).tolist() == [
        5.0,
        10.0,
    ]
    with pytest.raises(taut.errors.ModelError, match=r"tolerance must be a taut\.Tolerance"):
        taut.ImplicitEuler(tolerance=1e-6)


def test_rounding_floor_formula():
    """8ε(gross_i + Σ_j |K_ij| |x_j|)."""
    pattern = Pattern.from_pairs(np.array([[0, 1]]), 2)
    data = np.zeros((4, 3, 3))
    data[:, 0, 0] = [1.0, 2.0, 2.0, 3.0]
    floors = estimate_rounding_floors(
        np.array([10.0, 20.0]), BlockMatrix(pattern, data), np.array([[5.0, 0, 0], [0, -7.0, 1.0]])
    )
    np.testing.assert_allclose(floors, 8 * 2.0**-52 * np.array([10 + 5 + 14, 20 + 10 + 21]))


def rod(k=1e5, bending=100.0):
    """A cantilever whose bending energy k(1 - cos θ)/2 is almost all rounding near the straight
    state.
    """
    x = np.zeros((11, 3))
    x[:, 0] = 0.1 * np.arange(11)
    i, j = np.arange(10), np.arange(9)
    bend = laws.rod_hinge(np.c_[j, j + 1, j + 2], k=bending)
    return taut.System(
        x,
        mass=0.05,
        fixed=[0, 1],
        energies=[laws.spring(np.c_[i, i + 1], k=k), bend, laws.gravity()],
    )


@pytest.mark.parametrize("k", [1e4, 1e5, 1e7])
@pytest.mark.parametrize("solver", ["direct", "cg"])
def test_stiff_rod_converges_despite_rounding_of_its_energy(k, solver):
    for _, report in taut.simulate(rod(k), taut.ImplicitEuler(solver=solver), 1 / 60, 1.0):
        assert report.residual <= max(report.tolerance, report.floor)
        assert report.iterations < 60


def test_plucked_string_with_tiny_strain_converges():
    n = 30
    x = np.column_stack([np.linspace(0, 1, n), np.zeros(n), np.zeros(n)])
    edges = np.column_stack([np.arange(n - 1), np.arange(1, n)])
    for k, solver in ((1e4, "cg"), (1e8, "direct")):
        system = taut.System(
            x,
            mass=1e-3,
            energies=[laws.spring(edges, k=k)],
            fixed=[0, n - 1],
            pose=x * [1, 1, 1] + [[0, 1e-5 * (i == n // 2), 0] for i in range(n)],
        )
        for _, report in taut.simulate(system, taut.ImplicitEuler(solver=solver), 0.01, 0.1):
            assert report.iterations < 60


def test_tolerance_of_a_light_body_ignores_a_heavy_one():
    """1000 kg balanced on a spring next to 10 mg in free fall: the light one falls."""
    system = taut.System(
        [[0, 0, 0], [0, -1, 0], [5, 0, 0]],
        mass=[1.0, 1000.0, 1e-5],
        fixed=[0],
        energies=[laws.spring([[0, 1]], k=1e6), laws.gravity()],
        pose=[[0, 0, 0], [0, -1 - 9810 / 1e6, 0], [5, 0, 0]],
    )
    for integrator in (taut.ImplicitEuler(), taut.LinearlyImplicitEuler()):
        *_, (state, _) = taut.simulate(system, integrator, 0.01, 1.0)
        assert state.v[2, 1] == pytest.approx(-9.81, rel=1e-6)


@pytest.mark.parametrize("angle", [0.0, 0.3, np.pi / 4, 1.2])
@pytest.mark.parametrize("kind", [on_plane, on_line])
def test_constraint_force_does_not_loosen_the_tolerance_along_it(angle, kind):
    along, across = (
        np.array([np.cos(angle), np.sin(angle), 0]),
        np.array([-np.sin(angle), np.cos(angle), 0]),
    )
    held = kind([1], across if kind is on_plane else along)
    system = taut.System(
        [[5, 5, 5], [0, 0, 0]],
        mass=1.0,
        energies=[laws.force([1], f=1e-3 * along), laws.force([1], f=-1e6 * across)],
        constraints=[held],
    )
    for make in (taut.ImplicitEuler, taut.LinearlyImplicitEuler):
        *_, (state, report) = taut.simulate(system, make(tolerance=TIGHT), 0.01, 0.5)
        assert state.v[1] @ along == pytest.approx(0.5e-3, rel=1e-6)
        assert report.tolerance < 1e-9


@pytest.mark.parametrize("integrator", [taut.ImplicitEuler, taut.LinearlyImplicitEuler])
def test_bodies_far_from_the_origin_fall_correctly(integrator):
    """The step solves for the displacement: coordinates of 1000 km do not quantise the velocity."""
    far = taut.System(
        [[1e3, 1e3, 0], [1001, 1e3, 0]],
        mass=1e-7,
        energies=[laws.spring([[0, 1]], k=1e6), laws.gravity()],
    )
    *_, (state, _) = taut.simulate(far, integrator(), 0.01, 1.0)
    assert state.v[:, 1].mean() == pytest.approx(-9.81, rel=1e-3)
    flight = taut.System([[1e6, 1e6, 1e6]], mass=1.0, velocity=[[3e-7, 0, 0]])
    *_, (state, report) = taut.simulate(flight, integrator(), 1e-4, 1e-2)
    assert state.v[0].tolist() == [3e-7, 0.0, 0.0]
    assert report.outcome == "converged"
    heavy = taut.System([[1e4, 0, 0]], mass=1e5, energies=[laws.force(f=(1e-3, 0, 0))])
    *_, (state, _) = taut.simulate(heavy, integrator(), 0.01, 0.1)
    assert state.v[0, 0] == pytest.approx(1e-9, rel=1e-9)


def test_coincident_particles_converge():
    x = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0]])
    system = taut.System(
        x, mass=1.0, energies=[laws.spring([[0, 1], [1, 2], [0, 2]], k=100.0)], pose=1e-15 * x
    )
    _, report = taut.ImplicitEuler().step(system, system.initial_state(), 0.1)
    assert report.outcome == "converged"


@pytest.mark.parametrize("h", [0.0, -0.1, np.nan, np.inf])
def test_reject_bad_step_sizes(h):
    system = taut.System([[0, 0, 0]], mass=1.0)
    with pytest.raises(taut.errors.ModelError, match="h must be"):
        taut.ImplicitEuler().step(system, system.initial_state(), h)
    with pytest.raises(taut.errors.ModelError, match="h must be"):
        taut.simulate(system, taut.ImplicitEuler(), h, 1.0)
