"""The campaigns by name, each in its full size or a hundredth of it.

Each takes over the process it runs in, so that `taut bench --reliability` gives it one of its own
(`benchmarks.reliability.run`).
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
from benchmarks.reliability.watch import LINES, watched
from taut.progress import Progress

QUICK = 100  # times smaller
SIZES = {  # trials; of faults: one call in so many; of determinism: cases at most
    "random": 2000,
    "meshes": 50_000,
    "heavy": 18,
    "scenes": 20_000,
    "kill": 200,
    "faults": 1,
    "determinism": 200,
    "soak": 100_000,
}


def random(size: int) -> Record:
    """Random valid scenes stepped: certified, or a typed error."""
    results = random_steps.campaign(watched("random scenes", range(size)))
    found = random_steps.summary(results)
    solved = found["converged"] + found["rounding floor"]
    failures = [f"scene {number}: {defect}" for number, defect in found["defects"].items()]
    if solved < random_steps.SOLVED * size:
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
        f"{found['iterations']['mean']} iterations a step",
    )


def meshes(size: int) -> Record:
    """Spoilt mesh files read: a Mesh or a MeshError."""
    found = hostile_meshes.campaign(watched("spoilt meshes", range(size)))
    said = f"slowest {found.slowest[0]:.2f} s, memory grew by {found.grown / 1e6:.0f} MB"
    return Record(
        "meshes",
        size,
        "files",
        found.failures,
        {"read": found.read, "refused": found.refused},
        said,
    )


def heavy(size: int) -> Record:
    """Mesh files made to be slow or hungry."""
    files = dict(list(heavy_meshes.files().items())[:size])
    readings = [
        reading
        for _, reading in zip(
            watched("heavy meshes", range(size)), heavy_meshes.campaign(files), strict=False
        )
    ]
    slowest, most = max(r.seconds for r in readings), max(r.memory for r in readings)
    failures = [str(reading) for reading in readings if reading.too_much]
    return Record(
        "heavy",
        len(readings),
        "files",
        failures,
        said=f"slowest {slowest:.2f} s, most memory {most / 1e6:.0f} MB",
    )


def scenes(size: int) -> Record:
    """Spoilt scene files read and built: a scene or a SceneError or MeshError."""
    found = hostile_scenes.campaign(watched("spoilt scenes", range(size)))
    counts = {
        what: count for what, count in sorted(found.counts.items()) if not what.startswith("FAILED")
    }
    return Record(
        "scenes",
        size,
        "files",
        found.failures,
        counts,
        f"slowest {found.slowest:.2f} s of the processor's time",
    )


def killed(size: int) -> Record:
    """Runs killed at random moments, and resumed."""
    progress = Progress("taut bench", every=LINES)
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


def faulted(size: int) -> Record:
    """Every call that changes the folder fails in turn; size : one call in so many."""
    with tempfile.TemporaryDirectory() as folder:
        found = faults.campaign(Path(folder), size, watch=lambda trials: watched("faults", trials))
    harm = sum(count for what, count in found["counts"].items() if what.endswith("RunError"))
    counts = {"RunError": harm, "no harm": found["faults"] - harm}
    return Record(
        "faults", found["faults"], "faults", found["failures"], counts, f"at {found['calls']} calls"
    )


def same_bits(size: int) -> Record:
    """The same bits whatever the threads, the time and the process."""
    found = determinism.compared(watched("determinism", determinism.cases()[:size]))
    comparisons = sum(len(prints) - 1 for prints in found.values())
    return Record(
        "determinism",
        comparisons,
        "comparisons",
        determinism.differences(found),
        {"cases": len(found)},
    )


def soaked(size: int) -> Record:
    """A long run: momenta, energy book and memory."""
    kept = soak.soak(watched("soak", range(size)), size)
    return Record(
        "soak", kept.steps, "steps", kept.failures, {"iterations": kept.iterations}, str(kept)
    )


CAMPAIGNS: dict[str, Callable[[int], Record]] = {
    "random": random,
    "meshes": meshes,
    "heavy": heavy,
    "scenes": scenes,
    "kill": killed,
    "faults": faulted,
    "determinism": same_bits,
    "soak": soaked,
}


def size_of(name: str, *, quick: bool) -> int:
    """How large a campaign is; of faults: one call in so many.

    >>> size_of("meshes", quick=True), size_of("faults", quick=True), size_of("faults", quick=False)
    (500, 100, 1)
    """
    if not quick:
        return SIZES[name]
    return QUICK if name == "faults" else max(1, SIZES[name] // QUICK)
