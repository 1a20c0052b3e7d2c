"""`taut bench --reliability`.

One hundredth of each campaign: records, confidence bounds, the page, and detection of failures.
"""

import json
import subprocess
import sys
import threading
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import binom

import taut
from benchmarks.reliability import determinism, faults, soak
from benchmarks.reliability.campaigns import (
    CAMPAIGNS,
    SIZES,
    campaign_size,
    run_random_scenes,
    run_soak,
)
from benchmarks.reliability.page import BEGIN, END, Page
from benchmarks.reliability.record import Record, bound
from benchmarks.reliability.run import run
from benchmarks.reliability.step_checks import check_ledger
from benchmarks.reliability.table import as_markdown, as_text
from benchmarks.reliability.watch import limit_time


def bench(*arguments):
    command = [sys.executable, "-m", "taut.cli", "bench", "--reliability", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)


@pytest.mark.parametrize(("failures", "trials"), [(1, 50), (2, 100), (7, 2000), (40, 100)])
def test_bound_is_clopper_pearson(failures, trials):
    """At the bound, so few failures have a binomial probability of 5%."""
    assert binom.cdf(failures, trials, bound(failures, trials)) == pytest.approx(0.05, rel=1e-9)


@pytest.mark.parametrize("trials", [10, 200, 50_000])
def test_rule_of_three_is_conservative(trials):
    exact = 1 - 0.05 ** (1 / trials)
    assert exact < bound(0, trials) == 3 / trials < 1.2 * exact
    assert bound(0, 2) == bound(3, 3) == bound(0, 0) == 1.0


def test_campaigns_have_size_and_docstring():
    assert list(CAMPAIGNS) == list(SIZES)
    assert all(campaign.__doc__ for campaign in CAMPAIGNS.values())
    assert campaign_size("soak", quick=False) == 100_000


def test_quick_campaigns_from_the_command_line(tmp_path):
    """Run the quick campaigns.

    The others (kill, faults, random scenes, corrupted scenes) have separate tests.
    """
    page = tmp_path / "page.md"
    page.write_text(f"Before\n{BEGIN}\nold\n{END}\nafter\n")
    done = bench("meshes", "heavy", "--quick", "--json", "--write", str(page))
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert [c["name"] for c in found["campaigns"]] == ["meshes", "heavy"]
    meshes = found["campaigns"][0]
    assert (meshes["trials"], meshes["failures"], meshes["verdict"]) == (500, [], "pass")
    assert meshes["counts"]["read"] + meshes["counts"]["refused"] == 500
    assert meshes["bound"] == 3 / 500
    assert "taut bench: corrupted meshes" in done.stderr
    text = page.read_text()
    assert text.startswith("Before\n")
    assert text.endswith("after\n")
    assert "| `meshes` | 500 files | 0 | 0.006 |" in text
    assert "old" not in text


def test_results_are_bit_identical_across_processes():
    found = determinism.compute_fingerprints(["random 3", "scene spring"])
    assert determinism.describe_differences(found) == []
    assert all(len(set(prints)) == 1 and len(prints) == 5 for prints in found.values())
    assert found["random 3"][0] != found["scene spring"][0] != determinism.fingerprint("random 4")


def test_short_soak_conserves_invariants():
    record = run_soak(100)
    assert record.verdict == "pass", record.failures
    assert record.trials == 100
    system = soak.build_spinning_sheet()
    state = system.initial_state()
    momentum = system.mass @ state.v
    assert np.linalg.norm(momentum) == pytest.approx(np.linalg.norm(system.mass @ system.velocity))


def add_momentum(state):
    return state.with_(v=state.v + np.array([1e-9, 0.0, 0.0]))


def add_rotation(state):
    return state.with_(v=state.v + 1e-6 * np.cross([0.0, 0.0, 1.0], state.q - state.q.mean(axis=0)))


def add_energy(state):
    return state.with_(v=1.01 * state.v)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (add_momentum, "drift of linear momentum"),
        (add_rotation, "drift of angular momentum"),
        (add_energy, "energy added between steps"),
    ],
)
def test_soak_detects_violated_invariants(monkeypatch, spoil, message):
    """Edit states between steps: add momentum, angular momentum or energy."""
    advance = taut.ImplicitMidpoint.advance
    monkeypatch.setattr(
        taut.ImplicitMidpoint,
        "advance",
        lambda self, system, state, h: advance(self, system, spoil(state), h),
    )
    assert any(message in failure for failure in soak.run_steps(range(20), 20).failures)


def test_energy_gap_is_detected(monkeypatch):
    system = soak.build_spinning_sheet()
    state = system.initial_state()
    assert check_ledger(system, state, 0.01, taut.ImplicitEuler()) == ""
    monkeypatch.setattr(
        "benchmarks.reliability.step_checks.balance_energy",
        lambda *_: SimpleNamespace(gap=1e-3, scale=1.0),
    )
    assert "does not close" in check_ledger(system, state, 0.01, taut.ImplicitEuler())


