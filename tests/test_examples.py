"""Every example, against its physical number."""

import importlib.util
import re
from pathlib import Path

import numpy as np
import pytest

import taut

EXAMPLES = Path(__file__).parents[1] / "examples"


def load(name):
    spec = importlib.util.spec_from_file_location(f"example_{name}", EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def check_one_spring(module):
    result = module.run()
    assert result["measured"] == pytest.approx(result["discrete"], rel=2e-6)
    assert result["continuous"] == pytest.approx(1.256637, abs=1e-6)
    assert result["residual"] < 1e-6


def check_own_law(module):
    result = module.run()
    assert result["simulated"] == pytest.approx(result["balance"], abs=1e-8)
    assert result["balance"] == pytest.approx(0.233, abs=0.02)


def check_any_mesh(module):
    result = module.run(module.taut.mesh.bunny(spacing=0.015))
    assert result["held"] == pytest.approx(result["weight"], rel=1e-6)
    assert 1e-5 < result["sank"] < 1e-2
    assert result["speed"] < 1e-4


def check_energy_book(module):
    books = module.run()
    exact = books["RK4"]["exact"]
    assert exact == pytest.approx(0.2330558, abs=1e-7)  # π m α Ω X² [J]
    for book in books.values():
        assert abs(book["gap"]) <= 1e-12 * book["scale"]
        flows = book["scripted"] - book["drag"] - book["numerical"] + book["residual"]
        assert book["gained"] == pytest.approx(flows, abs=1e-12 * book["scale"])
        assert abs(book["gained"]) < 1e-7 * exact, "it has settled"
    for name in ("ImplicitEuler", "BDF2", "ImplicitMidpoint"):
        assert books[name]["drag"] == pytest.approx(books[name]["expected"], rel=1e-7)
    assert books["RK4"]["drag"] == pytest.approx(exact, rel=1e-4)
    for name in ("TRBDF2", "VelocityVerlet"):
        assert books[name]["drag"] == pytest.approx(exact, rel=4e-3)
    assert books["ImplicitEuler"]["numerical"] > 0.1 * exact


def check_cable_net(module):
    result = module.run()
    assert result["off_saddle"] <= 1e-9
    assert result["moved"] <= 1e-8
    assert result["held"] == pytest.approx(result["snow"], rel=1e-9)
    assert result["snow"] == pytest.approx(750.0 * 20.0**2)
    assert result["loaded"].stability.stable
    assert not result["loaded"].members.slack.any()
    assert 0.1 < result["sag"] < 1.0


def check_buckling(module):
    result = module.run()
    assert result["found"] == pytest.approx(result["formula"], rel=1e-8)
    assert result["found"] / result["euler"] == pytest.approx(0.997946, abs=1e-6)
    assert result["left_saddles"] == 1
    assert result["deflection"] == pytest.approx((8 * 0.02) ** 0.5 / np.pi, rel=0.05)


CHECKS = {
    "00_one_spring": check_one_spring,
    "01_own_law": check_own_law,
    "02_any_mesh": check_any_mesh,
    "03_energy_book": check_energy_book,
    "04_cable_net": check_cable_net,
    "05_buckling": check_buckling,
}


def test_every_example_is_checked_and_short():
    found = {p.stem: p for p in EXAMPLES.glob("*.py")}
    assert set(found) == set(CHECKS)
    for path in found.values():
        assert len(path.read_text().splitlines()) < 80
        assert re.match(r"\d\d_", path.name)


@pytest.fixture
def descents(monkeypatch):
    """Hold every implicit Euler step to V' + ½|Δv|²_M ≤ V + ½|v|²_M where nothing depends on time; how many there were."""
    count, plain = [0], taut.ImplicitEuler.advance

    def advance(self, system, state, h):
        done = plain(self, system, state, h)
        if not system.hold.scripts and not any(p.timed for p in [*system.placed.values(), *system.placed_damping.values()]):
            dv = done.state.v - state.v
            gain = system.V(done.state) + 0.5 * system.mass @ np.sum(dv**2, axis=1) - system.V(state) - system.T(state)
            scale = sum(map(abs, system.V_by_law(state).values())) + sum(map(abs, system.V_by_law(done.state).values()))
            assert gain <= 1e-13 * (scale + system.T(state))
            count[0] += 1
        return done

    monkeypatch.setattr(taut.ImplicitEuler, "advance", advance)
    return count


STEPS = {"00_one_spring": 2000, "01_own_law": 400, "02_any_mesh": 30}  # of implicit Euler, each of which must descend


@pytest.mark.parametrize("name", CHECKS)
def test_example(name, descents):
    CHECKS[name](load(name))
    assert descents[0] >= STEPS.get(name, 0)
