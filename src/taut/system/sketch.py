"""A System in a notebook: its facts, and a drawing of its members as lines and of what is held."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from taut.mesh.sketch import card, sketch

if TYPE_CHECKING:
    from taut.system.system import System

Int = NDArray[np.int64]


def joined(system: System) -> Int:
    """The pairs of particles that energies join, each once, (k, 2): all elements of two; where there are none, the sides of others.

    >>> import taut
    >>> from taut import laws
    >>> triangle = taut.System([[0, 0, 0], [1, 0, 0], [0, 1, 0]], mass=1.0, energies=[laws.area([[0, 1, 2]], k=1.0)])
    >>> joined(triangle).tolist()
    [[0, 1], [0, 2], [1, 2]]
    """
    elements = [placed.elements for placed in system.placed.values()]
    sides = [e for e in elements if e.shape[1] == 2]
    if not sides:
        sides = [e[:, [i, (i + 1) % e.shape[1]]] for e in elements if e.shape[1] > 2 for i in range(e.shape[1])]
    return np.unique(np.sort(np.concatenate([np.empty((0, 2), np.int64), *sides]), axis=1), axis=0)


def system_html(system: System) -> str:
    """The System as HTML, for notebooks: particles, masses, laws and what is held, and a drawing at its initial positions."""
    moving = np.einsum("nii->n", system.hold.free)
    held = np.flatnonzero(moving < (2 if system.flat else 3) - 0.5)
    laws = {
        name: len(p.elements) for group in (system.placed, system.placed_damping, system.placed_loads) for name, p in group.items()
    }
    facts: list[tuple[str, object]] = [("particles", f"{system.n:,}"), ("mass", f"{system.mass.sum():.4g} kg")]
    facts += [("held", f"{len(held):,}")] + [(name, f"{count:,} elements") for name, count in laws.items()]
    facts += [] if system.rayleigh is None else [("rayleigh", f"α = {system.rayleigh.alpha:g} 1/s, β = {system.rayleigh.beta:g} s")]
    return card("System", facts, [sketch(system.pose, lines=joined(system), marks=held)])
