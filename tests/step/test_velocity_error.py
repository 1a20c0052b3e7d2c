"""The bound of the velocity error: stated only where it holds, and then it does."""

import math

import numpy as np
import pytest

import taut
from taut import laws
from taut.step._objective import ImplicitObjective, extrapolate
from taut.step.implicit import Implicit
from taut.system.workspace import workspace_for
from tests.laws.specimens import DISSIPATIONS, ENERGIES, state

LOOSE, TIGHT = taut.Tolerance(relative=0.1), taut.Tolerance(relative=1e-11)


def make_chain(strain, n=12, k=200.0, sideways=1e-3, **more):
    """A chain between two fixed ends, with all springs strained alike, and bent a little."""
    points = np.zeros((n, 3))
    points[:, 0] = 0.1 * (1.0 + strain) * np.arange(n)
    points[:, 1] = sideways * np.sin(np.arange(n))
    edges = np.stack([np.arange(n - 1), np.arange(1, n)], axis=1)
    return taut.System(
        points,
        mass=np.linspace(0.01, 0.03, n),
        energies=[laws.spring(edges, k=k, l0=0.1)],
        fixed=[0, n - 1],
        **more,
    )


def find_matrix(system, at, h, *, increments=False):
    """Return the Hessian of the first stage in units of M/h² on the free particles, and its c."""
    start = extrapolate(system, h, np.array(at.q), np.array(at.v), h)
    objective = ImplicitObjective(
        workspace_for(system), start, at, at.q - start.q, increments=increments
    )
    y = at.q - start.q
    part = objective.definite_part(y)
    matrix = objective._unconstrained(y, objective.inertia, metric=False)
    dense = matrix.to_scipy().toarray()
    for rank in matrix.low_rank:
        dense += rank.weight * np.outer(rank.vector, rank.vector)
    root = np.sqrt(np.repeat(objective.inertia, 3))
    projector = system._projector
    free = np.ones(system.n, dtype=bool)
    free[projector.constrained_particles] = False
    keep = np.repeat(free, 3)
    return (dense / np.outer(root, root))[np.ix_(keep, keep)], part


def error_of(system, integrator, at, h):
    """Return the velocity error of a loose step, measured against a tight one, and the report."""
    loose, report = integrator(tolerance=LOOSE).step(system, at, h)
    tight, _ = integrator(tolerance=TIGHT).step(system, at, h)
    free = np.isfinite(system.mass) & ~np.isin(np.arange(system.n), [0, system.n - 1])
    mass = system.mass[free]
    square = (mass[:, None] * (loose.v - tight.v)[free] ** 2).sum() / mass.sum()
    return math.sqrt(square), report


@pytest.mark.parametrize("strain", [0.2, 0.01, -0.001, -0.01, -0.03, -0.1, -0.3])
def test_the_hessian_is_as_definite_as_its_elements_say(strain):
    """The lowest eigenvalue in units of M/h² is at least c; equal to 1 - 0 where all are taut."""
    system = make_chain(strain)
    matrix, part = find_matrix(system, system.initial_state(), 0.01)
    lowest = float(np.linalg.eigvalsh(matrix)[0])
    assert part <= 1.0
    assert lowest >= part - 1e-12
    if strain > 0.0:
        assert part == pytest.approx(1.0, abs=1e-12)
    if strain == -0.3:
        assert lowest < 0.0  # it is about to buckle


@pytest.mark.parametrize("law", {**ENERGIES, **DISSIPATIONS})
def test_every_law_keeps_to_the_bound(law):
    """Of any law: strained, the lowest eigenvalue of a step's matrix is above the c stated."""
    specimen = {**ENERGIES, **DISSIPATIONS}[law]
    placed, rng = specimen.placed(np.random.default_rng(5)), np.random.default_rng(6)
    group = "energies" if specimen.law.kind == "energy" else "damping"
    arguments = {"energies": [laws.pin(k=30.0)], "damping": []}
    arguments[group] = [*arguments[group], placed.bound]
    system = taut.System(placed.rest, mass=np.linspace(0.5, 2.0, len(placed.rest)), **arguments)
    pose = state(rng, placed)
    at = system.initial_state().with_(q=pose, v=rng.normal(size=pose.shape))
    for increments in (False, True):
        matrix, part = find_matrix(system, at, 0.05, increments=increments)
        eigenvalues = np.linalg.eigvalsh(0.5 * (matrix + matrix.T))
        assert eigenvalues[0] >= part - 1e-9 * np.abs(eigenvalues).max()


@pytest.mark.parametrize("integrator", [taut.ImplicitEuler, taut.BDF2, taut.ImplicitMidpoint])
@pytest.mark.parametrize("strain", [0.2, -0.01, -0.03])
def test_a_bound_that_is_stated_holds(integrator, strain):
    """Of the velocities at the end of the step, also where the stages end elsewhere."""
    system = make_chain(strain)
    rng = np.random.default_rng(3)
    at = system.initial_state().with_(v=0.2 * rng.normal(size=(system.n, 3)))
    found, report = error_of(system, integrator, at, 0.005)
    assert found > 0.0
    assert found <= report.velocity_error < 100.0 * found


