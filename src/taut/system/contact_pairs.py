"""What friction needs to know of a pair: its coefficient, and whether an obstacle in it turns.

The surface of a sphere or capsule that turns slides, though its centre or axis does not. A frame of
held particles turns with it: three orthogonal vectors E from an origin. The point of the surface
where a body touches is an arm r n away from the closest point of the axis, r the radius and n the
normal, and r n = Σ a_k E_k with a_k = r n·E_k/|E_k|². So its velocity is that of the axis plus
Σ a_k dE_k/dt, with the same weights for all particles that the axis and the frame consist of.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from taut.arrays import Float, Int
from taut.system.contact import Contact
from taut.system.contact_terms import PLANE, ContactTerm


def find_coefficients(contact: Contact, term: ContactTerm, n: int) -> Float:
    """Return Coulomb's coefficient of each contact of a term, (m,); n : particles of the system."""
    every = np.array([*(pair.coefficient for pair in contact.friction_pairs), contact.friction])
    coefficients: Float = every[find_friction_pairs(contact, term, n)]
    return coefficients


def find_friction_pairs(contact: Contact, term: ContactTerm, n: int) -> Int:
    """Return the number of the pair whose coefficient each contact has, -1: none, (m,)."""
    found = np.full(len(term.pairs), -1)
    for number, pair in enumerate(contact.friction_pairs):
        one, other = pair.one.mask(n), pair.other.mask(n)
        for first, second, wall in ((one, other, pair.other), (other, one, pair.one)):
            if term.law == PLANE:
                planes = _find_planes(contact, term)
                meets = np.array([wall.has_plane(plane) for plane in planes], dtype=bool)
                belongs = first[term.pairs[:, 0]] & meets
            else:
                is_first = np.arange(4) < term.split[:, None]
                belongs = (first[term.pairs] & is_first).any(axis=1)
                belongs &= (second[term.pairs] & ~is_first).any(axis=1)
            found[belongs] = number
    return found


def _find_planes(contact: Contact, term: ContactTerm) -> list[int]:
    """Return the number of the plane of each contact (see `ContactSearch` for its keys)."""
    planes: list[int] = ((-1 - term.keys) % len(contact.planes)).tolist()
    return planes


def find_frames(contact: Contact, pairs: Int, n: int) -> Int:
    """Return which frame each pair, (m, s), turns with: a row of `contact.frames`, or -1, (m,)."""
    if not len(contact.frames):
        return np.full(len(pairs), -1)
    of_particle = np.full(n, -1)
    of_particle[contact.frames[:, 0]] = np.arange(len(contact.frames))
    frames: Int = of_particle[pairs].max(axis=1, initial=-1)
    return frames


def attach_frames(contact: Contact, frames: Int, normals: Float, x: Float) -> tuple[Int, Float]:
    """Return the particles of the frames of pairs, (m, 4), and their weights, (m, 4).

    frames : rows of `contact.frames`, (m,); normals : from the second side to the first, (m, 3)
    """
    assert not isinstance(contact.thickness, Mapping)
    rows = contact.frames[frames]
    radius = np.broadcast_to(contact.thickness / 2.0, len(x))[rows[:, 0]]
    vectors = x[rows[:, 2:]] - x[rows[:, 1]][:, None]
    squares = np.einsum("eki,eki->ek", vectors, vectors)
    # On either side: the arm and the sign of that side's weights change together.
    parts = -radius[:, None] * np.einsum("eki,ei->ek", vectors, normals) / squares
    return rows[:, 1:], np.column_stack([-parts.sum(axis=1), parts])
