"""Cut the power at every moment of a run: it must open, lose no durable frame, and resume.

    python -m benchmarks.power_cuts [--every 1] [--resume-every 20] [--json]

`--every 10` tries one moment in ten. `benchmarks.reliability.power` describes what is checked, and
`benchmarks.reliability.disk` what a loss of power may leave. Linux only; needs a C compiler, `cc`.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

from benchmarks.reliability.power import campaign
from benchmarks.reliability.watch import show_progress


def main() -> int:
    """Run the campaign."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--every", type=int, default=1, help="try one moment in N", metavar="N")
    parser.add_argument(
        "--resume-every", type=int, default=20, help="resume one state in N", metavar="N"
    )
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        found = campaign(
            Path(temporary),
            options.every,
            options.resume_every,
            lambda moments: show_progress("power cuts", moments),
        )
    if options.json:
        print(json.dumps(found, indent=1))
    else:
        print(f"{found['cuts']} cuts at {found['calls']} calls, {found['states']} different states")
        print(found["counts"])
        print("\n".join(found["failures"]) or "nothing was lost")
    return int(bool(found["failures"]))


if __name__ == "__main__":
    sys.exit(main())
