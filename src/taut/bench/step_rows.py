"""Rows of the implicit steps.

Linearly implicit to a linear residual of 1e-6, and implicit Euler converged to a ratio of 1e-4.
"""

from __future__ import annotations

import math

import numpy as np

from taut.bench.accuracy import linear_residual
from taut.bench.net import cloth
from taut.bench.row import CONVERGED, SOFT, STIFF, TOLERANCE, WORDS, Bench, Row
from taut.bench.trajectory import H, TautStepper, run_steps
from taut.optimise.tolerance import Tolerance
from taut.step.implicit_euler import ImplicitEuler
from taut.step.linearly_implicit_euler import LinearlyImplicitEuler
from taut.step.symplectic_euler import SymplecticEuler

LINEAR = 1e-6  # |A Δv - b| / |b|
LINEAR_TOLERANCE = Tolerance(relative=1e-5)
"""For which the linear residual is below that.

Each particle within 1e-5 of the forces in its equation.
"""
KNOWN_N = 50  # where the converged trajectory is known
KNOWN = {"lowest": (-0.272, 0.015), "strain": (0.09, 0.01), "strain_end": (0.035, 0.005)}
"""Of the soft cloth after 100 steps.

The lowest point [m], the largest strain on the way and at the end, and by how much wrinkles
that fall otherwise change them."""


def linear(bench: Bench) -> list[Row]:
    """Linearly implicit Euler, soft, n and its target."""
    return [_linear(bench, "linear", bench.n, 0.08)]


def linear_large(bench: Bench) -> list[Row]:
    """The same at 2 n."""
    return [_linear(bench, "linear-large", 2 * bench.n, 0.05)]


def _linear(bench: Bench, name: str, n: int, target: float) -> Row:
    net = cloth(n)
    system, left, counts = net.system(), [], []
    own = TautStepper(system, LinearlyImplicitEuler(tolerance=LINEAR_TOLERANCE))
    before = own.now

    def look() -> None:
        nonlocal before
        assert own.report is not None
        stiffness = system.K(before, project=True)
        left.append(
            linear_residual(
                net, stiffness, np.array(before.q), np.array(before.v), np.array(own.now.v), H
            )
        )
        counts.append(own.report.linear_iterations)
        before = own.now

    made, yard = bench.run_with_baseline(
        n, net, own, bench.steps, f"linearly implicit, n = {n}", look
    )
    reached, iterations = float(np.median(left[made.window])), float(np.median(counts[made.window]))
    solver = own.report.solver if own.report else ""
    return Row(
        name,
        f"linearly implicit Euler, soft, n = {n}",
        made.mean / yard,
        "× yardstick",
        target,
        accurate=reached <= LINEAR and made.sane,
        said=f"{1e3 * made.mean:.0f} ms; linear residual {reached:.1e}, {iterations:.0f} "
        f"iterations of {solver}; {made}",
        details={
            **made.details(),
            "n": n,
            "yardstick_ms": 1e3 * yard,
            "linear_residual": reached,
            "iterations": iterations,
        },
    )


def implicit_soft(bench: Bench) -> list[Row]:
    """Implicit Euler, soft."""
    return [_implicit(bench, "implicit-soft", SOFT, 0.25)]


def implicit_stiff(bench: Bench) -> list[Row]:
    """Implicit Euler, stiff."""
    return [_implicit(bench, "implicit-stiff", STIFF, 0.5)]


def _implicit(bench: Bench, name: str, stiffness: float, target: float) -> Row:
    n = bench.n
    net, counts = cloth(n, stiffness), []
    own = TautStepper(net.system(), ImplicitEuler(tolerance=TOLERANCE[stiffness]))

    def look() -> None:
        assert own.report is not None
        counts.append((own.report.iterations, own.report.linear_iterations))

    made, yard = bench.run_with_baseline(
        n, net, own, bench.steps, f"implicit, {WORDS[stiffness]}, n = {n}", look
    )
    newton, inner = (float(x) for x in np.median(counts[made.window], axis=0))
    solver = own.report.solver if own.report else ""
    return Row(
        name,
        f"implicit Euler, converged, {WORDS[stiffness]}, n = {n}",
        made.mean / yard,
        "× yardstick",
        target,
        accurate=made.ratio <= CONVERGED and made.sane,
        said=f"{1e3 * made.mean:.0f} ms; {newton:.0f} Newton, {inner:.0f} linear iterations of "
        f"{solver}; {made}",
        details={
            **made.details(),
            "n": n,
            "yardstick_ms": 1e3 * yard,
            "newton": newton,
            "iterations": inner,
        },
    )


def trajectory(bench: Bench) -> list[Row]:
    """Whether the steps of these rows follow the trajectory that is known.

    By how much they miss it, in allowances.
    """
    net, steps = cloth(KNOWN_N), 100
    own = TautStepper(net.system(), ImplicitEuler(tolerance=TOLERANCE[SOFT]))
    made = run_steps(net, own, steps, bench.part(f"trajectory, n = {KNOWN_N}", steps))
    found = made.details()
    known = "{lowest[0]:g} m, {strain[0]:.0%}, {strain_end[0]:.1%}".format_map(KNOWN)
    off = {name: abs(found[name] - value) / allowed for name, (value, allowed) in KNOWN.items()}
    return [
        Row(
            "trajectory",
            f"off the known trajectory, n = {KNOWN_N}, soft",
            max(off.values()),
            "allowances",
            1.0,
            accurate=made.ratio <= CONVERGED,
            said=f"{made}; known: {known}",
            details=found,
        )
    ]


# The row of symplectic Euler: 81 substeps a step, as the soft cloth of n = 100 needs to be stable;
# in proportion for others.

SUBSTEPS = (
    0.81  # for each particle a side: the fastest oscillation is as fast as particles are light
)


def substeps(n: int) -> int:
    """How many substeps the n×n cloth takes.

    >>> substeps(100), substeps(50)
    (81, 41)
    """
    return math.ceil(SUBSTEPS * n)


def symplectic(bench: Bench) -> list[Row]:
    """Symplectic Euler, soft. All steps do the same work.

    The quickest is held against the yardstick's quickest.
    """
    net = cloth(bench.n)
    own = TautStepper(net.system(), SymplecticEuler(), substeps=substeps(bench.n))
    made, yard = bench.run_with_baseline(
        bench.n, net, own, bench.steps, f"symplectic, n = {bench.n}"
    )
    return [
        Row(
            "symplectic",
            f"symplectic Euler, {substeps(bench.n)} substeps, soft, n = {bench.n}",
            made.quickest / yard,
            "× yardstick",
            0.035,
            accurate=made.sane,
            said=f"{1e3 * made.quickest:.1f} ms at best, {1e3 * made.mean:.1f} ms on average; "
            f"{made}",
            details={
                **made.details(),
                "ms_quickest": 1e3 * made.quickest,
                "n": bench.n,
                "yardstick_ms": 1e3 * yard,
            },
        )
    ]
