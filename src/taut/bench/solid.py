"""The row of a solid: implicit Euler on a bunny of tetrahedra, relative to SciPy's splu.

The bunny is 1 m high, of density 1000 kg/m³ and Young's modulus 10⁵ Pa (springs on its edges by Van
Gelder's formula), held at the lowest 5% of its points, and falls under gravity. The reference makes
the same Newton iterations, but solves each linear system by splu. Both start each step from the
same state.
"""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np

from taut.bench.accuracy import residual_ratio
from taut.bench.baseline import Splu
from taut.bench.net import Net
from taut.bench.row import MAX_RESIDUAL_RATIO, Bench, Row
from taut.bench.trajectory import H
from taut.linalg.linear import LinearSolver
from taut.materials import springs
from taut.mesh import Mesh, bunny, read
from taut.optimise.tolerance import Tolerance
from taut.step.implicit_euler import ImplicitEuler

SPACING = 1 / 25.4  # [m]: 5,400 points
HELD_PERCENT = 5  # of the points, the lowest
YOUNG, DENSITY = 1e5, 1000.0  # [Pa], [kg/m³]
TOLERANCE = Tolerance(relative=1e-4)
STEPS = 12
REFERENCE_EVERY = 4  # the reference takes only every fourth step
MAX_DIFFERENCE = 1e-4  # [m] between the positions of the two after a step


def load_body(path: Path | None = None) -> tuple[Mesh, Net]:
    """Return the bunny, or the tetrahedra of a file scaled to a height of 1 m, and its springs."""
    mesh = bunny(1.0, spacing=SPACING) if path is None else read(path)
    if path is not None:
        used = np.unique(mesh.cells["tet"]) if "tet" in mesh.cells else np.arange(mesh.n)
        points = mesh.points - mesh.points[used].min(axis=0)
        mesh = Mesh(
            points / points[used, 1].max(),
            {"tet": mesh.cells["tet"]} if "tet" in mesh.cells else mesh.cells,
        )
    made = springs(mesh, young=YOUNG, density=DENSITY, fit=False)
    assert made.mass is not None
    low = np.flatnonzero(mesh.points[:, 1] <= np.percentile(mesh.points[:, 1], HELD_PERCENT))
    return mesh, Net(mesh.points, made.pairs, made.k, made.mass, low)


def measure_solid(bench: Bench) -> list[Row]:
    """Measure implicit Euler on the bunny, or on the file that the user named."""
    mesh, net = load_body(bench.solid)
    system, integrator, reference = (
        net.system(),
        ImplicitEuler(tolerance=TOLERANCE),
        create_reference(TOLERANCE),
    )
    state, show_step = system.initial_state(), bench.start_task("solid", STEPS)
    ours: list[float] = []
    theirs: list[float] = []
    ratios: list[float] = []
    differences: list[float] = []
    counts: list[tuple[int, int]] = []
    for i in range(STEPS):
        begun = time.perf_counter()
        new, report = integrator.step(system, state, H)
        seconds = time.perf_counter() - begun
        ratios.append(residual_ratio(net, np.array(new.q), np.array(state.q), np.array(state.v), H))
        if i % REFERENCE_EVERY == REFERENCE_EVERY - 1:
            begun = time.perf_counter()
            other, checked = reference.step(system, state, H)
            theirs.append(time.perf_counter() - begun)
            differences.append(float(np.abs(other.q - new.q).max()))
            ours.append(seconds)
            counts.append((report.iterations, checked.iterations))
        state = new
        show_step(i + 1, f"residual ratio {ratios[-1]:.1e}")
    ratio, mean = float(np.median(ratios)), np.mean(counts, axis=0)
    name = "bunny" if bench.solid is None else bench.solid.name
    return [
        Row(
            "solid",
            f"implicit Euler, converged, {name} of {len(mesh.cells['tet'])} tets",
            sum(ours) / sum(theirs),
            "× splu",
            0.25,
            accurate=ratio <= MAX_RESIDUAL_RATIO and max(differences) <= MAX_DIFFERENCE,
            note=f"{1e3 * np.mean(ours):.0f} ms in {mean[0]:.1f} iterations of {report.solver}, "
            f"splu {1e3 * np.mean(theirs):.0f} ms in {mean[1]:.1f}; residual ratio {ratio:.1e}, "
            f"positions differ by {max(differences):.0e} m",
            details={
                "points": mesh.n,
                "tets": len(mesh.cells["tet"]),
                "springs": len(net.pairs),
                "ms": 1e3 * float(np.mean(ours)),
                "splu_ms": 1e3 * float(np.mean(theirs)),
                "residual_ratio": ratio,
                "apart": max(differences),
                "newton": float(mean[0]),
                "splu_newton": float(mean[1]),
            },
        )
    ]


def create_reference(tolerance: Tolerance) -> ImplicitEuler:
    """Return the same integrator with splu as its linear solver."""

    class SpluEuler(ImplicitEuler):
        def create_solver(self) -> LinearSolver:
            return Splu()

    return SpluEuler(tolerance=tolerance)
