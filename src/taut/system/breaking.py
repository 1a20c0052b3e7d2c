"""Which elements a state has broken.

An element with a breaking strain breaks when l/l₀ - 1 exceeds it. Elements of other laws, of damping and of loads that hold both
ends of a broken one leave with it, unless they have a breaking strain of their own: the damper beside a spring, the hinge over an
edge, the triangle or tetrahedron it was a side of, and the wind on it. A law that wants its elements all together, such as the
pressure in a closed surface, loses all of them with the first.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from taut.formula.placed import Placed
from taut.mesh.topology import keys
from taut.system.state import State
from taut.system.system import System

Mask = NDArray[np.bool_]
Int = NDArray[np.int64]


def still_active(system: System, state: State) -> tuple[dict[str, Mask], int]:
    """The masks of active elements without those that the state breaks, and how many elements with a breaking strain broke."""
    active = dict(state.active)
    broken: list[Int] = []
    for name, placed in system.placed.items():
        if placed.breaking_strain is None:
            continue
        whole = active.get(name, np.ones(len(placed.elements), dtype=bool))
        over = whole & _beyond(placed, state)
        if over.any():
            active[name] = whole & ~over
            broken.append(keys(placed.elements[over], system.n))
    if not broken:
        return active, 0
    pairs = np.concatenate(broken)
    for name, placed in {**system.placed, **system.placed_damping, **system.placed_loads}.items():
        if name in system.placed and system.placed[name].breaking_strain is not None:
            continue  # it has a bound of its own
        held = _holds(placed.elements, pairs, system.n)
        if held.any() and name in system.placed and system.placed[name].together:
            held[:] = True
        if held.any():
            active[name] = active.get(name, np.ones(len(placed.elements), dtype=bool)) & ~held
    return active, len(pairs)


def _beyond(placed: Placed, state: State) -> Mask:
    """Which elements are strained beyond what they bear."""
    assert placed.breaking_strain is not None
    d = state.q[placed.elements[:, 1]] - state.q[placed.elements[:, 0]]
    length = np.sqrt(np.einsum("ij,ij->i", d, d))
    rest = placed.packed(state.t)[:, placed.columns("l0")]
    over: Mask = length > rest * (1.0 + placed.breaking_strain)
    return over


def _holds(elements: Int, pairs: Int, n: int) -> Mask:
    """Which elements have both particles of one of these pairs."""
    held = np.zeros(len(elements), dtype=bool)
    for i, j in combinations(range(elements.shape[1]), 2):
        held |= np.isin(keys(elements[:, [i, j]], n), pairs)
    return held
