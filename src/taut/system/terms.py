"""Terms of a sum: one law in one form on elements, and lists of what is added up."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from taut.arrays import Float, Int, Mask, Short
from taut.binding.compiled_law import CompiledLaw, FormName, OuterValues
from taut.binding.placed_law import PlacedLaw, raise_if_not_finite
from taut.errors import ModelError
from taut.linalg.low_rank import RankOne
from taut.system.state import State

if TYPE_CHECKING:
    from taut.system.system import System


AssemblyKind = Literal["potential", "damping", "increments"]
"""Which laws an assembly adds up: the energies (potential), the damping laws as functions of
velocities (damping), or the energies and what the damping laws add to the objective of an implicit
step (increments)."""


def select_laws(system: System, kind: AssemblyKind) -> list[tuple[str, PlacedLaw, FormName]]:
    """Return the laws that an assembly of this kind adds up, each in the form it has there."""
    laws: list[tuple[str, PlacedLaw, FormName]] = []
    if kind != "damping":
        laws += [(name, placed, "energy") for name, placed in system._placed_energies.items()]
    if kind != "potential":
        form: FormName = "rate" if kind == "damping" else "increment"
        laws += [(name, placed, form) for name, placed in system._placed_damping.items()]
    return laws


class PackedParameters:
    """The parameters of a law as its kernels read them, kept until the time changes."""

    def __init__(self, placed: PlacedLaw) -> None:
        self.placed = placed
        self._t = 0.0
        self._packed: Float | None = None
        self._is_replaced = False
        self._flowed: Float | None = None

    def at(self, t: float) -> Float:
        """Return all parameters at time t [s], shape (m, width). Do not write to it."""
        parameters = self.placed.parameters
        is_outdated = bool(parameters.time_dependent) and self._t != t
        if self._packed is None or (is_outdated and not self._is_replaced):
            self._t, self._packed = t, parameters.pack(t)
            if self._flowed is not None:
                self._packed = self._packed.copy()
                self._packed[:, self.placed.flowing_column] = self._flowed
        return self._packed

    def use_rest_values(self, values: Float | None) -> None:
        """Use rest values that have flowed, (m,), from now on; None for those of the law."""
        if values is not self._flowed:
            self._flowed, self._packed = values, None

    def replace(self, values: Mapping[str, Float]) -> None:
        """Use these values of constant parameters, by name, from now on."""
        self._packed = self.placed.parameters.pack_with(0.0, values)
        self._is_replaced = True


class ElementTerm(ABC):
    """A law in one form on elements: what an `Assembly` adds up.

    elements : particles, (m, s)
    """

    active: Int | None = None  # the active ones of a law's elements, if not all

    def __init__(self, name: str, form: FormName, compiled: CompiledLaw, elements: Int) -> None:
        self.name, self.form, self.compiled = name, form, compiled
        self.elements = elements
        pair = compiled.pair
        self.pair: Float | None = None if pair is None else np.array(pair)
        self.vectors, self.blocks = compiled.vectors, compiled.blocks
        self.outer = compiled.outer
        self.rank: RankOne | None = None
        # Of an energy of a total: its values at the last evaluation.
        self.total: OuterValues | None = None
        self.has_constant_gradient = form == "energy" and not self.has_hessian
        self.energy = np.zeros(len(elements))

    @property
    def is_load(self) -> bool:
        """Whether it does work, rather than store energy (see the ledger)."""
        return False

    @property
    def is_time_dependent(self) -> bool:
        """Whether its parameters depend on time."""
        return False

    @property
    def has_hessian(self) -> bool:
        """Whether its Hessian is not zero."""
        return self.blocks > 0 or self.outer is not None

    @abstractmethod
    def parameters(self, t: float) -> Float:
        """Return the parameters of its elements at time t [s], (m, width). Do not write to it."""

    def raise_if_bad(self, bad: Int) -> None:
        """Raise SingularState for the first element whose results are not finite.

        bad : its index among the elements, or -1
        """
        raise_if_not_finite(self.name, self.elements, bad)


class Term(ElementTerm):
    """One law of a System in one form on its active elements."""

    def __init__(
        self,
        name: str,
        placed: PlacedLaw,
        form: FormName,
        active: Mask | None,
        parameters: PackedParameters | None = None,
    ) -> None:
        elements: Int = placed.elements
        if active is not None and not active.all():
            self.active = np.flatnonzero(active)
            elements = np.ascontiguousarray(placed.elements[self.active])
        super().__init__(name, form, placed.forms[form], elements)
        self.placed = placed
        self._packed = PackedParameters(placed) if parameters is None else parameters
        # The rows of the active elements, and the packed array they were taken from.
        self._selected: tuple[Float, Float] | None = None

    @property
    def is_load(self) -> bool:
        """Whether it does work, rather than store energy (see the ledger)."""
        return bool(self.placed.law.load)

    @property
    def is_time_dependent(self) -> bool:
        """Whether its parameters depend on time."""
        return bool(self.placed.parameters.time_dependent)

    def parameters(self, t: float) -> Float:
        """Return the parameters of its elements at time t [s], (m, width). Do not write to it."""
        packed = self._packed.at(t)
        if self.active is None:
            return packed
        if self._selected is None or self._selected[0] is not packed:
            self._selected = (packed, np.ascontiguousarray(packed[self.active]))
        return self._selected[1]

    def raise_if_bad(self, bad: Int) -> None:
        """Raise SingularState for the first element whose results are not finite.

        bad : its index among the active elements, or -1
        """
        original = bad
        if self.active is not None:
            original = np.where(bad >= 0, self.active[np.maximum(bad, 0)], -1)
        raise_if_not_finite(self.name, self.placed.elements, original)


class ConstantTerm(ElementTerm):
    """A law on elements with parameters that do not depend on time: a contact, or its friction.

    parameters : as its kernels read them, (m, width); keys : one number for each element, (m,)
    """

    def __init__(
        self,
        name: str,
        form: FormName,
        compiled: CompiledLaw,
        elements: Int,
        parameters: Float,
        keys: Int,
    ) -> None:
        super().__init__(name, form, compiled, elements)
        self._parameters, self.keys = parameters, keys

    def parameters(self, t: float) -> Float:
        """Return the parameters of its elements, (m, width)."""
        return self._parameters


def near_origin(term: ElementTerm, x: Float) -> Float:
    """Return the positions that a term's kernel reads, (n, 3).

    Those of a translation-invariant energy of a total are relative to their mean: shares of it
    would otherwise grow with the distance from the origin, and cancel.
    """
    if term.outer is None or not isinstance(term, Term) or not len(term.elements):
        return x
    if term.placed.law.invariant is None:
        return x
    return x - x[term.elements].mean(axis=(0, 1))


@dataclass
class Inputs:
    """What kernels read: positions or velocities x (the variables), frozen positions y, h and t."""

    x: Float
    y: Float
    h: float
    t: float

    @staticmethod
    def at(state: State, t: float | None = None) -> Inputs:
        """Inputs of energies: a state's positions, with parameters at its time or another."""
        return Inputs(state.q, state.q, 0.0, state.t if t is None else t)

    @staticmethod
    def rates(state: State, t: float | None = None) -> Inputs:
        """Inputs of damping laws as rates: a state's velocities, at its positions."""
        return Inputs(state.v, state.q, 0.0, state.t if t is None else t)


