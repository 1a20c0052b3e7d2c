"""Member forces against hand computation, rest lengths for a prestress, and the CSV file."""

import csv

import numpy as np
import pytest

import taut
from taut import laws
from taut.formula import norm

POINTS = [[0, 0, 0], [3, 0, 0], [3, 4, 0], [0, 0, 1]]


@taut.energy(rest={"l0": lambda x: norm(x[1] - x[0])}, invariant="rigid motion")
def stiffening(x, k, l0):
    """A user law: V = ¼ k e⁴, e = l - l₀."""
    return k / 4 * (norm(x[1] - x[0]) - l0) ** 4


def system(**more):
    return taut.System(
        POINTS,
        mass=1.0,
        energies=[
            laws.spring([[0, 1], [0, 2]], k=10.0, l0=[2.0, 6.0], name="bar"),
            laws.cable([[1, 2], [0, 3]], k=[5.0, 7.0], l0=[3.0, 1.5]),
            laws.zero_length_spring([[3, 0]], k=2.0),
            stiffening([[1, 0]], k=3.0, l0=1.0),
            laws.rod_hinge([[0, 1, 2]], k=1.0),
            laws.gravity(),
        ],
        **more,
    )


def test_forces_lengths_and_strains():
    """Tension is positive: k e of springs and cables, 0 in a slack cable, k l of a zero-length
    spring, k e³ of the user law.
    """
    table = system().members()
    assert table.law.tolist() == [
        "bar",
        "bar",
        "cable",
        "cable",
        "zero_length_spring",
        "stiffening",
    ]
    assert table.element.tolist() == [0, 1, 0, 1, 0, 0]
    assert np.column_stack([table.i, table.j]).tolist() == [
        [0, 1],
        [0, 2],
        [1, 2],
        [0, 3],
        [3, 0],
        [1, 0],
    ]
    assert table.length.tolist() == [3, 5, 4, 1, 1, 3]
    assert table.force == pytest.approx([10, -10, 5, 0, 2, 3 * 2**3])
    np.testing.assert_allclose(table.rest_length, [2, 6, 3, 1.5, np.nan, 1])
    np.testing.assert_allclose(table.strain, [0.5, -1 / 6, 1 / 3, -1 / 3, np.nan, 2])
    assert table.slack.tolist() == [False, False, False, True, False, False]
    assert len(table) == 6


def test_forces_sum_to_those_of_the_system():
    """With members alone, the sum of N u over them is the force on every particle."""
    rng = np.random.default_rng(3)
    edges = np.array([(i, j) for i in range(6) for j in range(i)])
    some = taut.System(
        rng.normal(size=(6, 3)),
        mass=1.0,
        energies=[laws.spring(edges, k=4.0, l0=1.0), laws.cable(edges, k=2.0, l0=1.2)],
    )
    state = some.initial_state()
    table = some.members(state)
    pull = table.force[:, None] * (state.q[table.j] - state.q[table.i]) / table.length[:, None]
    total = np.zeros((6, 3))
    np.add.at(total, table.i, pull)
    np.add.at(total, table.j, -pull)
    np.testing.assert_allclose(total, some.f(state), atol=1e-12)


def test_uses_time_and_active_elements_of_the_state():
    timed = taut.System(
        [[0, 0], [2, 0]],
        mass=1.0,
        energies=[laws.spring([[0, 1], [0, 1]], k=10.0, l0=lambda t: 1.0 + t)],
    )
    state = timed.initial_state().with_(t=0.25, active={"spring": [False, True]})
    table = timed.members(state)
    assert table.element.tolist() == [1]
    assert table.rest_length.tolist() == [1.25]
    assert table.force == pytest.approx([7.5])
    with pytest.raises(taut.errors.ModelError, match="active"):
        timed.members(timed.initial_state().with_(active={"sprig": [True, True]}))


def test_a_member_at_its_rest_length_is_not_slack():
    resting = taut.System(
        [[0, 0, 0], [1, 0, 0]],
        mass=1.0,
        energies=[laws.spring([[0, 1]], k=2.0), laws.cable([[0, 1]], k=2.0)],
    )
    table = resting.members()
    assert table.force.tolist() == [0.0, 0.0]
    assert table.slack.tolist() == [False, False]


def test_coincident_ends_of_a_zero_length_spring_carry_no_force():
    together = taut.System(
        [[0, 0, 0], [0, 0, 0]], mass=1.0, energies=[laws.zero_length_spring([[0, 1]], k=2.0)]
    )
    assert together.members().force.tolist() == [0.0]


def test_a_system_without_members():
    table = taut.System([[0, 0, 0]], mass=1.0, energies=[laws.gravity()]).members()
    assert len(table) == 0
    assert str(table).startswith("law")


