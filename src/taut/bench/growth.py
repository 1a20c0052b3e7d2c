"""Rows on the growth of cost with the mesh (n, 2n and 4n particles per side), and on threads.

A fit of time ∝ particles^p gives the exponent p. `measure_wrinkling` times whole trajectories; that
takes long, so it is not measured by default.

For `measure_scaling` only the fall before the cloth wrinkles is timed: a fine cloth wrinkles
earlier than a coarse one, and while wrinkles form a step takes several times as many Newton
iterations, whatever the size. The tolerance is that of the converged rows, which is a looser
residual ratio in the fall: with a tighter one, the wrinkles of the finest cloth would begin within
these steps. For the same reason, iterations of the linear solver are counted on one smooth shape,
the same for all sizes.
"""

from __future__ import annotations

import time

import numpy as np

from taut.bench.accuracy import residual_ratio
from taut.bench.net import cloth
from taut.bench.passes import PassCounter
from taut.bench.roofline import measure_bandwidth
from taut.bench.row import (
    SOFT,
    STIFF,
    STIFFNESS_NAMES,
    TOLERANCE,
    Bench,
    Row,
    fit_exponent,
    is_converged,
)
from taut.bench.step_rows import LINEAR_TOLERANCE
from taut.bench.timing import available_thread_counts, threads
from taut.bench.trajectory import H, TautStepper
from taut.optimise.tolerance import Tolerance
from taut.step.implicit_euler import ImplicitEuler
from taut.step.linearly_implicit_euler import LinearlyImplicitEuler

FALL_STEPS = 6  # before the finest cloth wrinkles
TIMED_STEPS = 4  # the last steps of the fall; those before are warm-up
WAVE_HEIGHT = 0.03  # of the smooth shape [m]
SIZE_FACTORS = (1, 2, 4)  # of n
# In the fall particles feel little more than their weight, so the same residual ratio takes a
# tighter tolerance than on a whole trajectory: with this one it is below 1e-4.
FALL_TOLERANCE = Tolerance(relative=5e-5)
COMPARISONS = 200  # of a step on one thread with the same step on two
# Entries of each of the three arrays of the triad that measures memory bandwidth right after: 32
# MB.
SMALL_TRIAD_ENTRIES = 4_000_000


def measure_scaling(bench: Bench) -> list[Row]:
    """Measure an implicit step at a fixed tolerance against the number of particles."""
    sizes, times, newton, ratios = [], [], [], []
    for n in (bench.n * factor for factor in SIZE_FACTORS):
        net = cloth(n)
        stepper = TautStepper(net.system(), ImplicitEuler(tolerance=TOLERANCE[SOFT]))
        show_step = bench.start_task(f"scaling, {STIFFNESS_NAMES[SOFT]}, n = {n}", FALL_STEPS)
        seconds, iterations = [], []
        for i in range(FALL_STEPS):
            before, begun = stepper.state(), time.perf_counter()
            stepper.step()
            seconds.append(time.perf_counter() - begun)
            assert stepper.report is not None
            ratios.append(residual_ratio(net, stepper.state()[0], *before, H))
            iterations.append(stepper.report.iterations)
            show_step(i + 1, f"{iterations[-1]} Newton iterations")
        sizes.append(n * n)
        times.append(float(np.median(seconds[-TIMED_STEPS:])))
        newton.append(float(np.median(iterations[-TIMED_STEPS:])))
    each = ", ".join(
        f"{size}: {1e3 * s:.0f} ms ({i:.0f} Newton)"
        for size, s, i in zip(sizes, times, newton, strict=True)
    )
    return [
        Row(
            "scaling",
            f"time of an implicit step, {sizes[0]} to {sizes[-1]} particles, before it wrinkles",
            fit_exponent(sizes, times),
            "exponent",
            1.15,
            note=f"{each}; residual ratio at most {max(ratios):.1e}",
            details={
                "particles": sizes,
                "ms": [1e3 * s for s in times],
                "newton": newton,
                "residual_ratio": max(ratios),
            },
        )
    ]