Lists = tuple[Short, Short, NDArray[np.uint16], Float]
"""start, source, code and table: see `group_by_target`."""


def group_by_target(
    target: list[Short], source: list[Short], coefficient: list[float], size: int
) -> Lists:
    """Group entries by target, keeping their order within each.

    target, source : emptied, as in large systems they are several times the result

    Returns start (size + 1,), source, code, and the table of coefficients that codes index.
    """
    table, codes = np.unique(np.array(coefficient, dtype=np.float64), return_inverse=True)
    code = np.repeat(codes.astype(np.uint16), [len(t) for t in target])
    where = np.concatenate([np.empty(0, dtype=np.int32), *target])
    target.clear()
    start = np.zeros(size + 1, dtype=np.int32)
    start[1:] = np.cumsum(np.bincount(where, minlength=size))
    order = np.argsort(where, kind="stable")
    del where
    sources = np.concatenate([np.empty(0, dtype=np.int32), *source])
    source.clear()
    return start, sources[order], code[order], table


def to_int32(values: Int) -> Short:
    """Return indices as 32-bit integers: half the memory for kernels to read."""
    if len(values) and max(values.max(), -values.min()) >= 2**31:
        raise ModelError(f"a system of {len(values)} entries is too large")
    return values.astype(np.int32)
