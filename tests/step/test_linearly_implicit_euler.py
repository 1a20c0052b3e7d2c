"""Linearly implicit Euler against (M + hD + h²K) v' = M v + h f, written out in NumPy.

The force of a spring and the block of its Hessian are the closed forms of the textbooks:
f_i = k(l - l0) d and B = k[(1 - l0/l)(I - dd') + dd'], d the unit vector from i to j.
"""

import numpy as np
import pytest

import taut
from taut import laws
from taut.linalg.blocks import BlockMatrix, Pattern, row_norms
from taut.linalg.indefinite import solve_indefinite
from taut.linalg.low_rank import RankOne

TIGHT = taut.Tolerance(relative=1e-14)
GRAVITY = np.array([0.0, -9.81, 0.0])


def add_springs(q, v, edges, k, rest, c):
    """f (3n,) of the springs, K and D (3n, 3n) by the closed forms; c : of a damper on each."""
    n = len(q)
    f, K, D = np.zeros((n, 3)), np.zeros((3 * n, 3 * n)), np.zeros((3 * n, 3 * n))
    for (i, j), l0 in zip(edges, rest, strict=True):
        x = q[j] - q[i]
        length = np.sqrt(x @ x)
        dd = np.outer(x, x) / length**2
        pull = (k * (length - l0) + c * (v[j] - v[i]) @ x / length) * x / length
        f[i] += pull
        f[j] -= pull
        stiff = k * ((1 - l0 / length) * (np.eye(3) - dd) + dd)
        for matrix, block in ((K, stiff), (D, c * dd)):
            for a, b, sign in ((i, i, 1), (j, j, 1), (i, j, -1), (j, i, -1)):
                matrix[3 * a : 3 * a + 3, 3 * b : 3 * b + 3] += sign * block
    return f.ravel(), K, D


def step_by_hand(q, v, h, mass, fixed, edges, k, rest, c=0.0):
    """One step of the sources' equation: rows and columns of fixed particles left out."""
    f, K, D = add_springs(q, v, edges, k, rest, c)
    f = f + (mass[:, None] * GRAVITY).ravel()
    M = np.diag(np.repeat(mass, 3))
    A = M + h * D + h * h * K
    # f has the damping force at the old velocity, -D v, which the left side counts at the new one.
    right = M @ v.ravel() + h * (f + D @ v.ravel())
    free = np.setdiff1d(np.arange(3 * len(q)), 3 * np.asarray(fixed)[:, None] + np.arange(3))
    new = np.zeros(3 * len(q))
    new[free] = np.linalg.solve(A[np.ix_(free, free)], right[free])
    new = new.reshape(-1, 3)
    return q + h * new, new, np.linalg.eigvalsh(A[np.ix_(free, free)])[0]


def crumpled(rng, k, c=0.0):
    """A tangle whose springs are compressed and stretched by up to half."""
    n = 9
    x = rng.normal(size=(n, 3))
    edges = [(i, j) for i in range(n) for j in range(i) if (i + j) % 2]
    rest = np.linalg.norm(x[[j for _, j in edges]] - x[[i for i, _ in edges]], axis=1)
    system = taut.System(
        x,
        mass=rng.uniform(0.5, 2.0, n),
        fixed=[0, 3],
        energies=[laws.spring(edges, k=k), laws.gravity()],
        damping=[laws.spring_damping(edges, c=c)] if c else [],
        pose=x * rng.uniform(0.5, 1.0, size=(n, 1)),
        velocity=np.where(np.isin(np.arange(n), [0, 3])[:, None], 0.0, rng.normal(size=(n, 3))),
    )
    return system, edges, rest


@pytest.mark.parametrize("solver", ["auto", "direct", "cg"])
@pytest.mark.parametrize(("k", "c"), [(5.0, 0.0), (5.0, 0.7), (4000.0, 0.0), (4000.0, 20.0)])
def test_step_is_the_textbook_equation_to_rounding(k, c, solver, log):
    """On compressed springs; if they are stiff, the matrix is indefinite, as the report says."""
    system, edges, rest = crumpled(np.random.default_rng(1), k, c)
    state, h = system.initial_state(), 0.1
    new, report = taut.LinearlyImplicitEuler(project=False, solver=solver, tolerance=TIGHT).step(
        system, state, h
    )
    q, v, least = step_by_hand(state.q, state.v, h, system.mass, [0, 3], edges, k, rest, c)
    assert ("indefinite" in report.note) == (least < 0.0) == (k > 5.0)
    assert report.solver == ("direct (LU)" if least < 0.0 else report.solver)
    assert [record.message for record in log.records] == ([report.note] if least < 0.0 else [])
    np.testing.assert_allclose(new.v, v, atol=1e-12 * np.abs(v).max())
    np.testing.assert_allclose(new.q, q, atol=1e-12 * np.abs(q).max())
    projected, report = taut.LinearlyImplicitEuler(tolerance=TIGHT).step(system, state, h)
    assert np.abs(projected.v - v).max() > 0.01 * np.abs(v).max()
    assert report.note == ""


