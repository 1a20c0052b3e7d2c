"""`taut validate`: table, JSON, filter, exit codes, and detection of wrong laws."""

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import taut
from taut.cli.main import app
from taut.validate import _bodies
from taut.validate.cases import GROUPS, load_cases
from taut.validate.report import format_numbers

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "validation.md"
QUICK = ("--filter", "two-body-frequency", "--filter", "lattice-square")


def validate(*arguments):
    return CliRunner().invoke(app, ["validate", *arguments])


def test_a_table_a_summary_and_progress():
    done = validate(*QUICK)
    assert done.exit_code == 0
    assert done.stdout.splitlines()[0].split() == ["case", "expected", "got", "error", "tolerance"]
    assert re.search(
        r"^two-body-frequency +8.944272 rad/s +8.944272 rad/s +\S+ +1.0e-13 +pass$",
        done.stdout,
        re.MULTILINE,
    )
    assert done.stdout.endswith("\n3 analytic cases: 3 pass, 0 miss\n")
    assert "taut validate: cases" in done.stderr


def test_json():
    done = validate(*QUICK, "--json")
    found = json.loads(done.stdout)
    assert (found["taut"], found["passed"], found["missed"]) == (taut.__version__, 3, 0)
    assert [entry["name"] for entry in found["cases"]] == [
        "two-body-frequency",
        "lattice-square",
        "lattice-square-uneven",
    ]
    first = found["cases"][0]
    assert first["expected"] == pytest.approx(80**0.5, rel=1e-12)
    assert first["error"] <= first["tolerance"]
    assert first["relative"] is True
    assert first["verdict"] == "pass"


def test_filter_by_group_and_quiet_prints_nothing():
    done = validate("--filter", "lattices", "--quiet")
    assert (done.exit_code, done.stdout, done.stderr) == (0, "", "")
    assert len(json.loads(validate("--filter", "lattices", "--json").stdout)["cases"]) == 7


@pytest.mark.parametrize(
    ("word", "hint"),
    [("pendulun", "pendulums"), ("catenery", "catenary"), ("osillators", "oscillators")],
)
def test_an_unknown_word_raises_before_the_run(word, hint):
    done = validate("--filter", word)
    assert isinstance(done.exception, taut.errors.ModelError)
    assert f"no case is called '{word}'; did you mean '{hint}'?" in str(done.exception)
    assert "oscillator-free" in str(done.exception)
    assert done.stdout == ""


def test_an_empty_word_raises():
    assert "no case is called ''" in str(validate("--filter", "").exception)


def test_a_miss_exits_with_1():
    wrong = (
        "import taut.laws as l; from taut.cli import main; s = l.spring; "
        "l.spring = lambda e, *, k: s(e, k=1.01 * k); main()"
    )
    command = [sys.executable, "-c", wrong, "validate", "--filter", "chain-fixed"]
    missed = subprocess.run(command, capture_output=True, text=True, check=False)
    assert missed.returncode == 1, missed.stderr
    assert missed.stdout.endswith("1 analytic case: 0 pass, 1 miss\n")


def test_a_wrong_spring_is_caught(monkeypatch):
    """Springs stiffer by a millionth than declared.

    A miss, reported in full, and exit code 1.
    """
    spring = taut.laws.spring

    def stiffer(elements, *, k, **more):
        return spring(elements, k=k * (1 + 1e-6), **more)

    monkeypatch.setattr(taut.laws, "spring", stiffer)
    done = validate(
        "--filter", "chain-fixed", "--filter", "lattice-cubic", "--filter", "balloon-oct"
    )
    assert done.exit_code == 1
    assert re.search(r"^chain-fixed .* 5.0e-07 +4.0e-12 +miss$", done.stdout, re.MULTILINE)
    assert "missed: chain-fixed\n  All frequencies of a chain of 50 masses" in done.stdout
    assert done.stdout.endswith("4 analytic cases: 0 pass, 4 miss\n")


def test_a_wrong_mass_and_a_wrong_gravity_are_caught(monkeypatch):
    build = _bodies.System

    def heavier(points, *, mass, **more):
        return build(points, mass=1.00001 * np.asarray(mass), **more)

    monkeypatch.setattr(_bodies, "System", heavier)
    assert validate("--filter", "two-body-frequency", "--quiet").exit_code == 1
    monkeypatch.undo()
    gravity = taut.laws.gravity
    monkeypatch.setattr(
        taut.laws, "gravity", lambda *a, **more: gravity(*a, **{"g": (0, -9.8101, 0), **more})
    )
    done = validate(
        "--filter", "fall-free", "--filter", "pendulum-small", "--filter", "chain-hanging", "--json"
    )
    assert done.exit_code == 1
    assert json.loads(done.stdout)["missed"] == 4


