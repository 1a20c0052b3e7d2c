"""`taut bench` as a user calls it."""

import json
import subprocess
import sys
from importlib.resources import files
from io import StringIO

import pytest

from taut.progress import Progress


def bench(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "taut.cli", "bench", *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def test_rows_as_a_table_and_progress_on_standard_error():
    run = bench("threads", "--n", "8", "--steps", "5")
    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith("taut ")
    assert "\nthreads " in run.stdout
    assert run.stdout.rstrip().endswith("miss")
    assert "taut bench: two threads over one" in run.stderr


def test_json():
    run = bench("iterations", "--n", "8", "--steps", "5", "--json")
    found = json.loads(run.stdout)
    assert {"taut", "machine", "threads", "layer", "n", "steps", "yardstick", "rows"} <= set(found)
    assert found["yardstick"] is None  # no row needed it
    assert [row["name"] for row in found["rows"]] == ["iterations-soft", "iterations-stiff"]
    for row in found["rows"]:
        assert set(row) == {
            "name",
            "what",
            "value",
            "unit",
            "target",
            "sense",
            "accurate",
            "said",
            "details",
            "verdict",
        }


def test_an_unknown_row_is_refused_with_the_names_there_are():
    run = bench("implisit")
    assert run.returncode == 2
    assert run.stderr.startswith(
        "taut: no row of the benchmark is called 'implisit'; did you mean 'implicit-soft'?"
    )
    assert "roofline" in run.stderr


def test_a_row_may_be_called_as_it_is_printed():
    run = bench("iterations-stiff", "--n", "8", "--steps", "5", "--json")
    assert [row["name"] for row in json.loads(run.stdout)["rows"]] == [
        "iterations-soft",
        "iterations-stiff",
    ]


def test_what_was_measured_before_an_interruption_is_printed(monkeypatch, capsys):
    from taut.bench import suite
    from taut.bench.row import Row
    from taut.cli._bench import bench as command

    def interrupted(bench):
        raise KeyboardInterrupt

    monkeypatch.setattr(
        suite,
        "ROWS",
        {"memory": lambda bench: [Row("memory", "peak", 1.0, "GB", 1.5)], "threads": interrupted},
    )
    with pytest.raises(KeyboardInterrupt):
        command(rows=None, plot=None, n=8, steps=5, solid=None, write=None)
    assert "\nmemory " in capsys.readouterr().out


def test_the_baseline_is_part_of_the_package():
    text = (files("taut.bench") / "eigen_cloth.cpp").read_text()
    assert "SimplicialLDLT" in text


class Terminal(StringIO):
    def isatty(self):
        return True


def test_a_bar_on_a_terminal():
    stream = Terminal()
    progress = Progress("taut bench", stream=stream)
    progress.start("implicit, soft", 4)
    progress.update(2, "residual ratio 1e-5")
    assert "[████████████············]  2/4" in stream.getvalue()
    assert "s left  residual ratio 1e-5" in stream.getvalue()
    assert "\n" not in stream.getvalue()
    progress.finish()
    assert stream.getvalue().endswith("\r\x1b[2K")
