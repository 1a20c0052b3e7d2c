"""Two minutes of a pile of twenty ropes, in slices, and not one intersection.

    python -m benchmarks.rope_pile FOLDER [--seconds 500] [--until 120]
    python -m benchmarks.rope_pile --kill [--until 2]

Twenty ropes, 1 m long and 2 cm thick, fall one after the other on the ground and on each other, and
rub. After each step an exact test looks for intersections, and for ropes that have passed through
each other on straight ways from the step before. The run is recorded in a folder; after so many
seconds of processor time it stops, and the same command resumes it.

With --kill, runs are killed by SIGKILL at random moments and resumed, until they end; the last
state must have the bits of an undisturbed run.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import taut
from benchmarks.fingerprints import digest
from taut import laws
from taut.run.open_run import open_run
from taut.run.record import record, resume
from taut.run.run_folder import FILE
from taut.step.step_result import StepResult
from taut.system.state import State
from taut.system.system import System

ROPES, POINTS = 20, 12
H = 0.02  # [s]
FRAMES_EVERY = 20  # steps


class TestedEuler(taut.ImplicitEuler):
    """Implicit Euler that ends the program at the first intersection."""

    def advance(self, system: System, state: State, h: float) -> StepResult:
        """Take a step, and test its end and the way to it."""
        result = super().advance(system, state, h)
        problems = taut.find_intersections(system, result.state, since=state)
        if problems:
            raise SystemExit(f"t = {result.state.t:g} s: INTERSECTION: {problems[0]}")
        return result


def build() -> taut.System:
    """Build ropes above each other, each turned at random."""
    rng = np.random.default_rng(0)
    points, links, triples = [], [], []
    for i in range(ROPES):
        angle = rng.uniform(0.0, np.pi)
        along = np.array([np.cos(angle), 0.0, np.sin(angle)])
        middle = np.array([0.1 * rng.normal(), 0.05 + 0.04 * i, 0.1 * rng.normal()])
        points.append(middle + np.linspace(-0.5, 0.5, POINTS)[:, None] * along)
        first = POINTS * i + np.arange(POINTS - 1)
        links.append(np.stack([first, first + 1], axis=1))
        triples.append(np.stack([first[:-1], first[:-1] + 1, first[:-1] + 2], axis=1))
    edges = np.concatenate(links)
    return taut.System(
        np.concatenate(points),
        mass=0.1 / POINTS,
        energies=[
            laws.spring(edges, k=2000.0),
            laws.rod_bending(np.concatenate(triples), EI=1e-4),
            laws.gravity(),
        ],
        damping=[laws.spring_damping(edges, c=0.05)],
        contact=taut.contact(
            edges,
            range=4e-3,
            thickness=0.02,
            friction=0.3,
            slip_speed=0.01,
            planes=[([0.0, 0.0, 0.0], [0.0, 1.0, 0.0])],
        ),
    )


def run(folder: Path, until: float, seconds: float) -> Any:
    """Record a run or resume it, for so many seconds of processor time; return its result."""
    system, integrator = build(), TestedEuler()
    begun = time.process_time()

    def stop() -> bool:
        return time.process_time() - begun > seconds

    if (folder / FILE).exists():
        return resume(folder, system, integrator, stop=stop)
    return record(folder, system, integrator, h=H, until=until, every=FRAMES_EVERY, stop=stop)


def kill_and_resume(until: float, kills: int, seed: int) -> bool:
    """Whether a run that is killed again and again ends with the bits of an undisturbed one."""
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory() as temporary:
        whole = run(Path(temporary, "whole"), until, np.inf)
        folder, done = Path(temporary, "killed"), 0
        command = [sys.executable, "-m", "benchmarks.rope_pile", str(folder)]
        while not ((folder / FILE).exists() and _is_finished(folder)):
            with subprocess.Popen(
                [*command, "--until", str(until)], stdout=subprocess.DEVNULL
            ) as child:
                try:
                    child.wait(rng.uniform(4.0, 20.0) if done < kills else None)
                except subprocess.TimeoutExpired:
                    child.kill()
                    done += 1
        with open_run(folder) as ended:
            same = digest(ended.state()) == digest(whole.state)
    print(f"killed {done} times; the last state has {'the same' if same else 'OTHER'} bits")
    return same


def _is_finished(folder: Path) -> bool:
    with open_run(folder) as ended:
        return ended.finished


def main() -> None:
    """Run a slice, or the kills."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--seconds", type=float, default=500.0, help="processor time of a slice")
    parser.add_argument("--until", type=float, default=120.0, help="end of the run [s]")
    parser.add_argument("--kill", action="store_true", help="kill runs and resume them")
    parser.add_argument("--kills", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    if options.kill:
        sys.exit(not kill_and_resume(options.until, options.kills, options.seed))
    if options.folder is None:
        parser.error("a folder is required, or --kill")
    result = run(options.folder, options.until, options.seconds)
    with open_run(options.folder) as ended:
        iterations = np.asarray(ended.reports["iterations"])
    print(
        f"{result.outcome} at step {result.step} of {result.steps}, t = {result.state.t:g} s: no "
        f"intersection; {iterations.mean():.1f} iterations a step, {iterations.max()} at most; "
        f"SHA-256 {digest(result.state)[:16]}"
    )


if __name__ == "__main__":
    main()
