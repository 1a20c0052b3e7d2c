"""`where` branches: the inactive side is never evaluated; singular states have a value or a named
error.
"""

import numpy as np
import pytest

import taut
from taut import laws
from taut.binding.placed_law import place
from taut.formula import atan2, cross, dot, log, maximum, minimum, norm, sqrt, unit, where
from taut.formula._emit import print_body
from taut.formula.expression import Expr
from taut.formula.graph import Graph


def place_law(law, elements, x, **parameters):
    x = np.asarray(x, dtype=float)
    return place(law(elements, **parameters), x, np.ones(len(x)))


@taut.energy
def barrier(x, k):
    """Energy only below the height 1; its formula has no value above."""
    gap = 1 - x[0][1]
    return where(gap > 0, -k * gap**2 * log(gap), 0.0)


def test_inactive_branch_contributes_nothing():
    q = np.array([[0.0, 0.5, 0.0], [0.0, 7.0, 0.0]])
    p = place_law(barrier, [0, 1], q, k=2.0)
    assert p.values(q).tolist() == [pytest.approx(-2 * 0.25 * np.log(0.5)), 0.0]
    assert p.gradients(q)[1].tolist() == [[0.0, 0.0, 0.0]]
    assert np.isfinite(p.hessians(q)).all()
    assert p.parameter_derivative("k", q)[1] == 0.0


def test_source_evaluates_each_side_in_its_branch():
    lines = (
        place_law(barrier, [0], np.zeros((1, 3)), k=2.0)
        .forms["energy"]
        .source("hessian")
        .splitlines()
    )
    depth = [
        len(line) - len(line.lstrip()) for line in lines if "log(" in line and "import" not in line
    ]
    assert depth, "no logarithm in the source"
    assert min(depth) >= 8
    assert sum("log(" in line for line in lines if "import" not in line) == 1, (
        "the logarithm is shared, not repeated"
    )


def test_a_node_needed_on_both_sides_is_evaluated_once():
    g = Graph()
    a, b = g.symbol("x", 0, 0), g.symbol("x", 0, 1)
    shared = g.call("exp", a * b)
    out = g.where(a < b, shared * 2, shared * 3)
    text = "\n".join(print_body([("out", out)], lambda n: f"s{n.id}"))
    assert text.count("exp(") == 1


def test_a_node_needed_in_two_unrelated_branches_is_not_evaluated_outside():
    g = Graph()
    a, b = g.symbol("x", 0, 0), g.symbol("x", 0, 1)
    risky = g.call("log", a)
    out = g.where(a > 0, risky, g.const(0.0)) + g.where(b < a, risky * 2, g.const(1.0))
    names = {a: "a", b: "b"}
    lines = print_body([("out", out)], lambda n: names[n])
    assert all(line.startswith("    ") for line in lines if "log(" in line)
    calls = []
    space = {"log": lambda v: calls.append(v) or 0.0, "a": -1.0, "b": 0.0}
    exec("\n".join(lines), space)
    assert calls == []
    assert space["out"] == 1.0


def test_spring_of_zero_length():
    q = np.zeros((2, 3))
    p = place_law(laws.spring, [[0, 1]], q, k=3.0, l0=0.5)
    assert p.values(q)[0] == pytest.approx(0.375)
    assert not p.gradients(q).any()
    np.testing.assert_array_equal(p.hessians(q)[0][:3, :3], 3.0 * np.eye(3))
    np.testing.assert_array_equal(p.hessians(q, project=True)[0][:3, :3], 3.0 * np.eye(3))


@pytest.mark.parametrize("length", [1e-300, 1e-90, 1e-70, 1e-30, 1e-8])
def test_spring_of_almost_zero_length_is_finite(length):
    q = np.array([[0.0, 0, 0], [length, 0, 0]])
    p = place_law(laws.spring, [[0, 1]], q, k=1e6, l0=10.0)
    for value in (p.values(q), p.gradients(q), p.hessians(q), p.hessians(q, project=True)):
        assert np.isfinite(value).all()
    assert np.linalg.eigvalsh(p.hessians(q, project=True)).min() >= -1e-6


