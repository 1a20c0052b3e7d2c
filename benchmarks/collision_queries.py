"""Public collision queries: how far taut lets pairs go, against their exact ground truth.

    python -m benchmarks.collision_queries FOLDER

The folder is a copy of the repository Continuous-Collision-Detection/Sample-Queries on GitHub (Wang
et al. 2021, "A large-scale benchmark and an inclusion-based algorithm for continuous collision
detection"), or a part of it: files SCENE/edge-edge/*.csv and SCENE/vertex-face/*.csv. Each query is
eight rows, the four points of a pair at the start and at the end of a straight way, as three
fractions, and whether the pair meets.

A query that meets is missed if all of its way is called free: this must not happen. One that does
not meet may be stopped since it comes nearer than a tenth of its first gap (near), or without that
reason (early). Where a pair touches at its start nothing can be free: these are counted apart.
"""

from __future__ import annotations

import csv
import sys
from dataclasses import astuple, dataclass
from pathlib import Path

import numpy as np

from benchmarks.collision_times import SAMPLES, compute_free_parts, measure
from taut.arrays import Float, Mask

KINDS = (("vertex-face", False), ("edge-edge", True))
ROWS = 8  # of a query: four points at the start, and at the end
COLUMNS = 7  # three fractions, and whether the pair meets
NEAR = 0.1  # part of the first gap at which a pair stops
TOUCH = 1e-12  # of the largest coordinate: gaps that are not known


@dataclass
class Count:
    """What was found: queries, those that meet, and see the module."""

    queries: int = 0
    meet: int = 0
    missed: int = 0
    near: int = 0
    early: int = 0
    touching: int = 0


def read_queries(path: Path) -> tuple[Float, Float, Mask]:
    """Return starts and ends, (m, 4, 3), and whether each pair meets, (m,)."""
    points, meets = [], []
    with path.open(newline="") as file:
        for number, row in enumerate(csv.reader(file), 1):
            if len(row) != COLUMNS:
                raise SystemExit(f"{path}, line {number}: {COLUMNS} numbers wanted, got {len(row)}")
            numbers = [int(text) for text in row]
            # A quotient of two integers of any length is rounded once.
            points.append([numbers[i] / numbers[i + 1] for i in (0, 2, 4)])
            meets.append(numbers[-1] != 0)
    if len(points) % ROWS:
        raise SystemExit(f"{path}: {ROWS} rows a query wanted, got {len(points)} rows")
    both = np.array(points).reshape(-1, 2, 4, 3)
    return both[:, 0], both[:, 1], np.array(meets).reshape(-1, ROWS)[:, 0]


def count_queries(start: Float, end: Float, meets: Mask, is_edges: bool) -> Count:
    """Compare what is free of the ways of some pairs with the truth."""
    move = end - start
    parts = compute_free_parts(start, move, is_edges)
    count = Count(len(parts), int(meets.sum()))
    for x, way, does_meet, part in zip(start, move, meets, parts, strict=True):
        if does_meet:
            count.missed += part == 1.0
            continue
        if part == 1.0:
            continue
        gaps = [measure(x + t * way, is_edges) for t in np.linspace(0.0, 1.0, SAMPLES)]
        if gaps[0] <= TOUCH * np.abs(x).max():
            count.touching += 1
        elif min(gaps) < NEAR * gaps[0]:
            count.near += 1
        else:
            count.early += 1
    return count


def main() -> None:
    """Print a line for each scene and kind, and the sums."""
    if len(sys.argv) != 2:
        raise SystemExit("usage: python -m benchmarks.collision_queries FOLDER")
    folder = Path(sys.argv[1])
    names = ("queries", "meet", "missed", "near", "early", "touching")
    print(f"{'scene':30}{'kind':12}" + "".join(f"{name:>10}" for name in names))
    total = np.zeros(len(names), dtype=np.int64)
    for scene in sorted(path for path in folder.iterdir() if path.is_dir()):
        for kind, is_edges in KINDS:
            files = sorted((scene / kind).glob("*.csv"))
            if not files:
                continue
            counts = [astuple(count_queries(*read_queries(file), is_edges)) for file in files]
            sums = np.sum(counts, axis=0)
            total += sums
            print(f"{scene.name:30}{kind:12}" + "".join(f"{n:10}" for n in sums), flush=True)
    if not total[0]:
        raise SystemExit(f"{folder}: no files SCENE/edge-edge/*.csv or SCENE/vertex-face/*.csv")
    print(f"{'all':42}" + "".join(f"{n:10}" for n in total))


if __name__ == "__main__":
    main()
