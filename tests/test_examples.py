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


CHECKS = {"00_one_spring": check_one_spring, "01_own_law": check_own_law, "02_any_mesh": check_any_mesh}


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
