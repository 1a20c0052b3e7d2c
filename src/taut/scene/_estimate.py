"""The cost of a run before it starts: particles and elements, and rough memory, time and disk.

Seconds are those of one core of a recent laptop, from the number of matrix blocks b and elements m:
an implicit step takes about `_NEWTON_ITERATIONS` × (`_ASSEMBLE_SECONDS` m + `_SOLVE_SECONDS` b), an
explicit one `_EVALUATE_SECONDS` m for each evaluation of the forces. They say no more than an order
of magnitude; trial steps (`_trial`) say what this machine and this scene take. `foresee` warns of
thin bodies that crumple, whose steps take far longer.

Memory is a sum over the arrays of a step: those of each element by its law, those of each matrix
block with its share of the multigrid, and the vectors of each particle.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from taut.errors import TautError
from taut.run.simulate import TimeSteps
from taut.scene._scene import Scene
from taut.scene._scene_file import Built
from taut.statics.crumpling import find_bearable_load
from taut.step.adaptive import Adaptive
from taut.step.explicit import Explicit
from taut.step.integrator import Integrator
from taut.step.tr_bdf2 import TRBDF2
from taut.system.system import System

_STEP_SECONDS = 2e-3  # [s] overhead of an implicit step, at any size
_NEWTON_ITERATIONS = 4.0
_ASSEMBLE_SECONDS = 4e-7  # [s] per iteration and element of two particles
_SOLVE_SECONDS = 1.2e-6  # [s] per iteration and matrix block
_EVALUATE_SECONDS = 1e-7  # [s] per force evaluation and element of two particles
# A block of the matrix in double precision, and of the levels in single; its place in the pattern
# and in the lists by which coarse matrices and the matrix itself are summed; its share of AP.
_BLOCK_BYTES = 72.0 + 45.0 + 60.0
# Positions, velocities, forces and scales of the points that a step compares; the smoother; the
# vectors of conjugate gradients, and the basis of a quadratic model, half filled.
_PARTICLE_BYTES = 720.0 + 80.0 + 120.0 + 400.0
_EXPLICIT_PARTICLE_BYTES = 400.0
_BASE_BYTES = 2.1e8  # Python, numpy, numba and compiled laws
_MAX_FORESEEN_PARTICLES = 200_000  # beyond, the linear systems take minutes, and gigabytes
_FRAME_BYTES = 48.0  # of a particle: position and velocity


@dataclass(frozen=True)
class Estimate:
    """The cost of a run.

    particles, elements, steps, frames : exact numbers
    springs : number of elements of two particles of an energy
    memory, disk : rough size [bytes]
    seconds : rough time of stepping [s]
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
            f"memory about {_format_size(self.memory)}, on disk about {_format_size(self.disk)}, "
            f"time about {format_time(self.seconds)}"
        )


