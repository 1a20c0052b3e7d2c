"""The campaigns by name, in full size or a hundredth of it.

Each changes global settings of its process (warnings, log, memory limit), so that `taut bench
--reliability` gives each its own process (`benchmarks.reliability.run`).
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path

from benchmarks.reliability import (
    determinism,
    faults,
    heavy_meshes,
    hostile_meshes,
    hostile_scenes,
    kill,
    random_steps,
    soak,
)
from benchmarks.reliability.record import Record
from benchmarks.reliability.watch import PROGRESS_SECONDS, show_progress
from taut.progress import Progress

QUICK_DIVISOR = 100  # of the sizes, with --quick
# Number of trials; for faults, N: one call in N is tried; for determinism, the most cases.
SIZES = {
    "random": 2000,
    "meshes": 50_000,
    "heavy": 18,
    "scenes": 20_000,
    "kill": 200,
    "faults": 1,
    "determinism": 200,
    "soak": 100_000,
}


def run_random_scenes(size: int) -> Record:
    """Step random valid scenes: each step must be certified, or end in a typed error."""
    results = random_steps.campaign(show_progress("random scenes", range(size)))
    found = random_steps.summary(results)
    solved = found["converged"] + found["rounding floor"]
    failures = [f"scene {number}: {defect}" for number, defect in found["defects"].items()]
    if solved < random_steps.MIN_SOLVED * size:
        often = "".join(
            f"; most often: {error} ({count} times)"
            for error, count in list(found["errors"].items())[:1]
        )
        failures.append(f"only {solved} of {size} scenes were solved{often}")
    counts = {
        "solved": solved,
        "typed errors": sum(found["errors"].values()),
        "steps": sum(found["steps"].values()),
    }
    return Record(
        "random",
        size,
        "scenes",
        failures,
        counts,
        f"{found['iterations']['mean']} iterations per step",
    )


def run_corrupted_meshes(size: int) -> Record:
    """Read corrupted mesh files: each must give a Mesh or a MeshError."""
    found = hostile_meshes.campaign(show_progress("corrupted meshes", range(size)))
    note = f"slowest {found.slowest[0]:.2f} s, memory grew by {found.grown / 1e6:.0f} MB"
    return Record(
        "meshes",
        size,
        "files",
        found.failures,
        {"read": found.read, "refused": found.refused},
        note,
    )


def run_heavy_meshes(size: int) -> Record:
    """Read small mesh files that are made to take much time or memory."""
    files = dict(list(heavy_meshes.files().items())[:size])
    readings = [
        reading
        for _, reading in zip(
            show_progress("heavy meshes", range(size)), heavy_meshes.campaign(files), strict=False
        )
    ]
    slowest, most = max(r.seconds for r in readings), max(r.memory for r in readings)
    failures = [str(reading) for reading in readings if reading.exceeds_limits]
    return Record(
        "heavy",
        len(readings),
        "files",
        failures,
        note=f"slowest {slowest:.2f} s, most memory {most / 1e6:.0f} MB",
    )


def run_corrupted_scenes(size: int) -> Record:
    """Read and build corrupted scenes: each must give a scene, a SceneError or a MeshError."""
    found = hostile_scenes.campaign(show_progress("corrupted scenes", range(size)))
    counts = {
        what: count for what, count in sorted(found.counts.items()) if not what.startswith("FAILED")
    }
    return Record(
        "scenes",
        size,
        "files",
        found.failures,
        counts,
        f"slowest {found.slowest:.2f} s of CPU time",
    )


def run_kills(size: int) -> Record:
    """Kill runs at random moments, and resume them."""
    progress = Progress("taut bench", every=PROGRESS_SECONDS)
    progress.start("kills", size)
    with tempfile.TemporaryDirectory() as folder:
        found = kill.campaign(size, 0, Path(folder), lambda done: progress.update(done, ""))
    progress.finish()
    counts = {what: count for what, count in found["counts"].items() if what != "kills"}
    return Record(
        "kill",
        found["kills"],
        "kills",
        found["failures"],
        counts,
        f"a run takes {found['seconds a run']} s",
    )


def run_faults(size: int) -> Record:
    """Let every call that changes the run folder fail; size : N, to try one call in N."""
    with tempfile.TemporaryDirectory() as folder:
        found = faults.campaign(
            Path(folder), size, watch=lambda trials: show_progress("faults", trials)
        )
    harm = sum(count for what, count in found["counts"].items() if what.endswith("RunError"))
    counts = {"RunError": harm, "no harm": found["faults"] - harm}
    return Record(
        "faults", found["faults"], "faults", found["failures"], counts, f"at {found['calls']} calls"
    )


def run_determinism(size: int) -> Record:
    """Compare results on one and two threads, in repetitions, and in other processes."""
    found = determinism.compute_fingerprints(
        show_progress("determinism", determinism.list_cases()[:size])
    )
    comparisons = sum(len(prints) - 1 for prints in found.values())
    return Record(
        "determinism",
        comparisons,
        "comparisons",
        determinism.describe_differences(found),
        {"cases": len(found)},
    )


def run_soak(size: int) -> Record:
    """Take many steps: momenta, energy and memory must stay the same."""
    drift = soak.run_steps(show_progress("soak", range(size)), size)
    return Record(
        "soak", drift.steps, "steps", drift.failures, {"iterations": drift.iterations}, str(drift)
    )


CAMPAIGNS: dict[str, Callable[[int], Record]] = {
    "random": run_random_scenes,
    "meshes": run_corrupted_meshes,
    "heavy": run_heavy_meshes,
    "scenes": run_corrupted_scenes,
    "kill": run_kills,
    "faults": run_faults,
    "determinism": run_determinism,
    "soak": run_soak,
}


def campaign_size(name: str, *, quick: bool) -> int:
    """Return the size of a campaign (see `SIZES`).

    >>> [campaign_size(name, quick=True) for name in ("meshes", "faults")]
    [500, 100]
    """
    if not quick:
        return SIZES[name]
    if name == "faults":
        return QUICK_DIVISOR
    return max(1, SIZES[name] // QUICK_DIVISOR)
