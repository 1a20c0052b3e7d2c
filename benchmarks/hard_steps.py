"""Steps and equilibria that are hard to solve: `python -m benchmarks.hard_steps [WORDS…]`.

Counts Newton iterations at default tolerances, and processor time. Groups:

sheets   equilibrium of a sheet of edges and diagonals that hangs from rest by four corners or two
chains   equilibrium of slack chains of springs, 100 links, from soft to nearly inextensible
flags    the built-in scene, a flag in 15 m/s, and a cotton flag with hinges
drag     a corner of the built-in cloth that a pointer pulls around
shells   meshes of a folder, held at the foot, at three moduli: `--meshes FOLDER`
meshes   every mesh of a folder with all defaults, as `taut run FILE` does: `--meshes FOLDER`
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

import taut
from taut import laws
from taut.show.view._drag_and_pin import DragEnergy

Line = tuple[str, int, list[int], float, str]
SHELLS = ("suzanne", "spot", "cow")
SUFFIXES = (".obj", ".off", ".ply", ".stl", ".mesh", ".msh")


def find_equilibrium(name: str, system: taut.System) -> Line:
    """Return a line on the equilibrium of a system."""
    start = time.process_time()
    try:
        found = taut.equilibrium(system)
        count, outcome = found.iterations, found.outcome
    except taut.NotConverged as error:
        count, outcome = error.report.iterations, "FAILED"
    return name, 1, [count], time.process_time() - start, outcome


def step(
    name: str, system: taut.System, h: float, until: float, integrator: taut.step.Integrator
) -> Line:
    """Return a line on a simulation; its time is that of the slowest step."""
    counts, slowest, outcome, start = [], 0.0, "done", time.process_time()
    try:
        for _, report in taut.simulate(system, integrator, h, until):
            counts.append(report.iterations)
            now = time.process_time()
            slowest, start = max(slowest, now - start) if len(counts) > 1 else 0.0, now
    except taut.NotConverged as error:
        counts.append(error.report.iterations)
        outcome = "FAILED"
    return name, len(counts), counts, slowest, outcome


def sheets(_: Path | None) -> Iterator[Line]:
    """Hang sheets of n × n particles by their corners."""
    for n in (30, 60, 100):
        sheet = taut.mesh.sheet(n - 1, n - 1, plane="xz")
        springs = np.concatenate([sheet.edges, sheet.diagonals])
        corners = [0, n - 1, n * (n - 1), n * n - 1]
        for count in (4, 2):
            system = taut.System(
                sheet.points,
                mass=0.2 / n**2,
                fixed=corners[:count],
                energies=[laws.spring(springs, k=1000.0), laws.gravity()],
            )
            yield find_equilibrium(f"sheet, n = {n}, {count} corners", system)


def chains(_: Path | None) -> Iterator[Line]:
    """Hang chains between points nearer than their length."""
    for k in (1e2, 1e4, 1e6, 1e8, 4e8):
        rope = taut.mesh.rope(100, end=(0.8, 0.0, 0.0))
        for law in (laws.spring, laws.cable):
            system = taut.System(
                rope.points,
                mass=0.01,
                fixed=[0, 100],
                energies=[law(rope.edges, k=k, l0=0.01), laws.gravity()],
            )
            yield find_equilibrium(f"slack chain, {law.name}, k = {k:.0e} N/m", system)


def _make_flag(nx: int, ny: int, size: tuple[float, float], k: float, c: float) -> taut.System:
    sheet = taut.mesh.sheet(nx, ny, size=size)
    return taut.System(
        sheet.points,
        mass=taut.areal_mass(sheet, 0.15),
        fixed=np.flatnonzero(sheet.points[:, 0] == sheet.points[:, 0].min()),
        energies=[
            laws.spring(sheet.edges, k=k),
            laws.spring(sheet.diagonals, k=0.2 * k, name="shear"),
            laws.shell_bending(sheet.hinges, c=c),
            laws.gravity(),
        ],
        loads=[laws.wind(sheet.triangles, velocity=(15.0, 0.0, 1.0))],
    )


def flags(_: Path | None) -> Iterator[Line]:
    """Step flags in the wind."""
    scene = taut.scene.load("flag").build()
    yield step("scene flag", scene.system, scene.h, scene.until, scene.integrator)
    flag = _make_flag(30, 20, (1.5, 1.0), 500.0, 1e-4)
    yield step("flag of 20 × 30, 15 m/s", flag, 0.01, 5.0, taut.ImplicitEuler())
    flag = _make_flag(48, 32, (1.5, 1.0), 1500.0, 2e-5)
    name = f"cotton flag, {flag.n} points, h = 0.02 s"
    yield step(name, flag, 0.02, 2.0, taut.ImplicitEuler())


def drag(_: Path | None) -> Iterator[Line]:
    """Pull a free corner of the built-in cloth across the screen, as the viewer does."""
    system = taut.scene.load("cloth").build().system
    pointer = DragEnergy(system)
    pulled = system.with_(energies=[*system.energies, pointer.energy])
    integrator, state, h = taut.ImplicitEuler(), pulled.initial_state(), 0.01
    counts, slowest = [], 0.0
    for k in range(200):
        angle = 2.0 * np.pi * k / 100
        target = system.pose[0] + [1.5 * np.sin(angle), 1.0 - np.cos(angle), np.sin(angle)]
        pointer.set_targets(state, h, {0: target})
        start = time.process_time()
        state, report = integrator.step(pulled, state, h)
        counts.append(report.iterations)
        slowest = max(slowest, time.process_time() - start) if k else 0.0
    yield "drag in the viewer", len(counts), counts, slowest, "done"


def shells(folder: Path | None) -> Iterator[Line]:
    """Hold meshes at the foot, so that they crumple under their weight."""
    for file in _list_meshes(folder):
        if file.stem not in SHELLS:
            continue
        for young in (1e5, 1e6, 1e7):
            foot = "y <= min(y) + 0.05*(max(y) - min(y))"
            scene = taut.scene.of_mesh(file, young=young, fix=foot).build()
            name = f"{file.stem}, held at the foot, E = {young:.0e} Pa"
            yield step(name, scene.system, 0.01, 2.0, taut.ImplicitEuler())


def meshes(folder: Path | None) -> Iterator[Line]:
    """Simulate every mesh with all defaults; the time is that of the whole run."""
    for file in _list_meshes(folder):
        start = time.process_time()
        scene = taut.scene.of_mesh(file).build()
        name, steps, counts, _, outcome = step(
            file.name, scene.system, scene.h, scene.until, scene.integrator
        )
        yield name, steps, counts, time.process_time() - start, outcome


def _list_meshes(folder: Path | None) -> list[Path]:
    if folder is None:
        return []
    return sorted(file for file in folder.iterdir() if file.suffix in SUFFIXES)


GROUPS: dict[str, Callable[[Path | None], Iterator[Line]]] = {
    group.__name__: group for group in (sheets, chains, flags, drag, shells, meshes)
}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("words", nargs="*", metavar="WORD", help=", ".join(GROUPS))
    parser.add_argument("--meshes", type=Path, metavar="FOLDER", help="for shells and meshes")
    options = parser.parse_args()
    print(f"{'':42} steps  iterations: mean  worst   seconds")
    for word in options.words or GROUPS:
        for name, steps, counts, seconds, outcome in GROUPS[word](options.meshes):
            mean = float(np.mean(counts))
            print(
                f"{name:42} {steps:5} {mean:17.1f} {max(counts):6} {seconds:9.2f}  {outcome}",
                flush=True,
            )
