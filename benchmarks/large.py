"""A cloth of millions of particles in one process: time to build it, memory, and one implicit step.

    python -m benchmarks.large [--side 2000] [--limit 19] [--steps 1] [--json]

The cloth hangs by two corners of its left side, with springs along edges and diagonals; `--side`
counts its cells in each direction, so 1999 gives four million particles. Memory is the largest
resident set of the process less what it had before, for each particle. The program ends itself
when it holds more than `--limit` GB, or when the machine has less than 1 GB left.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np

import taut
from taut import laws

LEAST_FREE = 1e9  # [bytes] that the machine keeps for others
CHECK_SECONDS = 0.2


def read_sizes(file: str) -> dict[str, int]:
    """Return the sizes [bytes] of a file of /proc, such as VmHWM of /proc/self/status."""
    lines = (line.split() for line in Path(file).read_text().splitlines())
    return {words[0][:-1]: 1024 * int(words[1]) for words in lines if words[2:] == ["kB"]}


def watch_memory(limit: float) -> None:
    """End the process, in a thread, before it drives the machine out of memory."""

    def watch() -> None:
        while True:
            held = read_sizes("/proc/self/status")["VmRSS"]
            free = read_sizes("/proc/meminfo")["MemAvailable"]
            if held > limit or free < LEAST_FREE:
                print(f"stopped: holds {held / 1e9:.1f} GB, {free / 1e9:.1f} GB are free")
                sys.stdout.flush()
                os._exit(1)
            time.sleep(CHECK_SECONDS)

    threading.Thread(target=watch, daemon=True).start()


def build_cloth(side: int) -> tuple[taut.System, float]:
    """Return a cloth of (side + 1)² particles, and the processor time of building it [s]."""
    sheet = taut.mesh.sheet(side, side, size=0.01 * side, plane="xz")
    pairs = np.concatenate([sheet.edges, sheet.diagonals])
    started = time.process_time()
    energies = [laws.spring(pairs, k=100.0), laws.gravity()]
    system = taut.System(sheet.points, mass=1e-4, energies=energies, fixed=sheet.corners("left"))
    return system, time.process_time() - started


def measure(side: int, steps: int) -> dict[str, Any]:
    """Return what a cloth takes; kernels are compiled before, on a small one."""
    integrator = taut.ImplicitEuler()
    small, _ = build_cloth(40)
    integrator.step(small, small.initial_state(), 0.01)
    before = read_sizes("/proc/self/status")["VmRSS"]
    system, building = build_cloth(side)
    built = read_sizes("/proc/self/status")["VmHWM"]
    state, reports, seconds = system.initial_state(), [], []
    for _ in range(steps):
        started = time.perf_counter()
        state, report = integrator.step(system, state, 0.01)
        seconds.append(time.perf_counter() - started)
        reports.append(report)
    peak = read_sizes("/proc/self/status")["VmHWM"]
    return {
        "particles": system.n,
        "building_us": 1e6 * building / system.n,
        "built_bytes": (built - before) / system.n,
        "peak_bytes": (peak - before) / system.n,
        "peak_gb": peak / 1e9,
        "step_seconds": seconds,
        "iterations": [report.iterations for report in reports],
        "linear_iterations": [report.linear_iterations for report in reports],
        "outcomes": [report.outcome for report in reports],
    }


def main() -> int:
    """Measure, and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--side", type=int, default=1999, help="cells in each direction")
    parser.add_argument("--steps", type=int, default=1)
    parser.add_argument("--limit", type=float, default=19.0, help="of the process [GB]")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    watch_memory(1e9 * options.limit)
    found = measure(options.side, options.steps)
    if options.json:
        print(json.dumps(found, indent=1))
        return 0
    print(
        "{particles:,} particles: built in {building_us:.1f} µs of processor time a particle, with "
        "{built_bytes:.0f} bytes at most;\n{peak_bytes:.0f} bytes a particle at the peak of a "
        "step, {peak_gb:.1f} GB in all".format(**found)
    )
    for k, seconds in enumerate(found["step_seconds"]):
        print(
            f"step {k + 1}: {seconds:.1f} s, {found['outcomes'][k]}, "
            f"{found['iterations'][k]} iterations, {found['linear_iterations'][k]} linear ones"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