def test_a_second_of_a_course_scene():
    """A net dropped with its threads compressed to 80%: an assignment's loop of 50 steps.

    The true stiffness reproduces it to rounding; the projected one ends a third of its motion away.
    """
    net = taut.mesh.sheet(5, 5, size=1.0)
    k, mass, h = 200.0, np.full(len(net.points), 0.05), 0.02
    fixed = net.corners("top")
    system = taut.System(
        net.points,
        mass=mass,
        fixed=fixed,
        energies=[laws.spring(net.edges, k=k, l0=1.25 * net.lengths), laws.gravity()],
        velocity=0.1 * np.sin(np.arange(3 * len(net.points))).reshape(-1, 3),
    )
    ends = {}
    for project in (True, False):
        method = taut.LinearlyImplicitEuler(project=project, tolerance=TIGHT)
        *_, (ends[project], _) = taut.simulate(system, method, h, 1.0)
    start = system.initial_state()
    q, v = np.array(start.q), np.array(start.v)
    for _ in range(50):
        q, v, _ = step_by_hand(q, v, h, mass, fixed, net.edges, k, 1.25 * net.lengths)
    moved = np.abs(q - start.q).max()
    assert np.abs(ends[False].q - q).max() <= 1e-10 * moved
    assert np.abs(ends[True].q - q).max() == pytest.approx(0.339 * moved, rel=0.01)


def strut(**more):
    """A spring of 100 N/m compressed to half its length: -100 N/m across."""
    return taut.System(
        [[0, 0, 0], [1, 0, 0]],
        mass=1.0,
        energies=[laws.spring([[0, 1]], k=100.0)],
        fixed=[0],
        pose=[[0, 0, 0], [0.5, 0, 0]],
        velocity=[[0, 0, 0], [0, 0.3, 0]],
        **more,
    )


@pytest.mark.parametrize("solver", ["auto", "direct", "cg"])
@pytest.mark.parametrize(("h", "v"), [(0.05, 0.4), (0.2, -0.1), (0.2 / 3**0.5, -0.9)])
def test_speed_across_a_strut(h, v, solver):
    """v' = v/(1 + h²k(1 - l0/l)/m): beyond h = 0.1 s the particle is thrown to the other side."""
    method = taut.LinearlyImplicitEuler(project=False, solver=solver, tolerance=TIGHT)
    state, report = method.step(strut(), strut().initial_state(), h)
    assert state.v[1, 1] == pytest.approx(v, rel=1e-12)
    assert ("indefinite" in report.note) == (h > 0.1)
    projected, _ = taut.LinearlyImplicitEuler(solver=solver).step(
        strut(), strut().initial_state(), h
    )
    assert projected.v[1, 1] == pytest.approx(0.3, rel=1e-12)


@pytest.mark.parametrize("solver", ["auto", "direct", "cg"])
@pytest.mark.parametrize("h", [0.1, np.nextafter(0.1, 0.0), np.nextafter(0.1, 1.0)])
def test_singular_matrix_is_refused(h, solver):
    """At h = 0.1 s inertia and compression cancel across the strut."""
    with pytest.raises(
        taut.NotConverged, match="singular; change h, or use project=True"
    ) as caught:
        taut.LinearlyImplicitEuler(project=False, solver=solver).step(
            strut(), strut().initial_state(), h
        )
    assert caught.value.report.outcome == "not converged"


def test_true_stiffness_of_a_total_is_solved_with_its_rank_one_part():
    """A gas in a ball, squeezed so that springs are compressed: K by finite differences of f."""
    ball = taut.mesh.sphere(1, radius=1.0)
    system = taut.System(
        ball.points,
        mass=0.1,
        energies=[laws.gas(ball.triangles, p=20.0, ambient=50.0), laws.spring(ball.edges, k=300.0)],
        pose=0.8 * ball.points,
    )
    state, h, step = system.initial_state(), 0.1, 1e-6
    size = 3 * system.n
    K = np.zeros((size, size))
    for i in range(size):
        e = np.zeros(size)
        e[i] = step
        ends = [system.f(state.with_(q=state.q + s * e.reshape(-1, 3))) for s in (1, -1)]
        K[:, i] = -(ends[0] - ends[1]).ravel() / (2 * step)
    A = 0.1 * np.eye(size) + h * h * K
    assert np.linalg.eigvalsh((A + A.T) / 2)[0] < 0.0
    v = np.linalg.solve(A, h * system.f(state).ravel())
    new, report = taut.LinearlyImplicitEuler(project=False).step(system, state, h)
    np.testing.assert_allclose(new.v.ravel(), v, atol=1e-6 * np.abs(v).max())
    assert "indefinite" in report.note


@pytest.mark.parametrize("value", [1, "no", None])
def test_project_is_a_boolean(value):
    with pytest.raises(taut.errors.ModelError, match="project must be True or False"):
        taut.LinearlyImplicitEuler(project=value)


def test_indefinite_solve_needs_interchanges():
    """[[0, 1], [1, 0]] in each plane has no LDLᵀ without them; its rank-one part is a border."""
    pattern = Pattern.from_pairs(np.array([[0, 1]]), 2)
    data = np.zeros((4, 3, 3))
    data[1], data[2] = np.diag([1.0, 2.0, 4.0]), np.diag([1.0, 2.0, 4.0])
    b = np.array([[1.0, 2.0, 3.0], [-1.0, 0.5, 0.25]])
    for low_rank in ((), (RankOne(-3.0, np.arange(6.0).reshape(2, 3)),)):
        matrix = BlockMatrix(pattern, data, low_rank)
        found = solve_indefinite(matrix, b)
        expected = np.linalg.solve(matrix.to_scipy().toarray(), b.ravel())
        np.testing.assert_allclose(found.x.ravel(), expected, rtol=1e-13, atol=1e-14)
        assert not found.definite
        assert found.residuals.max() <= 1e-13 * row_norms(b).max()
    assert solve_indefinite(BlockMatrix(pattern, np.zeros((4, 3, 3))), b) is None
