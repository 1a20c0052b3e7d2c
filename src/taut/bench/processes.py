"""Rows that need a process of their own.

Peak memory of the largest cloth, and the time from start to the first step.

The memory is what the kernel says of the child's own address space (VmHWM on Linux). The
`ru_maxrss` of `getrusage` survives the start of a program there, and would count the parent's.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from taut.bench.net import cloth
from taut.bench.row import SOFT, TOLERANCE, Bench, Row
from taut.bench.trajectory import H
from taut.errors import ModelError
from taut.step.implicit_euler import ImplicitEuler

LARGE = 4  # times n
FIRST = {  # whose first step is waited for: in words, and the code that makes it
    "start": (
        "springs, n = 50",
        "from taut.bench.net import cloth; s = cloth(50).system(); taut.ImplicitEuler().step(s, "
        f"s.initial_state(), {H})",
    ),
    "start-scene": (
        "the scene cloth",
        "from taut import scene; b = scene.load('cloth').build(); b.integrator.step(b.system, "
        "b.state, b.h)",
    ),
}
WARM = 3  # starts, of which the quickest counts


def memory(bench: Bench) -> list[Row]:
    """Peak memory of two implicit steps."""
    n = LARGE * bench.n
    bench.progress.start(f"memory, n = {n}")
    out, _ = _child(
        f"from taut.bench.processes import peak_of_steps; print('peak', peak_of_steps({n}))"
    )
    bench.progress.finish()
    peak = float(out.split("peak ")[1])
    known = peak > 0.0
    return [
        Row(
            "memory",
            f"peak memory, n = {n} ({n * n} particles)",
            peak if known else None,
            "GB",
            1.5,
            said="" if known else "this system does not say",
            details={"n": n},
        )
    ]


def start(bench: Bench) -> list[Row]:
    """Seconds from the start of the process to the end of the first step.

    With an empty cache and with a full one.
    """
    rows = []
    for name, (what, make) in FIRST.items():
        with tempfile.TemporaryDirectory(prefix="taut-bench-", ignore_cleanup_errors=True) as cache:
            bench.progress.start(f"{what} with an empty cache")
            cold, said = _first_step(make, cache)
            bench.progress.finish()
            bench.progress.start(f"{what} with a full cache")
            warm = min(_first_step(make, cache)[0] for _ in range(WARM))
            bench.progress.finish()
        told = "compiling" in said  # whoever waits is told why
        rows += [
            Row(
                f"{name}-cold",
                f"start to first step, {what}, empty cache",
                cold,
                "s",
                20.0,
                accurate=told,
            ),
            Row(f"{name}-warm", f"start to first step, {what}, warm cache", warm, "s", 1.5),
        ]
    return rows


def peak_of_steps(n: int) -> float:
    """The most memory [GB] this process has had after two implicit steps of the n×n cloth.

    0 where that is not known.
    """
    system, integrator = cloth(n).system(), ImplicitEuler(tolerance=TOLERANCE[SOFT])
    state = system.initial_state()
    for _ in range(2):
        state, _ = integrator.step(system, state, H)
    return peak_memory()


def peak_memory() -> float:
    """The most memory [GB] this process has had so far; 0 where that is not known.

    >>> 0.01 < peak_memory() < 100
    True
    """
    status = Path("/proc/self/status")
    if status.exists():
        lines = [
            line.split() for line in status.read_text().splitlines() if line.startswith("VmHWM")
        ]
        return float(lines[0][1]) * 1024 / 1e9 if lines else 0.0
    if sys.platform == "darwin":
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e9
    return 0.0


def _first_step(make: str, cache: str) -> tuple[float, str]:
    """Seconds until the step is made, and what was said meanwhile."""
    begun = time.time()
    out, said = _child(f"import time, taut; {make}; print('at', time.time())", TAUT_CACHE_DIR=cache)
    return float(out.split("at ")[1]) - begun, said


def _child(code: str, **environment: str) -> tuple[str, str]:
    run = subprocess.run(
        [sys.executable, "-P", "-c", code],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )
    if run.returncode:
        raise ModelError(
            f"a process of the benchmark failed: {run.stderr.strip().splitlines()[-1:]}"
        )
    return run.stdout, run.stderr
