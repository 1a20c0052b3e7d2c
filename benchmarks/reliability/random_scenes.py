"""Random valid scenes, many of them extreme: cloth, rods and solids of up to 100 particles.

Stiffness from 1e-2 to 1e8 N/m, steps from 1e-4 to 0.1 s, masses over six decades; stretched,
crumpled, slack, exactly straight and compressed, with coincident particles, unpinned, on planes and
lines across the axes, far from the origin. A number and a seed always give the same
scene.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from taut import laws, mesh
from taut.arrays import Float, Int
from taut.constraints.sliding import on_line, on_plane
from taut.system.system import System

Rng = np.random.Generator
BODIES = ("cloth", "rod", "tets", "hexes")
POSES = (
    "rest",
    "stretched",
    "shaken",
    "crumpled",
    "compressed",
    "slack",
    "coincident",
    "flattened",
)


@dataclass(frozen=True)
class Scene:
    """A system to step.

    number : of the scene
    words : description
    h : step [s]
    """

    number: int
    words: str
    system: System
    h: float


def _sample_decades(rng: Rng, low: float, high: float) -> float:
    """Return a random number between 10^low and 10^high, uniform in its logarithm."""
    return float(10.0 ** rng.uniform(low, high))


def _sample_body(rng: Rng, kind: str) -> tuple[mesh.Mesh, Int]:
    """Return a mesh, and the pairs of points that springs join."""
    if kind == "rod":
        m = mesh.rope(int(rng.integers(2, 40)))
        return m, np.concatenate([m.edges, m.skips]) if rng.random() < 0.5 else m.edges
    if kind == "cloth":
        m = mesh.sheet(*rng.integers(2, 9, 2).tolist(), plane="xz")
        return m, np.concatenate([m.edges, m.diagonals, m.skips][: int(rng.integers(1, 4))])
    m = mesh.block(*rng.integers(1, 4, 3).tolist(), cells="tet" if kind == "tets" else "hex")
    return m, np.concatenate([m.edges, m.diagonals])


def _sample_pose(rng: Rng, kind: str, x: Float) -> Float:
    """Return initial positions for the rest positions x, of one of the kinds in `POSES`."""
    spacing = 1.0 / len(x) ** (1 / 2)
    y = x.copy()
    if kind == "stretched":
        y = x * rng.uniform(1.0, 3.0, 3)
    elif kind == "shaken":
        y = x + _sample_decades(rng, -12, -2) * rng.normal(size=x.shape)
    elif kind == "crumpled":
        y = x + spacing * rng.uniform(0.1, 2.0) * rng.normal(size=x.shape)
    elif kind == "compressed":  # uniformly: a straight chain stays exactly straight
        y = x * rng.uniform(0.05, 0.95)
    elif kind == "slack":
        y = x * [rng.uniform(0.3, 0.9), 1.0, 1.0]
        y[:, 1] += _sample_decades(rng, -10, -3) * rng.normal(size=len(x))
    elif kind == "coincident":
        together = rng.random(len(x)) < rng.uniform(0.1, 1.0)
        y[together] = x[rng.integers(len(x))]
    elif kind == "flattened":
        y[:, int(rng.integers(3))] = 0.0
    return y


def _sample_fixed(rng: Rng, n: int) -> Int:
    """Return the particles that are fixed: none, the first, both ends, or about a fifth."""
    share = rng.choice(["none", "one", "ends", "some"])
    some = {"none": [], "one": [0], "ends": [0, n - 1], "some": np.flatnonzero(rng.random(n) < 0.2)}
    return np.asarray(some[share], dtype=np.int64)


def _sample_constraints(rng: Rng, n: int) -> list[Any]:
    """Return, in 15% of all scenes, a constraint to planes or lines oblique to the axes."""
    if rng.random() >= 0.15:
        return []
    kind = on_plane if rng.random() < 0.5 else on_line
    some = np.flatnonzero(rng.random(n) < rng.uniform(0.1, 1.0))
    return [kind(some, rng.normal(size=3))] if len(some) else []


def _sample_damping(rng: Rng, joined: Int) -> list[Any]:
    """Return no damping law, or one of three kinds."""
    kind = rng.choice(["none", "none", "springs", "rayleigh", "drag"])
    if kind == "springs":
        return [laws.spring_damping(joined, c=_sample_decades(rng, -4, 3))]
    if kind == "rayleigh":
        return [laws.rayleigh(alpha=_sample_decades(rng, -2, 1), beta=_sample_decades(rng, -5, -1))]
    return [laws.drag(alpha=_sample_decades(rng, -2, 2))] if kind == "drag" else []


def scene(number: int, seed: int = 0) -> Scene:
    """Return the scene with a number; the same number and seed give the same scene.

    >>> scene(7).words
    'hexes, rest, cable, n = 24, k = 2.6e+06, m = 2.9e+00, h = 7.0e-02, 3 pinned'
    """
    rng = np.random.default_rng([seed, number])
    body, pose = str(rng.choice(BODIES)), str(rng.choice(POSES))
    made, joined = _sample_body(rng, body)
    x = made.positions * _sample_decades(rng, -1.5, 1)
    n, k, h = len(x), _sample_decades(rng, -2, 8), _sample_decades(rng, -4, -1)
    law = laws.cable if rng.random() < 0.15 else laws.spring
    energies: list[Any] = [
        law(joined, k=k if rng.random() < 0.7 else k * 10.0 ** rng.uniform(-2, 2, len(joined)))
    ]
    if body == "rod" and len(made.rod_hinges) and rng.random() < 0.7:
        energies.append(laws.rod_hinge(made.rod_hinges, k=_sample_decades(rng, -6, 4)))
    if rng.random() < 0.8:
        energies.append(laws.gravity())
    mass = np.full(n, _sample_decades(rng, -5, 1))
    if rng.random() < 0.3:
        mass *= 10.0 ** rng.uniform(-1.5, 1.5, n)
    posed = _sample_pose(rng, pose, x)
    velocity = np.zeros((n, 3))
    if rng.random() < 0.6:
        velocity += _sample_decades(rng, -2, 1.5) * rng.normal(
            size=(n, 3) if rng.random() < 0.5 else 3
        )
    away = _sample_decades(rng, 2, 6) * rng.normal(size=3) if rng.random() < 0.1 else np.zeros(3)
    fixed, damping = _sample_fixed(rng, n), _sample_damping(rng, joined)
    constraints = _sample_constraints(rng, n)
    system = System(
        x + away,
        mass=mass,
        energies=energies,
        damping=damping,
        fixed=fixed,
        constraints=constraints,
        pose=posed + away,
        velocity=velocity,
    )
    words = f"{body}, {pose}, {law.name}, n = {n}, k = {k:.1e}, m = {mass.mean():.1e}, "
    words += f"h = {h:.1e}, {len(fixed)} pinned"
    words += "".join(f", {len(c.particles)} {c.kind}" for c in constraints)
    return Scene(number, words + (", far away" if away.any() else ""), system, h)
