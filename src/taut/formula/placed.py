"""A bound energy or damping placed among particles, and its kernels evaluated there."""

from __future__ import annotations

from itertools import combinations_with_replacement

import numpy as np
from numpy.typing import NDArray

from taut.errors import LawError, SingularState
from taut.formula.bound import Bound
from taut.formula.kernel import Kernel
from taut.formula.outer import Total
from taut.formula.parameters import Resolved
from taut.formula.project import project_elements
from taut.formula.variant import FormName, Variant

Float = NDArray[np.float64]


def place(bound: Bound, rest: Float, mass: Float, *, flat: bool = False) -> Placed:
    """A bound law among particles with these rest positions (n, 3) [m] and masses (n,) [kg]; `flat`: all in the plane z = 0."""
    return Placed(bound, rest, mass, flat=flat)


class Placed(Resolved):
    """An energy or a damping law on the elements of one system."""

    def __init__(self, bound: Bound, rest: Float, mass: Float, *, flat: bool) -> None:
        super().__init__(bound, rest, mass, flat=flat)
        self._variants: dict[FormName, Variant] = {}
        self.variant(self.form)  # traces the formula: what is wrong with it is said now
        outer = self.variant(self.form).outer
        self.together = outer is not None  # whether the elements have an energy only all together
        if outer is not None and len(self.elements):
            outer.refuse_uneven(self.name, self.packed(0.0))
        self.breaking_strain = self._breaking_strain()

    def variant(self, form: FormName) -> Variant:
        """The law's expression and loops in one of its forms, made once."""
        if form not in self._variants:
            self._variants[form] = self.law.variant(form, self.particles, self.widths)
        return self._variants[form]

    def _breaking_strain(self) -> Float | None:
        """The strain beyond which each element breaks, (m,), or None where none ever does."""
        given = self.bound.breaking_strain
        if given is None:
            return None
        if self.law.kind != "energy" or self.particles != 2 or self.widths.get("l0", 0) is not None:
            raise LawError(f"law '{self.name}': only an energy on two particles with a rest length l0 has a breaking strain")
        value = self._array("breaking_strain", given, "")
        if value.shape not in ((), (len(self.elements),)):
            raise LawError(f"law '{self.name}': breaking_strain is one number or one per element, not of shape {value.shape}")
        bad = np.flatnonzero(~(value > 0.0))
        if len(bad):
            raise LawError(f"law '{self.name}': breaking_strain of {self.element(bad[0])} is not positive")
        short = np.flatnonzero(~(self.packed(0.0)[:, self.columns("l0")] > 0.0))
        if len(short):
            raise LawError(f"law '{self.name}': {self.element(short[0])} has a breaking strain, but no rest length")
        return np.broadcast_to(value, len(self.elements))

    @property
    def form(self) -> FormName:
        """What the methods below evaluate: V(positions) of an energy, Ψ(velocities) at given positions of a dissipation."""
        return "energy" if self.law.kind == "energy" else "rate"

    def values(self, x: Float, t: float = 0.0, *, at: Float | None = None) -> Float:
        """V of each element [J], shape (m,), at positions x (n, 3) [m]; of an energy of a total all of it, in the first.

        Of a dissipation, here and in the methods below: Ψ [W] at velocities x [m/s] and positions `at` [m].
        """
        return self._run("gradient", x, t, at)[0]

    def gradients(self, x: Float, t: float = 0.0, *, at: Float | None = None) -> Float:
        """∂V/∂x of each element [N], shape (m, s, 3)."""
        vectors = self._run("gradient", x, t, at)[1]
        pair = self.variant(self.form).gradient.pair
        return vectors if pair is None else np.array(pair)[None, :, None] * vectors

    def hessians(self, x: Float, t: float = 0.0, *, at: Float | None = None, project: bool = False) -> Float:
        """∂²V/∂x² of each element [N/m], shape (m, 3s, 3s); `project` gives the nearest positive semi-definite matrices."""
        self._refuse_total("stiffness")
        blocks = self._run("hessian", x, t, at, project=project)[2]
        m, s = self.elements.shape
        full = np.zeros((m, s, 3, s, 3))
        pair = self.variant(self.form).hessian.pair
        if pair is not None:
            c = np.array(pair)
            full += (c[:, None] * c)[None, :, None, :, None] * blocks[:, 0][:, None, :, None, :]
        else:
            for b, (p, r) in enumerate(combinations_with_replacement(range(s), 2)):
                full[:, p, :, r, :] = blocks[:, b]
                full[:, r, :, p, :] = blocks[:, b].transpose(0, 2, 1)
        return full.reshape(m, 3 * s, 3 * s)

    def parameter_derivative(self, name: str, x: Float, t: float = 0.0, *, at: Float | None = None) -> Float:
        """∂V/∂p of each element, shape (m,), or (m, components) for a vector parameter."""
        self._refuse_total("parameter derivative")
        columns = self.columns(name)
        return self._run("parameters", x, t, at)[0][..., columns]

    def mixed_derivative(self, name: str, x: Float, t: float = 0.0, *, at: Float | None = None) -> Float:
        """∂²V/∂x∂p of each element, shape (m, s, 3), or (m, s, 3, components) for a vector parameter."""
        self._refuse_total("parameter derivative")
        columns = self.columns(name)
        mixed = self._run("parameters", x, t, at)[1][..., columns]
        pair = self.variant(self.form).by_parameters.pair
        return mixed if pair is None else np.array(pair).reshape(1, -1, *[1] * (mixed.ndim - 2)) * mixed

    def _refuse_total(self, what: str) -> None:
        if self.variant(self.form).outer is not None:
            raise LawError(f"law '{self.name}': an energy of a total has no {what} of single elements; ask the System for K")

    def _run(self, kind: str, x: Float, t: float, at: Float | None, *, project: bool = False) -> tuple[Float, ...]:
        if (at is None) != (self.form == "energy"):
            raise LawError(f"law '{self.name}': `at` gives the positions of a dissipation, and is for dissipations only")
        variant = self.variant(self.form)
        kernel: Kernel = variant.by_parameters if kind == "parameters" else getattr(variant, kind)
        m = len(self.elements)
        moving = np.array(x, dtype=np.float64, order="C")
        frozen = moving if at is None else np.array(at, dtype=np.float64, order="C")
        for array in (moving, frozen):
            if array.shape != self.rest.shape:
                raise LawError(f"law '{self.name}': expected an array of shape {self.rest.shape}, not {array.shape}")
        out: tuple[Float, ...] = (np.empty(m), np.empty((m, kernel.vectors, 3)))
        if kind == "parameters":
            out = (np.empty((m, variant.width)), np.empty((m, kernel.vectors, 3, variant.width)))
        if kind == "hessian":
            out = (*out, np.empty((m, kernel.vectors * (kernel.vectors + 1) // 2, 3, 3)))
        bad = kernel.evaluate(moving, frozen, 0.0, self.elements, self.packed(t), out, project=project)
        raise_if_bad(self.name, self.elements, bad)
        if variant.outer is not None:
            Total.of(self.name, variant.outer, out[0], self.packed(t)).apply(out[0], out[1])
        if project and not kernel.closed_form:
            raise_if_bad(self.name, self.elements, project_elements(out[2], kernel.vectors))
        return out


def raise_if_bad(name: str, elements: NDArray[np.int64], bad: NDArray[np.int64]) -> None:
    """Name the first element whose results were not finite, if there is one."""
    found = bad[bad >= 0]
    if len(found):
        i = int(found[0])
        raise SingularState(
            f"law '{name}': element {i} (particles {elements[i].tolist()}) has no finite energy, force or stiffness"
        )
