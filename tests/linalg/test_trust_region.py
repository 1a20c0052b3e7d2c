"""Quadratic models in a ball: against dense algebra, for exact and for multigrid metrics."""

import numba
import numpy as np
import pytest

from taut.bench.timing import threads
from taut.linalg.blocks import BlockMatrix, Pattern, dot
from taut.linalg.direct import Direct, Woodbury
from taut.linalg.low_rank import RankOne
from taut.linalg.multigrid import Multigrid
from taut.linalg.trust_region import MAX_KRYLOV_VECTORS, FactoredModel, _find_step_in_ball

N = 20


def random_matrix(rng, lowest, n=N):
    """A random sparse symmetric block matrix with the given lowest eigenvalue."""
    pattern = Pattern.from_pairs(rng.integers(0, n, size=(3 * n, 2)), n)
    data = np.zeros((len(pattern.indices), 3, 3))
    data[pattern.upper] = rng.normal(size=(len(pattern.upper), 3, 3))
    data[pattern.mirror] = data[pattern.upper].transpose(0, 2, 1)
    data[pattern.diagonal] += data[pattern.diagonal].transpose(0, 2, 1)
    m = BlockMatrix(pattern, data)
    data[pattern.diagonal] += (lowest - np.linalg.eigvalsh(dense(m))[0]) * np.eye(3)
    return m


def dense(matrix):
    return matrix.to_scipy().toarray()


def random_pair(seed, lowest):
    """A Hessian with the given lowest eigenvalue, and a positive definite metric with its pattern:
    its own, moved up, and other numbers on the diagonal.
    """
    rng = np.random.default_rng(seed)
    hessian = random_matrix(rng, lowest)
    metric = hessian.copy()
    metric.data[metric.pattern.diagonal] += (0.5 - min(lowest, 0.0)) * np.eye(3)
    metric.data[metric.pattern.diagonal] *= rng.uniform(1.0, 2.0)
    return hessian, metric, rng.normal(size=(N, 3))


