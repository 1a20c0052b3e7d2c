"""Bounds of all forces and stiffnesses of a system over a box of positions.

The equations are those of an implicit Euler step,

    M (q' - q - h v)/h² + ∂V/∂q' + ∂(h Ψ)/∂q' = 0,

with the masses, parameters, positions and velocities that the computer holds, as exact numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from taut.arrays import Float, Int, Mask
from taut.binding.compiled_law import CompiledLaw
from taut.formula.expression import copy_into
from taut.formula.graph import Graph
from taut.formula.structure import Derivatives, derive
from taut.proof.interval_formula import as_array, bound, find_unbounded_operations
from taut.proof.intervals import Floating, Interval, add_up
from taut.system.terms import ElementTerm

_UNIT = 2.0**-53  # the largest relative error of one operation
# Of sums that are themselves rounded, however many terms they have: far more than their error.
_SLACK = 1.0 + 1e-9


class NoBoundError(Exception):
    """Somewhere in the box a law has no bound; the text says which and where."""


@dataclass(frozen=True, eq=False)
class StiffnessBounds:
    """A symmetric matrix, of which every entry is known up to a radius.

    rows, columns : of the entries, (k,); middle, radius : (k,); entries of one place add up
    """

    rows: Int
    columns: Int
    middle: Float
    radius: Float


class LawBounds:
    """One law on its elements: bounds of its energy's derivatives over boxes of positions."""

    def __init__(self, term: ElementTerm, frozen: Float, h: float, t: float) -> None:
        self.term, self._frozen, self._h = term, frozen, h
        self._parameters = term.parameters(t)
        self._derivatives = derive_expressions(term.compiled)
        unknown = find_unbounded_operations(self._roots)
        if unknown:
            raise NoBoundError(
                f"law '{term.name}' uses {', '.join(unknown)}, for which there are no bounds"
            )

    @property
    def _roots(self) -> list[Any]:
        d = self._derivatives
        first = [e for vector in d.gradient for e in vector]
        return [d.value, *first, *(e for block in d.hessian for row in block for e in row)]

    def gradient(self, q: Interval) -> tuple[Int, Interval]:
        """Return bounds of ∂V_e/∂q, (k,), and the coordinate that each is of, 3 i + component."""
        d = self._derivatives
        first = [d.value, *(e for vector in d.gradient for e in vector)]
        found = self._bound(first, q)
        m, s = self.term.elements.shape
        coordinates = 3 * self.term.elements[:, :, None] + np.arange(3)
        vectors = _columns(found, slice(1, None), (m, len(d.gradient), 3))
        if d.pair is not None:
            vectors = vectors * Interval.exactly(np.array(d.pair)[None, :, None])
        lo = np.broadcast_to(vectors.lo, (m, s, 3)).ravel()
        hi = np.broadcast_to(vectors.hi, (m, s, 3)).ravel()
        return coordinates.ravel(), Interval(lo, hi)

    def hessian(self, q: Interval) -> tuple[Int, Int, Interval]:
        """Return rows, columns and bounds of all entries of ∂²V_e/∂q², (k,) each."""
        d = self._derivatives
        found = self._bound(self._roots, q)
        m, s = self.term.elements.shape
        blocks = _columns(found, slice(1 + 3 * len(d.gradient), None), (m, len(d.hessian), 3, 3))
        if not d.hessian:
            return _EMPTY, _EMPTY, Interval(np.empty(0), np.empty(0))
        places = list(combinations_with_replacement(range(s), 2))
        rows, columns, ends = [], [], []
        coordinates = 3 * self.term.elements[:, :, None] + np.arange(3)
        for b, (p, r) in enumerate(places):
            if d.pair is None:
                block = Interval(blocks.lo[:, b], blocks.hi[:, b])
            else:
                c = Interval.exactly(d.pair[p]) * Interval.exactly(d.pair[r])
                block = Interval(blocks.lo[:, 0], blocks.hi[:, 0]) * c
            row = np.broadcast_to(coordinates[:, p, :, None], (m, 3, 3))
            column = np.broadcast_to(coordinates[:, r, None, :], (m, 3, 3))
            rows.append(row.ravel())
            columns.append(column.ravel())
            ends.append(block)
            if p != r:
                rows.append(column.ravel())
                columns.append(row.ravel())
                ends.append(block)
        lo = np.concatenate([block.lo.ravel() for block in ends])
        hi = np.concatenate([block.hi.ravel() for block in ends])
        return np.concatenate(rows), np.concatenate(columns), Interval(lo, hi)

    def _bound(self, roots: Sequence[Any], q: Interval) -> Interval:
        """Return bounds (m, len(roots)); raise where an element has none."""
        elements = self.term.elements
        m = len(elements)

        precision = q.lo.dtype

        def read(name: tuple[Any, ...]) -> Interval:
            match name[0]:
                case "x":
                    rows = elements[:, name[1]]
                    return Interval(q.lo[rows, name[2]], q.hi[rows, name[2]])
                case "y":
                    numbers = self._frozen[elements[:, name[1]], name[2]]
                case "w":
                    return self._combine(q, name[2])
                case "wy":
                    return self._combine(Interval.exactly(self._frozen), name[2])
                case "h":
                    numbers = np.asarray(self._h)
                case _:
                    numbers = self._parameters[:, name[3]]
            return Interval.exactly(numbers.astype(precision))

        found = as_array(bound(roots, read), m)
        bad = ~(np.isfinite(found.lo) & np.isfinite(found.hi)).all(axis=1)
        if bad.any():
            first = int(np.flatnonzero(bad)[0])
            raise NoBoundError(
                f"law '{self.term.name}': element {first} (particles {elements[first].tolist()}) "
                "has no bound here: it is near a place where the formula is not smooth, or where "
                "it divides by zero"
            )
        return found

    def _combine(self, q: Interval, component: int) -> Interval:
        """Return w = Σ c_p x_p of each element, (m,)."""
        assert self._derivatives.pair is not None
        total = Interval.exactly(0.0)
        for p, c in enumerate(self._derivatives.pair):
            rows = self.term.elements[:, p]
            x = Interval(q.lo[rows, component], q.hi[rows, component])
            if c == 1.0:
                total = total + x
            elif c == -1.0:
                total = total - x
            elif c:
                total = total + Interval.exactly(c) * x
        return total


