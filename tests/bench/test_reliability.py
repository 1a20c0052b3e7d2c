"""`taut bench --reliability`.

The record of a hundredth of each campaign, its bound, its page, and failures that are noticed.
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
from benchmarks.reliability.campaigns import CAMPAIGNS, SIZES, random, size_of, soaked
from benchmarks.reliability.page import BEGIN, END, Page
from benchmarks.reliability.record import Record, bound
from benchmarks.reliability.run import run
from benchmarks.reliability.step_checks import unbooked
from benchmarks.reliability.table import as_markdown, as_text
from benchmarks.reliability.watch import in_time


def bench(*arguments):
    command = [sys.executable, "-m", "taut.cli", "bench", "--reliability", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)


@pytest.mark.parametrize(("failures", "trials"), [(1, 50), (2, 100), (7, 2000), (40, 100)])
def test_the_bound_is_that_of_clopper_and_pearson(failures, trials):
    """At the bound, as few failures have a chance of 5%, by the binomial distribution itself."""
    assert binom.cdf(failures, trials, bound(failures, trials)) == pytest.approx(0.05, rel=1e-9)


@pytest.mark.parametrize("trials", [10, 200, 50_000])
def test_without_failures_three_over_n_is_on_the_safe_side(trials):
    exact = 1 - 0.05 ** (1 / trials)
    assert exact < bound(0, trials) == 3 / trials < 1.2 * exact
    assert bound(0, 2) == bound(3, 3) == bound(0, 0) == 1.0


def test_every_campaign_has_a_size_and_a_docstring():
    assert list(CAMPAIGNS) == list(SIZES)
    assert all(campaign.__doc__ for campaign in CAMPAIGNS.values())
    assert size_of("soak", quick=False) == 100_000


def test_quick_campaigns_from_the_command_line(tmp_path):
    """Those that are quick enough.

    The others have tests of their own (kill, faults, random scenes, spoilt scenes).
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
    assert "taut bench: spoilt meshes" in done.stderr
    text = page.read_text()
    assert text.startswith("Before\n")
    assert text.endswith("after\n")
    assert "| `meshes` | 500 files | 0 | 0.006 |" in text
    assert "old" not in text


def test_the_same_bits_here_and_in_other_processes():
    found = determinism.compared(["random 3", "scene spring"])
    assert determinism.differences(found) == []
    assert all(len(set(prints)) == 1 and len(prints) == 5 for prints in found.values())
    assert found["random 3"][0] != found["scene spring"][0] != determinism.fingerprint("random 4")


def test_a_short_soak_keeps_what_must_be_kept():
    record = soaked(100)
    assert record.verdict == "pass", record.failures
    assert record.trials == 100
    system = soak.turning_sheet()
    state = system.initial_state()
    momentum = system.mass @ state.v
    assert np.linalg.norm(momentum) == pytest.approx(np.linalg.norm(system.mass @ system.velocity))


def pushed(state):
    return state.with_(v=state.v + np.array([1e-9, 0.0, 0.0]))


def turned(state):
    return state.with_(v=state.v + 1e-6 * np.cross([0.0, 0.0, 1.0], state.q - state.q.mean(axis=0)))


def quickened(state):
    return state.with_(v=1.01 * state.v)


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (pushed, "linear momentum moved"),
        (turned, "angular momentum moved"),
        (quickened, "energy came between steps"),
    ],
)
def test_a_soak_notices_what_is_not_kept(monkeypatch, spoil, told):
    """States that are edited between the steps: a push, a turn, and energy from nowhere."""
    advance = taut.ImplicitMidpoint.advance
    monkeypatch.setattr(
        taut.ImplicitMidpoint,
        "advance",
        lambda self, system, state, h: advance(self, system, spoil(state), h),
    )
    assert any(told in failure for failure in soak.soak(range(20), 20).failures)


def test_books_that_do_not_close_are_noticed(monkeypatch):
    system = soak.turning_sheet()
    state = system.initial_state()
    assert unbooked(system, state, 0.01, taut.ImplicitEuler()) == ""
    monkeypatch.setattr(
        "benchmarks.reliability.step_checks.balance_energy",
        lambda *_: SimpleNamespace(gap=1e-3, scale=1.0),
    )
    assert "do not close" in unbooked(system, state, 0.01, taut.ImplicitEuler())


def test_random_scenes_are_counted(monkeypatch):
    found = random(3)
    assert found.verdict == "pass"
    assert found.counts["solved"] + found.counts["typed errors"] == 3
    monkeypatch.setattr(
        "benchmarks.reliability.random_steps.unbooked", lambda *_: "the books do not close"
    )
    assert random(3).verdict == "fail"


