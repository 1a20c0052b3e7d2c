"""The energies of the plot balance.

kinetic + stored + dissipated + numerical + torn - work - between is the energy at the start.
"""

import numpy as np
import pytest

import taut
from taut import laws
from taut.run.open_run import open_run
from taut.run.record import record
from taut.show.view._plots import (
    ENERGIES,
    ENERGY_COLOURS,
    ENERGY_CURVES,
    JUMPS,
    WIDTH,
    History,
    Plots,
    tabulate_run,
)
from taut.show.view.live import Live

# So that the work of unbalanced forces, which is not drawn, stays below rounding
TIGHT = taut.Tolerance(relative=1e-13)
H = 0.01
SIGNS = {
    "kinetic": 1,
    "stored": 1,
    "dissipated": 1,
    "numerical": 1,
    "torn": 1,
    "work": -1,
    "between": -1,
}
ROUNDING = 1e-12  # of the greatest energy: rounding; here the work of the residual is 5e-17 of it


def balance(table):
    """Sum the energies of a table with their signs, row by row [J]."""
    return sum(SIGNS[name] * table[:, 1 + i] for i, name in enumerate((*ENERGIES, *JUMPS)))


def column(table, name):
    return table[:, 1 + (*ENERGIES, *JUMPS).index(name)]


def tearing():
    """A weight on a thread that breaks while it falls, next to one that holds."""
    threads = laws.spring([[0, 1], [0, 2]], k=[50.0, 200.0], breaking_strain=[0.1, 10.0])
    return taut.System(
        [[0, 0, 0], [0, -1, 0], [1, 0, 0]],
        mass=1.0,
        fixed=[0],
        energies=[threads, laws.gravity()],
        damping=[laws.drag(alpha=0.5)],
    )


def test_live_energies_balance_with_tearing_sliders_and_pins():
    live = Live(tearing(), taut.ImplicitEuler(tolerance=TIGHT), H)
    live.set_speed(1e6)
    history = History()
    live.start()
    for step in range(1, 61):
        if step == 10:
            live.set_sliders(stiffness=3.0)
        if step == 40:
            live.toggle_pin(2)
        if step == 45:
            live.set_sliders(gravity=3.0)
        if step == 50:
            live.toggle_pin(2)
        live.step()
        now = live.wait(lambda now, step=step: now.step == step)
        history.add_snapshot(now)
    live.close()
    table, total = history.table(), now.total
    assert table.shape == (60, WIDTH)
    assert abs(column(table, "torn")[-1]) > 0.1
    assert np.abs(column(table, "between")).max() > 0.1
    assert balance(table) == pytest.approx(np.full(60, total.opening), abs=ROUNDING * total.scale)
    assert balance(table)[-1] - total.residual == pytest.approx(
        total.opening, abs=1e-12 * total.scale
    )


def test_energies_of_a_run_balance_with_tearing(tmp_path):
    record(tmp_path / "run", tearing(), taut.ImplicitEuler(tolerance=TIGHT), h=H, until=0.6)
    with open_run(tmp_path / "run") as run:
        ledger, table = run.ledger, tabulate_run(run.ledger, run.reports)
    assert table.shape == (60, WIDTH)
    assert column(table, "torn")[-1] == pytest.approx(ledger["torn spring"].sum())
    assert abs(column(table, "torn")[-1]) > 0.1
    assert balance(table) == pytest.approx(
        np.full(60, ledger["opening"][0]), abs=ROUNDING * ledger["scale"].max()
    )


def test_changes_between_the_steps_of_a_run_are_drawn():
    zeros = {name: np.zeros(3) for name in ("scripted", "numerical")}
    ledger = {
        "step": np.arange(1, 4),
        "t": np.arange(1.0, 4.0),
        "between": np.array([0.0, 0.0, 0.5]),
        **zeros,
        "opening": np.array([5.0, 7.0, 7.0]),
        "kinetic": np.array([2.0, 3.0, 1.0]),
        "stored spring": np.array([3.0, 4.0, 6.5]),
    }
    reports = {
        "step": ledger["step"],
        "outcome": np.array(["explicit"] * 3),
        **dict.fromkeys(("tolerance", "floor", "residual", "mass"), np.zeros(3)),
    }
    table = tabulate_run(ledger, reports)
    assert column(table, "between").tolist() == [0.0, 2.0, 2.5]
    assert balance(table).tolist() == [5.0, 5.0, 5.0]
    assert ledger["between"].tolist() == [0.0, 0.0, 0.5]  # the input is unchanged


class Panel:
    """A stand-in for a viser panel that stores the plots."""

    def __init__(self):
        self.series = {}

    def add_uplot(self, data, series, title, **options):
        self.series[title] = [one["label"] for one in series]
        return type("Plot", (), {"data": data})()


def test_every_curve_has_its_own_colour():
    panel = Panel()
    plots = Plots(panel)
    assert set(panel.series["Energy [J]"][1:]) == set(SIGNS)
    assert len(set(ENERGY_COLOURS)) == len(ENERGY_COLOURS) == len(ENERGY_CURVES)
    table = np.arange(1.0, 1.0 + 2 * WIDTH).reshape(2, WIDTH)
    plots.show(table)
    assert np.array_equal(np.array(plots.energy.data), table[:, : 1 + len(SIGNS)].T)
    assert np.array_equal(np.array(plots.residual.data)[1:], np.log10(table[:, 1 + len(SIGNS) :].T))
