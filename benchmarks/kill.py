"""Kill runs at random moments: no durable frame may be lost, and resumed runs must not differ.

    python -m benchmarks.kill [--kills 100] [--seed 0] [--folder DIR] [--json]

The run is a small sheet that tears, stepped by BDF2 (so that a checkpoint needs history and masks),
with a frame for each step, in processes with one or two threads. Each is killed by SIGKILL after a
random time, while it starts, steps, writes or finishes. The run must then open, with every frame
that was reported as durable, and its frames must equal those of a run that was not killed. It is
resumed in another process, which may be killed as well, until it is finished; the SHA-256 of the
last state must be that of the undisturbed run.

Prints how many runs were killed in which phase, and, if there was no failure, the bound on its
probability (3/N, at 95% confidence).
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

from benchmarks.reliability.kill import campaign


def main() -> None:
    """Run the campaign."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--folder", type=Path, help="folder for the runs (default: a temporary one)"
    )
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        found = campaign(options.kills, options.seed, options.folder or Path(temporary))
    if options.json:
        print(json.dumps(found, indent=1))
    else:
        print(f"{found['kills']} kills, a run takes {found['seconds a run']} s: {found['counts']}")
        bound = f"{3 / options.kills:.1%}"
        success = f"no failure: with 95% confidence, less than {bound} of all kills do damage"
        print("\n".join(found["failures"]) or success)
    sys.exit(bool(found["failures"]))


if __name__ == "__main__":
    main()
