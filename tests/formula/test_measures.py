"""The metric: a cheap positive semi-definite form of an element Hessian, from measures."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import taut
from taut import laws
from taut.binding.placed_law import place
from taut.formula import cross, dot, exp, log, norm, sqrt, unit, where
from taut.formula._emit import _expand_ratios
from taut.formula.differentiate import gradient
from taut.formula.graph import Graph
from taut.formula.interpret import evaluate
from taut.formula.measures import derive_metric
from tests.laws import checks

RNG = np.random.default_rng(6)


def place_law(law, particles, *, count=8, rest=None, **parameters):
    rest = RNG.normal(size=(count * particles, 3)) if rest is None else np.array(rest)
    elements = np.arange(len(rest)).reshape(-1, particles)
    return place(law(elements, **parameters), rest, np.ones(len(rest)))


def both(placed, q):
    k, m = placed.hessians(q), placed.hessians(q, metric=True)
    checks.metric(k, m)
    return k, m


@taut.energy
def fold(x, k):
    """A function of one measure, with two minima."""
    area = norm(cross(x[1] - x[0], x[2] - x[0]))
    return k * (area**2 - 1) ** 2


@taut.energy
def pulley(x, k, l0):
    """A rope over a pulley at the middle particle, taut or slack."""
    length = norm(x[1] - x[0]) + norm(x[2] - x[1])
    return where(length > l0, k / 2 * (length - l0) ** 2, 0.0)


@taut.energy
def sum_of_measures(x, k):
    a, b = dot(x[0], x[1]), dot(x[1], x[2])
    return k * (a**2 + exp(b) + 3 * a) + 2 * x[0][0]


@taut.energy
def coupled(x, k):
    a, b = dot(x[0], x[1]), dot(x[1], x[2])
    return k * (a + b**2) * (b + a**2)


@taut.energy
def guarded(x, k):
    """The measure √(z - 1) and its gradient exist on one side of the branch only."""
    z = dot(x[0], cross(x[1], x[2]))
    return where(z > 1, k * log(1 + sqrt(z - 1)) ** 4, 0.0)


@pytest.mark.parametrize(
    ("law", "has_metric"),
    [(fold, True), (pulley, True), (sum_of_measures, True), (coupled, False), (guarded, True)],
)
def test_a_law_of_a_user_has_one(law, has_metric):
    """In closed form if it is a sum of functions of one measure each, else by eigenvalues."""
    parameters = {"l0": 2.0} if law is pulley else {}
    placed = place_law(law, 3, k=3.0, **parameters)
    assert placed.forms["energy"].has_metric is has_metric
    k, m = both(placed, placed.rest)
    is_convex = np.linalg.eigvalsh(k).min() >= -1e-12 * np.abs(k).max()
    assert is_convex == (law is pulley)
    if not has_metric:
        np.testing.assert_array_equal(m, placed.hessians(placed.rest, project=True))


def gradient_of(measure, placed, q):
    """Return the gradient of a measure of the elements of a law, (m, 3s)."""

    @taut.energy
    def measured(x):
        return measure(x)

    other = place(measured(placed.elements), q, np.ones(len(q)))
    return other.gradients(q).reshape(len(placed.elements), -1)


def test_negative_curvature_enters_by_its_magnitude():
    """At a volume v near zero, F = (v² - 1)² has F'' ≈ -4."""

    @taut.energy
    def two_minima(x):
        return (dot(x[0], cross(x[1], x[2])) ** 2 - 1) ** 2

    q = RNG.normal(size=(24, 3))
    placed = place_law(two_minima, 3, rest=q)
    v = np.einsum("ei,ei->e", q[::3], np.cross(q[1::3], q[2::3]))
    curvature = 12 * v**2 - 4
    assert 0 < np.count_nonzero(curvature < 0) < len(curvature)
    slope = gradient_of(lambda x: dot(x[0], cross(x[1], x[2])), placed, q)
    expected = np.abs(curvature)[:, None, None] * slope[:, :, None] * slope[:, None, :]
    np.testing.assert_allclose(both(placed, q)[1], expected, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("law", [laws.rod_bending, laws.rod_hinge])
def test_a_straight_rod_resists_bending_in_both_directions(law):
    """Its angle has no gradient there, and a metric of the gradient alone would be zero."""
    straight = np.outer([0.0, 1.0, 2.5], [0.3, 0.5, 0.2])
    placed = place_law(law, 3, rest=straight, **{"EI" if law is laws.rod_bending else "k": 2.0})
    k, m = both(placed, straight)
    assert np.linalg.matrix_rank(k[0], tol=1e-9) == 2
    np.testing.assert_allclose(m, k, atol=1e-13 * np.abs(k).max())
    bent = straight + 1e-4 * RNG.normal(size=straight.shape)
    k, m = both(placed, bent)
    np.testing.assert_allclose(m, k, atol=1e-3 * np.abs(k).max())


def test_surface_tension_is_exact_across_the_surface():
    """A film resists as a membrane does; in its own plane a triangle has no positive part left."""
    q = np.array([[0.0, 0, 0], [1, 0, 0], [0.3, 0.8, 0]])
    k, m = both(place_law(laws.surface_tension, 3, rest=q, stress=2.0), q)
    np.testing.assert_allclose(m[0][2::3, 2::3], k[0][2::3, 2::3], atol=1e-14)
    assert m[0][2, 2] > 0.1
    m[0][2::3, 2::3] = 0.0
    assert np.abs(m).max() <= 1e-14


def test_a_rope_over_a_pulley_keeps_the_stiffness_of_its_tension():
    q = np.array([[0.0, 0, 0], [1, 0, 0], [2, 0, 0]])
    k, m = both(place_law(pulley, 3, rest=q, k=3.0, l0=1.5), q)
    np.testing.assert_allclose(m, k, atol=1e-14)  # a rope in tension is convex
    slack = place_law(pulley, 3, rest=q, k=3.0, l0=2.5)
    assert not slack.hessians(q, metric=True).any()


def test_a_metric_follows_rotations_of_a_hinge():
    """Rigid motions do not change an angle, and the metric of a folded hinge is zero for them."""
    q = np.array([[0.0, 1.0, 0.8], [0.1, -0.9, 0.3], [-0.6, 0.0, 0.0], [0.6, 0.1, 0.0]])
    placed = place_law(laws.shell_bending, 4, rest=q, c=1.0, theta0=-1.0)
    m = both(placed, q)[1][0]
    assert np.linalg.matrix_rank(m, tol=1e-12) == 1
    spin = np.cross([0.3, -0.2, 0.9], q).ravel()
    assert np.abs(m @ spin).max() <= 1e-13 * np.abs(m).max()


def test_singular_states_have_a_finite_metric():
    for law, particles, parameters in [
        (laws.shell_bending, 4, {"c": 1.0, "ratio": 1.0, "theta0": 0.3}),
        (laws.rod_bending, 3, {"EI": 1.0, "l": 1.0, "theta0": 0.3}),
        (laws.area, 3, {"k": 1.0, "area0": 1.0}),
        (laws.surface_tension, 3, {"stress": 1.0}),
    ]:
        placed = place_law(law, particles, count=1, **parameters)
        assert np.isfinite(both(placed, np.zeros_like(placed.rest))[1]).all(), law.name


def test_the_metric_has_the_structure_of_a_pair():
    @taut.energy
    def tilt(x, k):
        return k * dot(unit(x[1] - x[0]), [0.0, 0.0, 1.0]) ** 2

    placed = place_law(tilt, 2, k=2.0)
    assert (placed.forms["energy"].pair, placed.forms["energy"].has_metric) == ((-1.0, 1.0), True)
    both(placed, placed.rest)


OPERATIONS = [
    lambda g, a, b, c: a + b,
    lambda g, a, b, c: a - 0.5 * b,
    lambda g, a, b, c: a * b,
    lambda g, a, b, c: a * a,
    lambda g, a, b, c: g.norm([a, b, c]),
    lambda g, a, b, c: g.call("sin", a),
    lambda g, a, b, c: g.atan2(a, b + 2.0),
    lambda g, a, b, c: g.where(a < b, a * a, c),
    lambda g, a, b, c: g.call("exp", 0.3 * a),
]


def random_formula(rng, x):
    """A scalar of random operations on the variables, with shared parts, norms and branches."""
    pool = list(x)
    for _ in range(rng.integers(3, 10)):
        operands = (pool[i] for i in rng.integers(len(pool), size=3))
        pool.append(OPERATIONS[rng.integers(len(OPERATIONS))](x[0].graph, *operands))
    return pool[-1] + pool[-2] ** 2


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 10**9))
def test_metrics_of_random_formulas(seed):
    """A metric is positive semi-definite, and finite where the Hessian is; evaluated by numpy."""
    rng = np.random.default_rng(seed)
    g = Graph()
    x = [g.symbol("x", 0, k) for k in range(3)]
    value = random_formula(rng, x)
    slopes = gradient(value, x, last=False)
    hessian = [e for slope in slopes for e in gradient(slope, x)]
    entries = derive_metric(value, x)
    if entries is None:
        return
    metric = [entries[min(i, j), max(i, j)] for i in range(3) for j in range(3)]
    q = np.concatenate([rng.normal(size=(5, 1, 3)), np.zeros((1, 1, 3))])
    m = np.broadcast_to(evaluate(_expand_ratios(metric), q), (len(q), 9)).reshape(-1, 3, 3)
    k = np.broadcast_to(evaluate(_expand_ratios(hessian), q), (len(q), 9)).reshape(-1, 3, 3)
    finite = np.isfinite(k).all(axis=(1, 2)) & (np.abs(k).max(axis=(1, 2)) < 1e100)
    checks.metric(k[finite], m[finite])
