"""Derivatives of all forces of a system, in products with vectors.

The unbalanced force of a stage is made of

    g = ∂V/∂q + ∂Ψ/∂v + D v - f,    D = αM + βK⁺ (Rayleigh, K⁺ projected), f the held loads.

For a given z, a method `pull_…` returns the gradient of z·g by the positions and velocities that
its part depends on, and adds that by the parameters to `Sums`; for given changes, `push_…` returns
the change of g.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from taut.arrays import Float, Mask
from taut.binding.compiled_law import FormName
from taut.binding.placed_law import PlacedLaw
from taut.inverse._friction import Sliding, list_sliding
from taut.inverse._part import (
    Part,
    Sums,
    pull_gradient,
    pull_stiffness,
    push_gradient,
    push_stiffness,
)
from taut.system.contact_terms import ContactTerm
from taut.system.system import System
from taut.system.workspace import workspace_for


class Forces:
    """The forces of a system with some elements active, for products of their derivatives.

    system : with the constraints that act, and with its loads
    active : masks of elements by law, as in a State
    h : the length of the step [s], within which functions of time are differentiated
    """

    def __init__(self, system: System, active: Mapping[str, Mask], h: float = 1.0) -> None:
        self.system, self.n, self.h = system, system.n, h
        self.active = dict(active)
        self._energies = self._list(system._placed_energies, "energy")
        self._rates = self._list(system._placed_damping, "rate")
        self._increments = self._list(system._placed_damping, "increment")

    def _list(self, laws: Mapping[str, PlacedLaw], form: FormName) -> list[Part]:
        parts = []
        for name, placed in laws.items():
            mask, rows, elements = self.active.get(name), None, placed.elements
            if mask is not None and not mask.all():
                rows = np.flatnonzero(mask)
                elements = placed.elements[rows]
            if len(elements):
                parts.append(Part(name, placed.forms[form], elements, rows, placed))
        return parts

    def energies_at(self, q: Float) -> list[Part]:
        """Return the energies, with the contacts at positions q [m], (n, 3)."""
        return [*self._energies, *(part for _, part in self._contacts_at(q))]

    def _contacts_at(self, q: Float) -> list[tuple[ContactTerm, Part]]:
        if self.system.contact is None:
            return []
        search = workspace_for(self.system).contact_search
        contacts = []
        for term in search.find_terms(np.array(q)):
            law = (term.name, term.compiled, term.elements)
            part = Part(*law, None, None, term.parameters(0.0), term.by_range)
            contacts.append((term, part))
        return contacts

    def sliding_at(self, q: Float, form: FormName) -> list[Sliding]:
        """Return the friction of the contacts at positions q [m], (n, 3)."""
        contact = self.system.contact
        if contact is None or not contact.has_friction:
            return []
        return list_sliding(contact, self._contacts_at(q), q, form)

    @property
    def parts_of_energy(self) -> list[Part]:
        """The energies of laws."""
        return self._energies

    def pull_energies(
        self, q: Float, t: float, z: Float, sums: Sums, factors: Mapping[str, float] | None = None
    ) -> tuple[Float, float]:
        """Return the gradient of z·∂V/∂q by q, (n, 3), and by t.

        factors : by which laws are multiplied, by name (default: 1)
        """
        total, by_time = np.zeros((self.n, 3)), 0.0
        for part in self.energies_at(q):
            factor = 1.0 if factors is None else factors.get(part.name, 1.0)
            at = part.place(q, q, 0.0, t)
            pulled = pull_gradient(part, at, factor * z[part.elements])
            total += self._gather(part, pulled.x)
            by_time += part.add(pulled.p, t, self.h, sums)
        return total, by_time

    def pull_rates(
        self, v: Float, q: Float, t: float, z: Float, sums: Sums
    ) -> tuple[Float, Float, float]:
        """Return the gradient of z·∂Ψ/∂v by v and q, (n, 3), and by t."""
        by_v, by_q, by_time = np.zeros((self.n, 3)), np.zeros((self.n, 3)), 0.0
        for part in self._rates:
            at = part.place(v, q, 0.0, t)
            pulled = part.products.pull_force(at, z[part.elements])
            by_v += self._gather(part, pulled.x)
            by_q += self._gather(part, pulled.y)
            by_time += part.add(pulled.p, t, self.h, sums)
        return by_v, by_q, by_time

    def pull_increments(
        self, q: Float, old: Float, h: float, t: float, z: Float, sums: Sums
    ) -> tuple[Float, Float, float, float]:
        """Return the gradient of z·∂(hΨ)/∂q by q and the old positions, (n, 3), by h and t."""
        by_q, by_old, by_h, by_time = np.zeros((self.n, 3)), np.zeros((self.n, 3)), 0.0, 0.0
        for part in self._increments:
            pulled = part.products.pull_force(part.place(q, old, h, t), z[part.elements])
            by_q += self._gather(part, pulled.x)
            by_old += self._gather(part, pulled.y)
            by_h += float(pulled.h.sum())
            by_time += part.add(pulled.p, t, self.h, sums)
        return by_q, by_old, by_h, by_time

    def pull_stiffness(
        self, q: Float, t: float, left: Float, right: Float, sums: Sums, *, project: bool,
        scale: float = 1.0,
    ) -> tuple[Float, float]:  # fmt: skip
        """Return the gradient of scale·left·K·right by q, (n, 3), and by t."""
        total, by_time = np.zeros((self.n, 3)), 0.0
        for part in self.energies_at(q):
            if part.compiled.is_linear:
                continue
            at = part.place(q, q, 0.0, t)
            a, b = scale * left[part.elements], right[part.elements]
            pulled = pull_stiffness(part, at, a, b, project=project)
            total += self._gather(part, pulled.x)
            by_time += part.add(pulled.p, t, self.h, sums)
        return total, by_time

    def pull_damping_matrix(
        self, v: Float, q: Float, t: float, left: Float, right: Float, sums: Sums
    ) -> tuple[Float, Float, float]:
        """Return the gradient of left·∂²Ψ/∂v²·right by v and q, (n, 3), and by t."""
        by_v, by_q, by_time = np.zeros((self.n, 3)), np.zeros((self.n, 3)), 0.0
        for part in self._rates:
            at = part.place(v, q, 0.0, t)
            a, b = left[part.elements], right[part.elements]
            pulled = part.products.pull_hessian(at, a, b, project=False)
            by_v += self._gather(part, pulled.x)
            by_q += self._gather(part, pulled.y)
            by_time += part.add(pulled.p, t, self.h, sums)
        return by_v, by_q, by_time

    def pull_rayleigh(
        self, matrix: Float, q: Float, t: float, v: Float, z: Float, sums: Sums
    ) -> tuple[Float, float]:
        """Return the gradient of z·D v by q, (n, 3), and by t, with D = αM + βK⁺ at q and t.

        matrix : K⁺v [N/m·m/s], (n, 3)
        """
        rayleigh = self.system._rayleigh
        assert rayleigh is not None
        along = np.einsum("ni,ni->n", z, v)
        sums.alpha += float(np.einsum("n,n->", self.system.mass, along))
        sums.mass += rayleigh.alpha * along
        sums.beta += float(np.einsum("ni,ni->", z, matrix))
        if not rayleigh.beta:
            return np.zeros((self.n, 3)), 0.0
        beta = rayleigh.beta
        return self.pull_stiffness(q, t, z, v, sums, project=True, scale=beta)

    def push_energies(
        self, q: Float, t: float, dq: Float, dt: float, moves: Mapping[str, Float]
    ) -> Float:
        """Return the change of ∂V/∂q, (n, 3)."""
        total = np.zeros((self.n, 3))
        for part in self.energies_at(q):
            at = part.place(q, q, 0.0, t)
            dp = part.changes(moves, t, dt, self.h)
            total += self._gather(part, push_gradient(part, at, dq[part.elements], dp))
        return total

    def push_rates(
        self,
        v: Float,
        q: Float,
        t: float,
        changes: tuple[Float, Float, float],
        moves: Mapping[str, Float],
    ) -> Float:
        """Return the change of ∂Ψ/∂v, (n, 3), with changes (dv, dq, dt)."""
        total, (dv, dq, dt) = np.zeros((self.n, 3)), changes
        for part in self._rates:
            at, dp = part.place(v, q, 0.0, t), part.changes(moves, t, dt, self.h)
            e = part.elements
            total += self._gather(part, part.products.push_force(at, dv[e], dq[e], dp, 0.0))
        return total

    def push_increments(
        self,
        q: Float,
        old: Float,
        h: float,
        t: float,
        changes: tuple[Float, Float, float, float],
        moves: Mapping[str, Float],
    ) -> Float:
        """Return the change of ∂(hΨ)/∂q, (n, 3), with changes (dq, dold, dh, dt)."""
        total, (dq, dold, dh, dt) = np.zeros((self.n, 3)), changes
        for part in self._increments:
            at, dp = part.place(q, old, h, t), part.changes(moves, t, dt, self.h)
            e = part.elements
            total += self._gather(part, part.products.push_force(at, dq[e], dold[e], dp, dh))
        return total

    def push_stiffness(
        self, q: Float, t: float, right: Float, dq: Float, dt: float, moves: Mapping[str, Float],
        *, project: bool,
    ) -> Float:  # fmt: skip
        """Return dK·right, (n, 3)."""
        total = np.zeros((self.n, 3))
        for part in self.energies_at(q):
            if part.compiled.is_linear:
                continue
            at, dp = part.place(q, q, 0.0, t), part.changes(moves, t, dt, self.h)
            e = part.elements
            change = push_stiffness(part, at, right[e], dq[e], dp, project=project)
            total += self._gather(part, change)
        return total

    def push_damping_matrix(
        self,
        v: Float,
        q: Float,
        t: float,
        right: Float,
        changes: tuple[Float, Float, float],
        moves: Mapping[str, Float],
    ) -> Float:
        """Return d(∂²Ψ/∂v²)·right, (n, 3), with changes (dv, dq, dt)."""
        total, (dv, dq, dt) = np.zeros((self.n, 3)), changes
        for part in self._rates:
            at, dp = part.place(v, q, 0.0, t), part.changes(moves, t, dt, self.h)
            e = part.elements
            total += self._gather(
                part, part.products.push_hessian(at, right[e], (dv[e], dq[e], dp), project=False)
            )
        return total

    def _gather(self, part: Part, vectors: Float) -> Float:
        """Add vectors of elements, (m, s, 3), up at their particles, in a fixed order."""
        total, particles = np.empty((self.n, 3)), part.elements.ravel()
        for k in range(3):
            weights = np.ascontiguousarray(vectors[:, :, k]).ravel()
            total[:, k] = np.bincount(particles, weights, minlength=self.n)
        return total
