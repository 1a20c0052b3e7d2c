"""Rows of how the cost grows with the mesh and falls with threads, at n.

2 n and 4 n particles a side.

A fit of time ∝ particles^p gives the exponent p. What is timed is the fall before the cloth
wrinkles: a fine one does so earlier than a coarse one, and while wrinkles form a step takes several
times as many Newton iterations, whatever the size. The tolerance is that of the converged rows,
which is a looser residual ratio in the fall: a tighter one sees the wrinkles of the finest cloth
begin in these very steps. Iterations of the linear solver are counted on one smooth shape, the same
for all sizes, for the same reason.
"""

from __future__ import annotations

import time

import numpy as np

from taut.bench.accuracy import residual_ratio
from taut.bench.net import cloth
from taut.bench.roofline import bandwidth
from taut.bench.row import SOFT, STIFF, TOLERANCE, WORDS, Bench, Row, exponent
from taut.bench.step_rows import LINEAR_TOLERANCE
from taut.bench.timing import available_thread_counts, threads
from taut.bench.trajectory import H, TautStepper
from taut.optimise.tolerance import Tolerance
from taut.step.implicit_euler import ImplicitEuler
from taut.step.linearly_implicit_euler import LinearlyImplicitEuler

FALL, COUNT = 6, 4  # steps, and the last of them that count
BENT = 0.03  # height of the waves of the smooth shape [m]
TIMES = (1, 2, 4)  # of n
FALLING = Tolerance(relative=5e-5)
"""For which the residual ratio is below 1e-4 in the fall.

Where particles feel little more than their weight.
"""
PAIRS = 200  # steps on one thread and on two, in turn
# numbers of each of three arrays of the triad that measures the memory bandwidth at the same time:
# 32 MB
TRIAD = 4_000_000


def scaling(bench: Bench) -> list[Row]:
    """Time of an implicit step at a fixed tolerance against the number of particles."""
    sizes, times, newton, ratios = [], [], [], []
    for n in (bench.n * factor for factor in TIMES):
        net = cloth(n)
        own = TautStepper(net.system(), ImplicitEuler(tolerance=TOLERANCE[SOFT]))
        tell = bench.part(f"scaling, {WORDS[SOFT]}, n = {n}", FALL)
        seconds, iterations = [], []
        for i in range(FALL):
            before, begun = own.state(), time.perf_counter()
            own.step()
            seconds.append(time.perf_counter() - begun)
            assert own.report is not None
            ratios.append(residual_ratio(net, own.state()[0], *before, H))
            iterations.append(own.report.iterations)
            tell(i + 1, f"{iterations[-1]} Newton iterations")
        sizes.append(n * n)
        times.append(float(np.median(seconds[-COUNT:])))
        newton.append(float(np.median(iterations[-COUNT:])))
    each = ", ".join(
        f"{size}: {1e3 * s:.0f} ms ({i:.0f} Newton)"
        for size, s, i in zip(sizes, times, newton, strict=True)
    )
    return [
        Row(
            "scaling",
            f"growth of an implicit step, {sizes[0]} to {sizes[-1]} particles, before they wrinkle",
            exponent(sizes, times),
            "exponent",
            1.15,
            said=f"{each}; residual ratio at most {max(ratios):.1e}",
            details={
                "particles": sizes,
                "ms": [1e3 * s for s in times],
                "newton": newton,
                "residual_ratio": max(ratios),
            },
        )
    ]


def iterations(bench: Bench) -> list[Row]:
    """Iterations of the linear solver in a linearly implicit step from a smooth shape.

    Soft and stiff, by size.
    """
    rows = []
    for stiffness in (SOFT, STIFF):
        counts, solver = {}, ""
        for n in (bench.n * factor for factor in TIMES):
            tell = bench.part(f"iterations, {WORDS[stiffness]}, n = {n}", 1)
            net = cloth(n, stiffness)
            bent = net.points + BENT * np.outer(
                np.sin(2 * np.pi * net.points[:, 0]) * np.cos(np.pi * net.points[:, 2]), [0, 1, 0]
            )
            system = net.system()
            euler = LinearlyImplicitEuler(tolerance=LINEAR_TOLERANCE)
            _, report = euler.step(system, system.initial_state().with_(q=bent), H)
            counts[n], solver = report.linear_iterations, report.solver
            tell(1, "")
        rows.append(
            Row(
                f"iterations-{WORDS[stiffness]}",
                f"linear iterations on a smooth shape, {WORDS[stiffness]}, largest over smallest",
                max(counts.values()) / max(min(counts.values()), 1),
                "×",
                1.5,
                said=f"{solver}: " + ", ".join(f"n = {n}: {count}" for n, count in counts.items()),
                details={"n": list(counts), "iterations": list(counts.values()), "solver": solver},
            )
        )
    return rows


def threads_row(bench: Bench) -> list[Row]:
    """Two threads over one: the same implicit step, in turn."""
    what = f"two threads over one, implicit step, n = {bench.n}"
    if len(available_thread_counts()) < 2:
        return [Row("threads", what, None, "×", 1.5, "≥", said="there is one thread only")]
    system, best = cloth(bench.n).system(), {1: float("inf"), 2: float("inf")}
    fallen = TautStepper(system, ImplicitEuler(tolerance=FALLING))
    for _ in range(FALL):
        fallen.step()
    state = fallen.now
    own = {
        count: TautStepper(system, ImplicitEuler(tolerance=FALLING), state=state) for count in best
    }
    tell = bench.part(what, PAIRS)
    for i in range(PAIRS + 1):
        for count, stepper in own.items():
            stepper.now = state
            with threads(count):
                begun = time.perf_counter()
                stepper.step()
                seconds = time.perf_counter() - begun
            best[count] = min(
                best[count], seconds if i else float("inf")
            )  # the first analyses the pattern
        tell(i, "")
    same = np.array_equal(own[1].now.q, own[2].now.q)
    speed = {}
    for count in best:
        with threads(count):
            speed[count] = bandwidth(TRIAD)
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
            said=f"{1e3 * best[1]:.0f} ms, {1e3 * best[2]:.0f} ms; "
            f"{'the same bits' if same else 'the bits differ'}; "
            f"bandwidth of memory then: {memory:.2f} ×",
            details={
                "ms": {str(count): 1e3 * s for count, s in best.items()},
                "n": bench.n,
                "same_bits": bool(same),
                "memory": memory,
            },
        )
    ]
