"""Rows on contact, with few steps of a coarse cloth."""

from importlib.util import find_spec
from io import StringIO

import numpy as np
import pytest

import taut
from taut.bench import contact, suite
from taut.bench.row import Bench, fit_exponent
from taut.progress import Progress
from taut.system.workspace import workspace_for

N = 12


@pytest.fixture
def bench(monkeypatch):
    monkeypatch.setattr(contact, "DRAPE_STEPS", 3)
    monkeypatch.setattr(contact, "GROWTH_STEPS", 2)
    return Bench(n=N, progress=Progress("taut bench", stream=StringIO()))


def test_rows_compare_the_same_steps(bench):
    rows = {row.name: row for row in suite.run(bench, ["contact"])}
    kinds = ("", "search-", "newton-", "linear-", "mujoco-")
    assert list(rows) == [f"contact-{kind}{n}" for n in (N // 2, N) for kind in kinds]
    for n in (N // 2, N):
        ratio, share = rows[f"contact-{n}"], rows[f"contact-search-{n}"]
        assert len(ratio.details["ms"]) == 3
        assert ratio.value == pytest.approx(
            sum(ratio.details["ms"]) / sum(ratio.details["free_ms"])
        )
        assert 0.0 < share.value < 1.0
        assert rows[f"contact-linear-{n}"].value > 0.0
        assert rows[f"contact-newton-{n}"].value == pytest.approx(
            sum(ratio.details["newton"]) / sum(ratio.details["free_newton"])
        )
        peer = rows[f"contact-mujoco-{n}"]
        if find_spec("mujoco") is None:
            assert (peer.value, peer.verdict) == (None, "")
        else:
            assert peer.value == pytest.approx(peer.details["us"] / peer.details["mujoco_us"])


def test_growth_is_measured_on_request(bench):
    assert suite.select_rows(["scaling-contact"]) == suite.select_rows(["draping"]) == ["draping"]
    step, iteration = suite.run(bench, ["draping"])
    sizes, times = step.details["particles"], np.array(step.details["ms"])
    assert sizes == [(N // 2) ** 2, N**2, 4 * N**2]
    assert step.value == pytest.approx(fit_exponent(sizes, times))
    each = times / np.array(step.details["newton"])
    assert iteration.value == pytest.approx(fit_exponent(sizes, each))


def test_cloth_touches_the_sphere_when_it_is_timed():
    system = contact.drape(N)
    state = system.initial_state()
    assert workspace_for(system).energies_by_law(state)["contact"] == 0.0
    for _ in range(contact.FALL_STEPS):
        state, _ = taut.ImplicitEuler().step(system, state, contact.H)
    assert workspace_for(system).energies_by_law(state)["contact"] > 0.0
