"""Tearing: elements break where their strain l/l₀ - 1 exceeds their breaking strain s.

The test is l > l₀(1 + s), here and nowhere else; frames of a run record which elements are torn.

Elements of other laws, of damping and of loads that contain both ends of a broken element leave
with it, unless they have a breaking strain of their own: a damper along a spring, a hinge over an
edge, a triangle or tetrahedron with that edge, and the wind on it. A law with one energy for all
its elements, such as the pressure in a closed surface, loses all of them with the first.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from taut.arrays import Float, Int, Mask
from taut.mesh.topology import keys
from taut.system.state import State
from taut.system.workspace import Workspace


def exceeds_breaking_strain(
    q: Float, elements: Int, rest_length: Float, breaking_strain: Float
) -> Mask:
    """Return which elements are strained beyond their breaking strain, (m,).

    q : positions [m], (n, 3); elements : (m, 2); rest_length : [m], (m,); breaking_strain : (m,)

    >>> q = np.array([[0.0, 0, 0], [1.2, 0, 0]])
    >>> exceeds_breaking_strain(q, np.array([[0, 1]]), np.array([1.0]), np.array([0.1]))
    array([ True])
    """
    d = q[elements[:, 1]] - q[elements[:, 0]]
    length = np.sqrt(np.einsum("ij,ij->i", d, d))
    exceeds: Mask = length > rest_length * (1.0 + breaking_strain)
    return exceeds


def find_unbroken_elements(workspace: Workspace, state: State) -> tuple[dict[str, Mask], int]:
    """Return the masks of active elements after breaking, by law, and how many elements broke.

    Only elements with a breaking strain are counted.
    """
    system, active = workspace.system, dict(state.active)
    broken: list[Int] = []
    for name, placed in system._placed_energies.items():
        if placed.breaking_strain is None:
            continue
        parameters = workspace.parameters(name, placed).at(state.t)
        rest_length = parameters[:, placed.parameters.columns("l0")]
        is_active = active.get(name, np.ones(len(placed.elements), dtype=bool))
        breaks = is_active & exceeds_breaking_strain(
            state.q, placed.elements, rest_length, placed.breaking_strain
        )
        if breaks.any():
            active[name] = is_active & ~breaks
            broken.append(keys(placed.elements[breaks], system.n))
    if not broken:
        return active, 0
    pairs = np.concatenate(broken)
    energies = system._placed_energies
    others = {**energies, **system._placed_damping, **system._placed_loads}
    for name, elements in {name: law.elements for name, law in others.items()}.items():
        if name in energies and energies[name].breaking_strain is not None:
            continue  # it has a bound of its own
        leaves = _contains_pair(elements, pairs, system.n)
        if leaves.any() and name in energies and energies[name].couples_all_elements:
            leaves[:] = True
        if leaves.any():
            is_active = active.get(name, np.ones(len(elements), dtype=bool))
            active[name] = is_active & ~leaves
    return active, len(pairs)


def _contains_pair(elements: Int, pairs: Int, n: int) -> Mask:
    """Return which elements contain both particles of one of these pairs (as keys), (m,)."""
    contains = np.zeros(len(elements), dtype=bool)
    for i, j in combinations(range(elements.shape[1]), 2):
        contains |= np.isin(keys(elements[:, [i, j]], n), pairs)
    return contains
