"""Converged steps next to the C++ program with CHOLMOD, and the counts of Newton's method."""

from io import StringIO

import numpy as np
import pytest

import taut
from taut.bench import converged, cpp_program, newton_rows, suite
from taut.bench.cholmod import Cholmod, CholmodEnd, CholmodStep
from taut.bench.net import cloth
from taut.bench.row import Bench
from taut.bench.trajectory import H, TautStepper
from taut.progress import Progress

N = 8


class ExactRun:
    """A yardstick of 2 s a step that takes the steps of taut, solved to rounding."""

    name = "exact"

    def __init__(self, n, stiffness, shift):
        self.stepper = TautStepper(cloth(n, stiffness).system(), taut.ImplicitEuler())
        self.shift, self.steps = shift, 0

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass

    def step(self):
        self.stepper.step()
        self.steps += 1
        return CholmodStep(1.0 if self.steps % 2 else 3.0, 4, 1, 1e-3 if self.steps == 2 else 1e-6)

    def end(self):
        return CholmodEnd(self.stepper.state()[0] + self.shift, 0.0, 0.0)


class ExactYardstick:
    program, missing = "a clock", ""

    def __init__(self, shift=0.0):
        self.shift = shift

    def start(self, n, stiffness, steps, tolerance):
        assert tolerance == 1e-4
        return ExactRun(n, stiffness, self.shift)


@pytest.fixture
def bench(monkeypatch):
    monkeypatch.setattr(converged, "PAUSE", 0.0)
    made = Bench(n=N, steps=6, progress=Progress("taut bench", stream=StringIO()))
    made.__dict__["cholmod"] = ExactYardstick()
    return made


def test_converged_rows_are_ratios_of_medians(bench):
    rows = list(suite.run(bench, ["implicit", "implicit-soft-large", "implicit-stiff-large"]))
    assert [(row.name, row.details["n"], row.target) for row in rows] == [
        ("implicit-soft", N, 0.5),
        ("implicit-stiff", N, 0.5),
        ("implicit-soft-large", 2 * N, 0.2),
        ("implicit-stiff-large", 2 * N, 0.2),
    ]
    for row in rows:
        # steps 2 to 6 take the yardstick 3, 1, 3, 1, 3 s
        assert row.value == pytest.approx(row.details["ms_median"] / 3e3)
        assert row.details["ratio_of_means"] == pytest.approx(row.details["ms"] / 2.2e3)
        assert row.details["cholmod_missed"] == 1
        assert 0.0 < row.details["apart"] < 1e-3  # two different tolerances


def test_rows_that_end_elsewhere_are_not_accurate(bench):
    close = next(suite.run(bench, ["implicit-soft"]))
    bench.__dict__["cholmod"] = ExactYardstick(shift=1.01 * converged.MAX_APART / 3**0.5)
    (apart,) = suite.run(bench, ["implicit-soft"])
    assert apart.details["apart"] == pytest.approx(1.01 * converged.MAX_APART, rel=0.01)
    assert close.details["apart"] < 1e-3
    assert apart.verdict == "miss"


@pytest.mark.parametrize(
    ("compilers", "include", "message"),
    [
        ((), "/nowhere", "no C++ compiler was found"),
        (("python3", "python"), None, "cholmod.h was not found (Debian: libsuitesparse-dev)"),
    ],
)
def test_without_cholmod_rows_are_not_measured(bench, monkeypatch, compilers, include, message):
    monkeypatch.setattr(cpp_program, "COMPILERS", compilers)
    monkeypatch.setattr("taut.bench.cholmod.find_include", lambda *names: include)
    made = Cholmod()
    assert (made.program, made.missing) == (None, message)
    bench.__dict__["cholmod"] = made
    (row,) = suite.run(bench, ["implicit-soft"])
    assert (row.value, row.verdict, row.note) == (None, "", f"not measured: {message}")
    with pytest.raises(taut.errors.ModelError, match="was not built"):
        made.start(N, 1.0, 1, 1e-4)


