"""Multigrid: levels from the pattern alone, coarse matrices, and mesh-independent
iteration counts.
"""

import copy
import pickle
import signal
import threading

import numba
import numpy as np
import pytest
from scipy.sparse import csr_array, kron

import taut
from taut.bench.net import cloth
from taut.linalg._hierarchy import MAX_FILL, Hierarchy
from taut.linalg.blocks import BlockMatrix, ConstrainedRows, Pattern
from taut.linalg.multigrid import Multigrid
from taut.system.workspace import workspace_for
from taut.watch import watching
from tests.linalg.slow_solve import solve_slowly


def grid(n):
    index = np.arange(n * n).reshape(n, n)
    right, down = (
        np.stack([index[:, :-1], index[:, 1:]], axis=-1),
        np.stack([index[:-1], index[1:]], axis=-1),
    )
    return Pattern.from_pairs(np.concatenate([right.reshape(-1, 2), down.reshape(-1, 2)]), n * n)


def step_of_cloth(n, stiffness=1.0):
    """The matrix of an implicit step of the benchmark's cloth, slightly bent, and its forces."""
    system = cloth(n, stiffness).system()
    q = np.array(system.initial_state().q)
    q[:, 1] -= 0.05 * np.sin(3 * q[:, 0]) * np.sin(2 * q[:, 2])
    state = system.initial_state().with_(q=system._projector.project_positions(q, 0.0))
    matrix = workspace_for(system).stiffness(state, project=True).copy()
    matrix.data[matrix.pattern.diagonal] += (system.mass / 0.01**2)[:, None, None] * np.eye(3)
    system._projector.apply_to_matrix(matrix)
    return matrix, system._projector.project(system.f(state))


def prolongation(h, level):
    """P from a level to the next finer one, with one number for the three directions."""
    up, rows, below = h.interpolation, slice(h.rows[level], h.rows[level + 1]), h.rows[level + 1]
    first, last = up.indptr[rows.start], up.indptr[rows.stop]
    indptr = up.indptr[rows.start : rows.stop + 1] - first
    shape = (rows.stop - rows.start, int(h.rows[level + 2] - below))
    return csr_array((up.weights[first:last], up.indices[first:last] - below, indptr), shape=shape)


def test_interpolation_carries_translations_and_restriction_is_its_transpose():
    h = Hierarchy.from_pattern(grid(30))
    assert h.levels > 2
    for level in range(h.levels - 1):
        p = prolongation(h, level)
        np.testing.assert_allclose(p.sum(axis=1), 1.0, rtol=1e-14)
        down, first = h.restriction, h.rows[level + 1]
        rows = slice(down.indptr[first], down.indptr[h.rows[level + 2]])
        back = csr_array(
            (
                down.weights[rows],
                down.indices[rows] - h.rows[level],
                down.indptr[first : h.rows[level + 2] + 1] - rows.start,
            ),
            shape=p.shape[::-1],
        )
        assert abs(back - p.T).max() == 0.0


def test_coarse_matrices_are_galerkin_products():
    matrix, _ = step_of_cloth(12)
    solver = Multigrid()
    assert solver.factor(matrix)
    h, fine = Hierarchy.from_pattern(matrix.pattern), matrix.to_scipy()
    coarse_blocks = solver._coarsening.coarse_data.reshape(-1, 3, 3)
    for level in range(h.levels - 1):
        p = kron(prolongation(h, level), np.eye(3))
        coarse = (p.T @ fine @ p).toarray()
        start = h.blocks[level + 1] - h.blocks[1]
        pattern = Pattern(
            h.indptr[h.rows[level + 1] : h.rows[level + 2] + 1] - np.int32(h.blocks[level + 1]),
            h.indices[h.blocks[level + 1] : h.blocks[level + 2]] - np.int32(h.rows[level + 1]),
        )
        made = BlockMatrix(pattern, coarse_blocks[start : start + len(pattern.indices)])
        np.testing.assert_allclose(
            made.to_scipy().toarray(), coarse, atol=1e-12 * abs(coarse).max()
        )
        fine = made.to_scipy()


