"""Run databases from untrusted sources: values, tables and triggers changed by SQL.

Every change is detected or has no effect. Flipped and cut bytes: tests/run/test_damage.py.
"""

import shutil
import sqlite3
import sys
from contextlib import suppress

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import taut
from taut.run._tables import LEDGER_COLUMNS, REPORT_COLUMNS, TABLES
from taut.run.encoding import checksum
from taut.run.open_run import open_run
from taut.run.record import record
from tests.run.recordings import ball, bits

VALUES = st.one_of(
    st.none(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False),
    st.text(max_size=20),
    st.binary(max_size=60),
    st.sampled_from(
        [0, -1, 1e308, "running", "finished", '{"a": 1}', "[" * 5000, "{}", b"\x80\x04]", "../../x"]
    ),
)
SUMMED = {  # columns covered by the checksum, the key first
    "meta": ["key", "value"],
    "progress": ["run", "step", "status"],
    "frames": ["step", "t", "q", "v", "active"],
    "checkpoints": ["step", "t", "state"],
    "reports": ["step", *REPORT_COLUMNS],
    "ledger": ["step", *LEDGER_COLUMNS],
}
STRANGE = [
    "CREATE TRIGGER t AFTER INSERT ON frames BEGIN DELETE FROM checkpoints; END",
    "DROP TABLE reports",
    "DELETE FROM checkpoints",
    "CREATE TABLE other(x)",
    "ALTER TABLE frames RENAME TO pictures",
    "DELETE FROM meta WHERE key = (SELECT min(key) FROM meta)",
    "CREATE VIEW v AS SELECT load_extension('x')",
    "PRAGMA user_version = 99",
    "PRAGMA application_id = 1",
    "DELETE FROM progress",
    "DROP TABLE frames; CREATE VIEW frames AS SELECT 0 AS step, 0.0 AS t, x'' AS checksum, "
    "zeroblob(900000000) AS q, x'' AS v",
    "UPDATE frames SET q = zeroblob(5000000)",
    "UPDATE meta SET value = printf('%.*c', 3000000, '[')",
]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """A short run and its contents."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "matplotlib.figure", None)
        folder = tmp_path_factory.mktemp("fuzz") / "run"
        record(folder, ball(), taut.BDF2(), h=0.02, until=0.1, every=2, scene="# a scene\n")
    return folder, contents(folder)


def contents(folder):
    """All readable parts of a run."""
    found = {}
    with open_run(folder) as run:
        found["header"] = (
            run.scene,
            run.integrator,
            run.n,
            run.h,
            run.steps,
            run.every,
            dict(run.versions),
            dict(run.inputs),
        )
        parts = {
            "progress": lambda: (run.step, run.status),
            "state": lambda: bits(run.state()),
            "count": lambda: len(run.frames),
        }
        parts |= {
            name: lambda name=name: {k: v.tolist() for k, v in getattr(run, name).items()}
            for name in ("reports", "ledger")
        }
        parts |= {
            i: lambda i=i: (run.frames[i].step, run.frames[i].t, run.frames[i].q.tobytes())
            for i in range(4)
        }
        for name, read in parts.items():
            try:
                found[name] = read()
            except (taut.errors.RunError, IndexError):
                continue
    return found


def check_changed_copy(recorded, work):
    """Change a copy of the run by SQL; what is still readable must be what was written."""
    folder, whole = recorded
    copy = folder.parent / "copy"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(folder, copy)
    with sqlite3.connect(copy / "run.sqlite") as connection:
        work(connection)
    connection.close()
    try:
        found = contents(copy)
    except taut.errors.RunError as error:
        assert str(copy) in str(error)  # noqa: PT017
        return
    found.pop("count", None)
    for name, value in found.items():
        if name == "state":
            continue  # an older checkpoint is valid too; it has its own checksum
        assert value == whole[name], name


@settings(
    max_examples=150,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(data=st.data())
def test_changed_cell_is_detected_or_harmless(recorded, data):
    table = data.draw(st.sampled_from(sorted(TABLES)))
    value, row = data.draw(VALUES), data.draw(st.integers(0, 5))

    def work(connection):
        columns = [name for _, name, *_ in connection.execute(f"PRAGMA table_info({table})")]
        column = data.draw(st.sampled_from(columns))
        keys = [
            name
            for _, name, _, _, _, key in connection.execute(f"PRAGMA table_info({table})")
            if key
        ]
        rows = connection.execute(f"SELECT {', '.join(keys)} FROM {table}").fetchall()
        if rows:
            where = " AND ".join(f"{key} = ?" for key in keys)
            with suppress(sqlite3.IntegrityError):  # a key accepts integers only
                connection.execute(
                    f'UPDATE OR IGNORE {table} SET "{column}" = ? WHERE {where}',
                    (value, *rows[row % len(rows)]),
                )

    check_changed_copy(recorded, work)


@pytest.mark.parametrize("sql", STRANGE)
def test_changed_schema_is_detected_or_harmless(recorded, sql):
    check_changed_copy(recorded, lambda connection: connection.executescript(sql))


def read_everything(folder):
    """Read everything in a run; only RunErrors are allowed."""
    with open_run(folder) as run:
        run._repr_html_()
        asked = [
            run.state,
            run.entries,
            lambda: run.reports,
            lambda: run.ledger,
            lambda: run.finished,
            lambda: repr(run),
        ]
        for ask in [
            *asked,
            lambda: list(run.entries()),
            lambda: [run.frames[i].q for i in (0, 1, -1)],
        ]:
            with suppress(taut.errors.RunError, IndexError):
                ask()


def read_forged_copy(recorded, table, column, row, value):
    """Read a copy of the run with a changed value under a valid checksum.

    The value is accepted or rejected with a RunError.
    """
    folder, _ = recorded
    copy, columns = folder.parent / "forged", SUMMED[table]
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(folder, copy)
    by_law = "SELECT step, place, kind, law, joules FROM energies WHERE step = ? ORDER BY place"
    with sqlite3.connect(copy / "run.sqlite") as file:
        keys = [key for (key,) in file.execute(f"SELECT {columns[0]} FROM {table}")]
        key = keys[row % len(keys)]
        if column in columns:
            file.execute(f'UPDATE {table} SET "{column}" = ? WHERE {columns[0]} = ?', (value, key))
        else:
            file.execute(
                f'UPDATE energies SET "{column}" = ? WHERE step = ? AND place = 0', (value, key)
            )
        listed = ", ".join(f'"{name}"' for name in columns)
        summed = list(
            file.execute(f"SELECT {listed} FROM {table} WHERE {columns[0]} = ?", (key,)).fetchone()
        )
        if table == "ledger":
            summed += [item for each in file.execute(by_law, (key,)) for item in each]
        file.execute(
            f"UPDATE {table} SET checksum = ? WHERE {columns[0]} = ?",
            (checksum(table, *summed), key),
        )
    file.close()
    with suppress(taut.errors.RunError):
        read_everything(copy)
    return copy


@settings(
    max_examples=150,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(data=st.data())
def test_forged_value_with_valid_checksum_is_read_or_rejected(recorded, data):
    table = data.draw(st.sampled_from(sorted(SUMMED)))
    columns = SUMMED[table][1:] + (["kind", "law", "joules"] if table == "ledger" else [])
    read_forged_copy(
        recorded,
        table,
        data.draw(st.sampled_from(columns)),
        data.draw(st.integers(0, 5)),
        data.draw(VALUES),
    )


@pytest.mark.parametrize("value", ["running", None, -1])
def test_reject_forged_progress_step(recorded, value):
    with pytest.raises(taut.errors.RunError, match="cannot read the progress"):
        read_everything(read_forged_copy(recorded, "progress", "step", 0, value))


def test_reject_forged_energy_kind(recorded):
    with (
        open_run(read_forged_copy(recorded, "ledger", "kind", 0, "borrowed")) as run,
        pytest.raises(taut.errors.RunError, match="the kind of an energy must be"),
    ):
        list(run.entries())
