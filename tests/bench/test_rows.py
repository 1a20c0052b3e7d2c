"""The rows of the benchmark.

Arithmetic, names and JSON, each on a cloth that is far too small for a meaningful measurement.
"""

import json
import sys
from io import StringIO

import numpy as np
import pytest

import taut
from benchmarks.peers import PEERS
from benchmarks.peers._newton import _colours
from taut.bench import baseline, checkout, cpp_program, plots, processes, solid, suite
from taut.bench.baseline import Splu
from taut.bench.growth import FALL_STEPS, TIMED_STEPS
from taut.bench.net import cloth
from taut.bench.roofline import count_assembly_bytes
from taut.bench.row import Bench, Row, fit_exponent, format_rows
from taut.progress import Progress
from taut.system.workspace import workspace_for

N = 8


class ConstantBaseline:
    """A baseline that takes 3 s before a row and 2 s after it, for every size."""

    name = "a clock"

    def __init__(self):
        self.seconds = {}

    def measure_step(self, n):
        known = self.seconds.setdefault(n, [])
        known.append(2.0 if len(known) % 2 else 3.0)
        return known[-1]


@pytest.fixture
def bench():
    made = Bench(n=N, steps=6, progress=Progress("taut bench", stream=StringIO()))
    made.__dict__["baseline"] = ConstantBaseline()
    return made


@pytest.mark.parametrize(
    ("value", "target", "sense", "accurate", "verdict"),
    [
        (0.08, 0.08, "≤", True, "pass"),
        (0.081, 0.08, "≤", True, "miss"),
        (0.01, 0.08, "≤", False, "miss"),
        (1.5, 1.5, "≥", True, "pass"),
        (1.4, 1.5, "≥", True, "miss"),
        (None, 1.5, "≤", True, ""),
        (None, None, "≤", False, "miss"),
        (1.0, None, "≤", True, ""),
    ],
)
def test_verdict_depends_on_target_and_accuracy(value, target, sense, accurate, verdict):
    assert Row("x", "", value, "", target, sense, accurate).verdict == verdict


def test_non_finite_numbers_become_null_in_json():
    row = Row("x", "", float("inf"), "", details={"strain": [float("nan"), 1.0]})
    assert json.loads(json.dumps(row.as_json(), allow_nan=False))["details"] == {
        "strain": [None, 1.0]
    }


def test_exponent_is_a_log_log_least_squares_fit():
    sizes, times = np.array([1e4, 4e4, 16e4]), np.array([1.0, 5.0, 16.0])
    a, b = np.log(sizes), np.log(times)
    expected = ((a - a.mean()) * (b - b.mean())).sum() / ((a - a.mean()) ** 2).sum()
    assert fit_exponent(sizes, times) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("eigen mode 0 n 200 ms/step 1.3e+04 its 0 miny -0.1 steps 2\n", 1.3e4),
        ("", None),
        ("ms/step x", None),
    ],
)
def test_parse_baseline_output(line, expected):
    found = baseline.parse_milliseconds(line)
    assert found == expected if expected else np.isnan(found)


def test_baseline_falls_back_to_splu_without_a_compiler(monkeypatch):
    monkeypatch.setattr(cpp_program, "COMPILERS", ())
    made = baseline.Baseline()
    assert made.name == "SciPy splu (no C++ compiler was found)"
    assert made.measure_step(N) > 0.0
    assert len({made.measure_step(N), made.measure_step(N)}) == 2  # measured each time
    assert made.seconds[N][-1] > 0.0
    monkeypatch.setattr(baseline, "MAX_REPEATED_N", N - 1)
    assert made.measure_step(N) == made.measure_step(N)  # large sizes are measured once


def test_baseline_falls_back_to_splu_without_eigen(monkeypatch):
    monkeypatch.setattr(cpp_program, "COMPILERS", ("python3", "python"))
    monkeypatch.setattr(baseline, "find_eigen", lambda: None)
    assert baseline.Baseline().name == "SciPy splu (Eigen's headers were not found)"


def test_eigen_is_found_on_the_include_path(monkeypatch, tmp_path):
    monkeypatch.setattr(cpp_program, "INCLUDE_FOLDERS", ())
    monkeypatch.setattr(cpp_program, "_ask_pkg_config", lambda package: [])
    assert baseline.find_eigen() is None
    (tmp_path / "eigen3" / "Eigen").mkdir(parents=True)
    (tmp_path / "eigen3" / "Eigen" / "Sparse").touch()
    monkeypatch.setenv("CPLUS_INCLUDE_PATH", str(tmp_path))
    assert baseline.find_eigen() == str(tmp_path / "eigen3")


def test_linear_rows_are_ratios_with_accuracy(bench):
    rows = list(suite.run(bench, ["linear"]))
    assert [row.name for row in rows] == ["linear", "linear-large"]
    for row in rows:
        assert row.accurate, row.note
        assert row.value == pytest.approx(row.details["ms"] / 2e3), (
            "the smaller of the baselines before and after"
        )
    assert rows[0].details["linear_residual"] <= 1e-6
    assert rows[1].details["n"] == 2 * N


