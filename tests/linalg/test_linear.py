"""Linear solvers: solution, reported residual, and detection of matrices that are not positive
definite.
"""

import numpy as np
import pytest

import taut
from taut.errors import ModelError
from taut.linalg.blocks import BlockMatrix, Pattern
from taut.linalg.direct import Direct
from taut.linalg.linear import MAX_CG_ITERATIONS, bandwidth, make_solver
from taut.linalg.multigrid import Multigrid
from taut.system.workspace import workspace_for

every = pytest.mark.parametrize("make", [Direct, Multigrid], ids=lambda s: s.__name__)


def matrix(rng, n=60, lowest=0.5):
    """A random sparse symmetric block matrix with the given lowest eigenvalue."""
    pattern = Pattern.from_pairs(rng.integers(0, n, size=(3 * n, 2)), n)
    data = np.zeros((len(pattern.indices), 3, 3))
    data[pattern.upper] = rng.normal(size=(len(pattern.upper), 3, 3))
    data[pattern.mirror] = data[pattern.upper].transpose(0, 2, 1)
    data[pattern.diagonal] = (
        data[pattern.diagonal] + data[pattern.diagonal].transpose(0, 2, 1)
    ) / 2
    m = BlockMatrix(pattern, data)
    data[pattern.diagonal] += (lowest - np.linalg.eigvalsh(m.to_scipy().toarray())[0]) * np.eye(3)
    return m


@every
def test_solution_and_residual(make):
    rng = np.random.default_rng(0)
    solver = make()
    for _ in range(3):
        a, b = matrix(rng), rng.normal(size=(60, 3))
        solver.analyse(a.pattern)
        assert solver.factor(a)
        s = solver.solve(b, np.full(60, 1e-10))
        dense = a.to_scipy().toarray()
        residual = np.linalg.norm((b.ravel() - dense @ s.x.ravel()).reshape(-1, 3), axis=1)
        assert s.definite
        assert residual.max() <= 1e-10
        np.testing.assert_allclose(s.residuals, residual, atol=1e-14)
        np.testing.assert_allclose(s.x.ravel(), np.linalg.solve(dense, b.ravel()), atol=1e-8)


@every
def test_new_values_on_the_same_pattern(make):
    rng = np.random.default_rng(1)
    a, solver, b = matrix(rng), make(), rng.normal(size=(60, 3))
    for factor in (1.0, 2.0, 0.5):
        scaled = BlockMatrix(a.pattern, factor * a.data)
        solver.analyse(a.pattern)
        assert solver.factor(scaled)
        np.testing.assert_allclose(
            factor * scaled.multiply(solver.solve(b, np.full(60, 1e-11)).x) / factor, b, atol=1e-10
        )


@every
def test_indefinite_matrix_is_detected(make):
    rng = np.random.default_rng(2)
    solver, a = make(), matrix(rng, lowest=-0.5)
    solver.analyse(a.pattern)
    definite = (
        solver.factor(a) and solver.solve(rng.normal(size=(60, 3)), np.full(60, 1e-10)).definite
    )
    assert not definite
    good = matrix(rng)
    assert solver.factor(good), "the solver must keep working afterwards"
    assert solver.solve(np.ones((60, 3)), np.full(60, 1e-10)).residuals.max() <= 1e-10


@every
def test_singular_matrix_is_not_reported_as_solved(make):
    """A zero block: no solution exists for most right-hand sides."""
    rng = np.random.default_rng(3)
    a = matrix(rng, n=5)
    a.data[(a.pattern.rows == 2) | (a.pattern.indices == 2)] = 0.0
    solver = make()
    solver.analyse(a.pattern)
    ok = solver.factor(a)
    if ok:
        s = solver.solve(np.ones((5, 3)), np.full(5, 1e-10))
        assert not s.definite or s.residuals.max() > 1e-10


@every
def test_a_target_out_of_reach_is_reported_as_missed(make):
    rng = np.random.default_rng(4)
    a, b = matrix(rng), rng.normal(size=(60, 3))
    solver = make()
    solver.analyse(a.pattern)
    solver.factor(a)
    s = solver.solve(b, np.zeros(60))
    assert 0.0 < s.residuals.max() < 1e-12


def chain(n):
    return Pattern.from_pairs(np.stack([np.arange(n - 1), np.arange(1, n)], axis=1), n)


