"""Derivatives of all forces of a system, in products with vectors.

The unbalanced force of a stage is made of

    g = ∂V/∂q + ∂Ψ/∂v + D v - f,    D = αM + βK⁺ (Rayleigh, K⁺ projected), f the held loads.

For a given z, a method `pull_…` returns the gradient of z·g by the positions and velocities that
its part depends on, and adds that by the parameters to `Sums`; for given changes, `push_…` returns
the change of g.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from taut.arrays import Float, Int, Mask
from taut.binding.compiled_law import CompiledLaw, FormName
from taut.binding.law_products import LawProducts, Place, Pulled, products_of, pull_projection
from taut.binding.placed_law import PlacedLaw
from taut.system.system import System
from taut.system.workspace import workspace_for

# Of a step: the spacing of the points from which functions of time are differentiated. The error of
# the five points is of fourth order in it, their rounding that of the function over it.
_TIME_SPACING = 0.05
# How far, relative to their size, elements near a kink are stretched and compressed, and by which
# part their stiffness must differ between the two to be a kink
_KINK_STEP, _KINK_JUMP = 1e-6, 1e-3
# Parts of (f(t + 2δ), f(t + δ), f(t - δ), f(t - 2δ))/δ in the slope of f at t
_TIME_WEIGHTS = ((2.0, -1 / 12), (1.0, 2 / 3), (-1.0, -2 / 3), (-2.0, 1 / 12))


@dataclass
class Sums:
    """A gradient by the parameters of all laws, added up.

    packed : by the packed parameters of each law, (m, width), by its name
    mass : by the masses in inertia and Rayleigh damping, (n,)
    alpha, beta : by the coefficients of Rayleigh damping
    times : whether functions of time are differentiated too
    """

    packed: dict[str, Float] = field(default_factory=dict)
    mass: Float = field(default_factory=lambda: np.zeros(0))
    alpha: float = 0.0
    beta: float = 0.0
    times: bool = False

    @staticmethod
    def of(system: System, *, times: bool) -> Sums:
        """Return sums of zero for a system."""
        packed = {}
        for group in system._groups():
            for name, placed in group.items():
                packed[name] = np.zeros_like(placed.parameters.pack(0.0))
        return Sums(packed, np.zeros(system.n), times=times)


@dataclass(frozen=True, eq=False)
class _Part:
    """One law in one form on its active elements; of contact, without parameters to report."""

    name: str
    compiled: CompiledLaw
    elements: Int
    rows: Int | None
    placed: PlacedLaw | None
    fixed: Float | None = None  # parameters of contact

    @property
    def products(self) -> LawProducts:
        return products_of(self.compiled)

    def parameters(self, t: float) -> Float:
        """Return packed parameters at t [s], (m, width)."""
        if self.placed is None:
            assert self.fixed is not None
            return self.fixed
        packed = self.placed.parameters.pack(t)
        return packed if self.rows is None else packed[self.rows]

    def place(self, x: Float, y: Float, h: float, t: float) -> Place:
        """Return where the elements are, for positions x and y (n, 3)."""
        return Place(self.relate(x[self.elements]), y[self.elements], h, self.parameters(t))

    def relate(self, vectors: Float) -> Float:
        """Return positions (m, s, 3) as an assembly reads them, and their gradients or changes.

        Of an invariant energy of a total they are relative to their mean: shares of it would grow
        with the distance from the origin. Each share, and its projected Hessian, depends on the
        mean; the map is its own transpose.
        """
        if self.compiled.outer is None or self.placed is None:
            return vectors
        if self.placed.law.invariant is None:
            return vectors
        return vectors - vectors.mean(axis=(0, 1))

    def add(self, slopes: Float, t: float, h: float, sums: Sums) -> float:
        """Add a gradient by packed parameters, (m, width); return that by the time."""
        if self.placed is None:
            return 0.0
        total = sums.packed[self.name]
        if self.rows is None:
            total += slopes
        else:
            total[self.rows] += slopes
        if not sums.times or not self.placed.parameters.time_dependent:
            return 0.0
        return float(np.einsum("mj,mj->", slopes, self.time_slopes(t, h)))

    def time_slopes(self, t: float, h: float) -> Float:
        """Return the slopes of packed parameters with time, (m, width), in a step of h [s]."""
        assert self.placed is not None
        if not self.placed.parameters.time_dependent:
            return np.zeros_like(self.parameters(t))
        return differentiate_in_time(self.parameters, t, h)

    def changes(self, moves: Mapping[str, Float], t: float, dt: float, h: float) -> Float:
        """Return the changes of packed parameters, (m, width).

        moves : of parameters by law; dt : of the time [s]
        """
        if self.placed is None:
            return np.zeros_like(self.parameters(t))
        total = moves[self.name]
        if self.rows is not None:
            total = total[self.rows]
        if dt and self.placed.parameters.time_dependent:
            total = total + dt * self.time_slopes(t, h)
        return total


def differentiate_in_time(function: Callable[[float], Float], t: float, h: float) -> Float:
    """Return the slope of a function of time at t [s], from five points within a tenth of h [s].

    >>> float(differentiate_in_time(lambda t: np.array(t**3), 1.0, 0.1).round(9))
    3.0
    """
    spacing = _TIME_SPACING * h
    parts = [w / spacing * function(t + s * spacing) for s, w in _TIME_WEIGHTS]
    return np.asarray(sum(parts[1:], parts[0]))


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

    def _list(self, laws: Mapping[str, PlacedLaw], form: FormName) -> list[_Part]:
        parts = []
        for name, placed in laws.items():
            mask, rows, elements = self.active.get(name), None, placed.elements
            if mask is not None and not mask.all():
                rows = np.flatnonzero(mask)
                elements = placed.elements[rows]
            if len(elements):
                parts.append(_Part(name, placed.forms[form], elements, rows, placed))
        return parts

    def energies_at(self, q: Float) -> list[_Part]:
        """Return the energies, with the contacts at positions q [m], (n, 3)."""
        if self.system.contact is None:
            return self._energies
        search = workspace_for(self.system).contact_search
        terms = [term for term in search.find_terms(np.array(q)) if len(term.elements)]
        contacts = [
            _Part(term.name, term.compiled, term.elements, None, None, term.parameters(0.0))
            for term in terms
        ]
        return [*self._energies, *contacts]

    @property
    def parts_of_energy(self) -> list[_Part]:
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
            pulled = _pull_gradient(part, at, factor * z[part.elements])
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
            pulled = _pull_stiffness(part, at, a, b, project=project)
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
            total += self._gather(part, _push_gradient(part, at, dq[part.elements], dp))
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
            change = _push_stiffness(part, at, right[e], dq[e], dp, project=project)
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

    def _gather(self, part: _Part, vectors: Float) -> Float:
        """Add vectors of elements, (m, s, 3), up at their particles, in a fixed order."""
        total, particles = np.empty((self.n, 3)), part.elements.ravel()
        for k in range(3):
            weights = np.ascontiguousarray(vectors[:, :, k]).ravel()
            total[:, k] = np.bincount(particles, weights, minlength=self.n)
        return total


def _shares(part: _Part, at: Place) -> tuple[Float, Float, Float]:
    """Return m, ∂m/∂x and ∂m/∂p of the elements of an energy of a total."""
    slopes, by_p = part.products.slopes(at)
    return part.products.values(at), slopes, by_p


def _spread(by_column: Float, m: int) -> Float:
    """Return a gradient by a parameter that all elements share, (m, width)."""
    return np.tile(by_column / m, (m, 1))


def _pull_gradient(part: _Part, at: Place, z: Float) -> Pulled:
    """Return the gradient of z·∂V/∂x; V = Φ(S) of an energy of a total."""
    pulled = part.products.pull_force(at, z)
    if part.compiled.outer is None:
        return pulled
    shares, slopes, by_p = _shares(part, at)
    outer = part.compiled.outer.evaluate(part.name, shares, at.p)
    _, first_by_p, _ = part.compiled.outer.slopes(shares, at.p)
    along = float(np.einsum("mpi,mpi->", z, slopes))
    x = outer.first * pulled.x + outer.second * along * slopes
    p = outer.first * pulled.p + outer.second * along * by_p + _spread(along * first_by_p, len(z))
    return Pulled(part.relate(x), pulled.y, p, pulled.h)


def _push_gradient(part: _Part, at: Place, dx: Float, dp: Float) -> Float:
    """Return the change of ∂V/∂x, (m, s, 3)."""
    dx = part.relate(dx)
    change = part.products.push_force(at, dx, np.zeros_like(dx), dp, 0.0)
    if part.compiled.outer is None:
        return change
    shares, slopes, by_p = _shares(part, at)
    outer = part.compiled.outer.evaluate(part.name, shares, at.p)
    _, first_by_p, _ = part.compiled.outer.slopes(shares, at.p)
    growth = float(np.einsum("mpi,mpi->", slopes, dx) + np.einsum("mj,mj->", by_p, dp))
    first = outer.second * growth + float(first_by_p @ dp.mean(axis=0))
    return outer.first * change + first * slopes


def _pull_stiffness(part: _Part, at: Place, a: Float, b: Float, *, project: bool) -> Pulled:
    """Return the gradient of a·∂²V/∂x²·b, all parts of an energy of a total included."""
    products = part.products
    if part.compiled.outer is None:
        return products.pull_hessian(at, a, b, project=project)
    shares, slopes, by_p = _shares(part, at)
    outer = part.compiled.outer.evaluate(part.name, shares, at.p)
    third, first_by_p, second_by_p = part.compiled.outer.slopes(shares, at.p)
    hessians, weights = products.hessian(at, project=False), products.weigh(a, b)
    second = outer.second
    if project:
        weights = pull_projection(outer.first * hessians, weights)
        if second < 0.0:
            second, third, second_by_p = 0.0, 0.0, 0.0 * second_by_p
    inner = products.pull_weighted(at, outer.first * weights)
    along_a = float(np.einsum("mpi,mpi->", slopes, a))
    along_b = float(np.einsum("mpi,mpi->", slopes, b))
    # Of dΦ' and of dΦ''
    by_first = float(np.einsum("mij,mij->", weights, hessians))
    by_second = along_a * along_b
    by_total = by_first * outer.second + by_second * third
    pulled = products.pull_force(at, second * (along_b * a + along_a * b))
    x = inner.x + by_total * slopes + pulled.x
    p = inner.p + by_total * by_p + pulled.p
    p = p + _spread(by_first * first_by_p + by_second * second_by_p, len(a))
    return Pulled(part.relate(x), inner.y, p, inner.h)


def _push_stiffness(
    part: _Part, at: Place, b: Float, dx: Float, dp: Float, *, project: bool
) -> Float:
    """Return the change of ∂²V/∂x²·b, (m, s, 3)."""
    products, dx = part.products, part.relate(dx)
    moves = (dx, np.zeros_like(dx), dp)
    if part.compiled.outer is None:
        return products.push_hessian(at, b, moves, project=project)
    shares, slopes, by_p = _shares(part, at)
    outer = part.compiled.outer.evaluate(part.name, shares, at.p)
    third, first_by_p, second_by_p = part.compiled.outer.slopes(shares, at.p)
    growth = float(np.einsum("mpi,mpi->", slopes, dx) + np.einsum("mj,mj->", by_p, dp))
    shared = dp.mean(axis=0)
    d_first = outer.second * growth + float(first_by_p @ shared)
    d_second = third * growth + float(second_by_p @ shared)
    hessians = products.hessian(at, project=False)
    change = outer.first * products.change_hessian(at, moves) + d_first * hessians
    second = outer.second
    if project:
        change = pull_projection(outer.first * hessians, change)
        if second < 0.0:
            second = d_second = 0.0
    d_slopes = products.push_force(at, *moves, 0.0)
    along = float(np.einsum("mpi,mpi->", slopes, b))
    d_along = float(np.einsum("mpi,mpi->", d_slopes, b))
    low_rank = (d_second * along + second * d_along) * slopes + second * along * d_slopes
    result: Float = products.multiply(change, b) + low_rank
    return result


def find_kinks(
    parts: Sequence[_Part], x: Float, y: Float, h: float, t: float, margin: float
) -> list[tuple[str, int]]:
    """Return (law, element) of elements whose stiffness jumps within a relative margin.

    Those near a comparison of their formula are tested: many compare without a jump.
    """
    found = []
    for part in parts:
        if not part.products.has_kinks:
            continue
        at = part.place(x, y, h, t)
        near = np.flatnonzero(part.products.measure_kinks(at) <= margin)
        if not len(near):
            continue
        jumps = near[_has_jump(part, Place(at.x[near], at.y[near], h, at.p[near]))]
        rows = jumps if part.rows is None else part.rows[jumps]
        found += [(part.name, int(row)) for row in rows]
    return found


def _has_jump(part: _Part, at: Place) -> Mask:
    """Whether the stiffness of elements differs between two places close to them, (m,)."""
    moves = at.x - at.x.mean(axis=1, keepdims=True)
    z = np.cos(np.arange(at.x[0].size, dtype=np.float64)).reshape(at.x[0].shape) + 0.0 * at.x
    sides = [
        part.products.pull_force(at._replace(x=at.x + step * moves), z).x
        for step in (_KINK_STEP, -_KINK_STEP)
    ]
    change = np.abs(sides[0] - sides[1]).max(axis=(1, 2))
    size = np.maximum(np.abs(sides[0]), np.abs(sides[1])).max(axis=(1, 2))
    return np.asarray(change > _KINK_JUMP * size)
