"""Random drops: bodies of all kinds thrown onto each other, and not one intersection.

    python -m benchmarks.contact_drops [runs] [first seed]

Each run throws three to six bodies (patches of cloth, ropes, blocks of tetrahedra, loose particles)
at each other above the ground, with a held ball in the way in every second run. Step, speed,
thickness, range and friction are random: h from 1 ms to 1/24 s, speeds to 100 m/s, thickness from
0.1 mm. All are aimed: a run begins two steps before the first of them meet. After each step all
edges are tested against all triangles, exactly, and all particles against the ground. A step that
does not converge, or a run of more than a minute of processor time, is counted as such: it left no
state behind, so nothing intersects. Seeds are independent, so long campaigns can be run in parts.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import taut
from taut import laws
from taut.arrays import Float, Int
from taut.collision.intersections import find_intersections
from taut.system.workspace import workspace_for
from taut.watch import watching

MIN_STEPS, MAX_STEPS = 12, 50  # as many as all bodies need to reach each other, and then ten
LONGEST = 60.0  # seconds of processor time of a run
SIZE = 0.2  # of a body [m]
AHEAD = 2.0  # steps before the first contact at which a run begins


@dataclass
class Bodies:
    """Bodies that become one System."""

    points: list[Float] = field(default_factory=list)
    mass: list[Float] = field(default_factory=list)
    velocity: list[Float] = field(default_factory=list)
    surfaces: list[Any] = field(default_factory=list)
    energies: list[Any] = field(default_factory=list)
    fixed: list[Int] = field(default_factory=list)
    n: int = 0

    def add(self, points: Float, total: float, velocity: Float) -> int:
        """Add particles; return the number of the first."""
        first, self.n = self.n, self.n + len(points)
        self.points.append(points)
        self.mass.append(np.full(len(points), total / len(points)))
        self.velocity.append(np.tile(velocity, (len(points), 1)))
        return first

    def add_law(self, law: Any, elements: Int, **parameters: Any) -> None:
        """Add an energy, with a name of its own."""
        name = f"{law.name} {len(self.energies)}"
        self.energies.append(law(elements, name=name, **parameters))


def _turn(rng: np.random.Generator) -> Float:
    q, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    return q


def add_cloth(bodies: Bodies, rng: np.random.Generator, centre: Float, velocity: Float) -> None:
    """Add a patch of cloth."""
    n = int(rng.integers(3, 8))
    mesh = taut.mesh.sheet(n, n, size=(SIZE, SIZE))
    x = (mesh.points - mesh.points.mean(axis=0)) @ _turn(rng) + centre
    first = bodies.add(x, 0.01, velocity)
    bodies.surfaces.append(mesh.triangles + first)
    bodies.add_law(laws.spring, mesh.edges + first, k=rng.uniform(10.0, 500.0))
    bodies.add_law(laws.spring, mesh.diagonals + first, k=rng.uniform(1.0, 100.0))
    bodies.add_law(laws.shell_bending, mesh.hinges + first, c=1e-5)


def add_rope(bodies: Bodies, rng: np.random.Generator, centre: Float, velocity: Float) -> None:
    """Add a rope."""
    n = int(rng.integers(5, 16))
    along = np.linspace(-SIZE / 2, SIZE / 2, n)
    first = bodies.add(along[:, None] * _turn(rng)[0] + centre, 0.01, velocity)
    links = np.stack([np.arange(n - 1), np.arange(1, n)], axis=1) + first
    bodies.surfaces.append(links)
    bodies.add_law(laws.spring, links, k=rng.uniform(100.0, 1000.0))
    triples = np.stack([links[:-1, 0], links[:-1, 1], links[1:, 1]], axis=1)
    bodies.add_law(laws.rod_bending, triples, EI=1e-5)


def add_block(bodies: Bodies, rng: np.random.Generator, centre: Float, velocity: Float) -> None:
    """Add a block of tetrahedra."""
    n = int(rng.integers(1, 3))
    mesh = taut.mesh.block(n, n, n, size=SIZE / 2, cells="tet")
    x = (mesh.points - mesh.points.mean(axis=0)) @ _turn(rng) + centre
    first = bodies.add(x, 0.1, velocity)
    bodies.surfaces.append(mesh.boundary_faces["triangle"] + first)
    tets = mesh.cells["tet"] + first
    volumes = np.linalg.det(x[mesh.cells["tet"][:, 1:]] - x[mesh.cells["tet"][:, :1]])
    tets[volumes < 0.0] = tets[volumes < 0.0][:, [0, 2, 1, 3]]
    young = 10.0 ** rng.uniform(4.0, 6.0)
    bodies.add_law(laws.corotated_solid, tets, young=young, poisson=0.3)


def add_loose(bodies: Bodies, rng: np.random.Generator, centre: Float, velocity: Float) -> None:
    """Add a handful of particles on a grid."""
    grid = np.stack(np.meshgrid(*[np.linspace(-1, 1, 2)] * 3), axis=-1).reshape(-1, 3)
    first = bodies.add(0.25 * SIZE * grid @ _turn(rng) + centre, 0.02, velocity)
    bodies.surfaces.append(np.arange(first, bodies.n))


MAKERS = (add_cloth, add_rope, add_block, add_loose)


def throw(rng: np.random.Generator, speed: float, *, ball: bool) -> tuple[Bodies, list[str]]:
    """Return bodies above each other that fly at those below, and their names."""
    bodies, names, below = Bodies(), [], np.array([0.0, 0.2, 0.0])
    count = int(rng.integers(3, 7))
    for i in range(count):
        add = MAKERS[rng.integers(len(MAKERS))]
        names.append(add.__name__.removeprefix("add_"))
        # One above the other, each in a ball of its own; those above fly faster down.
        centre = np.array([0.0, 0.6 + 2.0 * SIZE * i, 0.0]) + 0.1 * SIZE * rng.normal(size=3)
        aim = (below - centre) / np.linalg.norm(below - centre) + 0.1 * rng.normal(size=3)
        add(bodies, rng, centre, speed * i / count * aim)
        below = centre
    if ball:
        mesh = taut.mesh.sphere(3, radius=0.15)
        first = bodies.add(mesh.points + np.array([0.0, 0.2, 0.0]), 1.0, np.zeros(3))
        bodies.surfaces.append(mesh.triangles + first)
        bodies.fixed.append(np.arange(first, bodies.n))
    return bodies, names


def approach(bodies: Bodies, h: float, **contact: float) -> bool:
    """Let bodies fly to where the first of them meet after `AHEAD` steps; whether any meet."""
    x, v = np.concatenate(bodies.points), np.concatenate(bodies.velocity)
    fixed = np.concatenate([np.empty(0, np.int64), *bodies.fixed])
    alone = taut.System(x, mass=1.0, fixed=fixed, contact=taut.contact(*bodies.surfaces, **contact))
    longest, flown = 1.0 / np.sqrt((v * v).sum(axis=1).max()), 0.0
    search = workspace_for(alone).contact_search
    while search.pairs.find_least_gap(x + flown * v) > 0.5 * contact["range"]:
        # Of the gap to what is ahead a tenth is left each time.
        part = search.find_free_part(x + flown * v, longest * v)
        if part == 1.0:
            return False
        flown += longest * part
    way = max(0.0, flown - AHEAD * h)
    bodies.points = [
        points + way * velocity
        for points, velocity in zip(bodies.points, bodies.velocity, strict=True)
    ]
    return True


def build(seed: int) -> tuple[taut.System, float, int, str]:
    """Return a System, a step [s], how many steps to take, and what it is."""
    rng = np.random.default_rng(seed)
    h = np.exp(rng.uniform(np.log(1e-3), np.log(1 / 24)))
    speed = 10.0 ** rng.uniform(-1.0, 2.0)
    thickness = 10.0 ** rng.uniform(-4.0, -2.3)
    reach = 10.0 ** rng.uniform(-4.0, -2.7)
    friction = float(rng.choice([0.0, 0.3]))
    while True:
        bodies, names = throw(rng, speed, ball=seed % 2 == 1)
        if approach(bodies, h, range=reach, thickness=thickness):
            break
    system = taut.System(
        np.concatenate(bodies.points),
        mass=np.concatenate(bodies.mass),
        velocity=np.concatenate(bodies.velocity),
        energies=[*bodies.energies, laws.gravity()],
        fixed=np.concatenate([np.empty(0, np.int64), *bodies.fixed]),
        contact=taut.contact(
            *bodies.surfaces,
            range=reach,
            thickness=thickness,
            friction=friction,
            planes=[([0.0, 0.0, 0.0], [0.0, 1.0, 0.0])],
        ),
    )
    words = (
        f"h {h:.4f} speed {speed:.3g} thickness {1e3 * thickness:.2f} mm "
        f"range {1e3 * reach:.2f} mm friction {friction} {' '.join(names)}"
    )
    steps = int(np.clip(2.0 * SIZE * len(names) / (speed * h), 0, MAX_STEPS - 10)) + 10
    return system, h, max(steps, MIN_STEPS), words


@dataclass
class Drop:
    """How a run has ended, and what it took.

    outcome : "free" (nothing ever intersected, though bodies touched), "apart" (they did not
        touch), or what went wrong
    iterations : of each step; blocked : how many steps of the minimiser contact has shortened;
    least : the smallest part that was left of one; seconds : of processor time
    """

    words: str
    outcome: str = "apart"
    iterations: list[int] = field(default_factory=list)
    blocked: int = 0
    least: float = 1.0
    seconds: float = 0.0


class TooSlow(Exception):
    """A run has taken more than `LONGEST` seconds of processor time."""


def drop(seed: int) -> Drop:
    """Run one of the drops."""
    system, h, steps, words = build(seed)
    touching, integrator = system.contact.primitives, taut.ImplicitEuler()
    state, start, run = system.initial_state(), time.process_time(), Drop(words)

    def limit_time(work: object) -> None:
        if time.process_time() - start > LONGEST:
            raise TooSlow

    for _ in range(steps):
        try:
            with watching(limit_time):
                state, report = integrator.step(system, state, h)
        except TooSlow:
            run.outcome = "too slow"
        except taut.TautError as error:
            run.outcome = f"{type(error).__name__}: {str(error)[-90:]}"
        else:
            run.iterations.append(report.iterations)
            run.blocked += report.blocked_steps
            run.least = min(run.least, report.free_part)
            if system.V_by_law(state)["contact"] > 0.0:
                run.outcome = "free"
            x = np.array(state.q)
            if len(find_intersections(x, touching.edges, touching.triangles)):
                run.outcome = "INTERSECTION"
            if (x[touching.points, 1] <= 0.5 * system.contact.thickness).any():
                run.outcome = "BELOW GROUND"
        run.seconds = time.process_time() - start
        if run.outcome not in ("free", "apart"):
            return run
    return run


def main() -> None:
    """Print a line for each run that did not end, and a summary."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    tally: Counter[str] = Counter()
    iterations: list[int] = []
    blocked, least, longest = 0, 1.0, 0.0
    for seed in range(first, first + runs):
        run = drop(seed)
        tally[run.outcome.partition(":")[0]] += 1
        iterations += run.iterations
        blocked, least = blocked + run.blocked, min(least, run.least)
        longest = max(longest, run.seconds)
        if run.outcome not in ("free", "apart"):
            print(
                f"seed {seed} step {len(run.iterations)} {run.seconds:.0f} s: {run.outcome} "
                f"[{run.words}]",
                flush=True,
            )
        if (seed - first) % 10 == 9 or seed == first + runs - 1:
            print(
                f"after {seed - first + 1} runs: {dict(tally)}; {len(iterations)} steps, "
                f"{np.mean(iterations):.1f} iterations a step, {max(iterations)} at most; contact "
                f"shortened {blocked} of {sum(iterations)}, to {least:.1e} at least; "
                f"{longest:.0f} s at most",
                flush=True,
            )


if __name__ == "__main__":
    main()