def test_a_hub_does_not_fill_the_coarse_levels():
    """One particle joined to all others, in addition to their chain.

    Overlapping aggregates would join everything with everything.
    """
    n = 3000
    chain = np.stack([np.arange(1, n - 1), np.arange(2, n)], axis=1)
    spokes = np.stack([np.zeros(n - 1, dtype=np.int64), np.arange(1, n)], axis=1)
    h = Hierarchy.from_pattern(Pattern.from_pairs(np.concatenate([chain, spokes]), n))
    assert len(h.ap.source) + len(h.pap.source) <= 3 * MAX_FILL * h.blocks[1]


def test_particles_without_neighbours_have_no_coarse_ones():
    h = Hierarchy.from_pattern(Pattern.from_pairs(np.array([[0, 1], [1, 2]]), 1000))
    assert h.rows[2] - h.rows[1] == 1
    a = BlockMatrix(Pattern.from_pairs(np.array([[0, 1], [1, 2]]), 1000), np.zeros((1004, 3, 3)))
    a.data[a.pattern.diagonal] = np.arange(1, 1001)[:, None, None] * np.eye(3)
    solver, b = Multigrid(), np.ones((1000, 3))
    assert solver.factor(a)
    s = solver.solve(b, np.full(1000, 1e-12))
    np.testing.assert_allclose(s.x, b / np.arange(1, 1001)[:, None], rtol=1e-12)


@pytest.mark.parametrize("stiffness", [1.0, 100.0])
def test_iterations_hardly_grow_with_the_mesh(stiffness):
    """To a residual of 1e-6, on 20 × 20, 40 × 40 and 80 × 80 particles.

    With block Jacobi alone the iterations double each time.
    """
    counts = []
    for n in (20, 40, 80):
        matrix, b = step_of_cloth(n, stiffness)
        solver = Multigrid()
        assert solver.factor(matrix)
        s = solver.solve(b, np.full(len(b), 1e-6 * np.linalg.norm(b) / n))
        assert np.linalg.norm(s.residuals) <= 1e-6 * np.linalg.norm(b)
        counts.append(s.iterations)
    assert max(counts) < 1.5 * min(counts)


def sheet_step(cells, stiffness=1e3, spread=0.0):
    """The matrix of a step of a sheet with random points and random forces.

    Masses vary over `spread` decades.
    """
    rng = np.random.default_rng(5)
    sheet = taut.mesh.sheet(cells, cells, size=1.0)
    mass = 1e-4 * 10.0 ** rng.uniform(0.0, spread, sheet.n)
    springs = [
        taut.laws.spring(sheet.edges, k=stiffness),
        taut.laws.spring(sheet.diagonals, k=0.3 * stiffness),
    ]
    system = taut.System(sheet.points, mass=mass, energies=springs, fixed=[0])
    state = system.initial_state().with_(
        q=system._projector.project_positions(
            sheet.points + 1e-3 * rng.normal(size=(sheet.n, 3)), 0.0
        )
    )
    matrix = workspace_for(system).stiffness(state, project=True).copy()
    matrix.data[matrix.pattern.diagonal] += (system.mass / 0.01**2)[:, None, None] * np.eye(3)
    system._projector.apply_to_matrix(matrix)
    return matrix, system._projector.project(rng.normal(size=(sheet.n, 3)))


@pytest.mark.parametrize("cells", [39, 40])
@pytest.mark.parametrize(("stiffness", "spread"), [(1e3, 0.0), (1e5, 0.0), (1e3, 4.0)])
def test_smoothing_does_not_overshoot(cells, stiffness, spread):
    """The largest eigenvalue of D⁻¹A is estimated from below, within the margin.

    For rows of any length and masses of any range.
    """
    matrix, b = sheet_step(cells, stiffness, spread)
    solver = Multigrid()
    assert solver.factor(matrix)
    inverse = np.linalg.inv(matrix.data[matrix.pattern.diagonal])
    x = np.random.default_rng(1).normal(size=b.shape)
    for _ in range(300):
        y = np.einsum("nij,nj->ni", inverse, matrix.multiply(x))
        largest = np.linalg.norm(y) / np.linalg.norm(x)
        x = y / np.linalg.norm(y)
    assert 1.2 < solver._levels.omega[0] * largest < 1.6, "the target is 3/2; 2 diverges"
    s = solver.solve(b, np.full(len(b), 1e-6 * np.linalg.norm(b) / np.sqrt(len(b))))
    assert s.iterations < 60
    assert np.linalg.norm(s.residuals) <= 1e-6 * np.linalg.norm(b)


