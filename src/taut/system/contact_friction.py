"""Friction of the contacts at one state: what a step holds while it minimises.

Normal forces, normals and weights are those of given positions; a step repeats its minimisation
with those of its result until its residual, with the new ones, is within tolerance.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np

from taut.arrays import Float, Int
from taut.binding.compiled_law import CompiledLaw, FormName
from taut.laws.contact_friction import contact_friction
from taut.system.contact import Contact
from taut.system.contact_pairs import attach_frames, find_coefficients, find_frames
from taut.system.contact_terms import ContactTerm
from taut.system.terms import ConstantTerm

FRICTION_NAME = "friction"
# Particles of a contact with a plane, of a pair, and of a pair with an obstacle that turns: the
# origin and the ends of its frame follow those of the pair.
_SIZES = (1, 4, 8)


class Friction:
    """Contacts with their normal forces, frozen.

    groups : of planes, of pairs, and of pairs with an obstacle that turns, each with their
        particles, (m, 1), (m, 4) and (m, 8), packed parameters of `laws.contact_friction`
        (m, width), and keys (m,)
    """

    def __init__(self, groups: Sequence[tuple[Int, Float, Int]]) -> None:
        self.groups = tuple(groups)

    @staticmethod
    def none() -> Friction:
        """Return the friction of no contacts."""
        none = np.empty(0, np.int64)
        return Friction([(np.empty((0, s), np.int64), np.empty((0, 5 + s)), none) for s in _SIZES])

    @staticmethod
    def at(
        contact: Contact, x: Float, terms: Sequence[ContactTerm], forces: Sequence[Float]
    ) -> Friction:
        """Return the friction of contacts at positions x [m], (n, 3).

        terms : the contacts; forces : ∂V/∂x on the particles of each element [N], (m, s, 3)
        """
        none = Friction.none()
        found = {s: [group] for s, group in zip(_SIZES, none.groups, strict=True)}
        for term, gradients in zip(terms, forces, strict=True):
            weights = term.find_weights(x)
            own = np.take_along_axis(weights, term.places, axis=1)
            # The force on the first side, whose weights are positive
            push = -np.einsum("es,esi->ei", (own > 0.0).astype(np.float64), gradients)
            size = np.sqrt(np.einsum("ei,ei->e", push, push))
            force = find_coefficients(contact, term, len(x)) * size
            act = np.flatnonzero(force > 0.0)
            normals = push[act] / size[act, None]
            pairs, weights = term.pairs[act], weights[act]
            frames = find_frames(contact, pairs, len(x))
            for which, is_turning in ((frames < 0, False), (frames >= 0, True)):
                own_pairs, own_weights, normal = pairs[which], weights[which], normals[which]
                if is_turning:
                    more, extra = attach_frames(contact, frames[which], normal, x)
                    own_pairs = np.concatenate([own_pairs, more], axis=1)
                    own_weights = np.concatenate([own_weights, extra], axis=1)
                s = own_pairs.shape[1]
                parameters = np.empty((len(own_pairs), 5 + s))
                parameters[:, 0] = force[act][which]
                parameters[:, 1:4] = normal
                parameters[:, 4 : 4 + s] = own_weights
                parameters[:, 4 + s] = contact.slip_speed
                if len(own_pairs):
                    found[s].append((own_pairs, parameters, term.keys[act][which]))
        groups = []
        for s in _SIZES:
            pairs, parameters, keys = (np.concatenate(list(p)) for p in zip(*found[s], strict=True))
            order = np.argsort(keys, kind="stable")
            groups.append((pairs[order], parameters[order], keys[order]))
        return Friction(groups)

    def blend(self, newer: Friction, part: float) -> Friction:
        """Return friction between this (part 0) and newer one (part 1), pair by pair."""
        groups = []
        for (pairs, old, keys), (new_pairs, new, new_keys) in zip(
            self.groups, newer.groups, strict=True
        ):
            every, first = np.unique(np.concatenate([new_keys, keys]), return_index=True)
            mixed = np.concatenate([new, old])[first]
            at_new, at_old = np.searchsorted(every, new_keys), np.searchsorted(every, keys)
            forces = np.zeros(len(every))
            forces[at_new] = part * new[:, 0]
            forces[at_old] += (1.0 - part) * old[:, 0]
            # Pairs of both: normal and weights between the two.
            both = np.intersect1d(at_new, at_old, assume_unique=True)
            n, o = np.searchsorted(at_new, both), np.searchsorted(at_old, both)
            mixed[both] = part * new[n] + (1.0 - part) * old[o]
            length = np.sqrt(np.einsum("ei,ei->e", mixed[:, 1:4], mixed[:, 1:4]))
            mixed[:, 1:4] /= np.where(length > 0.0, length, 1.0)[:, None]
            mixed[:, 0] = forces
            groups.append((np.concatenate([new_pairs, pairs])[first], mixed, every))
        return Friction(groups)

    def terms(self, form: FormName) -> list[ConstantTerm]:
        """Return the terms of an assembly: as increments of an implicit step, or as rates."""
        terms = []
        for s, (elements, parameters, keys) in zip(_SIZES, self.groups, strict=True):
            if s == 8 and not len(elements):
                continue  # few systems have obstacles that turn; their kernels are large
            compiled = compile_friction(form, s)
            terms.append(ConstantTerm(FRICTION_NAME, form, compiled, elements, parameters, keys))
        return terms


@cache
def compile_friction(form: FormName, s: int) -> CompiledLaw:
    """Return the compiled law of contacts of s particles.

    Kept: to derive it took half the time of a step of a small cloth.
    """
    shapes = {"force": (), "normal": (3,), "weights": (s,), "speed": ()}
    return contact_friction.compile(form, s, shapes)
