"""Friction of the contacts at one state: what a step holds while it minimises.

Normal forces, normals and weights are those of given positions; a step repeats its minimisation
with those of its result until its residual, with the new ones, is within tolerance.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from taut.arrays import Float, Int
from taut.binding.compiled_law import CompiledLaw, FormName
from taut.binding.placed_law import raise_if_not_finite
from taut.laws.contact_friction import contact_friction
from taut.system.contact import Contact
from taut.system.contact_search import ContactTerm

FRICTION_NAME = "friction"
_MAX_PARTICLES = 4  # of a contact


class FrictionTerm:
    """Friction on contacts of as many particles each: what an `Assembly` needs of a `Term`."""

    name = FRICTION_NAME
    outer = active = rank = total = None
    has_constant_gradient, has_hessian, is_load = False, True, False

    def __init__(
        self, compiled: CompiledLaw, form: FormName, elements: Int, parameters: Float, keys: Int
    ) -> None:
        self.compiled, self.form, self.elements, self.keys = compiled, form, elements, keys
        self._parameters = parameters
        self.pair = None if compiled.pair is None else np.array(compiled.pair)
        self.vectors, self.blocks = compiled.vectors, compiled.blocks
        self.energy = np.zeros(len(elements))

    def parameters(self, t: float) -> Float:
        """Return the parameters of its elements, (m, width); they do not depend on time."""
        return self._parameters

    def raise_if_bad(self, bad: Int) -> None:
        """Raise SingularState for the first element whose results are not finite."""
        raise_if_not_finite(self.name, self.elements, bad)


class Friction:
    """Contacts with their normal forces, frozen.

    groups : for 1, 2, 3 and 4 particles: elements (m, s), packed parameters of
        `laws.contact_friction` (m, width), keys (m,)
    """

    def __init__(self, groups: Sequence[tuple[Int, Float, Int]]) -> None:
        self.groups = tuple(groups)

    @staticmethod
    def none() -> Friction:
        """Return the friction of no contacts."""
        return Friction(
            [
                (np.empty((0, s), np.int64), np.empty((0, 5 + s)), np.empty(0, np.int64))
                for s in range(1, _MAX_PARTICLES + 1)
            ]
        )

    @staticmethod
    def at(contact: Contact, x: Float, terms: Sequence[ContactTerm], forces: Sequence[Float]) -> Friction:
        """Return the friction of contacts at positions x [m], (n, 3).

        terms : the contacts; forces : ∂V/∂x on the particles of each element [N], (m, s, 3)
        """
        found: list[list[tuple[Int, Float, Int]]] = [[] for _ in range(_MAX_PARTICLES)]
        for term, gradients in zip(terms, forces, strict=True):
            if not len(term.elements):
                continue
            weights = term.find_weights(x)
            # The force on the first side, of the particles with positive weights
            push = -np.einsum("es,esi->ei", (weights > 0.0).astype(float), gradients)
            size = np.sqrt(np.einsum("ei,ei->e", push, push))
            act = np.flatnonzero(size > 0.0)
            s = term.elements.shape[1]
            parameters = np.empty((len(act), 5 + s))
            parameters[:, 0] = contact.friction * size[act]
            parameters[:, 1:4] = push[act] / size[act, None]
            parameters[:, 4 : 4 + s] = weights[act]
            parameters[:, 4 + s] = contact.slip_speed
            found[s - 1].append((term.elements[act], parameters, term.keys[act]))
        groups = []
        for s, parts in enumerate(found, start=1):
            groups.append(
                (
                    np.concatenate([np.empty((0, s), np.int64), *(p[0] for p in parts)]),
                    np.concatenate([np.empty((0, 5 + s)), *(p[1] for p in parts)]),
                    np.concatenate([np.empty(0, np.int64), *(p[2] for p in parts)]),
                )
            )
        return Friction(groups)

    def terms(self, form: FormName) -> list[FrictionTerm]:
        """Return the terms of an assembly: as increments of an implicit step, or as rates."""
        terms = []
        for s, (elements, parameters, keys) in enumerate(self.groups, start=1):
            widths = {"force": None, "normal": 3, "weights": s, "speed": None}
            compiled = contact_friction.compile(form, s, widths)
            terms.append(FrictionTerm(compiled, form, elements, parameters, keys))
        return terms