def compressed_net(n, a=30.0, noise=0.0):
    """The Hessian and metric of an n×n net of springs of which a patch is compressed, with b."""
    index = np.arange(n * n).reshape(n, n)
    right = np.stack([index[:, :-1], index[:, 1:]], axis=-1).reshape(-1, 2)
    down = np.stack([index[:-1], index[1:]], axis=-1).reshape(-1, 2)
    pairs = np.concatenate([right, down])
    pattern = Pattern.from_pairs(pairs, n * n)
    x = np.stack([np.arange(n * n) // n, np.arange(n * n) % n, np.zeros(n * n)], axis=1)
    x = x + 0.1 * np.random.default_rng(0).normal(size=x.shape)
    rest = np.where((x[pairs].mean(axis=1)[:, :2] < n / 2).all(axis=1), 1.3, 0.8) + noise
    d = x[pairs[:, 1]] - x[pairs[:, 0]]
    length = np.linalg.norm(d, axis=1)
    u = d / length[:, None]
    uu = np.einsum("ei,ej->eij", u, u)
    keys = pattern.rows.astype(int) * n * n + pattern.indices
    made = []
    for is_metric in (False, True):
        across = 1.0 - rest / length
        across = np.maximum(across, 0.0) if is_metric else across
        block = 1000.0 * (uu + across[:, None, None] * (np.eye(3) - uu))
        data = np.zeros((len(keys), 3, 3))
        for p, q, sign in ((0, 0, 1), (1, 1, 1), (0, 1, -1), (1, 0, -1)):
            slots = np.searchsorted(keys, pairs[:, p] * n * n + pairs[:, q])
            np.add.at(data, slots, sign * block)
        data[pattern.diagonal] += a * np.eye(3)
        made.append(BlockMatrix(pattern, data))
    return *made, np.random.default_rng(1).normal(size=(n * n, 3))


def solve_densely(h, m, b, radius):
    """x = (|H| + λM)⁻¹b within x·M x ≤ radius², by eigenvectors of M⁻¹H; returns x and decrease.

    If H is positive definite, that is the minimum of ½x·H x - b·x in the ball.
    """
    root = np.linalg.cholesky(m)
    inverse = np.linalg.inv(root)
    theta, vectors = np.linalg.eigh(inverse @ h @ inverse.T)
    size, c = np.abs(theta), vectors.T @ (inverse @ b)
    low, high = 0.0, 0.0
    if np.linalg.norm(c / size) > radius:
        high = np.linalg.norm(c) / radius
        for _ in range(200):
            middle = 0.5 * (low + high)
            longer = np.linalg.norm(c / (size + middle)) > radius
            low, high = (middle, high) if longer else (low, middle)
    x = inverse.T @ (vectors @ (c / (size + high)))
    return x, b @ x - 0.5 * x @ h @ x


def model_with(solver, hessian, metric, b, target=1e-9):
    solver.analyse(metric.pattern)
    assert solver.factor(metric)
    return solver.model(hessian, b, np.full(len(b), target))


def decrease_of(hessian, b, x):
    return dot(b, x) - 0.5 * dot(x, hessian.multiply(x))


def absolute(h, m):
    """|H| in the metric M: the same eigenvectors of M⁻¹H, with absolute values."""
    root = np.linalg.cholesky(m)
    inverse = np.linalg.inv(root)
    theta, vectors = np.linalg.eigh(inverse @ h @ inverse.T)
    return root @ (vectors * np.abs(theta)) @ vectors.T @ root.T


def cauchy_decrease(h, b, z, radius):
    """The largest decrease along z = M⁻¹b within the radius: the least that a step should reach."""
    b, z = b.ravel(), z.ravel()
    length, slope = (b @ z) ** 0.5, b @ z
    curvature = z @ h @ z
    s = radius / length
    if curvature > 0.0:
        s = min(s, slope / curvature)
    return s * slope - 0.5 * s * s * curvature


lowest = pytest.mark.parametrize("lowest", [-20.0, -2.0, -0.01, 0.5])
radii = pytest.mark.parametrize("radius", [1e-4, 0.1, 1.0, 30.0])


@lowest
@radii
@pytest.mark.parametrize("seed", range(3))
def test_step_of_an_exact_metric_agrees_with_dense_algebra(seed, lowest, radius):
    hessian, metric, b = random_pair(seed, lowest)
    model = model_with(Direct(), hessian, metric, b)
    step = model.minimise(radius)
    h, m, x = dense(hessian), dense(metric), step.x.ravel()
    best, decrease = solve_densely(h, m, b.ravel(), radius)
    assert step.decrease == pytest.approx(decrease_of(hessian, b, step.x), rel=1e-5)
    assert (x @ m @ x) ** 0.5 == pytest.approx(step.length, rel=1e-6)
    assert step.length <= radius * (1.0 + 1e-3)
    if step.ending == "inside":
        assert step.converged
        np.testing.assert_allclose(x, best, rtol=1e-6, atol=1e-8)
    z = np.linalg.solve(m, b.ravel())
    assert step.decrease >= cauchy_decrease(absolute(h, m), b, z, radius) * (1.0 - 1e-9)
    # The space ends where (|H| + λM)x = b is left by a tenth of b, in the metric; it also ends with
    # its first vector, if that has negative curvature.
    if lowest > 0.0:
        assert 0.98 * decrease <= step.decrease <= decrease * (1.0 + 1e-5)


@pytest.mark.parametrize("accuracy", [1e-6, 1e-10])
def test_whole_krylov_space_holds_the_minimum(monkeypatch, accuracy):
    """With no tenth of b left, the step is the dense one, not only its decrease."""
    monkeypatch.setattr("taut.linalg.trust_region._BOUNDARY_ACCURACY", accuracy)
    for seed in range(4):
        hessian, _, b = random_pair(seed, -0.3)
        model = FactoredModel(hessian, lambda r: r, b, np.full(N, 1e-9))
        step = model.minimise(2.0)
        best, decrease = solve_densely(dense(hessian), np.eye(3 * N), b.ravel(), 2.0)
        assert step.ending == "boundary"
        assert step.decrease == pytest.approx(decrease, rel=1e-6)
        np.testing.assert_allclose(step.x.ravel(), best, atol=2e-3 * np.abs(best).max())


@pytest.mark.parametrize("make", [Direct, Multigrid], ids=lambda s: s.__name__)
@pytest.mark.parametrize("radius", [0.0, 1e6])
def test_inside_solution_of_a_definite_hessian_is_the_linear_one(make, radius):
    for hessian, metric, b in (random_pair(0, 0.5), compressed_net(8, a=4000.0)):
        assert np.linalg.eigvalsh(dense(hessian))[0] > 0.0
        step = model_with(make(), hessian, metric, b, 1e-10).minimise(radius)
        assert (step.ending, step.converged) == ("inside", True)
        assert np.linalg.norm(b - hessian.multiply(step.x), axis=1).max() <= 1e-10
        solution = np.linalg.solve(dense(hessian), b.ravel())
        np.testing.assert_allclose(step.x.ravel(), solution, atol=1e-8)
        assert step.decrease == pytest.approx(0.5 * b.ravel() @ solution, rel=1e-9)


@radii
@pytest.mark.parametrize("a", [30.0, 300.0, 4000.0])
def test_step_of_multigrid(a, radius):
    """Its metric is known only through the cycle: lengths as it reports them, the rest is checked.

    The basis is stored in single precision.
    """
    hessian, metric, b = compressed_net(8, a=a)
    model = model_with(Multigrid(), hessian, metric, b)
    step = model.minimise(radius)
    assert step.decrease == pytest.approx(decrease_of(hessian, b, step.x), rel=1e-5)
    assert 0.0 < step.length <= radius * (1.0 + 1e-3)
    # One cycle is close to M⁻¹, so the lengths are close to those of M, and the decreases too.
    x, m = step.x.ravel(), dense(metric)
    assert (x @ m @ x) ** 0.5 == pytest.approx(step.length, rel=0.5)
    h, z = dense(hessian), np.linalg.solve(m, b.ravel())
    assert step.decrease >= 0.5 * cauchy_decrease(absolute(h, m), b, z, radius)
    if np.linalg.eigvalsh(h)[0] > 0.0:
        _, decrease = solve_densely(h, m, b.ravel(), radius)
        assert step.decrease >= 0.5 * decrease


@pytest.mark.parametrize("make", [Direct, Multigrid], ids=lambda s: s.__name__)
@pytest.mark.parametrize("a", [30.0, 4000.0])
def test_smaller_radius_of_the_same_model(make, a):
    """Shorter, a smaller decrease, no further iterations; and as a fresh model would have it."""
    hessian, metric, b = compressed_net(8, a=a)
    model = model_with(make(), hessian, metric, b)
    step = model.minimise(3.0)
    for _ in range(6):
        iterations, radius = model.iterations, 0.4 * step.length
        shorter = model.minimise(radius)
        assert shorter.ending == "boundary"
        assert shorter.length == pytest.approx(radius, rel=1e-3)
        assert 0.0 < shorter.decrease < step.decrease
        assert shorter.decrease >= 0.4**2 * step.decrease * (1.0 - 1e-5), "along the same ray"
        assert shorter.decrease == pytest.approx(decrease_of(hessian, b, shorter.x), rel=1e-5)
        assert model.iterations == iterations
        fresh = model_with(make(), hessian, metric, b).minimise(radius)
        assert fresh.decrease == pytest.approx(shorter.decrease, rel=0.02)
        step = shorter


@pytest.mark.parametrize("make", [Direct, Multigrid], ids=lambda s: s.__name__)
def test_negative_curvature_is_used_without_a_radius(make):
    """An indefinite model falls without bound: a radius is chosen, and the step curves down."""
    hessian, metric, b = compressed_net(8, a=30.0)
    assert np.linalg.eigvalsh(dense(hessian))[0] < 0.0
    step = model_with(make(), hessian, metric, b).minimise(0.0)
    assert step.ending == "boundary"
    assert step.decrease == pytest.approx(decrease_of(hessian, b, step.x), rel=1e-5)
    assert step.decrease > 0.0
    longer = model_with(make(), hessian, metric, b).minimise(10.0 * step.length, caution=1e-3)
    assert dot(longer.x, hessian.multiply(longer.x)) < 0.0
    assert longer.decrease > 10.0 * step.decrease, "faster than the slope alone"


@pytest.mark.parametrize("weight", [50.0, -0.5])
def test_low_rank_parts_belong_to_the_model(weight):
    """In the metric only if they are positive, in the Hessian always."""
    hessian, metric, b = random_pair(5, 3.0)
    term = (RankOne(weight, np.random.default_rng(6).normal(size=(N, 3))),)
    hessian.low_rank = term
    metric.low_rank = term if weight > 0.0 else ()
    step = model_with(Woodbury(Direct()), hessian, metric, b).minimise(0.5)
    _, decrease = solve_densely(dense(hessian), dense(metric), b.ravel(), 0.5)
    assert step.decrease == pytest.approx(decrease_of(hessian, b, step.x), rel=1e-5)
    assert 0.98 * decrease <= step.decrease <= decrease * (1.0 + 1e-5)


def test_krylov_space_is_bounded():
    """A useless metric, the identity: the space ends before it holds the minimum, which is fine."""
    rng = np.random.default_rng(7)
    hessian, b = random_matrix(rng, -5.0, 200), rng.normal(size=(200, 3))
    model = FactoredModel(hessian, lambda r: r, b, np.full(200, 1e-12))
    step = model.minimise(1e4)
    assert len(model.slopes) <= MAX_KRYLOV_VECTORS
    assert step.decrease == pytest.approx(decrease_of(hessian, b, step.x), rel=1e-5)
    assert step.length <= 1e4 * (1.0 + 1e-3)
    h = absolute(dense(hessian), np.eye(600))
    assert step.decrease >= cauchy_decrease(h, b, b, 1e4) * (1.0 - 1e-9)


def test_absolute_values_of_curvatures():
    """Each eigenvector goes as far as its own curvature says, the radius permitting."""
    y = _find_step_in_ball(np.array([[-4.0]]), 1.0, 2.0, 1.0)
    assert y.tolist() == [0.25]
    assert _find_step_in_ball(np.array([[-4.0]]), 1.0, 2.0, 0.25).tolist() == [1.0]
    assert _find_step_in_ball(np.array([[-4.0]]), 1.0, 2.0, 1e-3) == pytest.approx(2.0, rel=1e-5)
    t = np.array([[1.0, 2.0], [2.0, 1.0]])  # eigenvalues 3 and -1
    np.testing.assert_allclose(_find_step_in_ball(t, 1.0, 9.0, 1.0), [2 / 3, -1 / 3], rtol=1e-12)
    # The lowest of many negative curvatures does not take the radius from the others.
    t = np.diag([-1.0, -1e3]) + 1e-3 * (1.0 - np.eye(2))
    y = _find_step_in_ball(t, 1.0, 0.5, 1.0)
    assert y[0] == pytest.approx(0.5, rel=1e-3)
    assert abs(y[1]) < 1e-5


@pytest.mark.parametrize("steep", [1e20, -1e20])
def test_steep_curvature_does_not_hide_the_radius(steep):
    y = _find_step_in_ball(np.diag([3.0, steep]) + 1e-3 * np.ones((2, 2)), 1.0, 0.1, 1.0)
    assert np.linalg.norm(y) <= 0.1 * (1.0 + 1e-5)


@pytest.mark.parametrize("radius", [0.0, 0.05, 3.0])
def test_bits_do_not_depend_on_threads(radius):
    hessian, metric, b = compressed_net(24)
    found = []
    for count in (1, 2):
        with threads(min(count, numba.config.NUMBA_NUM_THREADS)):
            model = model_with(Multigrid(), hessian, metric, b)
            steps = [model.minimise(radius)]
            steps.append(model.minimise(0.3 * steps[0].length))
            found.append([(s.x.tobytes(), s.decrease, s.length, s.ending) for s in steps])
    assert found[0] == found[1]


@pytest.mark.parametrize("a", [30.0, 3000.0], ids=["indefinite", "definite"])
def test_smoother_that_overshoots_begins_the_space_again(a):
    """With far too large ω a cycle is not positive: they shrink until it is, and b is kept."""
    hessian, metric, b = compressed_net(24, a=a)
    solver = Multigrid()
    assert solver.factor(metric)
    solver._levels.omega[:] *= np.float32(8.0)
    before = solver._levels.omega.copy()
    model = solver.model(hessian, b, np.full(len(b), 1e-9))
    step = model.minimise(0.5)
    assert (solver._levels.omega < before).any()
    assert (model.squares > 0.0).all()
    assert step.decrease == pytest.approx(decrease_of(hessian, b, step.x), rel=1e-5)
    assert 0.0 < step.length <= 0.5 * (1.0 + 1e-3)
