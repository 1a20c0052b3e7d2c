"""Studies on Dask: kill their processes, and measure their throughput.

    python -m benchmarks.sweeps kills [--kills 30] [--runs 200] [--seed 0] [--folder DIR] [--json]
    python -m benchmarks.sweeps throughput [--runs 60] [--repeats 3] [--json]

`kills` ends workers, schedulers and drivers of studies by SIGKILL at random moments, and compares
the tables with those of an undisturbed study (see `benchmarks.reliability.sweep_kill`).
`throughput` compares the runs per second of two workers with those of one, without the time in
which the workers start: the best of several alternating measurements. Exits with 1 after a failure,
or below 1.8.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.reliability.sweep_kill import campaign
from taut.scene import load
from taut.study import StudyProgress
from taut.study.cluster import local_client
from taut.study.plan import Plan, plan_scene
from taut.study.sweep import carry_out

MIN_RATIO = 1.8  # throughput of two workers, in units of one


def measure_throughput(runs: int, repeats: int) -> dict[str, Any]:
    """Return the most runs per second with one worker and with two."""
    scene = load("cloth", overrides=[("time.duration", 0.5)])
    density = {"body.cloth.density": f"0.1:0.4:{runs}"}
    plan = plan_scene(scene, density, {"sag": "max(y0 - y)"})
    best = {1: 0.0, 2: 0.0}
    for _ in range(repeats):
        for workers in best:
            best[workers] = max(best[workers], _measure(plan, workers))
    return {"one": best[1], "two": best[2], "ratio": best[2] / best[1]}


def _measure(plan: Plan, workers: int) -> float:
    """Return runs per second, from the moment at which every worker has done two."""
    times: list[float] = []

    def tell(progress: StudyProgress) -> None:
        if progress.done:
            times.append(time.perf_counter())

    with local_client(workers) as client:
        carry_out(plan, None, client=client, tell=tell)
    first = 2 * workers
    return (len(times) - 1 - first) / (times[-1] - times[first])


def main() -> int:
    """Run a campaign or a measurement."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("kills", "throughput"))
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--runs", type=int)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folder", type=Path, help="for the studies (default: a temporary one)")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if options.what == "throughput":
        found = measure_throughput(options.runs or 60, options.repeats)
        text = "one worker {one:.2f} runs/s, two {two:.2f}: {ratio:.2f} times".format(**found)
        print(json.dumps(found, indent=1) if options.json else text)
        return int(found["ratio"] < MIN_RATIO)
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        found = campaign(options.kills, options.seed, folder, options.runs or 200)
    if options.json:
        print(json.dumps(found, indent=1))
    else:
        print(f"{found['counts']}, a study takes {found['seconds']:.1f} s")
        print("\n".join(found["failures"]) or "no failure: every table has the same bytes")
    return int(bool(found["failures"]))


if __name__ == "__main__":
    sys.exit(main())
