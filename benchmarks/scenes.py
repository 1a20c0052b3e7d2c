"""Spoilt scene files: every one must give a built scene, or one SceneError or MeshError, soon.

    python -m benchmarks.scenes [--files 20000] [--seed 0]

Good scenes are cut, doubled, shuffled and overwritten as text, and their values replaced, dropped
and renamed as tables; each is read and built, with at most 3000 particles. Prints how many were
built and how many refused, the slowest, and the bound that the count puts on the chance of a
failure (95%: 3/N). Ends with 1, and leaves the file behind, if anything but these two errors came
up, or if one took longer than 2 s of the processor's time.
"""

from __future__ import annotations

import argparse
import sys

from benchmarks.reliability.hostile_scenes import campaign
from benchmarks.reliability.record import bound


def main() -> int:
    """Run the campaign."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--files", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    found = campaign(range(asked.files), asked.seed)
    failures = len(found.failures)
    print("".join(f"{failure}\n" for failure in found.failures), end="")
    for what, count in sorted(found.counts.items()):
        print(f"{count:7} {what}")
    print(f"{asked.files} scenes, slowest {found.slowest:.2f} s, {failures} failures")
    print(f"95%: at most {bound(failures, asked.files):.2g} of such scenes fail")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
