"""A bound law placed among particles: indices checked, rest values measured, parameters resolved and packed for the kernels."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taut.errors import LawError, SingularState, did_you_mean
from taut.formula.interpret import evaluate
from taut.formula.law import Bound, FormName, Variant
from taut.formula.project import project_elements
from taut.formula.source import CHUNK
from taut.formula.trace import trace_measure

Float = NDArray[np.float64]


def place(bound: Bound, rest: Float, mass: Float, *, flat: bool = False) -> Placed:
    """A bound law among particles with these rest positions (n, 3) [m] and masses (n,) [kg]; `flat`: all in the plane z = 0."""
    return Placed(bound, rest, mass, flat=flat)


class Placed:
    """A law on the elements of one system, with its parameters as numbers or functions of time."""

    def __init__(self, bound: Bound, rest: Float, mass: Float, *, flat: bool) -> None:
        self.bound, self.law, self.name = bound, bound.law, bound.name
        self.rest, self.mass, self.flat = rest, mass, flat
        elements = bound.elements if bound.elements is not None else np.arange(len(rest), dtype=np.int64)[:, None]
        outside = np.flatnonzero(((elements < 0) | (elements >= len(rest))).any(axis=1))
        if len(outside):
            raise LawError(
                f"law '{self.name}': element {outside[0]} names particle {elements[outside[0]].tolist()}, "
                f"but there are {len(rest)} particles (0 to {len(rest) - 1})"
            )
        self.elements: NDArray[np.int64] = np.array(elements)  # the kernels want arrays that could be written to
        self.constant: dict[str, Float] = {}
        self.timed: dict[str, Callable[[float], Any]] = {}
        self.widths: dict[str, int | None] = {}
        for name in self.law.parameters:
            self._resolve(name, rest, mass)
        self._variants: dict[FormName, Variant] = {}
        self.variant(self.form)  # traces the formula: what is wrong with it is said now
        self._packed: tuple[float, Float] | None = None

    @property
    def particles(self) -> int:
        """Particles per element, s."""
        return int(self.elements.shape[1])

    def variant(self, form: FormName) -> Variant:
        if form not in self._variants:
            self._variants[form] = self.law.variant(form, self.particles, self.widths)
        return self._variants[form]

    def _resolve(self, name: str, rest: Float, mass: Float) -> None:
        given = self.bound.parameters.get(name)
        if given is None and name in self.law.rest:
            value, vector = self._measure(name, rest)
        elif given is None and name == "mass":
            value, vector = mass[self.elements], self.particles > 1
            value = value if vector else value[:, 0]
        elif given is None:
            raise LawError(f"law '{self.name}' needs the parameter '{name}'")
        elif callable(given):
            self.timed[name] = given
            value, vector = self._call(name, 0.0), name in self.law.vectors
        else:
            value, vector = self._array(name, given, ""), name in self.law.vectors
        self.widths[name] = self._width(name, value, vector or value.ndim == 2)
        if name not in self.timed:
            self.constant[name] = value

    def _measure(self, name: str, rest: Float) -> tuple[Float, bool]:
        measure = self.law.rest[name]
        roots, vector = trace_measure(f"'{self.law.name}' at rest, '{name}'", measure, self.particles)
        value = evaluate(roots, rest[self.elements])
        self._refuse_nan(name, value, " measured on the rest shape")
        return (value, True) if vector else (value[:, 0], False)

    def _array(self, name: str, value: Any, when: str) -> Float:
        try:
            array = np.array(value, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise LawError(
                f"law '{self.name}': parameter '{name}'{when} is not a number or an array of numbers: {value!r}"
            ) from error
        self._refuse_nan(name, array, when)
        if self.flat and self.law.vectors.get(name) == 3 and array.shape[-1:] == (2,):
            array = np.concatenate([array, np.zeros((*array.shape[:-1], 1))], axis=-1)
        return array

    def _call(self, name: str, t: float) -> Float:
        when = f" at t = {t:g} s"
        try:
            value = self.timed[name](t)
        except Exception as error:
            raise LawError(f"law '{self.name}': parameter '{name}'{when} could not be evaluated: {error!r}") from error
        return self._array(name, value, when)

    def _refuse_nan(self, name: str, value: Float, when: str) -> None:
        bad = np.argwhere(~np.isfinite(value))
        if len(bad):
            what = "component" if value.ndim == 1 and name in self.law.vectors else "element"
            where = f" of {what} {bad[0][0]}" if value.ndim else ""
            raise LawError(
                f"law '{self.name}': parameter '{name}'{where}{when} is {value[tuple(bad[0])]}, not a finite number".replace(
                    "  ", " "
                )
            )

    def _width(self, name: str, value: Float, vector: bool) -> int | None:
        """None for a scalar parameter, else the number of components; checks the shape."""
        m = len(self.elements)
        if vector and value.ndim in (1, 2) and (value.ndim == 1 or len(value) == m):
            wanted = self.law.vectors.get(name, value.shape[-1])
            if value.shape[-1] != wanted:
                raise LawError(f"law '{self.name}': parameter '{name}' has {wanted} components, not {value.shape[-1]}")
            return int(value.shape[-1])
        if not vector and (value.ndim == 0 or value.shape == (m,)):
            return None
        allowed = f"(3,) or ({m}, 3)" if vector else f"a scalar, ({m},) or ({m}, components)"
        raise LawError(f"law '{self.name}': parameter '{name}' has shape {value.shape} for {m} elements; allowed: {allowed}")

    def shifted(self, start: int) -> Any:
        """The same, bound to particles that come `start` later, with what was measured at rest kept as it is."""
        measured = {p: v for p, v in self.constant.items() if p in self.law.rest}
        return self.law(self.elements + start, name=self.bound.name, **{**measured, **self.bound.parameters})

    def packed(self, t: float) -> Float:
        """All parameters at time t [s], one row per element, shape (m, width). Not to be written to."""
        known = self._packed
        if known is None or (self.timed and known[0] != t):
            values = {**self.constant, **{name: self._at(name, t) for name in self.timed}}
            known = self._packed = (t, self._filled(values))
        return known[1]

    def _filled(self, values: dict[str, Float]) -> Float:
        packed = np.empty((len(self.elements), sum(w or 1 for w in self.widths.values())))
        start = 0
        for name, width in self.widths.items():
            value = values[name]
            stop = start + (width or 1)
            packed[:, start:stop] = value[:, None] if width is None and value.ndim == 1 else value
            start = stop
        return packed

    def _at(self, name: str, t: float) -> Float:
        value = self._call(name, t)
        if self._width(name, value, name in self.law.vectors or value.ndim == 2) != self.widths[name]:
            raise LawError(f"law '{self.name}': parameter '{name}' at t = {t:g} s has changed its shape to {value.shape}")
        return value

    @property
    def form(self) -> FormName:
        """What the methods below evaluate: V(positions) of an energy, Ψ(velocities) at given positions of a dissipation."""
        return "energy" if self.law.kind == "energy" else "rate"

    def values(self, x: Float, t: float = 0.0, *, at: Float | None = None) -> Float:
        """V of each element [J], shape (m,), at positions x (n, 3) [m].

        Of a dissipation, here and in the methods below: Ψ [W] at velocities x [m/s] and positions `at` [m].
        """
        return self._run("gradient", x, t, at)[0]

    def gradients(self, x: Float, t: float = 0.0, *, at: Float | None = None) -> Float:
        """∂V/∂x of each element [N], shape (m, s, 3)."""
        vectors = self._run("gradient", x, t, at)[1]
        pair = self.variant(self.form).gradient.PAIR
        return vectors if pair is None else np.array(pair)[None, :, None] * vectors

    def hessians(self, x: Float, t: float = 0.0, *, at: Float | None = None, project: bool = False) -> Float:
        """∂²V/∂x² of each element [N/m], shape (m, 3s, 3s); `project` gives the nearest positive semi-definite matrices."""
        blocks = self._run("hessian", x, t, at, project=project)[2]
        m, s = self.elements.shape
        full = np.zeros((m, s, 3, s, 3))
        pair = self.variant(self.form).hessian.PAIR
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
        columns = self._columns(name)
        return self._run("parameters", x, t, at)[0][..., columns]

    def mixed_derivative(self, name: str, x: Float, t: float = 0.0, *, at: Float | None = None) -> Float:
        """∂²V/∂x∂p of each element, shape (m, s, 3), or (m, s, 3, components) for a vector parameter."""
        columns = self._columns(name)
        mixed = self._run("parameters", x, t, at)[1][..., columns]
        pair = self.variant(self.form).by_parameters.PAIR
        return mixed if pair is None else np.array(pair).reshape(1, -1, *[1] * (mixed.ndim - 2)) * mixed

    def _columns(self, name: str) -> int | slice:
        """Where a parameter stands in the packed array."""
        if name not in self.widths:
            raise LawError(f"law '{self.name}' has no parameter '{name}'{did_you_mean(name, self.widths)}")
        names = list(self.widths)
        start = sum(self.widths[n] or 1 for n in names[: names.index(name)])
        width = self.widths[name]
        return start if width is None else slice(start, start + width)

    def _run(self, kind: str, x: Float, t: float, at: Float | None, *, project: bool = False) -> tuple[Float, ...]:
        if (at is None) != (self.form == "energy"):
            raise LawError(f"law '{self.name}': `at` gives the positions of a dissipation, and is for dissipations only")
        variant = self.variant(self.form)
        module = variant.by_parameters if kind == "parameters" else getattr(variant, kind)
        m = len(self.elements)
        moving = np.array(x, dtype=np.float64, order="C")
        frozen = moving if at is None else np.array(at, dtype=np.float64, order="C")
        for array in (moving, frozen):
            if array.shape != self.rest.shape:
                raise LawError(f"law '{self.name}': expected an array of shape {self.rest.shape}, not {array.shape}")
        if kind == "parameters":
            out: tuple[Any, ...] = (np.empty((m, variant.width)), np.empty((m, module.VECTORS, 3, variant.width)))
        else:
            out = (np.empty(m), np.empty((m, module.VECTORS, 3)))
            if kind == "hessian":
                out = (project, *out, np.empty((m, len_blocks(module), 3, 3)))
        bad = np.full((m + CHUNK - 1) // CHUNK, -1, dtype=np.int64)
        module.evaluate(moving, frozen, 0.0, self.elements, self.packed(t), *out, bad)
        raise_if_bad(self.name, self.elements, bad)
        if project and not module.CLOSED_FORM:
            raise_if_bad(self.name, self.elements, project_elements(out[3], module.VECTORS))
        return tuple(o for o in out if isinstance(o, np.ndarray))


def len_blocks(module: Any) -> int:
    """Blocks a Hessian kernel writes per element."""
    vectors: int = module.VECTORS
    return vectors * (vectors + 1) // 2


def raise_if_bad(name: str, elements: NDArray[np.int64], bad: NDArray[np.int64]) -> None:
    """Name the first element whose results were not finite, if there is one."""
    found = bad[bad >= 0]
    if len(found):
        i = int(found[0])
        raise SingularState(
            f"law '{name}': element {i} (particles {elements[i].tolist()}) has no finite energy, force or stiffness"
        )
