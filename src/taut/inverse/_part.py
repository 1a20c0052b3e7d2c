"""One law on its elements, for products of its derivatives; energies of a total included.

V = Φ(S) of a total S = Σ m over all elements has

    ∂V/∂x = Φ' ∂m/∂x,    ∂²V/∂x² = Φ' ∂²m/∂x² + Φ'' g gᵀ,  g = Σ ∂m/∂x,

so that products of its derivatives need the third derivative of Φ, and those of Φ' and Φ'' by
parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from taut.arrays import Float, Int
from taut.binding.compiled_law import CompiledLaw
from taut.binding.law_products import LawProducts, Place, Pulled, products_of, pull_projection
from taut.binding.placed_law import PlacedLaw
from taut.system.contact import CONTACT_NAME
from taut.system.system import System

# Of a step: the spacing of the points from which functions of time are differentiated. The error of
# the five points is of fourth order in it, their rounding that of the function over it.
_TIME_SPACING = 0.05
# Parts of (f(t + 2δ), f(t + δ), f(t - δ), f(t - 2δ))/δ in the slope of f at t
_TIME_WEIGHTS = ((2.0, -1 / 12), (1.0, 2 / 3), (-1.0, -2 / 3), (-2.0, 1 / 12))


@dataclass
class Sums:
    """A gradient by the parameters of all laws, added up.

    packed : by the packed parameters of each law, (m, width), by its name
    mass : by the masses in inertia and Rayleigh damping, (n,)
    alpha, beta : by the coefficients of Rayleigh damping
    contact : by stiffness, range, friction and slip speed of contact, and by the friction of each
        pair of groups, (4 + pairs,)
    times : whether functions of time are differentiated too
    """

    packed: dict[str, Float] = field(default_factory=dict)
    mass: Float = field(default_factory=lambda: np.zeros(0))
    alpha: float = 0.0
    beta: float = 0.0
    times: bool = False
    contact: Float = field(default_factory=lambda: np.zeros(4))

    @staticmethod
    def of(system: System, *, times: bool) -> Sums:
        """Return sums of zero for a system."""
        packed = {}
        for group in system._groups():
            for name, placed in group.items():
                packed[name] = np.zeros_like(placed.parameters.pack(0.0))
        contact = np.zeros(count_contact_columns(system))
        return Sums(packed, np.zeros(system.n), times=times, contact=contact)


def count_contact_columns(system: System) -> int:
    """Return how many numbers the gradient by contact has (see `Sums`)."""
    return 4 + (0 if system.contact is None else len(system.contact.friction_pairs))


@dataclass(frozen=True, eq=False)
class Part:
    """One law in one form on its active elements, or one law of contact on its pairs.

    fixed, by_range : parameters of contact, and their derivatives by its range, (m, width)
    """

    name: str
    compiled: CompiledLaw
    elements: Int
    rows: Int | None
    placed: PlacedLaw | None
    fixed: Float | None = None
    by_range: Float | None = None

    def of(self, rows: Int) -> Part:
        """Return a law of contact on some of its pairs."""
        assert self.fixed is not None
        assert self.by_range is not None
        fixed, by_range = self.fixed[rows], self.by_range[rows]
        return replace(self, elements=self.elements[rows], fixed=fixed, by_range=by_range)

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
            assert self.by_range is not None
            sums.contact[0] += float(slopes[:, 0].sum())
            sums.contact[1] += float(np.einsum("mj,mj->", slopes, self.by_range))
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
            assert self.by_range is not None
            stiffness, reach = moves[CONTACT_NAME][:2]
            change = reach * self.by_range
            change[:, 0] += stiffness
            return change
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


def _shares(part: Part, at: Place) -> tuple[Float, Float, Float]:
    """Return m, ∂m/∂x and ∂m/∂p of the elements of an energy of a total."""
    slopes, by_p = part.products.slopes(at)
    return part.products.values(at), slopes, by_p


def _spread(by_column: Float, m: int) -> Float:
    """Return a gradient by a parameter that all elements share, (m, width)."""
    return np.tile(by_column / m, (m, 1))


def pull_gradient(part: Part, at: Place, z: Float) -> Pulled:
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


def push_gradient(part: Part, at: Place, dx: Float, dp: Float) -> Float:
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


def pull_stiffness(part: Part, at: Place, a: Float, b: Float, *, project: bool) -> Pulled:
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


def push_stiffness(
    part: Part, at: Place, b: Float, dx: Float, dp: Float, *, project: bool
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
