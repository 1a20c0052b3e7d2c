"""SHA-256 of final states: of every built-in scene, and of every integrator on two test systems.

    python -m benchmarks.fingerprints > before.json      # then change the code
    python -m benchmarks.fingerprints --compare before.json
    NUMBA_NUM_THREADS=1 python -m benchmarks.fingerprints --scenes drape ropes > one.json
    NUMBA_NUM_THREADS=2 python -m benchmarks.fingerprints --scenes drape ropes --compare one.json

With --until, scenes end at a time that may be before their own.

A change that is not meant to alter results must leave every hash as it is. Hashes depend on the
machine (numba emits other instructions for other processors), so none is kept in the repository.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

import taut
from taut import laws
from taut.step.explicit import Explicit

INTEGRATORS = (
    taut.ExplicitEuler,
    taut.SymplecticEuler,
    taut.VelocityVerlet,
    taut.RK4,
    taut.LinearlyImplicitEuler,
    taut.ImplicitEuler,
    taut.ImplicitMidpoint,
    taut.BDF2,
    taut.TRBDF2,
)


def digest(state: taut.State) -> str:
    """Return the hash of a state: time, positions, velocities and active elements."""
    hasher = hashlib.sha256(np.float64(state.t).tobytes())
    hasher.update(np.ascontiguousarray(state.q).tobytes())
    hasher.update(np.ascontiguousarray(state.v).tobytes())
    for name in sorted(state.active):
        hasher.update(name.encode() + np.ascontiguousarray(state.active[name]).tobytes())
    return hasher.hexdigest()


def run_scene(name: str, until: float = np.inf) -> taut.State:
    """Return the last state of a built-in scene, or that at a time before [s]."""
    built = taut.scene.load(name).build()
    end = min(built.until, until)
    *_, (state, _) = taut.simulate(built.system, built.integrator, built.h, end)
    return state


def build_tumbling_body() -> taut.System:
    """Build a stretched, rotating body: seven particles, all springs, two kinds of damping."""
    rng = np.random.default_rng(2)
    points = rng.normal(size=(7, 3))
    edges = [(i, j) for i in range(7) for j in range(i)]
    return taut.System(
        points,
        mass=rng.uniform(0.5, 2.0, 7),
        energies=[laws.spring(edges, k=40.0)],
        damping=[laws.spring_damping([(0, 1), (2, 3)], c=0.5), laws.rayleigh(beta=1e-3)],
        pose=1.2 * points,
        velocity=rng.normal(size=points.shape) + np.cross([0.3, 1.0, -0.4], points),
    )


def build_hanging_sheet() -> taut.System:
    """Build a cloth with bending and wind, held at two corners; large enough for multigrid."""
    sheet = taut.mesh.sheet(24, 24, size=1.0)
    return taut.System(
        sheet.points,
        mass=taut.areal_mass(sheet, 0.2),
        energies=[
            laws.spring(sheet.edges, k=500.0),
            laws.shell_bending(sheet.hinges, c=1e-4),
            laws.gravity(),
        ],
        damping=[laws.spring_damping(sheet.edges, c=0.02)],
        loads=[laws.wind(sheet.triangles, velocity=(2.0, 0.0, 1.0))],
        fixed=sheet.corners("top"),
    )


def compute_hashes(scenes: Sequence[str] | None = None, until: float = np.inf) -> dict[str, str]:
    """Return all hashes by name, or those of some built-in scenes only, up to a time [s]."""
    hashes = {}
    for name in taut.scene.names() if scenes is None else scenes:
        hashes[f"scene {name}"] = digest(run_scene(name, until))
        print(name, file=sys.stderr, flush=True)
    if scenes is not None:
        return hashes
    for integrator in INTEGRATORS:
        *_, (state, _) = taut.simulate(build_tumbling_body(), integrator(), 0.01, 0.5)
        hashes[f"tumbling body, {integrator.__name__}"] = digest(state)
        h = 2e-4 if issubclass(integrator, Explicit) else 5e-3
        *_, (state, _) = taut.simulate(build_hanging_sheet(), integrator(), h, 20 * h)
        hashes[f"hanging sheet, {integrator.__name__}"] = digest(state)
    return hashes


def main() -> None:
    parser = argparse.ArgumentParser(description="SHA-256 of final states.")
    parser.add_argument("--compare", type=Path, help="a file that an earlier run printed")
    parser.add_argument("--scenes", nargs="+", help="built-in scenes (default: everything)")
    parser.add_argument("--until", type=float, default=np.inf, help="end of the scenes [s]")
    arguments = parser.parse_args()
    hashes = compute_hashes(arguments.scenes, arguments.until)
    if arguments.compare is None:
        print(json.dumps(hashes, indent=2))
        return
    before = json.loads(arguments.compare.read_text())
    changed = [name for name in before | hashes if before.get(name) != hashes.get(name)]
    for name in changed:
        print(f"changed: {name}")
    print(f"{len(hashes) - len(changed)} of {len(hashes)} hashes are unchanged")
    sys.exit(bool(changed))


if __name__ == "__main__":
    main()
