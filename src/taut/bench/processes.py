"""Rows that need a process of their own: peak memory, and the time from start to the first step.

On Linux the memory is VmHWM, which the kernel counts for the address space of the child alone.
`ru_maxrss` of `getrusage` would not do: there it is inherited from the parent process.
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

MEMORY_SIZE_FACTOR = 4  # particles per side of the cloth for the memory row, in multiples of n
# What takes its first step: row → description and code.
FIRST_STEPS = {
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
WARM_STARTS = 3  # the shortest counts


def measure_memory(bench: Bench) -> list[Row]:
    """Measure the peak memory of two implicit steps."""
    n = MEMORY_SIZE_FACTOR * bench.n
    bench.progress.start(f"memory, n = {n}")
    out, _ = _run_python(
        f"from taut.bench.processes import measure_peak; print('peak', measure_peak({n}))"
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
            note="" if known else "this operating system does not report peak memory",
            details={"n": n},
        )
    ]


def measure_start(bench: Bench) -> list[Row]:
    """Measure the time from the start of a process to the end of its first step.

    Once with an empty kernel cache, and several times with a full one.
    """
    rows = []
    for name, (what, code) in FIRST_STEPS.items():
        with tempfile.TemporaryDirectory(prefix="taut-bench-", ignore_cleanup_errors=True) as cache:
            bench.progress.start(f"{what} with an empty cache")
            cold, messages = _time_first_step(code, cache)
            bench.progress.finish()
            bench.progress.start(f"{what} with a full cache")
            warm = min(_time_first_step(code, cache)[0] for _ in range(WARM_STARTS))
            bench.progress.finish()
        has_message = "compiling" in messages  # users must see what they wait for
        rows += [
            Row(
                f"{name}-cold",
                f"start to first step, {what}, empty cache",
                cold,
                "s",
                20.0,
                accurate=has_message,
            ),
            Row(f"{name}-warm", f"start to first step, {what}, warm cache", warm, "s", 1.5),
        ]
    return rows


def measure_peak(n: int) -> float:
    """Take two implicit steps of the n×n cloth; return the peak memory of this process [GB].

    0 if it is not known.
    """
    system, integrator = cloth(n).system(), ImplicitEuler(tolerance=TOLERANCE[SOFT])
    state = system.initial_state()
    for _ in range(2):
        state, _ = integrator.step(system, state, H)
    return peak_memory()


def peak_memory() -> float:
    """Return the peak memory of this process so far [GB]; 0 if it is not known.

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


def _time_first_step(code: str, cache: str) -> tuple[float, str]:
    """Return the time until the code has run [s], and its messages on standard error."""
    begun = time.time()
    out, messages = _run_python(
        f"import time, taut; {code}; print('at', time.time())", TAUT_CACHE_DIR=cache
    )
    return float(out.split("at ")[1]) - begun, messages


def _run_python(code: str, **environment: str) -> tuple[str, str]:
    """Run code in a new process; return its standard output and standard error."""
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
