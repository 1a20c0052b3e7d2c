"""Plots show the values of the ledger and of the reports."""

import sys

import numpy as np
import pytest

import taut
from taut import laws, plot
from taut.constraints import scripted
from taut.errors import MissingExtra, ModelError
from taut.run.ledger_entry import LedgerEntry
from taut.run.open_run import open_run
from taut.run.record import record

pytest.importorskip("matplotlib", reason="plots need the extra plot")
STARTS = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}


def net():
    """A damped sheet in the wind with one scripted corner."""
    sheet = taut.mesh.sheet(4, 4)
    corner, top = sheet.n - 1, sheet.corners("top")[:1]
    return taut.System(
        sheet.points,
        mass=1e-2,
        fixed=top,
        energies=[laws.spring(sheet.edges, k=60.0), laws.gravity()],
        damping=[laws.spring_damping(sheet.edges, c=0.01), laws.drag(alpha=0.5)],
        loads=[laws.wind(sheet.triangles, velocity=(0.0, 0.0, 3.0))],
        constraints=[
            scripted([corner], lambda t: sheet.points[corner] + np.array([0.2 * t, 0.0, 0.0]))
        ],
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A recorded run."""
    where = tmp_path_factory.mktemp("run")
    record(where, net(), taut.ImplicitEuler(), h=0.02, until=0.5)
    return where


def lines(axes):
    return {line.get_label(): (line.get_xdata(), line.get_ydata()) for line in axes.lines}


def test_energy_plot_matches_the_ledger(folder):
    with open_run(folder) as run:
        book, figure = run.ledger, plot.energy(run)
    above, below = (lines(axes) for axes in figure.axes)
    assert list(above) == ["kinetic", "in spring", "in gravity", "all"]
    np.testing.assert_array_equal(above["in spring"][0], book["t"])
    np.testing.assert_array_equal(above["in spring"][1], book["stored spring"])
    np.testing.assert_array_equal(above["kinetic"][1], book["kinetic"])
    whole = book["kinetic"] + book["stored spring"] + book["stored gravity"]
    np.testing.assert_allclose(above["all"][1], whole, rtol=1e-14)
    np.testing.assert_allclose(
        below["dissipated by drag"][1], np.cumsum(book["dissipated drag"]), rtol=1e-14
    )
    # work minus losses equals the change of energy, up to rounding and the work of
    # the residual
    taken = sum(values for name, (_, values) in below.items() if "dissipated" in name)
    given = sum(values for name, (_, values) in below.items() if name.startswith("work"))
    change = given - taken + np.cumsum(book["residual"])
    np.testing.assert_allclose(whole - book["opening"][0], change, atol=1e-12 * book["scale"].max())
    assert {
        "work of wind",
        "work of scripted points",
        "dissipated by spring_damping",
        "numerically dissipated",
    } <= set(below)


def test_energy_plot_of_a_ledger_matches_that_of_the_run(folder):
    ledger = taut.Ledger()
    for _ in taut.simulate(net(), taut.ImplicitEuler(), h=0.02, until=0.5, ledger=ledger):
        pass
    with open_run(folder) as run:
        recorded = [lines(axes) for axes in plot.energy(run).axes]
    simulated = [lines(axes) for axes in plot.energy(ledger).axes]
    assert [list(each) for each in simulated] == [list(each) for each in recorded]
    for a, b in zip(simulated, recorded, strict=True):
        for name in a:
            np.testing.assert_array_equal(a[name][1], b[name][1])
    assert plot.energy(ledger.entries[:3]).axes[0].lines[0].get_xdata().tolist() == [
        e.t for e in ledger.entries[:3]
    ]


def test_convergence_plot_matches_the_reports(folder):
    with open_run(folder) as run:
        reports, figure = run.reports, plot.convergence(run)
    ratio, iterations = figure.axes
    expected = reports["residual"] / np.maximum(reports["tolerance"], reports["floor"])
    np.testing.assert_array_equal(ratio.lines[0].get_ydata(), expected)
    assert ratio.get_yscale() == "log"
    assert ratio.lines[1].get_ydata() == [1.0, 1.0]
    np.testing.assert_array_equal(iterations.lines[0].get_ydata(), reports["iterations"])
    floored = taut.Report(
        "ImplicitEuler", 0.1, 0.1, "rounding floor", residual=2e-9, tolerance=1e-9, floor=4e-9
    )
    assert plot.convergence([floored]).axes[0].lines[0].get_ydata().tolist() == [0.5]
    explicit = [
        report for _, report in taut.simulate(net(), taut.VelocityVerlet(), h=1e-3, until=0.005)
    ]
    axes = plot.convergence(explicit).axes[0]
    assert np.isnan(axes.lines[0].get_ydata()).all()
    assert axes.texts[0].get_text() == "nothing had to be solved"
    assert len(axes.lines) == 1  # no limit without anything to compare with


def test_mode_plots_show_the_shapes_of_a_string():
    n = 12
    points = [[i / n, 0, 0] for i in range(n + 1)]
    links = [[i, i + 1] for i in range(n)]
    string = taut.System(
        points, mass=0.01, fixed=[0, n], energies=[laws.spring(links, k=100.0, l0=0.5 / n)]
    )
    found = taut.modes(string, n=4)
    figure = plot.modes(found, system=string)
    tension, mass, a = 100.0 * 0.5 / n, 0.01, 1 / n
    waves = np.sin(np.arange(1, 5) * np.pi / (2 * n)) / np.pi
    across, along = (
        np.sqrt(tension / (mass * a)) * waves,
        np.sqrt(100.0 / mass) * waves,
    )  # a taut string, a chain
    for k, (axes, hertz) in enumerate(
        zip(figure.axes, sorted([*across, *across, *along]), strict=False)
    ):
        assert axes.get_title() == f"{k + 1}: {hertz:.3g} Hz"
        rest, moved = (np.array(c.get_segments()) for c in axes.collections)
        assert rest.shape == moved.shape == (n, 2, 2)
        np.testing.assert_allclose(
            moved[[0, -1], [0, 1]], rest[[0, -1], [0, 1]], atol=1e-12
        )  # its ends are fixed
        lengths = np.linalg.norm(moved - rest, axis=2)
        assert (
            0 < lengths.max() <= 0.1 + 1e-12
        )  # a tenth of the length of the string, seen at an angle
    assert len(plot.modes(string, n=2).axes) == 2
    dots = taut.System(
        [[0, 0, 0], [1, 0, 0]],
        mass=1.0,
        energies=[laws.pin([0, 1], k=1.0, target=[[0, 0, 0], [1, 0, 0]])],
    )
    assert len(plot.modes(dots, n=1).axes[0].lines) == 1


def test_reject_bad_sources(monkeypatch):
    for wrong in (
        lambda: plot.energy(3),
        lambda: plot.energy([3]),
        lambda: plot.convergence(3),
        lambda: plot.convergence([3]),
    ):
        with pytest.raises(ModelError, match="source of a plot must be"):
            wrong()
    for empty in (plot.energy, plot.convergence):
        with pytest.raises(ModelError, match="no step was taken"):
            empty([])
    string = taut.System(
        [[0, 0, 0], [1, 0, 0]], mass=1.0, fixed=[0], energies=[laws.spring([[0, 1]], k=1.0)]
    )
    with pytest.raises(ModelError, match="with the system they belong to"):
        plot.modes(taut.modes(string, n=1))
    with pytest.raises(ModelError, match="got 1 modes of 2 particles"):
        plot.modes(taut.modes(string, n=1), system=net())
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    for draws in (
        lambda: plot.energy([LedgerEntry(0.1, 0.1, 0.0, 0.0, {})]),
        lambda: plot.convergence([]),
        lambda: plot.modes(string),
    ):
        with pytest.raises(MissingExtra, match=r"pip install 'taut\[plot\]'"):
            draws()


def test_plot_command(command, folder, tmp_path):
    assert command("plot", folder) == (0, "energy.svg: energy\n", "")
    before = (tmp_path / "energy.svg").read_bytes()
    code, _, err = command("plot", folder)
    assert (code, "exists already" in err) == (2, True)
    assert command("plot", folder, "--overwrite")[0] == 0
    assert (tmp_path / "energy.svg").read_bytes() == before  # the same run, the same bytes
    for suffix, start in STARTS.items():
        assert command("plot", folder, "--what", "convergence", "-o", f"c{suffix}")[0] == 0
        assert (tmp_path / f"c{suffix}").read_bytes().startswith(start)
    code, _, err = command("plot", folder, "-o", "c.bmp")
    assert (code, "must be one of .png, .svg, .pdf, got '.bmp'" in err) == (2, True)
    code, _, err = command("plot", folder, "--what", "enrgy")
    assert (code, "did you mean 'energy'" in err) == (2, True)
    assert command("plot", tmp_path, "-o", "d.svg")[0] == 4
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "c.pdf",
        "c.png",
        "c.svg",
        "energy.svg",
    ]


def test_path_shows_stability_and_critical_points():
    """Stable pieces are solid, unstable ones dashed; each kind of critical point is marked."""
    bars = taut.System(
        [[-1, 0], [1, 0], [0, 0.2]],
        mass=1.0,
        fixed=[0, 1],
        energies=[laws.spring([[0, 2], [1, 2]], k=1000.0), laws.force([2], f=(0, -1))],
    )
    found = taut.path(bars, until=6.0)
    axes = taut.plot.path(found).axes[0]
    styles = [line.get_linestyle() for line in axes.lines if line.get_linestyle() != "None"]
    assert styles == ["-", "--", "-"]
    marks = [line for line in axes.lines if line.get_marker() == "o"]
    assert [mark.get_ydata()[0] for mark in marks] == pytest.approx([3.019147, -3.019147])
    assert axes.get_ylabel() == "load factor"
    other = taut.plot.path(found, particle=2, direction=(0, 2)).axes[0]
    assert other.lines[0].get_xdata()[-1] == pytest.approx(-axes.lines[0].get_xdata()[-1])
    for bad in ({"particle": 9}, {"direction": (0, 0)}):
        with pytest.raises(taut.errors.ModelError, match="path:"):
            taut.plot.path(found, **bad)
    with pytest.raises(taut.errors.ModelError, match=r"results of taut\.path"):
        taut.plot.path(bars)
