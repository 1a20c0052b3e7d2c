"""Drape coefficients of all fabrics of the table, on meshes of several finenesses.

    python -m benchmarks.fabrics [NAME …] [--rings 4 6]

A line has the coefficients from three starts, which lead to different folds, the range published
for such fabrics, and the CPU seconds.
"""

from __future__ import annotations

import argparse
import time

from taut.materials import FABRICS
from taut.validate._fabrics import drape

STARTS = 3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="fabrics (default: all)")
    parser.add_argument("--rings", type=int, nargs="+", default=[4], help="of the mesh")
    arguments = parser.parse_args()
    heads = f"{'fabric':10}{'rings':>6}  {'drape coefficients [%]':26}{'published':>14}"
    print(f"{heads}{'CPU [s]':>9}")
    for name in arguments.names or FABRICS:
        published = "-"
        if FABRICS[name].drape is not None:
            published = "{:.1f} to {:.1f}".format(*(100 * d for d in FABRICS[name].drape))
        for rings in arguments.rings:
            began = time.process_time()
            found = [100 * drape(name, rings, seed=seed)[0] for seed in range(STARTS)]
            row = ", ".join(f"{value:.1f}" for value in found)
            took = time.process_time() - began
            print(f"{name:10}{rings:6}  {row:26}{published:>14}{took:9.1f}", flush=True)


if __name__ == "__main__":
    main()
