"""Tetrahedra from isosurface stuffing: their number, time and range of dihedral angles.

    python -m benchmarks.stuffing [SURFACE …]

Fills a ball, the bunny, and closed surfaces from files at the default spacing; the best time of
three counts. For a surface it also prints the number of components of the filling, and the largest
weight of the embedding of the surface in it.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

import taut
from taut.mesh import Mesh
from tests.mesh.quality import dihedrals


def measure(name: str, make: Callable[[], Mesh]) -> Mesh:
    """Make a mesh three times; print the best time and the dihedral angles."""
    seconds = []
    for _ in range(3):
        begin = time.perf_counter()
        mesh = make()
        seconds.append(time.perf_counter() - begin)
    angles = dihedrals(mesh.points[mesh.cells["tet"]])
    print(
        f"{name}: {len(mesh.cells['tet'])} tets, {min(seconds):.2f} s, {angles.min():.1f}° to "
        f"{angles.max():.1f}°"
    )
    return mesh


def main() -> None:
    """Measure and print."""
    measure("ball", taut.mesh.ball)
    measure("bunny", taut.mesh.bunny)
    for path in sys.argv[1:]:
        surface = taut.mesh.read(path)
        filled = measure(Path(path).name, lambda surface=surface: taut.mesh.fill(surface))
        reach = taut.mesh.embed(surface, filled).reach
        print(f"    {filled.components.max() + 1} components; largest embedding weight {reach:.1f}")


if __name__ == "__main__":
    main()