def test_smoothing_that_overshoots_is_damped():
    """With a badly underestimated eigenvalue the cycle is not positive any more.

    The iteration detects this and continues with less relaxation.
    """
    matrix, b = sheet_step(40)
    solver = Multigrid()
    solver.factor(matrix)
    solver._levels.omega[:] *= 1.7
    s = solver.solve(b, np.full(len(b), 1e-6 * np.linalg.norm(b) / np.sqrt(len(b))))
    assert np.linalg.norm(s.residuals) <= 1e-6 * np.linalg.norm(b)
    assert s.iterations < 200


def test_fixed_particles_do_not_move():
    """Not even by rounding, although coarse levels ignore constraints.

    An oblique plane leaks rounding only.
    """
    matrix, b = step_of_cloth(20)
    solver = Multigrid()
    solver.factor(matrix)
    s = solver.solve(b, np.full(len(b), 1e-9))
    assert len(matrix.constrained.rows) == 2
    assert not s.x[matrix.constrained.rows].any()
    assert not s.residuals[matrix.constrained.rows].any()
    normal = np.array([1.0, 2.0, 2.0]) / 3.0
    free = np.eye(3) - np.outer(normal, normal)
    pattern = grid(12)
    data = -np.ones((len(pattern.indices), 1, 1)) * np.eye(3)
    data[pattern.diagonal] = 5.0 * np.eye(3)
    k = pattern.rows == 70
    data[k | (pattern.indices == 70)] = np.einsum(
        "ij,njk->nik", free, data[k | (pattern.indices == 70)]
    )
    data[pattern.diagonal[70]] = 5.0 * np.eye(3)
    a = BlockMatrix(pattern, data, constrained=ConstrainedRows(np.array([70]), free[None]))
    rhs = np.random.default_rng(0).normal(size=(144, 3))
    rhs[70] = free @ rhs[70]
    solver.factor(a)
    assert abs(solver.solve(rhs, np.full(144, 1e-12)).x[70] @ normal) < 1e-14


def test_one_thread_two_threads_and_a_new_solver_give_the_same_bits():
    matrix, b = step_of_cloth(40)
    limits, found = np.full(len(b), 1e-8), []
    used = Multigrid()
    used.factor(step_of_cloth(40, 100.0)[0])  # earlier matrices must not matter
    before = numba.get_num_threads()
    try:
        for solver, threads in ((used, 1), (Multigrid(), min(2, before)), (Multigrid(), 1)):
            numba.set_num_threads(threads)
            assert solver.factor(matrix)
            found.append(solver.solve(b, limits).x.tobytes())
    finally:
        numba.set_num_threads(before)
    assert len(set(found)) == 1


def test_reuse_for_a_similar_matrix_changes_only_the_work():
    """The smoother of a soft cloth serves a stiff one after some overshooting.

    A fresh start forgets it.
    """
    (soft, _), (stiff, b) = step_of_cloth(40), step_of_cloth(40, 100.0)
    limits, fresh, kept = np.full(len(b), 1e-8 * np.abs(b).max()), Multigrid(), Multigrid()
    assert fresh.factor(stiff)
    wanted = fresh.solve(b, limits)
    assert kept.factor(soft)
    assert kept.factor(stiff, similar=True)
    found = kept.solve(b, limits)
    assert found.definite
    assert (found.residuals <= limits).all()
    assert found.iterations < 3 * wanted.iterations
    assert kept.factor(stiff)
    assert kept.solve(b, limits).x.tobytes() == wanted.x.tobytes()