def test_random_campaign_counts_scenes(monkeypatch):
    found = run_random_scenes(3)
    assert found.verdict == "pass"
    assert found.counts["solved"] + found.counts["typed errors"] == 3
    monkeypatch.setattr(
        "benchmarks.reliability.random_steps.check_ledger", lambda *_: "the ledger does not close"
    )
    assert run_random_scenes(3).verdict == "fail"


def test_most_frequent_failure_reason_is_reported(monkeypatch):
    def gives_up(self, system, state, h):
        raise taut.errors.SingularState("spring 3: its energy is not finite")

    monkeypatch.setattr(taut.ImplicitEuler, "step", gives_up)
    often = "most often: SingularState: its energy is not finite (2 times)"
    assert run_random_scenes(2).failures == [f"only 0 of 2 scenes were solved; {often}"]


def test_model_errors_count_as_failures(monkeypatch):
    """The scenes are valid, so a ModelError is a defect of the campaign or of taut."""

    def refuses(self, system, state, h):
        raise taut.errors.ModelError("no such keyword")

    monkeypatch.setattr(taut.ImplicitEuler, "step", refuses)
    assert [failure for failure in run_random_scenes(2).failures if "ModelError" in failure] == [
        "scene 0: ModelError: no such keyword",
        "scene 1: ModelError: no such keyword",
    ]


@pytest.mark.skipif(
    sys.platform == "win32", reason="folder permissions are not checked on this platform"
)
def test_untrusted_cache_fails_every_stepping_campaign(tmp_path, monkeypatch):
    """The same CacheError in all scenes must count neither as solved nor as bit-identical."""
    (tmp_path / "open").mkdir(mode=0o755)
    monkeypatch.setenv("TAUT_CACHE_DIR", str(tmp_path / "open"))
    stepping = ["random", "kill", "determinism", "soak"] + (
        [] if faults.find_obstacle() else ["faults"]
    )
    records = {record.name: record for record in run(stepping, quick=True)}
    assert set(records) == set(stepping)
    for record in records.values():
        assert record.verdict == "fail"
        assert "CacheError: the kernel cache" in record.failures[0]
        assert "is open to others" in record.failures[0]


def test_crashed_campaign_fails_and_unavailable_one_is_skipped(monkeypatch):
    monkeypatch.setitem(SIZES, "soak", -1)  # crashes the process
    (crashed,) = run(["soak"])
    assert (crashed.verdict, crashed.failures) == ("fail", ["its process ended with 1"])
    monkeypatch.setattr(faults, "find_obstacle", lambda: "there is no C compiler (cc)")
    (skipped,) = run(["faults"])
    assert skipped.verdict == "skipped"
    assert "no C compiler" in as_text([skipped])
    assert "skipped" in as_markdown([skipped])


def test_failures_are_printed_and_exit_with_1(monkeypatch, capsys):
    from taut.cli.main import main

    failed = Record(
        "soak",
        100,
        "steps",
        ["growth of memory [bytes] must be at most 8e+06, got 9.00e+06"],
        seconds=1.0,
    )
    monkeypatch.setattr("benchmarks.reliability.run.run", lambda words, quick: iter([failed]))
    monkeypatch.setattr("sys.argv", ["taut", "bench", "--reliability", "soak"])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == 1
    out = capsys.readouterr().out
    assert "FAILED: growth of memory" in out
    assert "0.0466" not in out
    assert "0.047" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--reliability", "soap"],
            "no campaign of the reliability record is called 'soap'; did you mean 'soak'?",
        ),
        (["--quick"], "--quick and --write require --reliability"),
        (["--reliability", "--write", "{}/plain.md"], "the page must have the lines"),
        (
            ["--reliability", "--write", "{}/none/page.md"],
            "the folder of the page must be writable",
        ),
    ],
)
def test_invalid_arguments_exit_with_2_before_running(
    arguments, message, tmp_path, monkeypatch, capsys
):
    from taut.cli.main import main

    (tmp_path / "plain.md").write_text("mine")
    monkeypatch.setattr("sys.argv", ["taut", "bench", *(a.format(tmp_path) for a in arguments)])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == 2
    assert message in capsys.readouterr().err
    assert (tmp_path / "plain.md").read_text() == "mine"


def test_failed_write_keeps_the_old_page(tmp_path, monkeypatch):
    path = tmp_path / "page.md"
    path.write_text(f"{BEGIN}\nold\n{END}")
    page = Page(path)
    monkeypatch.setattr("os.replace", lambda *_: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(taut.errors.ModelError, match="cannot be written"):
        page.write([Record("soak", 1, "steps")])
    assert "old" in path.read_text()


def test_limit_time_interrupts_a_hanging_call():
    with pytest.raises(TimeoutError, match="no end after 1 s"), limit_time(1):
        threading.Event().wait(20)
