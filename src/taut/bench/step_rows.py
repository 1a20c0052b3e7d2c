"""Rows of single integrators on the cloth.

Linearly implicit Euler to a linear residual of 1e-6, symplectic Euler, and the known trajectory of
implicit Euler.
"""

from __future__ import annotations

import math

import numpy as np

from taut.bench.accuracy import linear_residual
from taut.bench.net import cloth
from taut.bench.row import MAX_RESIDUAL_RATIO, SOFT, TOLERANCE, Bench, Row
from taut.bench.trajectory import H, TautStepper, run_steps
from taut.optimise.tolerance import Tolerance
from taut.step.implicit_euler import ImplicitEuler
from taut.step.linearly_implicit_euler import LinearlyImplicitEuler
from taut.step.symplectic_euler import SymplecticEuler

MAX_LINEAR_RESIDUAL = 1e-6  # |A Δv - b| / |b|
# At this tolerance of each particle, relative to the forces in its equation, the linear residual of
# the whole cloth is below `MAX_LINEAR_RESIDUAL`.
LINEAR_TOLERANCE = Tolerance(relative=1e-5)
KNOWN_N = 50  # the size of the cloth whose converged trajectory is known
KNOWN = {"lowest": (-0.272, 0.015), "strain": (0.09, 0.01), "strain_end": (0.035, 0.005)}
"""Results of the soft cloth after 100 steps, each with its allowance.

The lowest point [m], the largest strain of all steps, and that of the last step. The allowance is
how much these vary with the way in which the cloth wrinkles."""


def measure_linear(bench: Bench) -> list[Row]:
    """Measure linearly implicit Euler on the soft cloth."""
    return [_measure_linear(bench, "linear", bench.n, 0.08)]


def measure_linear_large(bench: Bench) -> list[Row]:
    """Measure linearly implicit Euler on a cloth of 2n particles per side."""
    return [_measure_linear(bench, "linear-large", 2 * bench.n, 0.05)]


def _measure_linear(bench: Bench, name: str, n: int, target: float) -> Row:
    net = cloth(n)
    system, left, counts = net.system(), [], []
    stepper = TautStepper(system, LinearlyImplicitEuler(tolerance=LINEAR_TOLERANCE))
    before = stepper.now

    def after_step() -> None:
        nonlocal before
        assert stepper.report is not None
        stiffness = system.K(before, project=True)
        left.append(
            linear_residual(
                net, stiffness, np.array(before.q), np.array(before.v), np.array(stepper.now.v), H
            )
        )
        counts.append(stepper.report.linear_iterations)
        before = stepper.now

    made, baseline = bench.run_with_baseline(
        n, net, stepper, bench.steps, f"linearly implicit, n = {n}", after_step
    )
    reached, iterations = float(np.median(left[made.window])), float(np.median(counts[made.window]))
    solver = stepper.report.solver if stepper.report else ""
    return Row(
        name,
        f"linearly implicit Euler, soft, n = {n}",
        made.mean / baseline,
        "× baseline",
        target,
        accurate=reached <= MAX_LINEAR_RESIDUAL and made.sane,
        note=f"{1e3 * made.mean:.0f} ms; linear residual {reached:.1e}, {iterations:.0f} "
        f"iterations of {solver}; {made}",
        details={
            **made.details(),
            "n": n,
            "yardstick_ms": 1e3 * baseline,
            "linear_residual": reached,
            "iterations": iterations,
        },
    )


def measure_trajectory(bench: Bench) -> list[Row]:
    """Measure how far the steps of these rows deviate from the known trajectory, in allowances."""
    net, steps = cloth(KNOWN_N), 100
    stepper = TautStepper(net.system(), ImplicitEuler(tolerance=TOLERANCE[SOFT]))
    made = run_steps(net, stepper, steps, bench.start_task(f"trajectory, n = {KNOWN_N}", steps))
    found = made.details()
    known = "{lowest[0]:g} m, {strain[0]:.0%}, {strain_end[0]:.1%}".format_map(KNOWN)
    deviation = {
        name: abs(found[name] - value) / allowed for name, (value, allowed) in KNOWN.items()
    }
    return [
        Row(
            "trajectory",
            f"deviation from the known trajectory, n = {KNOWN_N}, soft",
            max(deviation.values()),
            "allowances",
            1.0,
            accurate=made.ratio <= MAX_RESIDUAL_RATIO,
            note=f"{made}; known: {known}",
            details=found,
        )
    ]


# Symplectic Euler is stable on the soft cloth of n = 100 with 81 substeps per step. The highest
# frequency is proportional to 1/√m, and m to 1/n², so the number is proportional to n.
SUBSTEPS_PER_PARTICLE = 0.81  # times the particles per side


def count_substeps(n: int) -> int:
    """Return the number of substeps that the n×n cloth needs.

    >>> count_substeps(100), count_substeps(50)
    (81, 41)
    """
    return math.ceil(SUBSTEPS_PER_PARTICLE * n)


def measure_symplectic(bench: Bench) -> list[Row]:
    """Measure symplectic Euler on the soft cloth.

    All its steps do the same work, so the shortest is compared with the shortest of the baseline.
    """
    net = cloth(bench.n)
    stepper = TautStepper(net.system(), SymplecticEuler(), substeps=count_substeps(bench.n))
    made, baseline = bench.run_with_baseline(
        bench.n, net, stepper, bench.steps, f"symplectic, n = {bench.n}"
    )
    return [
        Row(
            "symplectic",
            f"symplectic Euler, {count_substeps(bench.n)} substeps, soft, n = {bench.n}",
            made.quickest / baseline,
            "× baseline",
            0.035,
            accurate=made.sane,
            note=f"{1e3 * made.quickest:.1f} ms at best, {1e3 * made.mean:.1f} ms on average; "
            f"{made}",
            details={
                **made.details(),
                "ms_quickest": 1e3 * made.quickest,
                "n": bench.n,
                "yardstick_ms": 1e3 * baseline,
            },
        )
    ]
