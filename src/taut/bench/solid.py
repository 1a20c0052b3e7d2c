"""The row of the solid: a bunny of tetrahedra.

Implicit Euler by taut over the same steps with SciPy's splu.

The bunny is 1 m high, of density 1000 kg/m³ and Young's modulus 10⁵ Pa (springs on its edges by Van
Gelder's formula), held at the lowest 5% of its points, and falls under gravity. The reference makes
the same Newton iterations and solves each of their systems by splu. Both begin each step from the
same state.
"""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np

from taut.bench.accuracy import residual_ratio
from taut.bench.baseline import Splu
from taut.bench.net import Net
from taut.bench.row import CONVERGED, Bench, Row
from taut.bench.trajectory import H
from taut.linalg.linear import LinearSolver
from taut.materials import springs
from taut.mesh import Mesh, bunny, read
from taut.optimise.tolerance import Tolerance
from taut.step.implicit_euler import ImplicitEuler

SPACING = 1 / 25.4  # [m]: 5,400 points
HELD = 5  # per cent of the points, the lowest
YOUNG, DENSITY = 1e5, 1000.0  # [Pa], [kg/m³]
TOLERANCE = Tolerance(relative=1e-4)
STEPS, EVERY = 12, 4  # steps, and how often the reference makes one too
APART = 1e-4  # [m] that the two may differ by after a step


def body(path: Path | None = None) -> tuple[Mesh, Net]:
    """The bunny, or the tetrahedra of a file scaled to a height of 1 m, and its springs."""
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
    low = np.flatnonzero(mesh.points[:, 1] <= np.percentile(mesh.points[:, 1], HELD))
    return mesh, Net(mesh.points, made.pairs, made.k, made.mass, low)


def solid(bench: Bench) -> list[Row]:
    """The bunny, or the file that was given."""
    mesh, net = body(bench.solid)
    system, integrator, reference = (
        net.system(),
        ImplicitEuler(tolerance=TOLERANCE),
        by_splu(TOLERANCE),
    )
    state, tell = system.initial_state(), bench.part("solid", STEPS)
    ours: list[float] = []
    theirs: list[float] = []
    ratios: list[float] = []
    apart: list[float] = []
    counts: list[tuple[int, int]] = []
    for i in range(STEPS):
        begun = time.perf_counter()
        new, report = integrator.step(system, state, H)
        seconds = time.perf_counter() - begun
        ratios.append(residual_ratio(net, np.array(new.q), np.array(state.q), np.array(state.v), H))
        if i % EVERY == EVERY - 1:
            begun = time.perf_counter()
            other, checked = reference.step(system, state, H)
            theirs.append(time.perf_counter() - begun)
            apart.append(float(np.abs(other.q - new.q).max()))
            ours.append(seconds)
            counts.append((report.iterations, checked.iterations))
        state = new
        tell(i + 1, f"residual ratio {ratios[-1]:.1e}")
    ratio, mean = float(np.median(ratios)), np.mean(counts, axis=0)
    name = "bunny" if bench.solid is None else bench.solid.name
    return [
        Row(
            "solid",
            f"implicit Euler, converged, {name} of {len(mesh.cells['tet'])} tets",
            sum(ours) / sum(theirs),
            "× splu",
            0.25,
            accurate=ratio <= CONVERGED and max(apart) <= APART,
            said=f"{1e3 * np.mean(ours):.0f} ms in {mean[0]:.1f} iterations of {report.solver}, "
            f"splu {1e3 * np.mean(theirs):.0f} ms in {mean[1]:.1f}; residual ratio {ratio:.1e}, "
            f"{max(apart):.0e} m apart",
            details={
                "points": mesh.n,
                "tets": len(mesh.cells["tet"]),
                "springs": len(net.pairs),
                "ms": 1e3 * float(np.mean(ours)),
                "splu_ms": 1e3 * float(np.mean(theirs)),
                "residual_ratio": ratio,
                "apart": max(apart),
                "newton": float(mean[0]),
                "splu_newton": float(mean[1]),
            },
        )
    ]


def by_splu(tolerance: Tolerance) -> ImplicitEuler:
    """The same integrator with another linear solver."""

    class SpluEuler(ImplicitEuler):
        def create_solver(self) -> LinearSolver:
            return Splu()

    return SpluEuler(tolerance=tolerance)
