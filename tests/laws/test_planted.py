"""Deliberately wrong laws: the checks must catch them."""

import numpy as np
import pytest

import taut
from taut.binding.placed_law import PlacedLaw
from taut.formula import differentiate, dot, norm, sin, structure
from tests.laws import checks
from tests.laws.specimens import COUNT, Specimen, state


def prepare(law, particles, parameters):
    rng = np.random.default_rng(11)
    placed = Specimen(law, particles, lambda r: parameters).placed(rng)
    return placed, state(rng, placed), rng


def test_a_false_invariance_is_caught():
    @taut.energy(invariant="rigid motion")
    def tethered(x, k):
        return k / 2 * dot(x[1] - x[0], x[1] - x[0]) + 1e-3 * x[0][1]

    with pytest.raises(AssertionError, match="declared rigid motion, measured None"):
        checks.invariance(*prepare(tethered, 2, {"k": 3.0}))
    with pytest.raises(AssertionError):
        checks.no_net_force(*prepare(tethered, 2, {"k": 3.0})[:2])


def test_an_undeclared_invariance_is_caught():
    @taut.energy
    def shy(x, k):
        return k / 2 * (norm(x[1] - x[0]) - 1) ** 2

    with pytest.raises(AssertionError, match="declared None, measured rigid motion"):
        checks.invariance(*prepare(shy, 2, {"k": 3.0}))


@pytest.mark.parametrize("factor", [0.5, 1.001, -1.0])
def test_a_wrong_derivative_is_caught(monkeypatch, tmp_path, factor):
    """An error of a part in a thousand in a differentiation rule."""
    true_rules = differentiate._partials

    def slipped(graph, node):
        rules = true_rules(graph, node)
        return (
            tuple(graph.mul(graph.const(factor), r) for r in rules) if node.op == "sin" else rules
        )

    monkeypatch.setattr(differentiate, "_partials", slipped)
    monkeypatch.setenv("TAUT_CACHE_DIR", str(tmp_path / "private"))

    @taut.energy
    def wavy(x, k):
        return k * sin(x[0][0]) * sin(x[0][1] + 0.5 * x[0][2])

    with pytest.raises(AssertionError, match="slope"):
        checks.taylor(*prepare(wavy, 1, {"k": 3.0 + 1e-9 * factor}))


def test_a_wrong_projection_is_caught(monkeypatch):
    placed, q, _ = prepare(taut.laws.spring, 2, {"k": np.linspace(1, 2, COUNT)})
    hessians = PlacedLaw.hessians
    monkeypatch.setattr(
        PlacedLaw, "hessians", lambda self, q, t=0.0, *, project=False: hessians(self, q, t)
    )
    with pytest.raises(AssertionError):
        checks.projection(placed, 0.3 * q)


def test_a_wrong_metric_is_caught(monkeypatch):
    """The Hessian itself, which is indefinite, and zeros, which are not stiff at rest."""
    placed, q, _ = prepare(taut.laws.area, 3, {"k": 1.0})
    with pytest.raises(AssertionError, match="semi-definite"):
        checks.metric(placed.hessians(q), placed.hessians(q))
    hessians = PlacedLaw.hessians
    monkeypatch.setattr(
        PlacedLaw, "hessians", lambda self, q, *, metric=False: (not metric) * hessians(self, q)
    )
    with pytest.raises(AssertionError, match="at rest"):
        checks.metric_at_rest(placed, placed.rest)


def test_a_wrong_structure_is_caught(monkeypatch, tmp_path):
    """A law on two particles treated as a function of their difference although it is not."""
    monkeypatch.setattr(structure, "_find_pair", lambda value, particles: (-1.0, 1.0))
    monkeypatch.setenv("TAUT_CACHE_DIR", str(tmp_path / "private"))

    @taut.energy
    def lopsided(x, k):
        return k * norm(2 * x[1] - x[0]) ** 3

    with pytest.raises(AssertionError):
        checks.formula(*prepare(lopsided, 2, {"k": 3.0})[:2])
