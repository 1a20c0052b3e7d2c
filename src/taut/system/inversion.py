"""Solid elements turned inside out: those whose volume has another sign than at rest.

They are the elements of laws that name the fault "is flat or inverted" (`proper` of taut.energy).
A law with a barrier, such as `neo_hookean_solid`, has none; `volume` and `corotated_solid` push
them back, which may fail. Where several laws are on the same elements, the law with most counts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from taut.arrays import Float, Int
from taut.mesh.kinds import get_kind
from taut.mesh.measure import measures
from taut.system.state import State

if TYPE_CHECKING:
    from taut.system.system import System

_FAULT = "is flat or inverted"
_KINDS = {4: get_kind("tet"), 8: get_kind("hex")}


class SolidElements(NamedTuple):
    """The elements of a law on solids: its name, their particles (m, s), their rest sign (m,)."""

    law: str
    elements: Int
    sign: Float


def collect_solid_elements(system: System) -> tuple[SolidElements, ...]:
    """Return the solid elements of a system's laws; those with a barrier, which never invert, not.

    >>> import taut
    >>> block = taut.mesh.block(2, 1, 1)
    >>> firm = taut.laws.volume(block.cells["hex"], k=1e4)
    >>> system = taut.System(block.points, mass=1.0, energies=[firm])
    >>> [(solid.law, len(solid.elements)) for solid in collect_solid_elements(system)]
    [('volume', 2)]
    """
    found = []
    for name, placed in system._placed_energies.items():
        law = placed.law
        if _FAULT in law.proper and not law.domain and placed.particles in _KINDS:
            volume = measures(system.rest, placed.elements, _KINDS[placed.particles])
            found.append(SolidElements(name, placed.elements, np.sign(volume)))
    return tuple(found)


def count_inverted(solids: tuple[SolidElements, ...], state: State) -> int:
    """Return how many active elements are inside out in a state: of the law that has most."""
    most = 0
    for law, elements, sign in solids:
        volume = measures(state.q, elements, _KINDS[elements.shape[1]])
        inverted = volume * sign < 0.0
        if law in state.active:
            inverted &= state.active[law]
        most = max(most, int(inverted.sum()))
    return most
