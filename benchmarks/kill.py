"""Kill a run at random moments.

It must open, hold every frame that was said to be on the disk, and end in the same bits.

    python -m benchmarks.kill [--kills 100] [--seed 0] [--folder DIR] [--json]

A small sheet that tears, stepped by BDF2 (so that a checkpoint needs history and masks), a frame
each step, in processes with one or two threads. Each is ended by SIGKILL after a random time, while
it begins, steps, writes or finishes. Then the run is opened: every frame said to be durable must be
there, and every frame there must be that of a run that nobody killed. Then it is resumed in another
process, which may be killed as well, until it ends; the SHA-256 of the last state must be that of
the undisturbed run.

Prints how many were killed where, and the bound on the chance of a failure that as many kills
without one leave (3/N, at 95%).
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

from benchmarks.reliability.kill import campaign


def main() -> None:
    """See above."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--folder", type=Path, help="where the runs are put (default: a temporary folder)"
    )
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        found = campaign(options.kills, options.seed, options.folder or Path(temporary))
    if options.json:
        print(json.dumps(found, indent=1))
    else:
        print(f"{found['kills']} kills, a run takes {found['seconds a run']} s: {found['counts']}")
        bound = (
            f"no failure: with 95% confidence, fewer than {3 / options.kills:.1%} of kills do harm"
        )
        print("\n".join(found["failures"]) or bound)
    sys.exit(bool(found["failures"]))


if __name__ == "__main__":
    main()
