"""Small files made to be slow or hungry.

Many names, many sections, many arrays that share their bytes, long lines.

    python -m benchmarks.heavy

Each is at most a few megabytes. Prints the seconds and the peak memory of reading each, in a
process of its own; ends with 1 if one takes more than 2 s or 1 GB.
"""

from __future__ import annotations

import sys

from benchmarks.reliability.heavy_meshes import campaign, files


def main() -> int:
    """Read them all."""
    bad = 0
    for reading in campaign(files()):
        print(reading)
        bad += reading.too_much
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
