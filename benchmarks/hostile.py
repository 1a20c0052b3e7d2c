"""Corrupted mesh files: each must give a Mesh or a MeshError, in little time and memory.

    python -m benchmarks.hostile [--files 20000] [--seed 0]

Small valid files of every format are truncated, cut, doubled, shuffled and overwritten, and read.
Prints how many were read and how many rejected, the slowest, and the growth of memory.

Exits with 1 if there was an error other than a MeshError (the file is kept), if a file took longer
than 2 s, if memory grew by more than 200 MB, or if a valid file is rejected.
"""

from __future__ import annotations

import argparse
import sys

from benchmarks.reliability.hostile_meshes import campaign, samples


def main() -> int:
    """Run the campaign."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--files", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    found = campaign(range(options.files), options.seed)
    for failed in found.good + found.kept:
        print(failed, file=sys.stderr)
    seconds, name = found.slowest
    counts = f"{found.read} read, {found.refused} rejected, {len(found.kept)} other errors"
    print(f"{found.files} corrupted files from {len(samples())} samples: {counts}")
    print(f"slowest {seconds:.3f} s ({name}); memory grew by {found.grown / 1e6:.0f} MB")
    return int(bool(found.failures))


if __name__ == "__main__":
    sys.exit(main())
