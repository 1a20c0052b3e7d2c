"""Rows on Newton's method: iterations of a step at the default tolerance, and failures.

They count, and do not depend on the speed of the machine.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from taut.bench.net import cloth
from taut.bench.row import SOFT, STIFF, STIFFNESS_NAMES, Bench, Row
from taut.bench.trajectory import TautStepper
from taut.errors import TautError
from taut.step.bdf2 import BDF2
from taut.step.implicit_euler import ImplicitEuler
from taut.step.implicit_midpoint import ImplicitMidpoint
from taut.step.integrator import Integrator
from taut.step.linearly_implicit_euler import LinearlyImplicitEuler
from taut.step.tr_bdf2 import TRBDF2

TARGETS = {SOFT: (4, 15), STIFF: (8, 40)}  # of the median and of the worst step
IMPLICIT: tuple[Callable[[], Integrator], ...] = (
    ImplicitEuler,
    LinearlyImplicitEuler,
    ImplicitMidpoint,
    BDF2,
    TRBDF2,
)


def measure_newton_iterations(bench: Bench) -> list[Row]:
    """Count the Newton iterations of each step of implicit Euler, on the soft and stiff cloth."""
    rows = []
    for stiffness, (median, worst) in TARGETS.items():
        name = STIFFNESS_NAMES[stiffness]
        counts, failure = count_iterations(bench, ImplicitEuler(), stiffness)
        what = f"Newton iterations of a step, default tolerance, {name}, n = {bench.n}"
        note = f"{len(counts)} steps" + (f"; then: {failure}" if failure else "")
        details = {"n": bench.n, "iterations": counts}
        for row, statistic, figure, target in (
            (f"newton-{name}", "median", np.median, median),
            (f"newton-{name}-worst", "worst step", np.max, worst),
        ):
            rows.append(
                Row(
                    row,
                    f"{what}, {statistic}",
                    float(figure(counts)) if counts else None,
                    "iterations",
                    target,
                    accurate=not failure,
                    note=note,
                    details=details,
                )
            )
    return rows


def measure_failures(bench: Bench) -> list[Row]:
    """Count trajectories that an implicit integrator does not finish, soft and stiff."""
    failures, taken = [], 0
    for stiffness in (SOFT, STIFF):
        for kind in IMPLICIT:
            integrator = kind()
            counts, failure = count_iterations(bench, integrator, stiffness)
            taken += len(counts)
            if failure:
                name = f"{type(integrator).__name__}, {STIFFNESS_NAMES[stiffness]}"
                failures.append(f"{name}, step {len(counts) + 1}: {failure}")
    return [
        Row(
            "failures",
            f"steps that fail, {len(IMPLICIT)} implicit integrators, soft and stiff, n = {bench.n}",
            len(failures),
            f"of {taken + len(failures)}",
            0,
            note="; ".join(failures),
            details={"n": bench.n, "taken": taken, "failures": failures},
        )
    ]


def count_iterations(
    bench: Bench, integrator: Integrator, stiffness: float
) -> tuple[list[int], str]:
    """Return the Newton iterations of each step, and the error that ended the steps, if any."""
    stepper = TautStepper(cloth(bench.n, stiffness).system(), integrator)
    name = f"{type(integrator).__name__}, {STIFFNESS_NAMES[stiffness]}, n = {bench.n}"
    show_step = bench.start_task(f"Newton iterations, {name}", bench.steps)
    counts: list[int] = []
    for i in range(bench.steps):
        try:
            stepper.step()
        except TautError as error:
            bench.progress.finish()
            return counts, f"{type(error).__name__}: {error}"
        assert stepper.report is not None
        counts.append(stepper.report.iterations)
        show_step(i + 1, f"{counts[-1]} iterations")
    return counts, ""
