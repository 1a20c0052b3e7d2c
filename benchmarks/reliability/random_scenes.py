"""Random valid scenes, stiff and silly: cloth, rods and solids of at most about 100 particles.

Stiffness from 1e-2 to 1e8 N/m, steps from 1e-4 to 0.1 s, masses over six decades; stretched,
crumpled, slack, exactly straight and compressed, with coincident particles, unpinned, on planes and
lines across the axes, far from the origin. The scene of a number is the same at each call.
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
    """A system to step, and how it was made.

    number : of the scene; words : what it is; h : its step [s]
    """

    number: int
    words: str
    system: System
    h: float


def _decades(rng: Rng, low: float, high: float) -> float:
    return float(10.0 ** rng.uniform(low, high))


def _body(rng: Rng, kind: str) -> tuple[mesh.Mesh, Int]:
    """A mesh, and what is joined by springs."""
    if kind == "rod":
        m = mesh.rope(int(rng.integers(2, 40)))
        return m, np.concatenate([m.edges, m.skips]) if rng.random() < 0.5 else m.edges
    if kind == "cloth":
        m = mesh.sheet(*rng.integers(2, 9, 2).tolist(), plane="xz")
        return m, np.concatenate([m.edges, m.diagonals, m.skips][: int(rng.integers(1, 4))])
    m = mesh.block(*rng.integers(1, 4, 3).tolist(), cells="tet" if kind == "tets" else "hex")
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


def _pins(rng: Rng, n: int) -> Int:
    share = rng.choice(["none", "one", "ends", "some"])
    some = {"none": [], "one": [0], "ends": [0, n - 1], "some": np.flatnonzero(rng.random(n) < 0.2)}
    return np.asarray(some[share], dtype=np.int64)


def _slides(rng: Rng, n: int) -> list[Any]:
    """Now and then, some particles on planes or lines across the axes."""
    if rng.random() >= 0.15:
        return []
    kind = on_plane if rng.random() < 0.5 else on_line
    some = np.flatnonzero(rng.random(n) < rng.uniform(0.1, 1.0))
    return [kind(some, rng.normal(size=3))] if len(some) else []


def _damping(rng: Rng, joined: Int) -> list[Any]:
    kind = rng.choice(["none", "none", "springs", "rayleigh", "drag"])
    if kind == "springs":
        return [laws.spring_damping(joined, c=_decades(rng, -4, 3))]
    if kind == "rayleigh":
        return [laws.rayleigh(alpha=_decades(rng, -2, 1), beta=_decades(rng, -5, -1))]
    return [laws.drag(alpha=_decades(rng, -2, 2))] if kind == "drag" else []


def scene(number: int, seed: int = 0) -> Scene:
    """The scene of that number; the same for the same number and seed.

    >>> scene(7).words
    'hexes, rest, cable, n = 24, k = 2.6e+06, m = 2.9e+00, h = 7.0e-02, 3 pinned'
    """
    rng = np.random.default_rng([seed, number])
    body, pose = str(rng.choice(BODIES)), str(rng.choice(POSES))
    made, joined = _body(rng, body)
    x = made.positions * _decades(rng, -1.5, 1)
    n, k, h = len(x), _decades(rng, -2, 8), _decades(rng, -4, -1)
    law = laws.cable if rng.random() < 0.15 else laws.spring
    energies: list[Any] = [
        law(joined, k=k if rng.random() < 0.7 else k * 10.0 ** rng.uniform(-2, 2, len(joined)))
    ]
    if body == "rod" and len(made.rod_hinges) and rng.random() < 0.7:
        energies.append(laws.rod_hinge(made.rod_hinges, k=_decades(rng, -6, 4)))
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
    system = System(
        x + away,
        mass=mass,
        energies=energies,
        damping=damping,
        fixed=pins,
        constraints=slides,
        pose=posed + away,
        velocity=velocity,
    )
    words = f"{body}, {pose}, {law.name}, n = {n}, k = {k:.1e}, m = {mass.mean():.1e}, h = "
    f"{h:.1e}, {len(pins)} pinned"
    words += "".join(f", {len(s.particles)} {s.kind}" for s in slides)
    return Scene(number, words + (", far away" if away.any() else ""), system, h)