def estimate(scene: Scene | Built) -> Estimate:
    """Estimate the cost of a run; the scene is built, but not stepped.

    >>> from taut.scene import load
    >>> print(str(estimate(load("spring"))).splitlines()[0])
    2 particles, 1 elements (1 springs)
    """
    built = scene.build() if isinstance(scene, Scene) else scene
    system = built.system
    shapes = []  # (m, s) of each law
    for group in (system._placed_energies, system._placed_damping, system._placed_loads):
        shapes += [law.elements.shape for law in group.values()]
    springs = sum(
        len(p.elements) for p in system._placed_energies.values() if p.elements.shape[1] == 2
    )
    blocks = system.n + 2 * _count_pairs(system)
    steps = TimeSteps.between(built.state.t, built.h, built.until).steps
    # The start is a frame, and so is the end, whether or not `every` divides the number of steps.
    frames = 1 - (-steps // built.every)
    work = float(sum(m * s * s / 4 for m, s in shapes))  # in elements of two particles
    method = _find_method(built)
    if isinstance(method, Explicit):
        per_step = _STEP_SECONDS / 4 + _EVALUATE_SECONDS * work * len(method.weights)
    else:
        stages = 2 if isinstance(method, TRBDF2) else 1
        per_iteration = _ASSEMBLE_SECONDS * work + _SOLVE_SECONDS * blocks
        per_step = stages * (_STEP_SECONDS + _NEWTON_ITERATIONS * per_iteration)
    return Estimate(
        particles=system.n,
        elements=sum(m for m, _ in shapes),
        springs=springs,
        steps=steps,
        frames=frames,
        memory=_BASE_BYTES
        + _count_bytes(system, blocks, implicit=not isinstance(method, Explicit)),
        disk=_FRAME_BYTES * system.n * frames,
        seconds=steps * per_step,
    )


def foresee(built: Built) -> tuple[str, ...]:
    """Return warnings about what will make the steps of a run take long, in words.

    Thin bodies crumple where their weight and other loads compress them by more than bending
    stiffness and inertia bear (see `taut.statics.crumpling`). Nothing is stepped, but a few linear
    systems are solved. Solids slump whose modulus E is of the order of ρ g L. Explicit methods have
    nothing to solve, and no warnings.

    >>> from taut.scene import load
    >>> foresee(load("cloth").build())
    ()
    """
    if isinstance(_find_method(built), Explicit):
        return ()
    soft = built.warnings
    if built.system.n > _MAX_FORESEEN_PARTICLES:
        return (
            *soft,
            "whether thin bodies crumple was not examined: there are too many particles",
        )
    state = built.state
    try:
        part = find_bearable_load(built.system, state, built.h, built.until - state.t)
    except TautError:  # the energy has no value at the start: the first step will report it
        return soft
    if part == 1.0:
        return soft
    return (
        *soft,
        "thin bodies will crumple or wrinkle: bending stiffness and inertia bear about "
        f"{100.0 * part:.2g}% of the compression under the loads. Such steps may need many "
        "iterations; make the bodies thicker, add bending, support them elsewhere, or take a "
        "smaller h",
    )


def _find_method(built: Built) -> Integrator:
    """Return what takes the steps, or the substeps of adaptive ones."""
    method = built.integrator
    return method.integrator if isinstance(method, Adaptive) else method


def _count_pairs(system: System) -> int:
    """Return the number of pairs of particles that share an element of an energy."""
    keys = []
    for placed in system._placed_energies.values():
        elements = placed.elements
        for i in range(elements.shape[1]):
            for j in range(i):
                low = np.minimum(elements[:, i], elements[:, j])
                high = np.maximum(elements[:, i], elements[:, j])
                keys.append(np.unique(low * system.n + high))
    return len(np.unique(np.concatenate(keys))) if keys else 0


def _count_bytes(system: System, blocks: int, *, implicit: bool) -> float:
    """Return the memory of a system and of its steps [bytes]; blocks : of the matrix."""
    total = 0.0
    for group in (system._placed_energies, system._placed_damping):
        for placed in group.values():
            m, s = placed.elements.shape
            form = placed.forms.get("increment", placed.forms[placed.form])
            # Particles; parameters, given and packed; energies, now and of a few earlier points;
            # vectors; the lists of the elements of each particle.
            each = 8 * s + 16 * form.width + 40 + (24 + 6) * form.vectors + 6 * s
            if implicit:
                each += (72 + 6) * form.blocks + 8 * s
            total += m * each
    total += sum(
        8.0 * placed.elements.size + 16.0 * placed.parameters.pack(0.0).size
        for placed in system._placed_loads.values()
    )
    if implicit:
        return total + _BLOCK_BYTES * blocks + _PARTICLE_BYTES * system.n
    return total + _EXPLICIT_PARTICLE_BYTES * system.n


def _format_size(count: float) -> str:
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:.3g} {unit}"
        count /= 1000
    return f"{count:.3g} TB"


def format_time(seconds: float) -> str:
    """Return a time in words.

    >>> format_time(600.0)
    '10 min'
    """
    if seconds < 90:
        return f"{seconds:.2g} s"
    if seconds < 5400:
        return f"{seconds / 60:.2g} min"
    return f"{seconds / 3600:.2g} h"
