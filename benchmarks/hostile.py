"""Spoilt mesh files: every one must give a Mesh or one MeshError, soon and in little memory.

    python -m benchmarks.hostile [--files 20000] [--seed 0]

Small valid files of every format are truncated, cut, doubled, shuffled and overwritten, and read.
Prints how many were read and how many refused, the slowest, and the growth of memory. Ends with 1,
and leaves the file behind, if anything but a MeshError came up, if one took longer than 2 s, or if
memory grew beyond bounds; and if a file is refused before it is spoilt.
"""

from __future__ import annotations

import argparse
import sys

from benchmarks.reliability.hostile_meshes import campaign, samples


def main() -> int:
    """The campaign."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--files", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    found = campaign(range(options.files), options.seed)
    for failed in found.good + found.kept:
        print(failed, file=sys.stderr)
    (seconds, name), ends = (
        found.slowest,
        f"{found.read} read, {found.refused} refused, {len(found.kept)} other errors",
    )
    print(f"{found.files} spoilt files of {len(samples())} samples: {ends}")
    print(f"slowest {seconds:.3f} s ({name}); memory grew by {found.grown / 1e6:.0f} MB")
    return int(bool(found.failures))


if __name__ == "__main__":
    sys.exit(main())