_EMPTY: Int = np.empty(0, dtype=np.int64)


def _columns(found: Interval, columns: slice, shape: tuple[int, ...]) -> Interval:
    return Interval(found.lo[:, columns].reshape(shape), found.hi[:, columns].reshape(shape))


@lru_cache(maxsize=64)
def derive_expressions(compiled: CompiledLaw) -> Derivatives:
    """Return the derivatives of a law as the expressions that its compiled loops evaluate."""
    return derive(copy_into(Graph(), compiled.root), compiled.particles)


class StepEquations:
    """The equations of a step in the coordinates that constraints leave free.

    mass : (n,) [kg]; before, velocities : of the state before, (n, 3)
    free : mask of the free coordinates, (3n,)
    """

    def __init__(
        self,
        laws: Sequence[LawBounds],
        mass: Float,
        before: Float,
        velocities: Float,
        h: float,
        free: Mask,
    ) -> None:
        self.laws, self.free = list(laws), free
        self._mass, self._before, self._velocities, self._h = mass, before, velocities, h
        step = Interval.exactly(h)
        self.inertia = Interval.exactly(mass) / step.square()  # m/h² [N/m], (n,)
        self._number = np.cumsum(free) - 1  # of a free coordinate among the free ones

    def residual(self, new: Floating) -> Interval:
        """Return bounds of the unbalanced force [N] in the free coordinates at positions (n, 3).

        They have the precision of the positions, double or long double.
        """
        precision = new.dtype
        moved = Interval.exactly(new) - Interval.exactly(self._before.astype(precision))
        step = Interval.exactly(np.asarray(self._h).astype(precision))
        ahead = Interval.exactly(self._velocities.astype(precision)) * step
        mass = Interval.exactly(self._mass[:, None].astype(precision))
        per_row = mass / step.square()
        at, found = [np.arange(new.size)], [(moved - ahead) * per_row]
        q = Interval.exactly(new)
        for law in self.laws:
            coordinates, parts = law.gradient(q)
            at.append(coordinates)
            found.append(parts)
        together = Interval(
            np.concatenate([f.lo.ravel() for f in found]),
            np.concatenate([f.hi.ravel() for f in found]),
        )
        total = add_up(np.concatenate(at), together, new.size)
        return Interval(total.lo[self.free], total.hi[self.free])

    def hessian(self, q: Interval) -> StiffnessBounds:
        """Return bounds of the step's matrix in the free coordinates over a box (n, 3)."""
        everywhere = np.arange(q.lo.size)
        inertia = Interval(np.repeat(self.inertia.lo, 3), np.repeat(self.inertia.hi, 3))
        parts = [(everywhere, everywhere, inertia), *(law.hessian(q) for law in self.laws)]
        rows = np.concatenate([part[0] for part in parts])
        columns = np.concatenate([part[1] for part in parts])
        lo = np.concatenate([part[2].lo for part in parts])
        hi = np.concatenate([part[2].hi for part in parts])
        kept = self.free[rows] & self.free[columns]
        lo, hi = lo[kept], hi[kept]
        middle = 0.5 * lo + 0.5 * hi
        return StiffnessBounds(
            self._number[rows[kept]],
            self._number[columns[kept]],
            middle,
            _radius(lo, hi, middle),
        )


def _radius(lo: Float, hi: Float, middle: Float) -> Float:
    return np.nextafter(np.maximum(hi - middle, middle - lo), np.inf)


def add_entries(bounds: StiffnessBounds, scale: Float) -> csr_array:
    """Return the sum of the middles, scaled symmetrically, (d, d); `bound_deviation` has its
    rounding."""
    values = scale[bounds.rows] * bounds.middle * scale[bounds.columns]
    size = len(scale)
    return csr_array((values, (bounds.rows, bounds.columns)), shape=(size, size))


def bound_deviation(bounds: StiffnessBounds, middle: Float, scale: Float) -> float:
    """Return a bound on the norm of the difference from `add_entries` with other middles (k,).

    The difference is symmetric, so that its norm is at most its largest sum over a row.
    """
    lo, hi = bounds.middle - bounds.radius, bounds.middle + bounds.radius
    apart = np.maximum(np.abs(hi - middle), np.abs(middle - lo)) * _SLACK
    pair = scale[bounds.rows] * scale[bounds.columns]
    size = len(scale)
    count = np.bincount(bounds.rows, minlength=size)
    gross = np.bincount(bounds.rows, pair * np.abs(middle), minlength=size)
    # Each entry of the sum has at most as many terms as its row, and two roundings by the scales.
    rounding = _UNIT * (count + 2.0) * gross
    sums = np.bincount(bounds.rows, pair * apart, minlength=size) + rounding
    return float(sums.max(initial=0.0)) * _SLACK
