"""Read small mesh files that are made to take much time or memory.

    python -m benchmarks.heavy

They have many names, many sections, many arrays that share their bytes, or long lines, and at most
a few megabytes. Prints time and peak memory of reading each in its own process. Exits with 1 if one
takes more than 2 s or 1 GB.
"""

from __future__ import annotations

import sys

from benchmarks.reliability.heavy_meshes import campaign, files


def main() -> int:
    """Read all files."""
    failures = 0
    for reading in campaign(files()):
        print(reading)
        failures += reading.exceeds_limits
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main())
