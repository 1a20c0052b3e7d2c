"""Every example, against its physical number."""

import importlib.util
import re
from pathlib import Path

import pytest

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


@pytest.mark.parametrize("name", CHECKS)
def test_example(name):
    CHECKS[name](load(name))