def test_interrupted_baseline_records_nothing(monkeypatch):
    monkeypatch.setattr(baseline, "_build_program", lambda: (None, "none is built"))
    measured = baseline.Baseline()

    def interrupted(n):
        raise KeyboardInterrupt

    monkeypatch.setattr(measured, "_measure_once", interrupted)
    with pytest.raises(KeyboardInterrupt):
        measured.measure_step(N)
    assert measured.seconds == {}


def test_explicit_row(bench):
    (row,) = suite.run(bench, ["symplectic"])
    assert "7 substeps" in row.what  # 0.81 n
    assert row.accurate
    assert row.value == pytest.approx(row.details["ms_quickest"] / row.details["yardstick_ms"])
    assert row.details["residual_ratio"] > 1e-4  # an explicit step solves nothing


def test_scaling_and_iteration_rows(bench):
    (scaling,) = suite.run(bench, ["scaling"])
    assert scaling.details["particles"] == [N**2, 4 * N**2, 16 * N**2]
    assert scaling.value == pytest.approx(
        fit_exponent(scaling.details["particles"], scaling.details["ms"])
    )
    soft, stiff = suite.run(bench, ["iterations-soft"])
    assert (soft.name, stiff.name) == ("iterations-soft", "iterations-stiff")
    assert soft.value == max(soft.details["iterations"]) / min(soft.details["iterations"])
    assert TIMED_STEPS < FALL_STEPS


def test_slow_rows_are_measured_only_on_request():
    assert not set(suite.ON_REQUEST) & set(suite.select_rows([]))
    assert set(suite.select_rows([])) | set(suite.ON_REQUEST) == set(suite.ROWS)
    assert suite.select_rows(["scaling"]) == ["scaling"]
    assert suite.select_rows(["scaling-wrinkled", "failures"]) == ["wrinkling", "failures"]


def test_wrinkling_rows(bench):
    growth, passes = suite.run(bench, ["wrinkling"])
    assert (growth.name, passes.name) == ("scaling-wrinkled", "passes-large")
    assert growth.details["particles"] == [N**2, 4 * N**2, 16 * N**2]
    assert growth.value == pytest.approx(
        fit_exponent(growth.details["particles"], growth.details["seconds"])
    )
    assert passes.details["n"] == 4 * N
    assert len(passes.details["passes"]) == bench.steps


def test_threads_row_requires_identical_bits(bench):
    (row,) = suite.run(bench, ["threads"])
    assert row.accurate
    assert row.value is None or row.value == pytest.approx(
        row.details["ms"]["1"] / row.details["ms"]["2"]
    )


def test_memory_row_measures_only_the_child_process(bench, monkeypatch):
    monkeypatch.setattr(processes, "MEMORY_SIZE_FACTOR", 1)
    fat = np.ones(60_000_000)  # 0.48 GB in this process
    (row,) = suite.run(bench, ["memory"])
    if row.value is not None:
        assert 0.05 < row.value < 0.45
    assert len(fat)


def test_bytes_of_assembly():
    """n = 4: 16 particles, 58 springs (16 B of particles, k and l₀), gravity on 16 (8 B, m and g).

    16 + 2·58 blocks of 72 B.
    """
    net = cloth(4)
    system = net.system()
    matrix = workspace_for(system).stiffness(system.initial_state(), project=False)
    assert len(net.pairs) == 2 * 12 + 2 * 9 + 2 * 8
    elements = sum(p.elements.nbytes for p in system._placed_energies.values())
    assert elements == 58 * 16 + 16 * 8
    assert count_assembly_bytes(system, matrix) - elements - matrix.data.nbytes - 48 * 16 == 8 * (
        2 * 58 + 4 * 16
    )


def test_bunny_matches_its_specification():
    mesh, net = solid.load_body()
    assert mesh.n == pytest.approx(5433, rel=0.01)
    assert np.ptp(mesh.points[:, 1]) == pytest.approx(1.0, rel=0.05)
    a, b, c, d = (mesh.points[mesh.cells["tet"][:, i]] for i in range(4))
    volumes = np.einsum("ij,ij->i", np.cross(b - a, c - a), d - a) / 6
    assert volumes.min() > 0.0
    assert net.mass.sum() == pytest.approx(1000.0 * volumes.sum(), rel=1e-12)
    assert 0.05 * mesh.n <= len(net.fixed) < 0.1 * mesh.n
    assert mesh.components.max() == 0


def test_solid_reference_takes_the_same_step():
    net = cloth(N)
    system = net.system()
    tolerance = taut.Tolerance(relative=1e-8)
    integrator = taut.ImplicitEuler(tolerance=tolerance)
    state, _ = integrator.step(system, system.initial_state(), 0.01)
    ours, _ = integrator.step(system, state, 0.01)
    theirs, report = solid.create_reference(tolerance).step(system, state, 0.01)
    assert np.abs(theirs.q - ours.q).max() < 1e-10  # both within 1e-8 of displacements of 1e-3 m
    assert report.solver.startswith("SciPy splu")
    assert report.outcome == "converged"


