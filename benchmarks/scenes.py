"""Corrupted scenes: each must give a built scene, a SceneError or a MeshError, in little time.

    python -m benchmarks.scenes [--files 20000] [--seed 0]

Valid scenes are cut, doubled, shuffled and overwritten as text, or their values are replaced,
dropped and renamed as tables; each is read and built, with at most 3000 particles. Prints how many
were built and how many rejected, the slowest, and the bound on the probability of a failure (3/N,
at 95% confidence). Exits with 1, and keeps the file, if there was an error other than these two, or
if a scene took longer than 2 s of CPU time.
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
    options = parser.parse_args()
    found = campaign(range(options.files), options.seed)
    failures = len(found.failures)
    print("".join(f"{failure}\n" for failure in found.failures), end="")
    for what, count in sorted(found.counts.items()):
        print(f"{count:7} {what}")
    print(f"{options.files} scenes, slowest {found.slowest:.2f} s, {failures} failures")
    print(f"with 95% confidence, at most {bound(failures, options.files):.2g} of such scenes fail")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