def test_csv_holds_the_table(tmp_path):
    table = system().members()
    table.write_csv(tmp_path / "m.csv")
    with open(tmp_path / "m.csv", encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [row["law"] for row in rows] == table.law.tolist()
    assert [float(row["force_N"]) for row in rows] == table.force.tolist()
    assert [float(row["length_m"]) for row in rows] == table.length.tolist()
    assert [row["rest_length_m"] for row in rows] == ["2.0", "6.0", "3.0", "1.5", "", "1.0"]
    assert [row["slack"] for row in rows] == ["0", "0", "0", "1", "0", "0"]
    assert [p.name for p in tmp_path.iterdir()] == ["m.csv"]


def test_failed_write_keeps_the_old_file(tmp_path, monkeypatch):
    table = system().members()
    with pytest.raises(
        taut.errors.ModelError, match=r"m\.csv cannot be written: there is no folder .*nowhere"
    ):
        table.write_csv(tmp_path / "nowhere" / "m.csv")
    (tmp_path / "m.csv").write_text("old")
    monkeypatch.setattr(
        "taut.system.members.os.fsync",
        lambda _: (_ for _ in ()).throw(OSError(28, "No space left on device")),
    )
    with pytest.raises(taut.errors.ModelError, match="No space left"):
        table.write_csv(tmp_path / "m.csv")
    assert [p.name for p in tmp_path.iterdir()] == ["m.csv"]
    assert (tmp_path / "m.csv").read_text() == "old"


def test_a_long_table_prints_its_first_rows():
    rope = taut.mesh.rope(40)
    text = str(
        taut.System(rope.points, mass=1.0, energies=[laws.spring(rope.edges, k=1.0)]).members()
    )
    assert len(text.splitlines()) == 12
    assert text.endswith("… and 30 more")


def test_rest_lengths_give_the_prestress():
    edges = [[0, 1], [1, 2], [0, 2]]
    rest = taut.rest_length(POINTS, edges, k=[100.0, 50.0, 10.0], force=[20.0, 0.0, -5.0])
    assert rest == pytest.approx([2.8, 4.0, 5.5])
    tensed = taut.System(
        POINTS, mass=1.0, energies=[laws.spring(edges, k=[100.0, 50.0, 10.0], l0=rest)]
    )
    assert tensed.members().force == pytest.approx([20.0, 0.0, -5.0], abs=1e-12)


@pytest.mark.parametrize(
    ("k", "force", "match"),
    [
        (
            10.0,
            [0.0, 50.0],
            r"member 1 \(particles \[1, 2\]\) of length 4 m would need the rest length -1 m",
        ),
        ([1.0, -2.0], 0.0, "k of member 1 is -2 N/m"),
        ([1.0, 2.0, 3.0], 0.0, "one per member"),
        (1.0, [0.0, np.nan], "force of member 1 is not finite"),
        ("stiff", 0.0, "k is not made of numbers"),
    ],
)
def test_reject_forces_without_a_rest_length(k, force, match):
    with pytest.raises(taut.errors.ModelError, match=match):
        taut.rest_length(POINTS, [[0, 1], [1, 2]], k=k, force=force)


@pytest.mark.parametrize("edges", [[[0, 9]], [0, 1], [[0.5, 1.0]], [[0, 1], [1]]])
def test_reject_bad_edges(edges):
    with pytest.raises(taut.errors.ModelError, match="rest_length: "):
        taut.rest_length(POINTS, edges, k=1.0, force=0.0)


def test_force_of_a_compressed_spring_of_zero_length_is_nan():
    """The force of a spring of length 0 and rest length 1.5 is undefined. A cable is
    slack there.
    """
    laws_ = [laws.spring([[0, 1], [1, 2]], k=2.0, l0=1.5), laws.cable([[0, 1]], k=2.0, l0=1.5)]
    table = taut.System([[1, 1, 1], [1, 1, 1], [1, 1, 4]], mass=1.0, energies=laws_).members()
    np.testing.assert_allclose(table.force, [np.nan, 3.0, 0.0])
    assert table.slack.tolist() == [False, False, True]


def test_reject_arguments_of_wrong_type():
    with pytest.raises(taut.errors.ModelError, match=r"members: a taut.State is needed, got 3"):
        system().members(3)
    with pytest.raises(taut.errors.ModelError, match="must be a path, got None"):
        system().members().write_csv(None)
    with pytest.raises(taut.errors.ModelError, match="member 1 joins particle 2 to itself"):
        taut.rest_length(POINTS, [[0, 1], [2, 2]], k=1.0, force=-1.0)
