"""The row of symplectic Euler: 81 substeps a step, as the soft cloth of n = 100 needs to be stable; in proportion for others."""

from __future__ import annotations

import math

from taut.bench.bench import Bench
from taut.bench.march import Own
from taut.bench.net import cloth
from taut.bench.row import Row
from taut.step.symplectic_euler import SymplecticEuler

SUBSTEPS = 0.81  # for each particle a side: the fastest oscillation is as fast as particles are light


def substeps(n: int) -> int:
    """How many substeps the n×n cloth takes.

    >>> substeps(100), substeps(50)
    (81, 41)
    """
    return math.ceil(SUBSTEPS * n)


def symplectic(bench: Bench) -> list[Row]:
    """Symplectic Euler, soft. All steps do the same work: the quickest is held against the yardstick's quickest."""
    net = cloth(bench.n)
    own = Own(net.system(), SymplecticEuler(), substeps=substeps(bench.n))
    made, yard = bench.beside(bench.n, net, own, bench.steps, f"symplectic, n = {bench.n}")
    return [
        Row(
            "symplectic", f"symplectic Euler, {substeps(bench.n)} substeps, soft, n = {bench.n}",
            made.quickest / yard, "× yardstick", 0.035, accurate=made.sane,
            said=f"{1e3 * made.quickest:.1f} ms at best, {1e3 * made.mean:.1f} ms on average; {made}",
            details={**made.details(), "ms_quickest": 1e3 * made.quickest, "n": bench.n, "yardstick_ms": 1e3 * yard},
        )
    ]  # fmt: skip