@pytest.mark.parametrize(
    "wrong", ["rod_bending", "shell_bending", "pressure", "drag", "spring_damping", "cable"]
)
def test_other_wrong_laws_are_caught(wrong, monkeypatch):
    """A stiffness, pressure or rate wrong by a thousandth.

    At least one of its cases misses.
    """
    law = getattr(taut.laws, wrong)
    stiffness = law.parameters[0]
    asked = {
        "rod_bending": "buckling-10-links",
        "shell_bending": "shell-cylinder",
        "pressure": "balloon-octahedron",
        "drag": "fall-drag",
        "spring_damping": "oscillator-critical",
        "cable": "cable-point-load",
    }[wrong]
    monkeypatch.setattr(
        taut.laws, wrong, lambda *a, **more: law(*a, **{**more, stiffness: 1.001 * more[stiffness]})
    )
    assert validate("--filter", asked, "--quiet").exit_code == 1


@pytest.mark.parametrize(
    ("wrong", "parameter", "asked"),
    [("spring", "k", "pulse-along"), ("spring", "k", "pulse-across"), ("wind", "density", "fall-")],
)
def test_waves_and_wind_wrong_by_one_per_cent_are_caught(wrong, parameter, asked, monkeypatch):
    """Speeds scale with the square root.

    They increase by 1/200, against the sign of the discretisation error.
    """
    law = getattr(taut.laws, wrong)
    monkeypatch.setattr(
        taut.laws, wrong, lambda *a, **more: law(*a, **{**more, parameter: 1.01 * more[parameter]})
    )
    assert validate("--filter", asked, "--quiet").exit_code == 1


def test_the_page_and_its_pictures(tmp_path):
    pytest.importorskip("matplotlib", reason="plots need the extra plot")
    done = validate(*QUICK, "--plot", str(tmp_path / "new"))
    assert done.exit_code == 0
    text = (tmp_path / "new" / "validation.md").read_text()
    assert "**3 analytic cases: 3 pass, 0 miss.**" in text
    for group in ("oscillators", "lattices"):
        assert f"(validation/{group}.svg)" in text
        drawn = (tmp_path / "new" / "validation" / f"{group}.svg").read_bytes()
        assert drawn.startswith(b"<?xml")
        assert len(drawn) < 60_000
    assert not list(tmp_path.rglob("*.part"))
    first = {path: path.read_bytes() for path in tmp_path.rglob("*.*") if path.is_file()}
    again = validate(*QUICK, "--plot", str(tmp_path / "new"))
    assert isinstance(again.exception, taut.errors.ModelError)
    assert "validation.md exists already; --overwrite replaces it" in str(again.exception)
    assert again.stdout == ""
    assert validate(*QUICK, "--plot", str(tmp_path / "new"), "--overwrite").exit_code == 0
    assert {path: path.read_bytes() for path in first} == first, (
        "text and pictures must be reproducible"
    )


def test_the_page_reports_a_miss(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib", reason="plots need the extra plot")
    spring = taut.laws.spring
    monkeypatch.setattr(
        taut.laws, "spring", lambda elements, *, k, **more: spring(elements, k=1.1 * k, **more)
    )
    assert validate("--filter", "lattice-cubic", "--plot", str(tmp_path)).exit_code == 1
    assert "| 1.0e-01 | 1.0e-13 | miss |" in (tmp_path / "validation.md").read_text()


def test_a_folder_that_cannot_be_created_raises_before_the_run(tmp_path):
    pytest.importorskip("matplotlib", reason="plots need the extra plot")
    (tmp_path / "file").write_text("")
    done = validate(*QUICK, "--plot", str(tmp_path / "file"))
    assert isinstance(done.exception, taut.errors.ModelError)
    assert "cannot be created" in str(done.exception)
    assert done.stdout == ""


def test_a_plot_without_matplotlib_raises_before_the_run(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    done = validate(*QUICK, "--plot", str(tmp_path))
    assert isinstance(done.exception, taut.errors.MissingExtra)
    assert "pip install 'taut[plot]'" in str(done.exception)
    assert done.stdout == ""


def test_the_committed_page_has_all_cases():
    """With their expected values and tolerances.

    `taut validate --plot docs --overwrite` regenerates it.
    """
    text = PAGE.read_text()
    rows = {m[1]: m[0] for m in re.finditer(r"^\| `([\w-]+)` \|.*$", text, re.MULTILINE)}
    assert list(rows) == list(load_cases())
    for name, found in load_cases().items():
        unit = f" {found.unit}" if found.unit else ""
        assert f"| {format_numbers(found.expected)}{unit} |" in rows[name]
        assert f"| {found.tolerance:.1e}" in rows[name]
        assert rows[name].endswith("| pass |")
    assert f"{len(rows)} analytic cases: {len(rows)} pass, 0 miss" in text
    assert (
        f"| {len(rows)} analytic cases: {len(rows)} pass, 0 miss, "
        in (ROOT / "README.md").read_text()
    )
    for group in GROUPS:
        picture = PAGE.parent / "validation" / f"{group}.svg"
        assert f"(validation/{group}.svg)" in text
        assert picture.stat().st_size < 80_000
