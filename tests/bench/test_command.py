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


def test_table_on_stdout_and_progress_on_stderr():
    run = bench("threads", "--n", "8", "--steps", "5")
    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith("taut ")
    assert "\nthreads " in run.stdout
    assert run.stdout.rstrip().endswith("miss")
    assert "taut bench: two threads over one" in run.stderr


def test_json_has_all_fields():
    run = bench("iterations-soft", "--n", "8", "--steps", "5", "--json")
    found = json.loads(run.stdout)
    assert {"taut", "machine", "threads", "layer", "n", "steps", "yardstick", "rows"} <= set(found)
    assert found["yardstick"] is None  # no selected row needs it
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


def test_unknown_row_exits_with_2_and_lists_names():
    run = bench("implisit")
    assert run.returncode == 2
    assert run.stderr.startswith(
        "taut: no row of the benchmark is called 'implisit'; did you mean 'implicit-soft'?"
    )
    assert "roofline" in run.stderr


def test_row_group_is_selected_by_printed_row_name():
    run = bench("iterations-stiff", "--n", "8", "--steps", "5", "--json")
    assert [row["name"] for row in json.loads(run.stdout)["rows"]] == [
        "iterations-soft",
        "iterations-stiff",
    ]


def test_interrupted_bench_prints_finished_rows(monkeypatch, capsys):
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


def test_baseline_source_is_packaged():
    text = (files("taut.bench") / "eigen_cloth.cpp").read_text()
    assert "SimplicialLDLT" in text


class Terminal(StringIO):
    def isatty(self):
        return True


def test_progress_bar_on_a_terminal():
    stream = Terminal()
    progress = Progress("taut bench", stream=stream)
    progress.start("implicit, soft", 4)
    progress.update(2, "residual ratio 1e-5")
    assert "[████████████············]  2/4" in stream.getvalue()
    assert "s left  residual ratio 1e-5" in stream.getvalue()
    assert "\n" not in stream.getvalue()
    progress.finish()
    assert stream.getvalue().endswith("\r\x1b[2K")


@pytest.mark.parametrize("make_stream", [StringIO, Terminal])
def test_progress_without_a_task_has_nothing_to_finish(make_stream):
    stream = make_stream()
    progress = Progress("taut bench", stream=stream)
    progress.finish()
    assert stream.getvalue() == ""
    progress.start("memory")
    progress.finish()
    finished = stream.getvalue()
    progress.finish()
    assert stream.getvalue() == finished


def test_help_says_what_reliability_needs():
    text = " ".join(bench("--help").stdout.replace("│", " ").split())
    assert "needs a source checkout installed with pip install -e ." in text
