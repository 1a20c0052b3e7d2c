"""What `taut check` foresees against what runs take: memory and time.

    python -m benchmarks.estimates [--only NAME…] [--limit 60] [--budget 2] [--json]

For each built-in scene, and for meshes in ../shared/data where they are: the memory and the time
that `taut check` prints, and the peak memory and the time of all steps, measured in a process of
its own. Times are processor time of one thread, so that a busy machine does not count. A run that
takes longer than `--limit` seconds is cut short, and its time extrapolated from what was done; the
fraction is printed. Prints how many are within a factor of two.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import taut
from taut.bench.processes import peak_memory
from taut.scene import load, try_steps

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
MESHES = ("spot.obj", "suzanne.obj", "octopus-low.mesh", "teapot.obj", "cow.obj")
WITHIN = 2.0


def foresee(name: str, budget: float) -> dict[str, Any]:
    """Return what `taut check` finds for a scene."""
    built = load(name).build()
    cost, warnings = taut.scene.estimate(built), taut.scene.foresee(built)
    trial = try_steps(built, budget, clock=time.process_time)
    return {
        "scene": Path(name).name,
        "particles": built.system.n,
        "steps": cost.steps,
        "foreseen_seconds": trial.seconds,
        "foreseen_bytes": cost.memory,
        "touches": built.system.contact is not None,
        "warned": bool(warnings),
    }


def take(name: str, limit: float) -> dict[str, Any]:
    """Return what the steps of a scene take."""
    built = load(name).build()
    total = taut.scene.estimate(built).steps
    started, steps, fault = time.process_time(), 0, ""
    try:
        for _ in taut.simulate(built.system, built.integrator, built.h, built.until):
            steps += 1
            if time.process_time() - started > limit:
                break
    except taut.TautError as error:
        fault = type(error).__name__
    seconds = (time.process_time() - started) * total / max(steps, 1)
    found = {"done": steps / total, "seconds": seconds, "bytes": 1e9 * peak_memory()}
    return {**found, "fault": fault}


def run_apart(call: str) -> dict[str, Any]:
    """Return the result of a function of this file, called in a process of its own."""
    code = f"from benchmarks.estimates import *; print(json.dumps({call}))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "NUMBA_NUM_THREADS": "1"},
    )
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def is_near(foreseen: float, measured: float) -> bool:
    """Whether a figure is within a factor of two."""
    return measured / WITHIN <= foreseen <= measured * WITHIN


def main() -> int:
    """Measure all scenes, and print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", nargs="*", help="names of scenes, or mesh files")
    parser.add_argument("--budget", type=float, default=2.0, help="of the trial [s]")
    parser.add_argument("--limit", type=float, default=60.0, help="of a run [s]")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    meshes = [str(DATA / name) for name in MESHES if (DATA / name).exists()]
    rows = []
    for name in options.only or [*taut.scene.names(), *meshes]:
        row = run_apart(f"foresee({name!r}, {options.budget})")
        row |= run_apart(f"take({name!r}, {options.limit})")
        rows.append(row)
        if not options.json:
            print(
                f"{row['scene']:18} {row['particles']:6} particles, {row['done']:4.0%} of "
                f"{row['steps']:5} steps: {row['foreseen_seconds']:7.2f} s foreseen, "
                f"{row['seconds']:7.2f} s taken ({row['foreseen_seconds'] / row['seconds']:.2f}); "
                f"{row['foreseen_bytes'] / 1e6:5.0f} MB, {row['bytes'] / 1e6:5.0f} MB"
                f"{', touches' * row['touches']}{', warned' * row['warned']} {row['fault']}",
                flush=True,
            )
    times = sum(is_near(row["foreseen_seconds"], row["seconds"]) for row in rows)
    memory = sum(is_near(row["foreseen_bytes"], row["bytes"]) for row in rows)
    if options.json:
        print(json.dumps(rows, indent=1))
    else:
        print(f"within a factor of two: time {times}, memory {memory} of {len(rows)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
