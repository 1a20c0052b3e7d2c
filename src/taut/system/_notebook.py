"""A System in a notebook: an HTML card with its numbers and a drawing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from taut.mesh.sketch import card, sketch
from taut.system.members import joined_pairs

if TYPE_CHECKING:
    from taut.system.system import System


def system_html(system: System) -> str:
    """Return the System as HTML: particles, mass, laws, constraints, and a drawing of its pose."""
    projector = system._projector
    freedom = np.einsum("nii->n", projector.free_directions)
    held = np.flatnonzero(freedom < (2 if system.flat else 3) - 0.5)
    facts: list[tuple[str, object]] = [
        ("particles", f"{system.n:,}"),
        ("mass", f"{system.mass.sum():.4g} kg"),
        ("held", f"{len(held):,}"),
    ]
    for group in (system._placed_energies, system._placed_damping, system._placed_loads):
        facts += [(name, f"{len(placed.elements):,} elements") for name, placed in group.items()]
    if system._rayleigh is not None:
        alpha, beta = system._rayleigh.alpha, system._rayleigh.beta
        facts.append(("rayleigh", f"α = {alpha:g} 1/s, β = {beta:g} s"))
    return card("System", facts, [sketch(system.pose, lines=joined_pairs(system), marks=held)])
