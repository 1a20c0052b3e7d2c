"""One law in one form on its active elements, and what its kernels read."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from taut.formula.outer import Total
from taut.formula.placed import Placed, raise_if_bad
from taut.formula.variant import FormName
from taut.system.blocks import Rank
from taut.system.state import State

Float = NDArray[np.float64]
Int = NDArray[np.int64]


class Term:
    """One law in one form on its active elements, with its places in the buffers."""

    def __init__(self, name: str, placed: Placed, form: FormName, active: NDArray[np.bool_] | None) -> None:
        self.name, self.placed, self.form = name, placed, form
        self.variant = placed.variant(form)
        self.active = None if active is None or active.all() else np.flatnonzero(active)
        self.elements: Int = placed.elements if self.active is None else np.ascontiguousarray(placed.elements[self.active])
        self._selected: tuple[float, Float] | None = None
        kernel = self.variant.gradient
        self.pair: Float | None = None if kernel.pair is None else np.array(kernel.pair)
        self.vectors, self.blocks = kernel.vectors, kernel.blocks
        self.outer = self.variant.outer
        self.rank: Rank | None = None
        self.total: Total | None = None  # of an energy of a total: what it came to in the last evaluation
        self.constant = form == "energy" and not self.stiff  # whether its gradient is the same everywhere
        self.settled: Float | None = None  # if so, the parameters for which it has been computed
        self.energy = np.zeros(len(self.elements))

    @property
    def stiff(self) -> bool:
        """Whether it has a Hessian other than zero."""
        return self.blocks > 0 or self.outer is not None

    def parameters(self, t: float) -> Float:
        """Of its elements at time t [s], packed, shape (m, width). Not to be written to."""
        packed = self.placed.packed(t)
        if self.active is None:
            return packed
        if self._selected is None or (self.placed.timed and self._selected[0] != t):
            self._selected = (t, np.ascontiguousarray(packed[self.active]))
        return self._selected[1]

    def raise_if_bad(self, bad: Int) -> None:
        """Name the first element whose results were not finite, if there is one, by its number among all of the law."""
        original = bad if self.active is None else np.where(bad >= 0, self.active[np.maximum(bad, 0)], -1)
        raise_if_bad(self.name, self.placed.elements, original)


def near_origin(term: Term, x: Float) -> Float:
    """The positions that a term's kernel reads: those of an energy of a total that no shift changes are taken from their middle, so
    that shares of it do not grow, and cancel, with the distance from the origin."""
    if term.outer is None or term.placed.law.invariant is None or not len(term.elements):
        return x
    return x - x[term.elements].mean(axis=(0, 1))


@dataclass
class Inputs:
    """What the kernels read: the differentiated positions (or velocities), the frozen ones, the step and the time."""

    x: Float
    y: Float
    h: float
    t: float

    @staticmethod
    def at(state: State, t: float | None = None) -> Inputs:
        """For energies: a state's positions, with parameters at its time or another."""
        return Inputs(state.q, state.q, 0.0, state.t if t is None else t)

    @staticmethod
    def rates(state: State, t: float | None = None) -> Inputs:
        """For damping laws as rates: a state's velocities, at its positions."""
        return Inputs(state.v, state.q, 0.0, state.t if t is None else t)
