"""Let each write of a run fail: the error must be clear, and nothing on the disk may be lost.

    python -m benchmarks.faults [--every 1] [--call N] [--json]

`--every 10` tries one system call in ten, `--call N` only one. `benchmarks.reliability.faults`
describes how calls are made to fail, and what is checked afterwards. Linux only; needs a C
compiler, `cc`.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path

from benchmarks.reliability.faults import LIBRARY_VARIABLE, campaign, run_with_library


def main() -> int:
    """Run the campaign."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--call", type=int, help="only the call with this number")
    parser.add_argument("--every", type=int, default=1, help="try one call in N", metavar="N")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if LIBRARY_VARIABLE not in os.environ:  # start again, with the library preloaded
        return run_with_library(
            [sys.executable, "-m", "benchmarks.faults", *sys.argv[1:]]
        ).returncode
    with tempfile.TemporaryDirectory() as temporary:
        found = campaign(Path(temporary), options.every, options.call)
    if options.json:
        print(json.dumps(found, indent=1))
    else:
        print(f"{found['faults']} faults at {found['calls']} calls: {found['counts']}")
        print("\n".join(found["failures"]) or "nothing was lost")
    return int(bool(found["failures"]))


if __name__ == "__main__":
    sys.exit(main())