def test_rejected_matrix_leaves_no_state():
    """Nor of matrices before it: a resumed run has not seen them."""
    (soft, _), (stiff, b) = step_of_cloth(40), step_of_cloth(40, 100.0)
    bad = BlockMatrix(stiff.pattern, -stiff.data)
    fresh, used, limits = Multigrid(), Multigrid(), np.full(len(b), 1e-8 * np.abs(b).max())
    assert used.factor(soft)
    for solver in (fresh, used):
        assert not solver.factor(bad)
        assert solver.factor(stiff, similar=True)
    assert used.solve(b, limits).x.tobytes() == fresh.solve(b, limits).x.tobytes()


def test_copies_share_no_arrays():
    """Otherwise the copy and the original would write to the same arrays."""
    matrix, b = sheet_step(12)
    solver = Multigrid()
    assert solver.factor(matrix)
    targets = np.full(len(b), 1e-9)
    for copied in (copy.deepcopy(solver), pickle.loads(pickle.dumps(solver))):
        assert copied.factor(matrix)
        assert np.array_equal(copied.solve(b, targets).x, solver.solve(b, targets).x)


def test_failed_analysis_keeps_the_old_hierarchy(monkeypatch):
    matrix, b = sheet_step(12)
    other, _ = sheet_step(16)
    solver, targets = Multigrid(), np.full(len(b), 1e-9)
    assert solver.factor(matrix)
    with monkeypatch.context() as patched:
        patched.setattr("taut.linalg.multigrid.allocate_levels", lambda *given: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            solver.analyse(other.pattern)
    assert (solver.solve(b, targets).residuals <= targets).all()


def test_damping_survives_a_failed_similar_matrix():
    """Within a step an indefinite Hessian is followed by its projection, which is similar."""
    (soft, _), (stiff, _) = step_of_cloth(20), step_of_cloth(20, 100.0)
    stiff = BlockMatrix(soft.pattern, stiff.data)
    solver = Multigrid()
    assert solver.factor(soft)
    omega = solver._levels.omega.copy()
    assert not solver.factor(BlockMatrix(soft.pattern, -stiff.data), similar=True)
    assert solver.factor(stiff, similar=True)
    assert np.array_equal(solver._levels.omega, omega)
    assert solver.factor(stiff)
    assert not np.array_equal(solver._levels.omega, omega)


@pytest.mark.parametrize("max_iterations", [None, 7])
def test_pauses_do_not_change_the_bits(monkeypatch, max_iterations):
    """Python is called after each iteration, or only at the end."""
    matrix, b = step_of_cloth(20, 100.0)
    targets, solutions, calls = np.full(len(b), 1e-9 * abs(b).max()), [], []
    for blocks in (1, 10**12):
        monkeypatch.setattr("taut.linalg.multigrid.BLOCKS_PER_PAUSE", blocks)
        solver, seen = Multigrid(max_iterations), []
        assert solver.factor(matrix)
        with watching(lambda work, seen=seen: seen.append(work.linear_iterations)):
            solutions.append(solver.solve(b, targets))
        calls.append(seen)
    paused, whole = solutions
    assert paused.x.tobytes() == whole.x.tobytes()
    assert paused.residuals.tobytes() == whole.residuals.tobytes()
    assert paused.iterations == whole.iterations
    assert calls[1] == [0]
    assert calls[0][: whole.iterations] == list(range(whole.iterations))


def test_solver_is_usable_after_an_interrupted_solve(monkeypatch):
    """A solve that is cut short returns nothing; the next one has the bits of a new solver."""
    matrix, b = step_of_cloth(20, 100.0)
    targets = np.full(len(b), 1e-9 * abs(b).max())
    fresh, used = Multigrid(), Multigrid()
    assert fresh.factor(matrix)
    assert used.factor(matrix)
    monkeypatch.setattr("taut.linalg.multigrid.BLOCKS_PER_PAUSE", 1)

    def interrupt(work):
        if work.linear_iterations == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), watching(interrupt):
        used.solve(b, targets)
    assert used.solve(b, targets).x.tobytes() == fresh.solve(b, targets).x.tobytes()


def test_ctrl_c_within_a_compiled_solve():
    """The solve would take minutes. A timer sends the signal while compiled code is running."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(1.0, signal.raise_signal, [signal.SIGINT])
    try:
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            solve_slowly()
    finally:
        timer.cancel()
        signal.signal(signal.SIGINT, before)
