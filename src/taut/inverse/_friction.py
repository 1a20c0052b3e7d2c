"""Derivatives of friction, with those of the normal forces, normals and weights that it depends on.

A step holds these while it minimises and ends where they are those of its own end: its residual has
the friction F(q', …, P(q')), P the parameters of `laws.contact_friction`. All of P follows from the
forces g of the barrier of a contact on its particles. With p = -Σ g over the side of its first,

    |p| the normal force,   n = p/|p| the normal,   wᵢ = -gᵢ·p/|p|² the weights,

since the barrier is a function of a distance, whose gradient is wᵢ n at the particle i. An obstacle
that turns has weights of its frame too (`taut.system.contact_pairs`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from taut.arrays import Float, Int
from taut.binding.compiled_law import FormName
from taut.binding.law_products import LawProducts, Place, products_of
from taut.inverse._part import Part, Sums, pull_gradient, push_gradient
from taut.linalg.blocks import BlockMatrix
from taut.system.contact import CONTACT_NAME, Contact
from taut.system.contact_friction import compile_friction
from taut.system.contact_pairs import attach_frames, find_frames, find_friction_pairs
from taut.system.contact_terms import ContactTerm

# Columns of the gradient by contact; its coefficients of pairs follow
FRICTION, SLIP_SPEED, PAIRS = 2, 3, 4


@dataclass(frozen=True, eq=False)
class Sliding:
    """Contacts of one law that push, all with an obstacle that turns or all without.

    part : the barrier on these contacts; x : positions at which they push [m], (n, 3)
    leading, places : see `ContactTerm`
    particles : those of its pairs, and the four of the frame of an obstacle that turns, (m, S)
    coefficients : μ, (m,); numbers : of the pairs of groups that have them, -1: none, (m,)
    turns : whether an obstacle turns; form : of the law of friction
    """

    contact: Contact
    part: Part
    x: Float
    leading: int
    particles: Int
    places: Int
    coefficients: Float
    numbers: Int
    turns: bool
    form: FormName

    @cached_property
    def at(self) -> Place:
        """Where the barrier is evaluated."""
        return self.part.place(self.x, self.x, 0.0, 0.0)

    @cached_property
    def _forces(self) -> Float:
        return self.part.products.slopes(self.at)[0]

    @cached_property
    def _push(self) -> tuple[Float, Float, Float]:
        """p [N], |p| and n."""
        push = -self._forces[:, : self.leading].sum(axis=1)
        size = np.sqrt(np.einsum("ei,ei->e", push, push))
        return push, size, push / size[:, None]

    @cached_property
    def _weights(self) -> Float:
        push, size, _ = self._push
        return -np.einsum("esi,ei->es", self._forces, push) / (size**2)[:, None]

    @cached_property
    def parameters(self) -> Float:
        """Packed parameters of the law of friction, (m, 5 + S)."""
        _, size, normal = self._push
        m = len(self.places)
        spread = self.particles.shape[1]
        weights = np.zeros((m, spread))
        np.put_along_axis(weights, self.places, self._weights, axis=1)
        if self.turns:
            weights[:, 4:] = self._attach()[1]
        slip = np.full(m, self.contact.slip_speed, dtype=np.float64)
        return np.column_stack([self.coefficients * size, normal, weights, slip])

    def _attach(self) -> tuple[Int, Float]:
        pairs = self.particles[:, :4]
        frames = find_frames(self.contact, pairs, len(self.x))
        return attach_frames(self.contact, frames, self._push[2], self.x)

    @property
    def law(self) -> LawProducts:
        """The products of the law of friction."""
        return products_of(compile_friction(self.form, self.particles.shape[1]))

    def place(self, x: Float, y: Float, h: float) -> Place:
        """Return where friction is evaluated, for positions or velocities x and y, (n, 3)."""
        return Place(x[self.particles], y[self.particles], h, self.parameters)

    def pull_parameters(self, bar: Float, q: Float, sums: Sums) -> None:
        """Add the gradient by the positions at which contacts push, (n, 3), to q.

        bar : by packed parameters, (m, 5 + S); what belongs to the contact is added to the sums
        """
        push, size, normal = self._push
        spread = self.particles.shape[1]
        by_force, by_normal, by_weights = bar[:, 0], bar[:, 1:4], bar[:, 4 : 4 + spread]
        sums.contact[SLIP_SPEED] += float(bar[:, -1].sum())
        by_coefficient = by_force * size
        none = self.numbers < 0
        sums.contact[FRICTION] += float(by_coefficient[none].sum())
        np.add.at(sums.contact, PAIRS + self.numbers[~none], by_coefficient[~none])
        if self.turns:
            arms = by_weights[:, 5:] - by_weights[:, 4:5]
            by_normal = by_normal + self._pull_frames(arms, q)
        own = np.take_along_axis(by_weights, self.places, axis=1)
        square = (size**2)[:, None]
        across = np.einsum("ei,ei->e", by_normal, normal)
        by_push = (self.coefficients * by_force)[:, None] * normal
        by_push += (by_normal - across[:, None] * normal) / size[:, None]
        # of wᵢ = -gᵢ·p/|p|²
        by_push -= np.einsum("es,esi->ei", own, self._forces) / square
        by_push -= 2.0 * np.einsum("es,es->e", own, self._weights)[:, None] * push / square
        by_forces = -own[:, :, None] * (push / square)[:, None, :]
        by_forces[:, : self.leading] -= by_push[:, None, :]
        pulled = pull_gradient(self.part, self.at, by_forces)
        np.add.at(q, self.part.elements, pulled.x)
        self.part.add(pulled.p, 0.0, 0.0, sums)

    def _pull_frames(self, arms: Float, q: Float) -> Float:
        """Return the gradient by the normals for that by the arms, both (m, 3); that by the frames
        is added to q."""
        normal, (vectors, squares, radius) = self._push[2], self._frame_vectors
        heights = np.einsum("eki,ei->ek", vectors, normal)
        own = -radius[:, None] * arms / squares
        by_vectors = own[:, :, None] * normal[:, None, :]
        by_vectors -= 2.0 * (own * heights / squares)[:, :, None] * vectors
        np.add.at(q, self.particles[:, 5:], by_vectors)
        np.add.at(q, self.particles[:, 4], -by_vectors.sum(axis=1))
        result: Float = np.einsum("ek,eki->ei", own, vectors)
        return result

    @cached_property
    def _frame_vectors(self) -> tuple[Float, Float, Float]:
        """E [m], (m, 3, 3), |E|², (m, 3), and the radius [m], (m,)."""
        ends = self.x[self.particles[:, 5:]]
        vectors = ends - self.x[self.particles[:, 4]][:, None]
        squares = np.einsum("eki,eki->ek", vectors, vectors)
        frames = find_frames(self.contact, self.particles[:, :4], len(self.x))
        widths = np.broadcast_to(np.asarray(self.contact.thickness) / 2.0, len(self.x))
        return vectors, squares, widths[self.contact.frames[frames, 0]]

    def push_parameters(self, dq: Float, change: Float) -> Float:
        """Return the changes of packed parameters, (m, 5 + S), as positions move by dq, (n, 3).

        change : of what belongs to the contact, as in `Sums`
        """
        dp = self.part.changes({CONTACT_NAME: change}, 0.0, 0.0, 0.0)
        d_forces = push_gradient(self.part, self.at, dq[self.part.elements], dp)
        frames = None
        if self.turns:
            frames = dq[self.particles[:, 5:]] - dq[self.particles[:, 4]][:, None]
        found = self._push_measures(d_forces, frames)
        by_pair = np.append(change[PAIRS:], change[FRICTION])
        found[:, 0] += by_pair[self.numbers] * self._push[1]
        found[:, -1] += change[SLIP_SPEED]
        return found

    def _push_measures(self, d_forces: Float, d_vectors: Float | None) -> Float:
        """Return the changes of parameters for those of forces and of frames, (m, s, 3) each."""
        push, size, normal = self._push
        spread, square = self.particles.shape[1], size**2
        d_push = -d_forces[:, : self.leading].sum(axis=1)
        along = np.einsum("ei,ei->e", normal, d_push)
        d_normal = (d_push - along[:, None] * normal) / size[:, None]
        d_own = np.einsum("esi,ei->es", d_forces, push)
        d_own += np.einsum("esi,ei->es", self._forces, d_push)
        d_own = -d_own / square[:, None]
        d_own -= 2.0 * self._weights * (np.einsum("ei,ei->e", push, d_push) / square)[:, None]
        changes = np.zeros((len(size), 5 + spread))
        changes[:, 0] = self.coefficients * along
        changes[:, 1:4] = d_normal
        np.put_along_axis(changes, 4 + self.places, d_own, axis=1)
        if d_vectors is not None:
            vectors, squares, radius = self._frame_vectors
            heights = np.einsum("eki,ei->ek", vectors, normal)
            rises = np.einsum("eki,ei->ek", d_vectors, normal)
            rises += np.einsum("eki,ei->ek", vectors, d_normal)
            growth = 2.0 * np.einsum("eki,eki->ek", vectors, d_vectors) / squares
            arms = -radius[:, None] * (rises - heights * growth) / squares
            changes[:, 9:12] = arms
            changes[:, 8] = -arms.sum(axis=1)
        return changes

    def add_coupling(self, matrix: BlockMatrix, x: Float, y: Float, h: float) -> None:
        """Add (∂F/∂P)(∂P/∂q) to a matrix, with friction evaluated as in `place`.

        Only blocks in its pattern: others belong to held particles.
        """
        m, s = self.part.elements.shape
        directions = np.eye(3 * s).reshape(-1, s, 3)
        count = len(directions)
        # All directions at once: evaluating a formula on a few elements costs as much as on many.
        at = _repeat(self.at, count)
        none = np.zeros((m * count, self.at.p.shape[1]))
        d_forces = push_gradient(self.part, at, np.tile(directions, (m, 1, 1)), none)
        changes = [
            self._push_measures(part, np.zeros((m, 3, 3)) if self.turns else None)
            for part in d_forces.reshape(m, count, s, 3).transpose(1, 0, 2, 3)
        ]
        every = np.stack(changes, axis=1).reshape(m * count, -1)
        place = _repeat(self.place(x, y, h), count)
        still = np.zeros_like(place.x)
        blocks = self.law.push_force(place, still, still, every, 0.0)
        spread = self.particles.shape[1]
        blocks = blocks.reshape(m, s, 3, spread, 3).transpose(0, 3, 1, 4, 2)
        n, pattern = len(self.x), matrix.pattern
        known = pattern.rows.astype(np.int64) * n + pattern.indices
        wanted = self.particles[:, :, None] * n + self.part.elements[:, None, :]
        slots = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
        has = known[slots] == wanted
        np.add.at(matrix.data, slots[has], blocks[has])


def _repeat(at: Place, count: int) -> Place:
    """Return each element so many times."""
    x, y, p = (np.repeat(array, count, axis=0) for array in (at.x, at.y, at.p))
    return Place(x, y, at.h, p)


def list_sliding(
    contact: Contact, contacts: Iterable[tuple[ContactTerm, Part]], x: Float, form: FormName
) -> list[Sliding]:
    """Return the contacts that push at positions x [m], (n, 3), by law.

    contacts : terms and parts of the laws of contact there
    """
    found = []
    every = np.array([*(pair.coefficient for pair in contact.friction_pairs), contact.friction])
    for term, part in contacts:
        forces = part.products.slopes(part.place(x, x, 0.0, 0.0))[0]
        push = forces[:, : term.leading].sum(axis=1)
        acts = np.einsum("ei,ei->e", push, push) > 0.0
        numbers = find_friction_pairs(contact, term, len(x))
        frames = find_frames(contact, term.pairs, len(x))
        for turns in (False, True):
            rows = np.flatnonzero(acts & ((frames >= 0) == turns))
            if not len(rows):
                continue
            particles = term.pairs[rows]
            if turns:
                particles = np.concatenate([particles, contact.frames[frames[rows], 1:]], axis=1)
            found.append(
                Sliding(
                    contact,
                    part.of(rows),
                    x,
                    term.leading,
                    particles,
                    term.places[rows],
                    every[numbers[rows]],
                    numbers[rows],
                    turns,
                    form,
                )
            )
    return found


def pull_friction(
    sliding: list[Sliding], at: tuple[Float, Float, float], z: Float, sums: Sums
) -> tuple[Float, Float, float, Float]:
    """Return the gradient of z·F by x and y, (n, 3), by h, and by where contacts push, (n, 3).

    at : x, y and h, as in `Sliding.place`
    """
    (x, y, h), by_h = at, 0.0
    by_x, by_y, by_q = np.zeros_like(x), np.zeros_like(x), np.zeros_like(x)
    for group in sliding:
        pulled = group.law.pull_force(group.place(x, y, h), z[group.particles])
        np.add.at(by_x, group.particles, pulled.x)
        np.add.at(by_y, group.particles, pulled.y)
        by_h += float(pulled.h.sum())
        group.pull_parameters(pulled.p, by_q, sums)
    return by_x, by_y, by_h, by_q


def push_friction(
    sliding: list[Sliding],
    at: tuple[Float, Float, float],
    changes: tuple[Float, Float, float, Float],
    moves: Mapping[str, Float],
) -> Float:
    """Return the change of F, (n, 3).

    at : x, y and h, as in `Sliding.place`; changes : of these and of where contacts push
    moves : of parameters
    """
    (x, y, h), (dx, dy, dh, dq) = at, changes
    total = np.zeros_like(x)
    for group in sliding:
        dp, e = group.push_parameters(dq, moves[CONTACT_NAME]), group.particles
        np.add.at(total, e, group.law.push_force(group.place(x, y, h), dx[e], dy[e], dp, dh))
    return total