def measure_wrinkling(bench: Bench) -> list[Row]:
    """Measure whole trajectories, through wrinkling, against the number of particles.

    Also count the passes over the matrix on the largest cloth.
    """
    runs = []
    for n in (bench.n * factor for factor in SIZE_FACTORS):
        show_step = bench.start_task(f"wrinkling, {STIFFNESS_NAMES[SOFT]}, n = {n}", bench.steps)
        runs.append(PassCounter(n).run(bench.steps, show_step))
    sizes, totals = [run.n**2 for run in runs], [sum(run.made.seconds) for run in runs]
    newton = [float(np.mean([r.iterations for r in run.reports])) for run in runs]
    ratios = [run.made.ratio for run in runs]
    each = ", ".join(
        f"{size}: {s:.3g} s ({i:.1f} Newton a step, residual ratio {ratio:.1e})"
        for size, s, i, ratio in zip(sizes, totals, newton, ratios, strict=True)
    )
    growth = Row(
        "scaling-wrinkled",
        f"time of {bench.steps} implicit steps, {sizes[0]} to {sizes[-1]} particles",
        fit_exponent(sizes, totals),
        "exponent",
        1.25,
        accurate=all(is_converged(run.made.ratios) and run.made.sane for run in runs),
        note=each,
        details={
            "particles": sizes,
            "seconds": totals,
            "newton": newton,
            "residual_ratio": ratios,
            "steps": bench.steps,
        },
    )
    return [growth, runs[-1].row("passes-large")]


def measure_iterations(bench: Bench) -> list[Row]:
    """Count linear iterations of a step from a smooth shape, by size, for soft and stiff cloth."""
    rows = []
    for stiffness in (SOFT, STIFF):
        counts, solver = {}, ""
        for n in (bench.n * factor for factor in SIZE_FACTORS):
            show_step = bench.start_task(f"iterations, {STIFFNESS_NAMES[stiffness]}, n = {n}", 1)
            net = cloth(n, stiffness)
            bent = net.points + WAVE_HEIGHT * np.outer(
                np.sin(2 * np.pi * net.points[:, 0]) * np.cos(np.pi * net.points[:, 2]), [0, 1, 0]
            )
            system = net.system()
            euler = LinearlyImplicitEuler(tolerance=LINEAR_TOLERANCE)
            _, report = euler.step(system, system.initial_state().with_(q=bent), H)
            counts[n], solver = report.linear_iterations, report.solver
            show_step(1, "")
        rows.append(
            Row(
                f"iterations-{STIFFNESS_NAMES[stiffness]}",
                f"linear iterations on a smooth shape, {STIFFNESS_NAMES[stiffness]}, "
                "largest over smallest",
                max(counts.values()) / max(min(counts.values()), 1),
                "×",
                1.5,
                note=f"{solver}: " + ", ".join(f"n = {n}: {count}" for n, count in counts.items()),
                details={"n": list(counts), "iterations": list(counts.values()), "solver": solver},
            )
        )
    return rows


def measure_threads(bench: Bench) -> list[Row]:
    """Measure the speed-up of an implicit step by a second thread; the two take turns."""
    what = f"two threads over one, implicit step, n = {bench.n}"
    if len(available_thread_counts()) < 2:
        return [Row("threads", what, None, "×", 1.5, "≥", note="only one thread is available")]
    system, best = cloth(bench.n).system(), {1: float("inf"), 2: float("inf")}
    fallen = TautStepper(system, ImplicitEuler(tolerance=FALL_TOLERANCE))
    for _ in range(FALL_STEPS):
        fallen.step()
    state = fallen.now
    steppers = {
        count: TautStepper(system, ImplicitEuler(tolerance=FALL_TOLERANCE), state=state)
        for count in best
    }
    show_step = bench.start_task(what, COMPARISONS)
    for i in range(COMPARISONS + 1):
        for count, stepper in steppers.items():
            stepper.now = state
            with threads(count):
                begun = time.perf_counter()
                stepper.step()
                seconds = time.perf_counter() - begun
            if i > 0:  # the first step also analyses the pattern
                best[count] = min(best[count], seconds)
        show_step(i, "")
    same = np.array_equal(steppers[1].now.q, steppers[2].now.q)
    speed = {}
    for count in best:
        with threads(count):
            speed[count] = measure_bandwidth(SMALL_TRIAD_ENTRIES)
    memory = speed[2] / speed[1]
    return [
        Row(
            "threads",
            what,
            best[1] / best[2],
            "×",
            1.5,
            "≥",
            accurate=same,
            note=f"{1e3 * best[1]:.0f} ms, {1e3 * best[2]:.0f} ms; "
            f"{'bit-identical' if same else 'not bit-identical'}; "
            f"memory bandwidth: {memory:.2f} ×",
            details={
                "ms": {str(count): 1e3 * s for count, s in best.items()},
                "n": bench.n,
                "same_bits": bool(same),
                "memory": memory,
            },
        )
    ]
