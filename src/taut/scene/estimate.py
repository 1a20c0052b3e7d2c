"""What a run of a scene will take, without a step of it: counted particles and elements, and rough memory, time and disk.

Seconds are those of one core of a recent laptop, from the number of matrix blocks b and of elements m: a step of an implicit method
takes about `NEWTON` iterations of (ASSEMBLE·m + SOLVE·b), an explicit one EVALUATE·m for each evaluation. For the built-in scenes
this is right within a factor of about four. Stiff ones may take longer, and compiling laws at their first use comes on top.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from taut.run.plan import Plan
from taut.scene.build import Built
from taut.scene.scene import Scene
from taut.step.adaptive import Adaptive
from taut.step.explicit import Explicit
from taut.step.tr_bdf2 import TRBDF2

STEP = 2e-3  # [s] whatever the size
NEWTON = 4.0  # iterations of an implicit step
ASSEMBLE = 4e-7  # [s] for an element of two particles, once
SOLVE = 1.2e-6  # [s] for a block of the matrix
EVALUATE = 1e-7  # [s] for the force of an element of two particles
BLOCK_BYTES = 400.0  # matrix, levels or factors, and copies
PARTICLE_BYTES = 1000.0
BASE_BYTES = 2.5e8  # Python, numpy, numba and compiled laws


@dataclass(frozen=True)
class Estimate:
    """What a run will take.

    particles, elements, springs : counted; springs are elements of two particles of an energy
    steps, frames : counted; memory : [bytes]; disk : of the frames [bytes]; seconds : of stepping, rough
    """

    particles: int
    elements: int
    springs: int
    steps: int
    frames: int
    memory: float
    disk: float
    seconds: float

    def __str__(self) -> str:
        return (
            f"{self.particles:,} particles, {self.elements:,} elements ({self.springs:,} springs)\n"
            f"{self.steps:,} steps, {self.frames:,} frames\n"
            f"memory about {_size(self.memory)}, on disk about {_size(self.disk)}, time about {_time(self.seconds)}"
        )


def estimate(scene: Scene | Built) -> Estimate:
    """What a scene will take; it is built, but not stepped.

    >>> from taut.scene import load
    >>> print(str(estimate(load("spring"))).splitlines()[0])
    2 particles, 1 elements (1 springs)
    """
    built = scene.build() if isinstance(scene, Scene) else scene
    system = built.system
    shapes = [p.elements.shape for group in (system.placed, system.placed_damping, system.placed_loads) for p in group.values()]
    springs = sum(len(p.elements) for p in system.placed.values() if p.elements.shape[1] == 2)
    blocks = system.n + 2 * _pairs(built)
    steps = Plan.of(built.state.t, built.h, built.until).steps
    frames = 1 - (-steps // built.every)  # the beginning, and the end whether or not its number can be divided
    work = float(sum(m * s * s / 4 for m, s in shapes))
    method = built.integrator.integrator if isinstance(built.integrator, Adaptive) else built.integrator
    if isinstance(method, Explicit):
        each = STEP / 4 + EVALUATE * work * len(method.weights)
    else:
        stages = 2 if isinstance(method, TRBDF2) else 1
        each = stages * (STEP + NEWTON * (ASSEMBLE * work + SOLVE * blocks))
    memory = BASE_BYTES + BLOCK_BYTES * blocks + PARTICLE_BYTES * system.n + 8.0 * 9 * 4 * work
    return Estimate(
        system.n, sum(m for m, _ in shapes), springs, steps, frames, memory, 48.0 * system.n * frames, steps * each
    )  # fmt: skip


def _pairs(built: Built) -> int:
    """How many pairs of particles share an element."""
    keys = []
    for placed in built.system.placed.values():
        e = placed.elements
        for i in range(e.shape[1]):
            for j in range(i):
                keys.append(np.unique(np.minimum(e[:, i], e[:, j]) * built.system.n + np.maximum(e[:, i], e[:, j])))
    return len(np.unique(np.concatenate(keys))) if keys else 0


def _size(count: float) -> str:
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:.3g} {unit}"
        count /= 1000
    return f"{count:.3g} TB"


def _time(seconds: float) -> str:
    return f"{seconds:.2g} s" if seconds < 90 else f"{seconds / 60:.2g} min" if seconds < 5400 else f"{seconds / 3600:.2g} h"