def test_scenes_that_all_fail_for_one_reason_are_told_with_it(monkeypatch):
    def gives_up(self, system, state, h):
        raise taut.errors.SingularState("spring 3: its energy is not finite")

    monkeypatch.setattr(taut.ImplicitEuler, "step", gives_up)
    often = "most often: SingularState: its energy is not finite (2 times)"
    assert random(2).failures == [f"only 0 of 2 scenes were solved; {often}"]


def test_scenes_that_are_refused_for_a_wrong_argument_are_failures(monkeypatch):
    """Each: the scenes are valid, so that a refusal is the campaign's fault or taut's.

    And no answer.
    """

    def refuses(self, system, state, h):
        raise taut.errors.ModelError("no such keyword")

    monkeypatch.setattr(taut.ImplicitEuler, "step", refuses)
    assert [failure for failure in random(2).failures if "ModelError" in failure] == [
        "scene 0: ModelError: no such keyword",
        "scene 1: ModelError: no such keyword",
    ]


@pytest.mark.skipif(sys.platform == "win32", reason="rights of folders are not checked there")
def test_a_cache_that_is_not_trusted_fails_every_campaign_that_steps(tmp_path, monkeypatch):
    """And says so: the same error in all scenes must not count as their answer.

    Nor as the same bits everywhere.
    """
    (tmp_path / "open").mkdir(mode=0o755)
    monkeypatch.setenv("TAUT_CACHE_DIR", str(tmp_path / "open"))
    stepping = ["random", "kill", "determinism", "soak"] + ([] if faults.unable() else ["faults"])
    records = {record.name: record for record in run(stepping, quick=True)}
    assert set(records) == set(stepping)
    for record in records.values():
        assert record.verdict == "fail"
        assert "CacheError: the kernel cache" in record.failures[0]
        assert "is open to others" in record.failures[0]


def test_a_campaign_that_crashes_has_failed_and_one_that_cannot_be_is_skipped(monkeypatch):
    monkeypatch.setitem(SIZES, "soak", -1)  # which no process survives
    (crashed,) = run(["soak"])
    assert (crashed.verdict, crashed.failures) == ("fail", ["its process ended with 1"])
    monkeypatch.setattr(faults, "unable", lambda: "there is no C compiler (cc)")
    (skipped,) = run(["faults"])
    assert skipped.verdict == "skipped"
    assert "no C compiler" in as_text([skipped])
    assert "skipped" in as_markdown([skipped])


def test_failures_are_told_and_end_with_1(monkeypatch, capsys):
    from taut.cli.main import main

    failed = Record("soak", 100, "steps", ["memory grew [bytes]: 9.00e+06"], seconds=1.0)
    monkeypatch.setattr("benchmarks.reliability.run.run", lambda words, quick: iter([failed]))
    monkeypatch.setattr("sys.argv", ["taut", "bench", "--reliability", "soak"])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == 1
    out = capsys.readouterr().out
    assert "FAILED: memory grew" in out
    assert "0.0466" not in out
    assert "0.047" in out


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (
            ["--reliability", "soap"],
            "no campaign of the reliability record is called 'soap'; did you mean 'soak'?",
        ),
        (["--quick"], "--quick and --write require --reliability"),
        (["--reliability", "--write", "{}/plain.md"], "it has no place for the table"),
        (["--reliability", "--write", "{}/none/page.md"], "cannot be written to"),
    ],
)
def test_what_cannot_be_meant_is_refused_before_the_work(
    arguments, told, tmp_path, monkeypatch, capsys
):
    from taut.cli.main import main

    (tmp_path / "plain.md").write_text("mine")
    monkeypatch.setattr("sys.argv", ["taut", "bench", *(a.format(tmp_path) for a in arguments)])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == 2
    assert told in capsys.readouterr().err
    assert (tmp_path / "plain.md").read_text() == "mine"


def test_a_page_keeps_what_it_had_until_the_new_one_is_complete(tmp_path, monkeypatch):
    path = tmp_path / "page.md"
    path.write_text(f"{BEGIN}\nold\n{END}")
    page = Page(path)
    monkeypatch.setattr("os.replace", lambda *_: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(taut.errors.ModelError, match="cannot be written"):
        page.write([Record("soak", 1, "steps")])
    assert "old" in path.read_text()


def test_what_never_ends_is_ended():
    with pytest.raises(TimeoutError, match="no end after 1 s"), in_time(1):
        threading.Event().wait(20)
