"""Time from file to edges and hinges: the Stanford bunny, and a million triangles in every format.

    python -m benchmarks.meshes [BUNNY]

BUNNY is the path of stanford-bunny.obj. Each file is read three times in its own process; prints the
best time and the peak memory.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import taut
from taut.mesh.files import FORMATS, load_format

REPEATS = 3
READ = """
import resource, sys, time
import taut.mesh
import scipy.sparse.csgraph
begin = time.perf_counter()
mesh = taut.mesh.read(sys.argv[1])
read = time.perf_counter() - begin
edges, hinges = len(mesh.edges), len(mesh.hinges)
total = time.perf_counter() - begin
print(read, total, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6, mesh.n, len(mesh.triangles), edges, hinges)
"""


def measure(path: Path) -> None:
    """Read a file a few times; print the best time."""
    runs = []
    for _ in range(REPEATS):
        out = subprocess.run(
            [sys.executable, "-c", READ, str(path)], capture_output=True, text=True, check=True
        ).stdout
        runs.append([float(word) for word in out.split()])
    read, total, memory, n, triangles, edges, hinges = min(runs, key=lambda run: run[1])
    size = path.stat().st_size / 1e6
    print(
        f"{path.name:20} {size:6.1f} MB: {total:5.2f} s (reading {read:.2f} s), "
        f"{memory:.2f} GB, "
        f"{n:.0f} points, {triangles:.0f} triangles, {edges:.0f} edges, {hinges:.0f} hinges"
    )


def main() -> None:
    """Measure and print."""
    if len(sys.argv) > 1:
        measure(Path(sys.argv[1]))
    million = taut.mesh.sheet(1000, 500, pattern="one-diagonal").with_(uv=None)
    with tempfile.TemporaryDirectory() as folder:
        for extension in FORMATS:
            if "triangle" in load_format(Path(f"_{extension}")).CELLS and extension != ".ele":
                path = Path(folder) / f"million{extension}"
                taut.mesh.write(million, path)
                measure(path)
                path.unlink()


if __name__ == "__main__":
    main()
