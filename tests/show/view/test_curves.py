"""The energy plot closes: kinetic + stored + dissipated + numerical + torn - work - between is the energy at the beginning."""

import numpy as np
import pytest

import taut
from taut import laws
from taut.run.opening import open_run
from taut.run.record import record
from taut.show.view.curves import ENERGIES, JUMPS, WIDTH, Curves, curves_of_run
from taut.show.view.live import Live
from taut.show.view.plots import DRAWN, INKS, Plots

H = 0.01
SIGNS = {"kinetic": 1, "stored": 1, "dissipated": 1, "numerical": 1, "torn": 1, "work": -1, "between": -1}
SLACK = 1e-12  # of the greatest energy: rounding; here the work of the residual is 5e-17 of it


def closed(table):
    """The sum of a table's energies with their signs, moment by moment [J]."""
    return sum(SIGNS[name] * table[:, 1 + i] for i, name in enumerate((*ENERGIES, *JUMPS)))


def column(table, name):
    return table[:, 1 + (*ENERGIES, *JUMPS).index(name)]


def tearing():
    """A weight on a thread that breaks while it falls, beside one that holds."""
    threads = laws.spring([[0, 1], [0, 2]], k=[50.0, 200.0], breaking_strain=[0.1, 10.0])
    return taut.System(
        [[0, 0, 0], [0, -1, 0], [1, 0, 0]], mass=1.0, fixed=[0], energies=[threads, laws.gravity()], damping=[laws.drag(alpha=0.5)]
    )


def test_a_live_book_closes_when_things_tear_and_sliders_turn_and_points_are_pinned():
    live = Live(tearing(), taut.ImplicitEuler(), H)
    live.pace(1e6)
    curves = Curves()
    live.start()
    for step in range(1, 61):
        if step == 10:
            live.turn(stiffness=3.0)
        if step == 40:
            live.flip(2)
        if step == 45:
            live.turn(gravity=3.0)
        if step == 50:
            live.flip(2)
        live.step()
        now = live.wait(lambda now, step=step: now.step == step)
        curves.look(now)
    live.close()
    table, total = curves.table(), now.total
    assert table.shape == (60, WIDTH)
    assert abs(column(table, "torn")[-1]) > 0.1
    assert np.abs(column(table, "between")).max() > 0.1
    assert closed(table) == pytest.approx(np.full(60, total.opening), abs=SLACK * total.scale)
    assert closed(table)[-1] - total.residual == pytest.approx(total.opening, abs=1e-12 * total.scale)


def test_the_book_of_a_run_closes_when_things_tear(tmp_path):
    record(tmp_path / "run", tearing(), taut.ImplicitEuler(), h=H, until=0.6)
    with open_run(tmp_path / "run") as run:
        ledger, table = run.ledger, curves_of_run(run.ledger, run.reports)
    assert table.shape == (60, WIDTH)
    assert column(table, "torn")[-1] == pytest.approx(ledger["torn spring"].sum())
    assert abs(column(table, "torn")[-1]) > 0.1
    assert closed(table) == pytest.approx(np.full(60, ledger["opening"][0]), abs=SLACK * ledger["scale"].max())


def test_what_was_changed_between_the_steps_of_a_run_is_drawn():
    zeros = {name: np.zeros(3) for name in ("scripted", "numerical")}
    ledger = {
        "step": np.arange(1, 4), "t": np.arange(1.0, 4.0), "between": np.array([0.0, 0.0, 0.5]), **zeros,
        "opening": np.array([5.0, 7.0, 7.0]), "kinetic": np.array([2.0, 3.0, 1.0]), "stored spring": np.array([3.0, 4.0, 6.5]),
    }  # fmt: skip
    reports = {
        "step": ledger["step"],
        "outcome": np.array(["explicit"] * 3),
        **dict.fromkeys(("tolerance", "floor", "residual"), np.zeros(3)),
    }
    table = curves_of_run(ledger, reports)
    assert column(table, "between").tolist() == [0.0, 2.0, 2.5]
    assert closed(table).tolist() == [5.0, 5.0, 5.0]
    assert ledger["between"].tolist() == [0.0, 0.0, 0.5]  # what was given stays as it was


class Panel:
    """Takes the place of a viser panel, and remembers the plots."""

    def __init__(self):
        self.series = {}

    def add_uplot(self, data, series, title, **options):
        self.series[title] = [one["label"] for one in series]
        return type("Plot", (), {"data": data})()


def test_every_curve_is_drawn_in_an_ink_of_its_own():
    panel = Panel()
    plots = Plots(panel)
    assert set(panel.series["energy [J]"][1:]) == set(SIGNS)
    assert len(set(INKS)) == len(INKS) == len(DRAWN)
    table = np.arange(1.0, 1.0 + 2 * WIDTH).reshape(2, WIDTH)
    plots.show(table)
    assert np.array_equal(np.array(plots.energy.data), table[:, : 1 + len(SIGNS)].T)
    assert np.array_equal(np.array(plots.residual.data)[1:], np.log10(table[:, 1 + len(SIGNS) :].T))
