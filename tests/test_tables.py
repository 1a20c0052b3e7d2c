"""Members, reports and the ledger as tables of numpy and pandas, trajectories of xarray."""

import sys

import numpy as np
import pytest

import taut
from taut import laws
from taut.run.record import record

G = 9.81


@pytest.fixture(scope="module")
def fall():
    """A ball in free fall with drag: its states, reports, summary and ledger."""
    ball = taut.System(
        [[0, 10, 0]], mass=2.0, energies=[laws.gravity()], damping=[laws.drag(alpha=0.5)]
    )
    ledger = taut.Ledger()
    run = taut.simulate(ball, taut.ImplicitMidpoint(), h=0.1, until=0.5, ledger=ledger)
    steps = list(run)
    return [s for s, _ in steps], [r for _, r in steps], run.summary, ledger, ball


def cables():
    points = [[0, 0, 0], [3, 0, 0], [3, 4, 0]]
    springs = laws.spring([[0, 1], [0, 2]], k=10.0, l0=4.0)
    loose = laws.zero_length_spring([[1, 2]], k=2.0)
    return taut.System(points, mass=1.0, energies=[springs, loose]).members()


def test_members_are_rows_and_columns():
    rows = list(cables())
    assert list(rows[0])[:4] == ["law", "element", "i", "j"]
    assert [row["force"] for row in rows] == [-10.0, 10.0, 8.0]  # k (l - l0), k (l - l0), k l
    assert [row["law"] for row in rows] == ["spring", "spring", "zero_length_spring"]
    assert cables().columns()["force"].tolist() == [-10.0, 10.0, 8.0]
    assert list(taut.System([[0, 0, 0]], mass=1.0).members()) == []


def test_members_in_pandas():
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(cables())
    assert list(table.columns)[4:] == ["length", "rest_length", "strain", "force", "slack"]
    assert table.groupby("law")["force"].sum().to_dict() == {
        "spring": 0.0,
        "zero_length_spring": 8.0,
    }
    assert table["rest_length"].isna().tolist() == [False, False, True]
    assert table["slack"].dtype == bool
    nothing = taut.System([[0, 0, 0]], mass=1.0).members()
    assert len(pandas.DataFrame(nothing)) == 0
    assert list(pandas.DataFrame(nothing.columns()).columns) == list(table.columns)


def test_reports_summary_and_ledger_in_pandas(fall):
    pandas = pytest.importorskip("pandas")
    states, reports, summary, ledger, _ = fall
    table = pandas.DataFrame(reports)
    assert table["t"].tolist() == [s.t for s in states]
    assert set(table["outcome"]) == {"converged"}
    assert pandas.DataFrame([summary])["iterations"][0] == table["iterations"].sum()
    book = pandas.DataFrame(ledger)
    total = ledger.total()
    assert book["dissipated drag"].sum() == pytest.approx(total.dissipated["drag"], rel=1e-14)
    assert book["stored gravity"].iloc[-1] == pytest.approx(2.0 * G * states[-1].q[0, 1])
    closing = book["kinetic"] + book["stored gravity"]
    flows = book["dissipated drag"] + book["numerical"]
    assert (book["opening"] - flows - closing).abs().max() < 1e-12 * book["scale"].max()
    assert len(pandas.DataFrame(taut.Ledger())) == 0


def test_a_recorded_ledger_has_the_same_columns(fall, tmp_path):
    *_, ledger, ball = fall
    record(tmp_path / "run", ball, taut.ImplicitMidpoint(), h=0.1, until=0.5)
    with taut.open_run(tmp_path / "run") as run:
        recorded = run.ledger
    assert recorded.pop("step").tolist() == [1, 2, 3, 4, 5]
    columns = ledger.columns()
    assert list(recorded) == list(columns)
    for name, values in columns.items():
        assert recorded[name].tobytes() == values.tobytes(), name


def test_trajectories_in_xarray(fall, tmp_path):
    pytest.importorskip("xarray")
    states, *_, ball = fall
    data = taut.to_xarray(states)
    assert dict(data.sizes) == {"time": 5, "particle": 1, "axis": 3}
    # ImplicitMidpoint with damping: v' = v (1 - c)/(1 + c) - h g/(1 + c), c = h α/2
    v, c = 0.0, 0.1 * 0.5 / 2
    for k in range(5):
        v = v * (1 - c) / (1 + c) - 0.1 * G / (1 + c)
        assert float(data.v.isel(time=k, particle=0).sel(axis="y")) == pytest.approx(v, rel=1e-9)
    assert data.q.attrs["units"] == "m"
    assert data.time.attrs["units"] == "s"
    record(tmp_path / "run", ball, taut.ImplicitMidpoint(), h=0.1, until=0.5)
    with taut.open_run(tmp_path / "run") as run:
        recorded = taut.to_xarray(run.frames[1:])
    assert recorded.equals(data)


def test_torn_elements_in_xarray():
    pytest.importorskip("xarray")
    spring = laws.spring([[0, 1], [1, 2]], k=1.0, breaking_strain=0.5)
    points = [[0, 0, 0], [1, 0, 0], [2, 0, 0]]
    system = taut.System(
        points, mass=1.0, energies=[spring], velocity=[[0] * 3, [0] * 3, [9, 0, 0]]
    )
    run = taut.simulate(system, taut.ImplicitEuler(), h=0.05, until=0.1)
    data = taut.to_xarray([system.initial_state(), *(state for state, _ in run)])
    active = data["active spring"]
    assert active.dims == ("time", "element of spring")
    assert active.values[0].all()
    assert active.values[-1].tolist() == [True, False]


def test_trajectories_reject_what_is_none(fall, monkeypatch):
    states, *_, ball = fall
    bad = {
        "needs a list of states, got 3": 3,
        "at least one state, got none": [],
        "write to_xarray\\(state for state, _ in run\\)": taut.simulate(
            ball, taut.ImplicitEuler(), h=0.1, until=0.2
        ),
        "state 1 has 2 particles, the first one 1": [
            states[0],
            taut.State(0.0, np.zeros((2, 3)), np.zeros((2, 3))),
        ],
    }
    pytest.importorskip("xarray")
    for message, value in bad.items():
        with pytest.raises(taut.errors.ModelError, match=message):
            taut.to_xarray(value)
    monkeypatch.setitem(sys.modules, "xarray", None)
    with pytest.raises(taut.errors.MissingExtra, match=r"pip install 'taut\[xarray\]'"):
        taut.to_xarray(states)
