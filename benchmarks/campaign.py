"""Stiff and silly scenes: every step must be solved to its tolerance or end in a typed error.

    python -m benchmarks.campaign [--scenes 2000] [--seed 0] [--integrator ImplicitEuler] [--minimiser newton] [--solver auto]
                                  [--scene N] [--json]

Random cloth, rods and solids of at most about 100 particles: stiffness from 1e-2 to 1e8 N/m, steps from 1e-4 to 0.1 s, masses over
six decades; stretched, crumpled, slack, exactly straight and compressed, with coincident particles, unpinned, on planes and lines
across the axes, far from the origin.
Each makes four steps. Prints how many scenes were solved (every step converged, or ended at the rounding floor), the typed errors
by cause, and the iterations. Ends with 1 if fewer than 95% were solved, or if anything else came up: an error of another kind, a
warning, a number that is not finite, a report that contradicts itself, energy out of nowhere, or states of implicit Euler that
leave more of m(v' - v)/h - f(q', v') than the tolerance and rounding allow. `--scene N` repeats one.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

import taut
from taut import laws
from taut.solve.tolerance import lengths, rounding_floors

Float = NDArray[np.float64]
Rng = np.random.Generator
STEPS = 4
SOLVED = 0.95  # part of the scenes that must be
GAIN = 1e-8  # energy a step may gain by rounding, as a part of all that is there
EPS = float(np.finfo(np.float64).eps)
BODIES = ("cloth", "rod", "tets", "hexes")
POSES = ("rest", "stretched", "shaken", "crumpled", "compressed", "slack", "coincident", "flattened")


@dataclass(frozen=True)
class Scene:
    """A system to step, and how it was made."""

    number: int
    words: str
    system: taut.System
    h: float


@dataclass
class Result:
    """What became of a scene: the outcome and iterations of each step, and the error or the defect that ended it."""

    scene: int
    words: str
    outcomes: list[str] = field(default_factory=list)
    iterations: list[int] = field(default_factory=list)
    error: str = ""  # class and cause of a typed error
    defect: str = ""  # what must never happen
    seconds: float = 0.0

    @property
    def solved(self) -> bool:
        return not self.error and not self.defect


def _decades(rng: Rng, low: float, high: float) -> float:
    return float(10.0 ** rng.uniform(low, high))


def _body(rng: Rng, kind: str) -> tuple[taut.mesh.Mesh, NDArray[np.int64]]:
    """A mesh, and what is joined by springs."""
    if kind == "rod":
        m = taut.mesh.rope(int(rng.integers(2, 40)))
        return m, np.concatenate([m.edges, m.skips]) if rng.random() < 0.5 else m.edges
    if kind == "cloth":
        m = taut.mesh.sheet(*rng.integers(2, 9, 2).tolist(), plane="xz")
        return m, np.concatenate([m.edges, m.diagonals, m.skips][: int(rng.integers(1, 4))])
    m = taut.mesh.block(*rng.integers(1, 4, 3).tolist(), cells="tet" if kind == "tets" else "hex")
    return m, np.concatenate([m.edges, m.diagonals])


def _pose(rng: Rng, kind: str, x: Float) -> Float:
    """The rest shape changed as the word says."""
    spacing = 1.0 / len(x) ** (1 / 2)
    y = x.copy()
    if kind == "stretched":
        y = x * rng.uniform(1.0, 3.0, 3)
    elif kind == "shaken":
        y = x + _decades(rng, -12, -2) * rng.normal(size=x.shape)
    elif kind == "crumpled":
        y = x + spacing * rng.uniform(0.1, 2.0) * rng.normal(size=x.shape)
    elif kind == "compressed":  # exactly: a straight chain stays straight
        y = x * rng.uniform(0.05, 0.95)
    elif kind == "slack":
        y = x * [rng.uniform(0.3, 0.9), 1.0, 1.0]
        y[:, 1] += _decades(rng, -10, -3) * rng.normal(size=len(x))
    elif kind == "coincident":
        together = rng.random(len(x)) < rng.uniform(0.1, 1.0)
        y[together] = x[rng.integers(len(x))]
    elif kind == "flattened":
        y[:, int(rng.integers(3))] = 0.0
    return y


def _pins(rng: Rng, n: int) -> NDArray[np.int64]:
    share = rng.choice(["none", "one", "ends", "some"])
    some = {"none": [], "one": [0], "ends": [0, n - 1], "some": np.flatnonzero(rng.random(n) < 0.2)}
    return np.asarray(some[share], dtype=np.int64)


def _slides(rng: Rng, n: int) -> list[Any]:
    """Now and then, some particles on planes or lines across the axes."""
    if rng.random() >= 0.15:
        return []
    kind = taut.on_plane if rng.random() < 0.5 else taut.on_line
    some = np.flatnonzero(rng.random(n) < rng.uniform(0.1, 1.0))
    return [kind(some, rng.normal(size=3))] if len(some) else []


def _damping(rng: Rng, joined: NDArray[np.int64]) -> list[Any]:
    kind = rng.choice(["none", "none", "springs", "rayleigh", "drag"])
    if kind == "springs":
        return [laws.spring_damping(joined, c=_decades(rng, -4, 3))]
    if kind == "rayleigh":
        return [laws.rayleigh(alpha=_decades(rng, -2, 1), beta=_decades(rng, -5, -1))]
    return [laws.drag(alpha=_decades(rng, -2, 2))] if kind == "drag" else []


def scene(number: int, seed: int = 0) -> Scene:
    """The scene of that number; the same for the same number and seed."""
    rng = np.random.default_rng([seed, number])
    body, pose = str(rng.choice(BODIES)), str(rng.choice(POSES))
    mesh, joined = _body(rng, body)
    x = mesh.positions * _decades(rng, -1.5, 1)
    n, k, h = len(x), _decades(rng, -2, 8), _decades(rng, -4, -1)
    law = laws.cable if rng.random() < 0.15 else laws.spring
    energies = [law(joined, k=k if rng.random() < 0.7 else k * 10.0 ** rng.uniform(-2, 2, len(joined)))]
    if body == "rod" and len(mesh.rod_hinges) and rng.random() < 0.7:
        energies.append(laws.rod_hinge(mesh.rod_hinges, k=_decades(rng, -6, 4)))
    if rng.random() < 0.8:
        energies.append(laws.gravity())
    mass = np.full(n, _decades(rng, -5, 1))
    if rng.random() < 0.3:
        mass *= 10.0 ** rng.uniform(-1.5, 1.5, n)
    posed = _pose(rng, pose, x)
    velocity = np.zeros((n, 3))
    if rng.random() < 0.6:
        velocity += _decades(rng, -2, 1.5) * rng.normal(size=(n, 3) if rng.random() < 0.5 else 3)
    away = _decades(rng, 2, 6) * rng.normal(size=3) if rng.random() < 0.1 else np.zeros(3)
    pins, damping, slides = _pins(rng, n), _damping(rng, joined), _slides(rng, n)
    system = taut.System(
        x + away,
        mass=mass,
        energies=energies,
        damping=damping,
        fixed=pins,
        constraints=slides,
        pose=posed + away,
        velocity=velocity,
    )
    words = f"{body}, {pose}, {law.name}, n = {n}, k = {k:.1e}, m = {mass.mean():.1e}, h = {h:.1e}, {len(pins)} pinned"
    words += "".join(f", {len(s.particles)} {s.kind}" for s in slides)
    return Scene(number, words + (", far away" if away.any() else ""), system, h)


def _energy(system: taut.System, state: taut.State) -> tuple[float, float]:
    """V [J], and what rounding may make of it: a part of all energies, and what the last places of the coordinates decide.

    The second is much where particles coincide: there a hinge has no direction, and its energy jumps.
    """
    parts = system.V_by_law(state)
    value, rng = sum(parts.values()), np.random.default_rng(0)
    size = np.abs(state.q).max(axis=1, keepdims=True)
    near = [system.V(state.with_(q=state.q + 4 * EPS * size * rng.normal(size=state.q.shape))) for _ in range(4)]
    return value, GAIN * (sum(abs(v) for v in parts.values()) + system.T(state)) + 4 * max(abs(v - value) for v in near)


def _unbalanced(system: taut.System, old: taut.State, new: taut.State, relative: float) -> str:
    """What the states of a step of implicit Euler leave of m(v' - v)/h - f(q', v'), where that is too much, or nothing.

    It is held against the tolerance, and against what rounding of the coordinates and velocities can make of it.
    """
    h, hold = new.t - old.t, system.hold
    inertia = system.mass[:, None] * (new.v - old.v) / h
    force = system.f(new)
    drag = force + system.potential(new)[1]
    gross = system.assembly("potential", new).free_gross(hold)
    gross += np.abs(hold.project(inertia)).sum(axis=1) + np.abs(hold.project(drag)).sum(axis=1)
    left = lengths(hold.project(hold.project(inertia - force)))
    size = np.repeat((np.abs(new.q) + np.abs(old.q) + h * np.abs(old.v)).max(axis=1, keepdims=True), 3, axis=1)
    way = 8 * EPS * size * hold.project(inertia - force) / np.where(left > 0.0, left, 1.0)[:, None]
    everywhere, limits = np.abs(inertia).sum(axis=1), np.zeros(system.n)
    for shift in (0.0, 1.0, -1.0):  # stiffness jumps where a hinge folds
        near = new.with_(q=new.q + shift * way)
        gross_near = everywhere + system.potential(near)[2].sum(axis=1)
        limits = np.maximum(limits, rounding_floors(gross_near, system.stiffness(near, project=False), size))
    if "cable" in system.placed:  # rounding can make a slack cable taut: its stiffness counts, as in a body that is blown up
        limits = np.maximum(limits, rounding_floors(everywhere, system.stiffness(new.with_(q=1e6 * new.q), project=False), size))
    limits += relative * gross + 8 * EPS * system.mass * (np.abs(new.v) + np.abs(old.v)).sum(axis=1) / h
    limits += EPS * relative * float(gross.max())  # beside what acts elsewhere, less is nothing
    worst = int(np.argmax(left - limits))
    if left[worst] <= limits[worst]:
        return ""
    return f"particle {worst} is left with {left[worst]:.2e} N, more than {limits[worst]:.2e} N"


def _contradiction(system: taut.System, old: taut.State, new: taut.State, report: taut.Report, integrator: Any) -> str:
    """What a step must not do and did, or nothing."""
    certified = (report.residual, report.tolerance, report.floor)
    if not (np.isfinite(new.q).all() and np.isfinite(new.v).all() and np.isfinite(certified).all()):
        return "a number that is not finite"
    limit = report.tolerance if report.outcome == "converged" else max(report.tolerance, report.floor)
    if not report.residual <= limit:
        return f"'{report.outcome}' with a residual of {report.residual:.2e} N, more than {limit:.2e} N"
    if integrator.descends:
        (before, rounding), (after, more) = _energy(system, old), _energy(system, new)
        jump = 0.5 * float(system.mass @ np.einsum("ij,ij->i", new.v - old.v, new.v - old.v))
        gain = after + jump - before - system.T(old)
        if gain > rounding + more + GAIN * jump:
            return f"an energy of {gain:.2e} J out of nowhere"
    if isinstance(integrator, taut.ImplicitEuler) and system.rayleigh is None and "spring_damping" not in system.placed_damping:
        return _unbalanced(system, old, new, integrator.tolerance.relative)
    return ""


def run(scene: Scene, integrator: Any) -> Result:
    """Step a scene, and say what became of it."""
    result = Result(scene.number, scene.words)
    begun = time.perf_counter()
    state = scene.system.initial_state()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            for _ in range(STEPS):
                new, report = integrator.step(scene.system, state, scene.h)
                result.outcomes.append(report.outcome)
                result.iterations.append(report.iterations)
                result.defect = _contradiction(scene.system, state, new, report, integrator)
                if result.defect:
                    break
                state = new
        except taut.TautError as error:
            result.error = f"{type(error).__name__}: {_cause(error)}"
            if isinstance(error, taut.NotConverged):
                result.iterations.append(error.report.iterations)
        except Exception as error:
            result.defect = f"{type(error).__name__}: {error}"
    result.seconds = time.perf_counter() - begun
    return result


def _cause(error: taut.TautError) -> str:
    """The last part of the message, with its numbers taken out."""
    return re.sub(r"-?\d[\d.]*(e[+-]?\d+)?", "#", str(error).rsplit(": ", 1)[-1])


def campaign(numbers: Iterable[int], seed: int = 0, make: Callable[[], Any] = taut.ImplicitEuler) -> list[Result]:
    """Run the scenes of these numbers, each with an integrator of its own."""
    results: list[Result] = []
    for i in numbers:
        results.append(run(scene(i, seed), make()))
        if sys.stderr.isatty():
            solved = sum(r.solved for r in results)
            print(f"\rscene {i}: {solved} of {len(results)} solved ", end="", file=sys.stderr, flush=True)
    if sys.stderr.isatty():
        print(file=sys.stderr)
    return results


def summary(results: list[Result]) -> dict[str, Any]:
    """The counts of a campaign: scenes by how they ended, steps by outcome, iterations per step."""
    iterations = np.array([i for r in results for i in r.iterations] or [0])
    floored = sum(r.solved and "rounding floor" in r.outcomes for r in results)
    solved = sum(r.solved for r in results)
    return {
        "scenes": len(results),
        "converged": solved - floored,
        "rounding floor": floored,
        "errors": dict(Counter(r.error for r in results if r.error).most_common()),
        "defects": {r.scene: r.defect for r in results if r.defect},
        "steps": dict(Counter(o for r in results for o in r.outcomes)),
        "iterations": {
            "mean": round(float(iterations.mean()), 2),
            "95%": int(np.percentile(iterations, 95)),
            "max": int(iterations.max()),
            "steps over 30": int((iterations > 30).sum()),
        },
        "seconds": round(sum(r.seconds for r in results), 1),
    }


def main() -> int:
    """The campaign."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--scenes", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--integrator", default="ImplicitEuler")
    parser.add_argument("--minimiser", help="of integrators that have one")
    parser.add_argument("--solver", help="of integrators that have one")
    parser.add_argument("--scene", type=int, help="only this one, step by step")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    numbers = range(options.scenes) if options.scene is None else [options.scene]
    chosen = {name: getattr(options, name) for name in ("minimiser", "solver") if getattr(options, name) is not None}
    make = partial(getattr(taut, options.integrator), **chosen)
    try:
        make()
    except (TypeError, taut.ModelError) as error:
        parser.error(f"{options.integrator}: {error}")
    results = campaign(numbers, options.seed, make)
    found = summary(results)
    solved = found["converged"] + found["rounding floor"]
    if options.json:
        print(json.dumps(found | {"failed": [vars(r) for r in results if not r.solved]}, indent=1))
    else:
        method = " ".join([options.integrator, *chosen.values()])
        print(f"{len(results)} scenes of {STEPS} steps with {method}, {found['seconds']} s: {solved} solved", end="")
        print(f" ({100 * solved / len(results):.1f}%), {found['rounding floor']} of them with steps at the rounding floor")
        print(f"steps: {found['steps']}; iterations per step: {found['iterations']}")
        for cause, count in found["errors"].items():
            print(f"{count:5d}  {cause}")
        for r in results:
            if r.defect or options.scene is not None:
                print(f"scene {r.scene} ({r.words}): {r.defect or r.error or 'solved'}; {r.outcomes}, {r.iterations} iterations")
    return int(bool(found["defects"]) or solved < SOLVED * len(results))


if __name__ == "__main__":
    sys.exit(main())