def test_bending_energy_of_a_straight_rod_has_its_stiffness():
    """½kθ² through atan2(|a×b|, a·b): smooth at θ = 0, where the norm alone is not."""

    @taut.energy
    def rod(x, k):
        a, b = x[1] - x[0], x[2] - x[1]
        return k / 2 * atan2(norm(cross(a, b)), dot(a, b)) ** 2

    q = np.array([[0.0, 0, 0], [1, 0, 0], [2, 0, 0]])
    k = place_law(rod, [[0, 1, 2]], q, k=1.0).hessians(q)[0].reshape(3, 3, 3, 3)
    stencil = np.outer([1, -2, 1], [1, -2, 1])
    for axis, expected in ((0, 0 * stencil), (1, stencil), (2, stencil)):
        np.testing.assert_allclose(k[:, axis, :, axis], expected, atol=1e-12)


def test_a_norm_inside_a_branch_keeps_its_limit():
    """½k min(θ, y)² has the stiffness of the unbranched law at the straight state, also inside a
    nonlinear expression.
    """

    @taut.energy
    def yielding(x, k, y):
        a, b = x[1] - x[0], x[2] - x[1]
        return k / 2 * minimum(atan2(norm(cross(a, b)), dot(a, b)), y) ** 2

    q = np.array([[0.0, 0, 0], [1, 0, 0], [2, 0, 0]])
    k = place_law(yielding, [[0, 1, 2]], q, k=1.0, y=1.0).hessians(q)[0].reshape(3, 3, 3, 3)
    np.testing.assert_allclose(k[:, 1, :, 1], np.outer([1, -2, 1], [1, -2, 1]), atol=1e-12)


def test_inactive_power_has_no_singular_derivative():
    """max(y, 0)^p with 1 < p < 2.

    The second derivative of y^p is infinite at 0, but that side is inactive.
    """

    @taut.energy
    def hertz(x, k, p):
        return k * maximum(x[0][1], 0) ** p

    @taut.energy
    def hertz_fixed(x, k):
        return k * maximum(x[0][1], 0) ** 1.5

    q = np.array([[0.0, -1.0, 0], [0, 4.0, 0]])
    for p in (place_law(hertz, [0, 1], q, k=2.0, p=1.5), place_law(hertz_fixed, [0, 1], q, k=2.0)):
        np.testing.assert_allclose(p.gradients(q)[:, 0, 1], [0.0, 6.0])
        np.testing.assert_allclose(p.hessians(q)[:, 1, 1], [0.0, 0.75])


def test_zero_force_where_the_stiffness_is_singular():
    @taut.energy
    def soft(x, k):
        return k * norm(x[1] - x[0]) ** 1.5

    q = np.zeros((2, 3))
    p = place_law(soft, [[0, 1]], q, k=1.0)
    assert not p.gradients(q).any()
    with pytest.raises(taut.errors.SingularState, match="soft"):
        p.hessians(q)


def test_the_square_of_a_branch_inside_another():
    @taut.energy
    def nested(x, k):
        a = x[0][1]
        s = where(a > 0, sqrt(a), 0.0)
        e = where(s > 0, s * s * log(s), 0.0)
        return k * e * e

    q = np.array([[0.0, -0.5, 0], [0, 0.5, 0]])
    p = place_law(nested, [0, 1], q, k=1.0)
    a = 0.5
    value = (a * np.log(a) / 2) ** 2
    slope = a * np.log(a) / 2 * (np.log(a) + 1)
    np.testing.assert_allclose(p.values(q), [0.0, value], rtol=1e-13)
    np.testing.assert_allclose(p.gradients(q)[:, 0, 1], [0.0, slope], rtol=1e-12)
    assert p.hessians(q)[0].tolist() == np.zeros((3, 3)).tolist()
    assert np.isfinite(p.hessians(q)).all()


