"""Run mesh files with all defaults: `python -m benchmarks.any_mesh FOLDER [NAMES…]`.

Prints a row of a table for each mesh: particles, connected parts, what was said before the run,
simulated time, processor time to the first step and to the end, iterations, inverted cells, and how
it ended. A run is stopped after LIMIT seconds of processor time. Set NUMBA_NUM_THREADS=1 for one
core.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import taut
from taut.errors import NotConverged, TautError

LIMIT = 90.0  # [s] of processor time
SUFFIXES = (".obj", ".off", ".ply", ".stl", ".mesh", ".msh")
# The words of a note, and what the table says.
WORDS = {
    "are welded": "seams welded",
    "surface is open": "open",
    "it is a hollow shell": "closed",
    "three faces or more": "branching edges",
    "there twice": "double faces",
    "intersects itself at": "intersects itself",
    "belong to no cell": "unused points",
    "have no extent": "degenerate cells",
    "springs keep together": "parts joined",
    "unusual size": "size",
    "the run ends after": "shortened",
}


def run(file: Path) -> str:
    """Return the row of a mesh."""
    start = time.process_time()
    try:
        built = taut.scene.of_mesh(file).build()
    except TautError as error:
        return f"| {file.name} | | | {error} | | | | | refused |"
    told = [word for key, word in WORDS.items() if any(key in note for note in built.notes)]
    begun = time.process_time() - start
    iterations, outcome, t, state = 0, "done", 0.0, built.state
    steps = taut.simulate(built.system, built.integrator, built.h, built.until)
    try:
        for state, report in steps:
            iterations, t = iterations + report.iterations, state.t
            if time.process_time() - start > LIMIT:
                outcome = "stopped"
                break
    except NotConverged as error:
        outcome = f"not converged: {error}"
    inverted = "inverted" if built.describe_inverted(state) else "0"
    return (
        f"| {file.name} | {built.system.n:,} | {', '.join(told)} | {t:.2f} of {built.until:g} | "
        f"{begun:.1f} | {time.process_time() - start:.0f} | {iterations} | {inverted} | {outcome} |"
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    files = [f for f in options.folder.iterdir() if f.suffix in SUFFIXES]
    files.sort(key=lambda file: (file.stat().st_size, file.name))
    print(
        "| mesh | particles | told before the run | t [s] | before [s] | in all [s] | iterations "
        "| inverted | outcome |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    for file in files:
        if not options.names or file.name in options.names:
            print(run(file), flush=True)