def test_bound_counts_what_the_middle_adds_to_the_end():
    """Nearly free particles keep all of the middle's error, twice."""
    system = make_chain(0.2, k=0.5)
    at = system.initial_state().with_(v=0.2 * np.random.default_rng(3).normal(size=(system.n, 3)))
    found, report = error_of(system, taut.ImplicitMidpoint, at, 0.005)
    assert report.velocity_error / 2.0 < found <= report.velocity_error


def test_several_stages_have_no_bound():
    """One particle between two compressed springs: a sum of bounds was exceeded six times."""
    system = make_chain(0.2)
    at = system.initial_state()
    for integrator in (taut.TRBDF2(), taut.Adaptive(taut.ImplicitEuler(), error=1e-9)):
        _, report = integrator.step(system, at.with_(v=np.ones((system.n, 3))), 0.05)
        assert np.isnan(report.velocity_error)


def test_pivots_show_more_than_elements():
    """A sheet that swings down: its compressed springs are held by others."""
    sheet = taut.mesh.sheet(12, 12, size=1.0, plane="xz")
    fixed = sheet.corners("back")
    system = taut.System(
        sheet.points,
        mass=taut.areal_mass(sheet, 0.2),
        fixed=fixed,
        energies=[
            laws.spring(sheet.edges, k=500.0),
            laws.spring(sheet.diagonals, k=100.0),
            laws.gravity(),
        ],
    )
    at, h = system.initial_state(), 0.02
    found = []
    for _ in range(10):
        before = at
        at, report = taut.ImplicitEuler(tolerance=LOOSE).step(system, before, h)
        tight, _ = taut.ImplicitEuler(tolerance=TIGHT).step(system, before, h)
        matrix, part = find_matrix(system, at, h)
        found.append((float(np.linalg.eigvalsh(matrix)[0]), part, report.velocity_error))
        squares = system.mass[:, None] * (at.v - tight.v) ** 2
        error = math.sqrt(squares.sum() / np.delete(system.mass, fixed).sum())
        if math.isfinite(report.velocity_error):
            assert error <= report.velocity_error
    assert sum(part < 0.0 for _, part, _ in found) >= 5  # of which elements show nothing
    assert all(math.isfinite(bound) for lowest, _, bound in found if lowest > 0.3)
    assert sum(part < 0.0 and math.isfinite(bound) for _, part, bound in found) >= 5


@pytest.mark.parametrize("general", [False, True])
def test_compressed_chain_has_no_bound(general, monkeypatch):
    """It is about to buckle: the error is larger than γ|r|/√Σm, which would have been stated."""
    if general:
        monkeypatch.setattr(Implicit, "_solve_compiled", lambda *_: None)
    system = make_chain(-0.1, k=1000.0, sideways=1e-6)
    found, report = error_of(system, taut.ImplicitEuler, system.initial_state(), 0.01)
    assert math.isnan(report.velocity_error)
    assert "velocity error not bounded" in str(report)
    free_mass = system.mass[1:-1].sum()
    assert found > 0.01 * report.residual / math.sqrt(system.mass.max() * free_mass)


def test_run_says_that_there_is_no_bound(tmp_path):
    system = make_chain(-0.1, k=1000.0)
    run = taut.simulate(system, taut.ImplicitEuler(), 0.01, 0.05)
    reports = [report for _, report in run]
    assert any(math.isnan(report.velocity_error) for report in reports)
    worst = run.summary.worst
    assert worst.describe_velocity_error() in str(run.summary)


def test_friction_has_no_bound():
    """Its normal forces follow the positions: the matrix is not symmetric."""
    ground = taut.contact([0], range=2e-3, friction=0.3, planes=[([0, 0, 0], [0, 1, 0])])
    block = taut.System(
        [[0.0, 0.001, 0.0]],
        mass=1.0,
        velocity=[[0.1, 0.0, 0.0]],
        energies=[laws.gravity()],
        contact=ground,
    )
    _, report = taut.ImplicitEuler().step(block, block.initial_state(), 0.01)
    assert math.isnan(report.velocity_error)


def test_linearly_implicit_step_with_the_true_stiffness_may_have_none():
    """Projected stiffness is positive semi-definite; that of compressed springs is not."""
    system = make_chain(-0.1, k=1000.0)
    at = system.initial_state()
    _, projected = taut.LinearlyImplicitEuler().step(system, at, 0.01)
    assert math.isfinite(projected.velocity_error)
    _, true = taut.LinearlyImplicitEuler(project=False).step(system, at, 0.01)
    assert math.isnan(true.velocity_error)
