"""Rows of how the cost grows with the mesh and falls with threads: the cloth falls for 0.08 s, at n, 2 n and 4 n particles a side.

A fit of time ∝ particles^p gives the exponent p.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np

from taut.bench.bench import SOFT, STIFF, TOLERANCE, WORDS, Bench
from taut.bench.implicit import LINEAR_TOLERANCE
from taut.bench.march import Own
from taut.bench.net import cloth
from taut.bench.row import Row, exponent
from taut.bench.threads import available, threads
from taut.step.implicit import LinearImplicit
from taut.step.implicit_euler import ImplicitEuler
from taut.step.linearly_implicit_euler import LinearlyImplicitEuler
from taut.step.report import Report

FALL, COUNT = 8, 4  # steps, and the last of them that count
TIMES = (1, 2, 4)  # of n
PAIRS = 5  # steps on one thread and on two, in turn
Fall = tuple[int, list[float], list[Report]]


def _falls(bench: Bench, name: str, stiffness: float, make: type[LinearImplicit]) -> Iterator[Fall]:
    """By size: particles a side, seconds and reports of the steps that count."""
    for n in (bench.n * times for times in TIMES):
        tolerance = TOLERANCE[stiffness] if make is ImplicitEuler else LINEAR_TOLERANCE
        own = Own(cloth(n, stiffness).system(), make(tolerance=tolerance))
        tell = bench.part(f"{name}, {WORDS[stiffness]}, n = {n}", FALL)
        seconds, reports = [], []
        for i in range(FALL):
            begun = time.perf_counter()
            own.step()
            seconds.append(time.perf_counter() - begun)
            assert own.report is not None
            reports.append(own.report)
            tell(i + 1, f"{own.report.linear_iterations} linear iterations")
        yield n, seconds[-COUNT:], reports[-COUNT:]


def scaling(bench: Bench) -> list[Row]:
    """Time of an implicit step at a fixed tolerance against the number of particles."""
    sizes, times, newton = [], [], []
    for n, seconds, reports in _falls(bench, "scaling", SOFT, ImplicitEuler):
        sizes.append(n * n)
        times.append(float(np.median(seconds)))
        newton.append(float(np.median([report.iterations for report in reports])))
    each = ", ".join(f"{size}: {1e3 * s:.0f} ms ({i:.0f} Newton)" for size, s, i in zip(sizes, times, newton, strict=True))
    return [
        Row(
            "scaling", f"growth of an implicit step, {sizes[0]} to {sizes[-1]} particles",
            exponent(sizes, times), "exponent", 1.15, said=each,
            details={"particles": sizes, "ms": [1e3 * s for s in times], "newton": newton},
        )
    ]  # fmt: skip


def iterations(bench: Bench) -> list[Row]:
    """Iterations of the linear solver in a linearly implicit step, soft and stiff, by size: largest over smallest."""
    rows = []
    for stiffness in (SOFT, STIFF):
        counts, solver = {}, ""
        for n, _, reports in _falls(bench, "iterations", stiffness, LinearlyImplicitEuler):
            counts[n], solver = float(np.median([report.linear_iterations for report in reports])), reports[-1].solver
        rows.append(
            Row(
                f"iterations-{WORDS[stiffness]}", f"linear iterations, {WORDS[stiffness]}, largest over smallest",
                max(counts.values()) / max(min(counts.values()), 1.0), "×", 1.5,
                said=f"{solver}: " + ", ".join(f"n = {n}: {count:.0f}" for n, count in counts.items()),
                details={"n": list(counts), "iterations": list(counts.values()), "solver": solver},
            )
        )  # fmt: skip
    return rows


def threads_row(bench: Bench) -> list[Row]:
    """Two threads over one: the same implicit step, in turn."""
    what = f"two threads over one, implicit step, n = {bench.n}"
    if len(available()) < 2:
        return [Row("threads", what, None, "×", 1.5, "≥", said="there is one thread only")]
    system, best = cloth(bench.n).system(), {1: float("inf"), 2: float("inf")}
    fallen = Own(system, ImplicitEuler(tolerance=TOLERANCE[SOFT]))
    for _ in range(FALL):
        fallen.step()
    state = fallen.now
    own = {count: Own(system, ImplicitEuler(tolerance=TOLERANCE[SOFT]), state=state) for count in best}
    tell = bench.part(what, PAIRS)
    for i in range(PAIRS + 1):
        for count, stepper in own.items():
            stepper.now = state
            with threads(count):
                begun = time.perf_counter()
                stepper.step()
                seconds = time.perf_counter() - begun
            best[count] = min(best[count], seconds if i else float("inf"))  # the first analyses the pattern
        tell(i, "")
    same = np.array_equal(own[1].now.q, own[2].now.q)
    return [
        Row(
            "threads", what, best[1] / best[2], "×", 1.5, "≥", accurate=same,
            said=f"{1e3 * best[1]:.0f} ms, {1e3 * best[2]:.0f} ms; {'the same bits' if same else 'the bits differ'}",
            details={"ms": {str(count): 1e3 * s for count, s in best.items()}, "n": bench.n, "same_bits": bool(same)},
        )
    ]  # fmt: skip
