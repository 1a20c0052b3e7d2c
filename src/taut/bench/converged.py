"""Rows of converged implicit Euler steps, relative to the same steps in C++ with CHOLMOD.

Both step the same cloth from rest to a residual ratio of 1e-4 and take turns, step by step, so that
whatever else the machine does slows down both. Times are medians over the steps after the first
fifth; the ratio of the means is in the note.

The way in which the soft cloth wrinkles depends on the last digits of each step: two runs of the
C++ program with tolerances of 1e-6 and 1e-8 end 3 mm apart at n = 50, particle by particle (root
mean square). A row counts only if the two trajectories end within `MAX_APART` of each other.

The tolerances differ in kind: the C++ program brings every step below 1e-4, unless it gives up;
taut bounds the residual of every particle, such that at most one step in twenty is above. The note
says how many steps of either are.
"""

from __future__ import annotations

import math
import time

import numpy as np

from taut.bench.cholmod import CholmodStep
from taut.bench.net import cloth
from taut.bench.row import (
    MAX_RESIDUAL_RATIO,
    SOFT,
    STEP_TOLERANCE,
    STIFF,
    STIFFNESS_NAMES,
    Bench,
    Row,
    count_missed,
    is_converged,
)
from taut.bench.trajectory import TautStepper, run_steps
from taut.linalg.blocks import dot
from taut.step.implicit_euler import ImplicitEuler

MAX_APART = 0.02  # root mean square distance of the two ends [m]; the cloth falls by 0.3 m
PAUSE = 0.05  # [s] after a step of the C++ program, until the threads of its BLAS are asleep
UNIT = "× CHOLMOD"
TARGET, LARGE_TARGET = 0.5, 0.2


def measure_implicit_soft(bench: Bench) -> list[Row]:
    """Measure implicit Euler on the soft cloth."""
    return [_measure(bench, "implicit-soft", SOFT, bench.n, TARGET)]


def measure_implicit_stiff(bench: Bench) -> list[Row]:
    """Measure implicit Euler on the stiff cloth."""
    return [_measure(bench, "implicit-stiff", STIFF, bench.n, TARGET)]


def measure_implicit_soft_large(bench: Bench) -> list[Row]:
    """Measure implicit Euler on a soft cloth of 2n particles per side."""
    return [_measure(bench, "implicit-soft-large", SOFT, 2 * bench.n, LARGE_TARGET)]


def measure_implicit_stiff_large(bench: Bench) -> list[Row]:
    """Measure implicit Euler on a stiff cloth of 2n particles per side."""
    return [_measure(bench, "implicit-stiff-large", STIFF, 2 * bench.n, LARGE_TARGET)]


def _measure(bench: Bench, name: str, stiffness: float, n: int, target: float) -> Row:
    what = f"implicit Euler, converged, {STIFFNESS_NAMES[stiffness]}, n = {n}"
    yardstick = bench.cholmod
    if yardstick.program is None:
        note = f"not measured: {yardstick.missing}"
        return Row(name, what, None, UNIT, target, note=note)
    net, counts = cloth(n, stiffness), []
    theirs: list[CholmodStep] = []
    stepper = TautStepper(net.system(), ImplicitEuler(tolerance=STEP_TOLERANCE[stiffness]))
    with yardstick.start(n, stiffness, bench.steps, MAX_RESIDUAL_RATIO) as run:

        def after_step() -> None:
            assert stepper.report is not None
            counts.append((stepper.report.iterations, stepper.report.linear_iterations))
            theirs.append(run.step())
            time.sleep(PAUSE)

        show_step = bench.start_task(
            f"implicit and CHOLMOD, {STIFFNESS_NAMES[stiffness]}, n = {n}", bench.steps
        )
        made = run_steps(net, stepper, bench.steps, show_step, after_step)
        end, library = run.end(), run.name
    apart = stepper.state()[0] - end.positions
    distance = math.sqrt(dot(apart, apart) / len(apart))
    late = theirs[made.window]
    ours = float(np.median(made.seconds[made.window]))
    median, mean = (float(f([s.seconds for s in late])) for f in (np.median, np.mean))
    newton, inner = (float(x) for x in np.median(counts[made.window], axis=0))
    their_newton = float(np.median([s.newton for s in late]))
    missed, their_missed = count_missed(made.ratios), count_missed([s.ratio for s in theirs])
    return Row(
        name,
        what,
        ours / median,
        UNIT,
        target,
        accurate=is_converged(made.ratios) and made.sane and distance <= MAX_APART,
        note=f"{1e3 * ours:.0f} ms in {newton:.0f} Newton and {inner:.0f} linear iterations, "
        f"CHOLMOD {1e3 * median:.0f} ms in {their_newton:.0f} Newton; means: "
        f"{made.mean / mean:.2g}; ends {1e3 * distance:.1f} mm apart (at most "
        f"{1e3 * MAX_APART:g}); {made}; {missed} steps above {MAX_RESIDUAL_RATIO:g} (worst "
        f"{max(made.ratios):.1e}), of CHOLMOD {their_missed}",
        details={
            **made.details(),
            "n": n,
            "residual_ratio_worst": max(made.ratios),
            "missed": missed,
            "newton": newton,
            "iterations": inner,
            "cholmod": library,
            "cholmod_ms_median": 1e3 * median,
            "cholmod_ms": 1e3 * mean,
            "cholmod_newton": their_newton,
            "cholmod_missed": their_missed,
            "ratio_of_means": made.mean / mean,
            "apart": distance,
        },
    )
