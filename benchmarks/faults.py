"""Let every write of a run fail in turn: a clear error, and nothing lost that was on the disk.

    python -m benchmarks.faults [--every 1] [--call N] [--json]

`--every 10` tries one call of the system in ten, `--call N` only one.
`benchmarks.reliability.faults` says how calls are made to fail, and what must hold after each.
Linux only; it needs a C compiler, `cc`.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path

from benchmarks.reliability.faults import LIBRARY, campaign, under_the_library


def main() -> int:
    """See above."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--call", type=int, help="only the call of this number")
    parser.add_argument("--every", type=int, default=1, help="try one call in so many")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if LIBRARY not in os.environ:  # begin again, with the library before all others
        return under_the_library(
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