@pytest.mark.parametrize("definite", [True, False])
def test_splu_detects_indefinite_matrices(definite):
    """A spring stretched to twice its length has positive stiffness in all directions.

    Compressed to half its length, its transverse stiffness is -k.
    """
    pair = taut.System(np.eye(2, 3), mass=1.0, energies=[taut.laws.spring([[0, 1]], k=1.0, l0=1.0)])
    length = 2.0 if definite else 0.5
    state = pair.initial_state().with_(q=[[0, 0, 0], [length, 0, 0]])
    matrix = workspace_for(pair).stiffness(state, project=False)
    matrix.data[matrix.pattern.diagonal] += 0.5 * np.eye(
        3
    )  # k (1 - l₀/l) is 0.5, or -1: eigenvalues 0.5 and 2·that + 0.5
    solver = Splu()
    assert solver.factor(matrix) is definite
    if definite:
        b = np.arange(6.0).reshape(2, 3)
        found = solver.solve(b, np.zeros(2))
        assert np.abs(matrix.multiply(found.x) - b).max() < 1e-14


def test_tetrahedral_file_is_scaled_to_one_metre(tmp_path):
    taut.mesh.write(
        taut.mesh.ball(0.2).with_(points=taut.mesh.ball(0.2).points + 3.0), tmp_path / "ball.mesh"
    )
    mesh, _ = solid.load_body(tmp_path / "ball.mesh")
    assert mesh.points[:, 1].min() == pytest.approx(0.0, abs=1e-12)
    assert mesh.points[:, 1].max() == pytest.approx(1.0, rel=1e-12)


def test_missing_peers_name_their_install_command(bench, monkeypatch):
    monkeypatch.setattr("benchmarks.peers.find_spec", lambda name: None)
    rows = suite.run(bench, ["peers"])
    assert [row.note for row in rows] == [
        f"not installed: pip install {peer.install}" for peer in PEERS
    ]
    assert all(row.verdict == "" for row in rows)


def test_peers_are_skipped_without_a_checkout(bench, monkeypatch, tmp_path):
    monkeypatch.setattr(checkout, "ROOT", tmp_path)
    (row,) = suite.run(bench, ["peers"])
    assert (row.name, row.value, row.verdict) == ("peers", None, "")
    assert "needs a source checkout installed with pip install -e ." in format_rows([row])
    assert bench.progress.stream.getvalue() == ""


def test_springs_join_particles_of_different_colours():
    colour = np.empty(N * N, dtype=int)
    for number, group in enumerate(_colours(N)):
        colour[group] = number
    pairs = cloth(N).pairs
    assert (colour[pairs[:, 0]] != colour[pairs[:, 1]]).all()


def test_failing_row_is_a_miss_and_others_run(bench, monkeypatch):
    def fail(bench):
        raise taut.NotConverged("particle 3 is lost")

    monkeypatch.setitem(suite.ROWS, "memory", fail)
    monkeypatch.setitem(suite.ROWS, "start", lambda bench: [Row("start", "", 1.0, "s", 1.5)])
    rows = list(suite.run(bench, ["memory", "start"]))
    assert [(row.name, row.verdict) for row in rows] == [("memory", "miss"), ("start", "pass")]
    assert "particle 3 is lost" in format_rows(rows)
    assert bench.progress.stream.getvalue() == "", "no row has started a task"


def test_draw_plots(bench, tmp_path):
    pytest.importorskip("matplotlib")
    details = {"particles": [100, 400, 1600], "ms": [1.0, 4.5, 19.0]}
    rows = [
        Row("linear", "", 0.05, "× baseline", 0.08),
        Row("scaling", "", 1.06, "exponent", 1.15, details=details),
    ]
    plots.prepare_folder(tmp_path / "new", overwrite=False)
    assert [path.name for path in plots.draw(rows, tmp_path / "new")] == [
        "bench-scaling.svg",
        "bench-ratios.svg",
    ]
    assert "exponent 1.06" in (tmp_path / "new" / "bench-scaling.svg").read_text()
    assert plots.draw(rows[:1], tmp_path) == [tmp_path / "bench-ratios.svg"]
    with pytest.raises(taut.errors.ModelError, match="exists already; --overwrite replaces it"):
        plots.prepare_folder(tmp_path, overwrite=False)
    plots.prepare_folder(tmp_path, overwrite=True)
    with pytest.raises(taut.errors.RunError, match="cannot write the folder"):
        plots.prepare_folder(tmp_path / "bench-ratios.svg", overwrite=True)


def test_plots_without_matplotlib_name_the_extra(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(taut.errors.MissingExtra, match=r"taut\[plot\]"):
        plots.prepare_folder(tmp_path, overwrite=False)