def test_without_openblas_there_is_no_program(monkeypatch):
    """A plain BLAS would be a weaker yardstick: it does not take the place of OpenBLAS."""
    monkeypatch.setattr("taut.bench.cholmod.find_compiler", lambda: "c++")
    monkeypatch.setattr("taut.bench.cholmod.find_include", lambda *names: "/usr/include")
    monkeypatch.setattr(
        "taut.bench.cholmod.build_program",
        lambda *arguments: (None, "c++ failed to build x.cpp: ld: cannot find -lopenblas"),
    )
    made = Cholmod()
    assert made.program is None
    assert made.missing == "OpenBLAS was not found (Debian: libopenblas-dev)"


@pytest.mark.parametrize("line", ["", "step 1 seconds 0.1 newton x projections 0 ratio 1", "end"])
def test_lines_that_are_no_steps_are_refused(line):
    with pytest.raises(taut.errors.ModelError, match="not a step"):
        CholmodStep.parse(line)


@pytest.mark.parametrize("stiffness", [1.0, 100.0])
def test_program_takes_the_steps_of_taut(stiffness):
    yardstick = Cholmod()
    if yardstick.program is None:
        pytest.skip(yardstick.missing)
    net, steps = cloth(N, stiffness), 12
    system = net.system()
    tolerance = taut.Tolerance(relative=1e-8)
    stepper = TautStepper(system, taut.ImplicitEuler(tolerance=tolerance))
    with yardstick.start(N, stiffness, steps, 1e-9) as run:
        found = [run.step() for _ in range(steps)]
        end = run.end()
    for _ in range(steps):
        stepper.step()
    assert all(0 < s.newton <= 50 and s.ratio <= 1e-9 and s.seconds > 0.0 for s in found)
    # 0.07 m below the start, and each step within 1e-8 of its forces
    assert np.abs(end.positions - stepper.state()[0]).max() < 1e-7
    assert end.kinetic == pytest.approx(system.T(stepper.now), rel=1e-6)
    assert end.potential == pytest.approx(system.V(stepper.now), rel=1e-6)
    assert run.name.startswith("cholmod ")


def test_program_that_ends_early_is_an_error():
    yardstick = Cholmod()
    if yardstick.program is None:
        pytest.skip(yardstick.missing)
    with yardstick.start(N, 1.0, 1, 1e-4) as run:
        run.step()
        run.end()
        with pytest.raises(taut.errors.ModelError, match="ended early"):
            run.step()


def test_newton_rows_are_median_and_worst_of_all_steps(bench):
    rows = list(suite.run(bench, ["newton-soft"]))
    assert [(row.name, row.target) for row in rows] == [
        ("newton-soft", 4),
        ("newton-soft-worst", 15),
        ("newton-stiff", 8),
        ("newton-stiff-worst", 40),
    ]
    stepper, counts = TautStepper(cloth(N).system(), taut.ImplicitEuler()), []
    for _ in range(bench.steps):
        stepper.step()
        counts.append(stepper.report.iterations)
    assert rows[0].details["iterations"] == counts
    assert (rows[0].value, rows[1].value) == (np.median(counts), max(counts))


class FailsAtStepThree(taut.ImplicitEuler):
    def step(self, system, state, h):
        if state.t > 1.5 * H:
            raise taut.NotConverged("particle 3 is lost")
        return super().step(system, state, h)


def test_failures_are_counted_and_named(bench, monkeypatch):
    monkeypatch.setattr(newton_rows, "IMPLICIT", (taut.ImplicitEuler, FailsAtStepThree))
    (row,) = suite.run(bench, ["failures"])
    assert (row.value, row.unit, row.verdict) == (2, "of 18", "miss")  # 6 + 2 steps, twice, and 2
    assert "FailsAtStepThree, stiff, step 3: NotConverged: particle 3 is lost" in row.note
    monkeypatch.setattr(newton_rows, "IMPLICIT", (taut.ImplicitEuler,))
    (row,) = suite.run(bench, ["failures"])
    assert (row.value, row.unit, row.verdict) == (0, "of 12", "pass")


def test_a_failure_ends_the_newton_rows(bench, monkeypatch):
    monkeypatch.setattr(newton_rows, "ImplicitEuler", FailsAtStepThree)
    rows = list(suite.run(bench, ["newton-iterations"]))
    assert [len(row.details["iterations"]) for row in rows] == [2, 2, 2, 2]
    assert all(row.verdict == "miss" for row in rows)
    assert "2 steps; then: NotConverged" in rows[0].note