def test_deeply_nested_branches_stay_small():
    def nested(x, k):
        y = x[0][0]
        for i in range(30):
            y = abs(y - 0.1 * i)
        return k * y

    source = taut.energy(nested).compile("energy", 1, {"k": ()}).source()
    assert source.count("\n") < 1000

    def exploding(x, k):
        y = x[0][0]
        for i in range(12):
            y = where(x[0][1] > i, y * y, 0.0) + where(x[0][2] > i, y + 1, 0.0)
        return k * y

    with pytest.raises(taut.errors.LawError, match="unrelated branches"):
        taut.energy(exploding).compile("energy", 1, {"k": ()}).source()


def test_degenerate_hinge_is_finite():
    p = place_law(
        laws.rod_hinge, [[0, 1, 2]], np.array([[-1.0, 0, 0], [0, 0, 0], [1, 0, 0]]), k=2.0
    )
    q = np.array([[0.0, 0, 0], [0, 0, 0], [1, 0, 0]])
    assert p.values(q)[0] == 0.5
    assert np.isfinite(p.gradients(q)).all()
    assert np.isfinite(p.hessians(q, project=True)).all()


def test_a_singular_formula_names_law_and_element():
    @taut.energy
    def careless(x, k):
        return k / 2 * (sqrt(dot(x[1] - x[0], x[1] - x[0])) - 1) ** 2

    q = np.array([[0.0, 0, 0], [1, 0, 0], [1, 0, 0]])
    p = place_law(careless, [[0, 1], [1, 2]], q, k=1.0)
    with pytest.raises(
        taut.errors.SingularState, match=r"'careless': element 1 \(particles \[1, 2\]\)"
    ):
        p.gradients(q)
    system = taut.System(q, mass=1.0, energies=[careless([[0, 1], [1, 2]], k=1.0)])
    with pytest.raises(taut.errors.SingularState, match="careless"):
        taut.ImplicitEuler().step(system, system.initial_state(), 0.1)


def test_projection_leaves_positive_blocks_unchanged():
    @taut.energy
    def bowl(x, k):
        d = x[1] - x[0]
        return k * (d[0] ** 4 + 3 * d[1] ** 2 + d[0] * d[1] + d[2] ** 2)

    rng = np.random.default_rng(0)
    q = rng.normal(size=(40, 3))
    elements = np.arange(40).reshape(20, 2)
    for scale in (1.0, 1e150, 1e-180):
        p = place_law(bowl, elements, q, k=scale)
        true, projected = p.hessians(q), p.hessians(q, project=True)
        convex = np.linalg.eigvalsh(true / scale)[:, 0] > -1e-14
        assert 0 < convex.sum() < 20
        np.testing.assert_array_equal(projected[convex], true[convex])
        assert np.linalg.eigvalsh(projected / scale).min() > -1e-13


def test_unit_of_zero_is_zero_in_the_kernel():
    @taut.energy
    def pull(x, f):
        return f * dot(unit(x[1] - x[0]), x[0])

    q = np.ones((2, 3))
    assert place_law(pull, [[0, 1]], q, f=1.0).values(q)[0] == 0.0


def test_equality_is_a_condition():
    @taut.energy
    def marked(x, k, kind):
        return where(kind == 2, k * x[0][1], where(kind != 3, 2 * k * x[0][1], 0.0))

    q = np.ones((3, 3))
    assert place_law(marked, [0, 1, 2], q, k=5.0, kind=[1, 2, 3]).values(q).tolist() == [
        10.0,
        5.0,
        0.0,
    ]


def test_where_takes_vectors():
    def formula(x):
        return norm(where(x[0][0] > 0, x[0], 2 * x[1]))

    g = Graph()
    from taut.formula._array import Array

    x = Array([g.symbol("x", p, k) for p in range(2) for k in range(3)], (2, 3))
    assert isinstance(formula(x), Expr)