def grid(n):
    index = np.arange(n * n).reshape(n, n)
    right, down = (
        np.stack([index[:, :-1], index[:, 1:]], axis=-1),
        np.stack([index[:-1], index[1:]], axis=-1),
    )
    return Pattern.from_pairs(np.concatenate([right.reshape(-1, 2), down.reshape(-1, 2)]), n * n)


def test_auto_chooses_by_size_and_bandwidth():
    """A rope of any length has a narrow band; a cloth only if it is small."""
    for pattern, name in (
        (chain(20_000), Direct.name),
        (grid(10), Direct.name),
        (grid(60), Multigrid.name),
    ):
        solver = make_solver("auto")
        solver.analyse(pattern)
        assert solver.name == name
        assert f"{pattern.n} particles in a band of {bandwidth(pattern)}" in solver.reason
    with pytest.raises(ModelError, match="'auto', 'direct' or 'cg'"):
        make_solver("fast")


def test_auto_falls_back_to_a_factorisation():
    """Random stiffness over eight orders of magnitude between neighbours.

    Conjugate gradients would take thousands of iterations.
    """
    pattern, rng = grid(40), np.random.default_rng(7)
    data = np.zeros((len(pattern.indices), 3, 3))
    for k, m in zip(pattern.upper, pattern.mirror, strict=True):
        if k != m:
            stiff = 10.0 ** rng.uniform(-4, 4) * np.eye(3)
            data[k] = data[m] = -stiff
            data[pattern.diagonal[pattern.rows[k]]] += stiff
            data[pattern.diagonal[pattern.indices[k]]] += stiff
    data[pattern.diagonal] += 1e-3 * np.eye(3)
    a, b = BlockMatrix(pattern, data), rng.normal(size=(pattern.n, 3))
    limits = np.full(pattern.n, 1e-6)
    alone, auto = Multigrid(MAX_CG_ITERATIONS), make_solver("auto")
    assert alone.factor(a)
    assert auto.factor(a)
    assert (alone.solve(b, limits).residuals > limits).any(), "otherwise this test checks nothing"
    s = auto.solve(b, limits)
    assert s.definite
    assert (s.residuals <= limits).all()
    auto.factor(a)
    assert "went to a factorisation" in auto.reason, "all solves of a step count"
    auto.analyse(pattern)
    assert "went to a factorisation" not in auto.reason, "the next solve starts from it"


def test_report_mentions_a_factorisation_only_in_its_step(monkeypatch):
    monkeypatch.setattr("taut.linalg.linear.MAX_CG_ITERATIONS", 1)
    sheet = taut.mesh.sheet(40, 40, size=1.0)
    system = taut.System(
        sheet.points,
        mass=1e-4,
        energies=[taut.laws.spring(sheet.edges, k=1e3), taut.laws.gravity()],
        fixed=[0],
    )
    for method in (taut.LinearlyImplicitEuler(), taut.ImplicitEuler(), taut.TRBDF2()):
        state, report = method.step(system, system.initial_state(), 0.01)
        assert "went to a factorisation" in report.why
        method.solver(workspace_for(system))._solver.inner.max_iterations = None
        _, report = method.step(system, state, 0.01)
        assert "went to a factorisation" not in report.why


def test_targets_are_met_particle_by_particle():
    """A loose target on most particles does not loosen the tight one of another."""
    rng = np.random.default_rng(6)
    a, b = matrix(rng), rng.normal(size=(60, 3))
    targets = np.full(60, 1e-2)
    targets[17] = 1e-12
    solver = Multigrid()
    solver.analyse(a.pattern)
    assert solver.factor(a)
    s = solver.solve(b, targets)
    assert (s.residuals <= targets).all()


def test_nearly_singular_diagonal_blocks():
    """m/h² ten orders below k: the inverse of the block keeps its accuracy."""
    u = np.array([1.0, 2.0, -0.5]) / np.linalg.norm([1.0, 2.0, -0.5])
    block = 1e-10 * np.eye(3) + np.outer(u, u)
    a = BlockMatrix(Pattern.from_pairs(np.empty((0, 2), dtype=np.int64), 1), block[None].copy())
    solver = Multigrid()
    solver.analyse(a.pattern)
    assert solver.factor(a)
    s = solver.solve(np.array([[1.0, 0.0, 0.0]]), np.array([1e-9]))
    assert s.definite
    assert s.residuals[0] <= 8 * 2.0**-52 * np.abs(block).sum() * np.abs(s.x).max(), (
        "no worse than rounding of A x"
    )
