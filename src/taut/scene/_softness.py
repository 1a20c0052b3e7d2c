"""Foresee solids that are too soft for their size and weight, and count cells that have inverted.

A column of height L, density ρ and Young's modulus E that stands on its foot or hangs from its top
is strained by its own weight by ρ g L/E at most and by half of that in the mean. Where that number
is near one, a body slumps into a heap: springs and linear laws no longer describe it, cells are
flattened, and those that no barrier keeps the right way round turn inside out.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from taut.laws.corotated_solid import corotated_solid
from taut.laws.gravity import gravity
from taut.laws.neo_hookean_solid import neo_hookean_solid
from taut.laws.volume_barrier import volume_barrier
from taut.mesh.inversion import find_inverted_cells
from taut.scene._body import Part
from taut.system.state import State
from taut.system.system import System

# The parameter of laws on solids that is Young's modulus.
_MODULUS = {volume_barrier: "k", neo_hookean_solid: "young", corotated_solid: "young"}
_MAX_STRAIN = 0.5  # ρ g L/E beyond which a body is too soft: it loses a quarter of its height
_ENOUGH = 10.0  # E in multiples of ρ g L with which it keeps its shape


def find_soft_solids(system: System, bodies: Sequence[Part]) -> tuple[str, ...]:
    """Return a warning for each solid body whose modulus does not suffice for its weight."""
    warnings = []
    placed = system._placed_energies.values()
    pulls = [p.parameters.values(0.0)["g"] for p in placed if p.law is gravity]
    g = np.sum([np.reshape(pull, (-1, 3))[0] for pull in pulls], axis=0)
    if not np.any(g):
        return ()
    strength = float(np.linalg.norm(g))
    for body in bodies:
        volume = float(np.abs(body.mesh.volumes).sum())
        moduli = [
            np.asarray(p.parameters.values(0.0)[_MODULUS[p.law]])
            for p in placed
            if p.law in _MODULUS and body.start <= p.elements[0, 0] < body.stop
        ]
        if not moduli or not volume:
            continue
        young = float(np.max([np.median(k) for k in moduli]))
        height = float(np.ptp(body.mesh.positions @ (g / strength)))
        density = float(system.mass[body.start : body.stop].sum()) / volume
        weight = density * strength * height
        if weight > _MAX_STRAIN * young:
            warnings.append(
                f"{body.name} is too soft for its size and weight: "
                f"ρ g L/E = {weight / young if young else np.inf:.3g} with the height "
                f"L = {height:.3g} m, the modulus E = {young:.3g} Pa and the density "
                f"{density:.3g} kg/m³. It will slump; E = {_ENOUGH * weight:.1g} Pa would keep "
                "its shape"
            )
    return tuple(warnings)


def describe_inverted(bodies: Sequence[Part], state: State) -> tuple[str, ...]:
    """Return a note for each body of which solid cells are turned inside out in a state."""
    notes = []
    for body in bodies:
        blocks = body.mesh.blocks(3)
        if not blocks:
            continue
        q = state.q[body.start : body.stop]
        inverted = find_inverted_cells(body.mesh.positions, q, blocks)
        if inverted.any():
            notes.append(
                f"warning: {int(inverted.sum()):,} of {len(inverted):,} solid cells of "
                f"{body.name} are turned inside out at the end: make it stiffer or lighter, or "
                "give it a law with a barrier (volume_barrier, neo_hookean_solid)"
            )
    return tuple(notes)
