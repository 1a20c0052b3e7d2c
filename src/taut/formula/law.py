"""Laws: formulas on a few particles, and what is made of them.

    @taut.energy        V(x; parameters)                       [J]
    @taut.dissipation   Ψ(x, rate(…); parameters)              [W]; the force is -∂Ψ/∂v, the power lost v·∂Ψ/∂v

A law knows nothing of particular particles. Called with elements and parameters it gives an `Energy` or a `Damping`, which a
`System` takes. Built-in and user laws are made by these two decorators alone.
"""

from __future__ import annotations

import copy
import hashlib
import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from types import ModuleType
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from taut.errors import LawError, did_you_mean
from taut.formula import compile as compiler
from taut.formula import source
from taut.formula.expression import Expr, fingerprint
from taut.formula.graph import transplanted
from taut.formula.trace import energy_form, increment_form, rate_form, trace
from taut.formula.vocabulary import Vector

FormName = Literal["energy", "rate", "increment"]
FORMS: dict[FormName, Callable[[Expr], Expr]] = {"energy": energy_form, "rate": rate_form, "increment": increment_form}
RESERVED = ("self", "elements", "name")
INVARIANCES = ("rigid motion", "translation")


class Law:
    """A formula with its parameters. Call it with elements (m, s) and parameters to get an `Energy` or a `Damping`."""

    def __init__(
        self,
        formula: Callable[..., Any],
        kind: Literal["energy", "dissipation"],
        rest: Mapping[str, Callable[..., Any]] | None,
        invariant: str | None,
        load: bool = False,
    ) -> None:
        if not inspect.isfunction(formula):
            raise LawError(f"a law is made of a Python function, not of {formula!r}")
        self.formula, self.kind, self.rest, self.invariant = formula, kind, dict(rest or {}), invariant
        self.load = load
        self.name: str = formula.__name__
        self.__name__, self.__doc__, self.__module__ = self.name, formula.__doc__, formula.__module__
        self.vectors: dict[str, int] = {}  # parameters that are vectors for all elements alike, and their components
        self.defaults: dict[str, Any] = {}
        self.parameters = self._signature()
        self._variants: dict[str, Variant] = {}
        for name, measure in self.rest.items():
            if not callable(measure):
                raise LawError(f"law '{self.name}': the rest value of '{name}' is a function of x, not {measure!r}")
            if name not in self.parameters:
                raise LawError(
                    f"law '{self.name}': rest value for an unknown parameter '{name}'{did_you_mean(name, self.parameters)}"
                )
        if invariant is not None and invariant not in INVARIANCES:
            raise LawError(f"law '{self.name}': invariant must be one of {', '.join(INVARIANCES)}, or None; not {invariant!r}")

    def __repr__(self) -> str:
        return f"<{self.kind} law {self.name}(x, {', '.join(self.parameters)})>"

    def _signature(self) -> list[str]:
        parameters = list(inspect.signature(self.formula).parameters.values())
        plain = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
        if not parameters or parameters[0].kind is not inspect.Parameter.POSITIONAL_OR_KEYWORD:
            raise LawError(f"law '{self.name}': the first argument of a formula is x, the positions of its particles")
        for p in parameters[1:]:
            if p.kind not in plain:
                raise LawError(f"law '{self.name}': parameters are named one by one, without * or **")
            if p.name in RESERVED:
                raise LawError(f"law '{self.name}': a parameter cannot be called '{p.name}'")
            if p.default is not p.empty:
                self.defaults[p.name] = p.default
            if p.annotation is Vector or p.annotation in ("Vector", "formula.Vector", "taut.formula.Vector"):
                self.vectors[p.name] = 3
            elif np.ndim(self.defaults.get(p.name, 0.0)) == 1:
                self.vectors[p.name] = len(self.defaults[p.name])
        return [p.name for p in parameters[1:]]

    def __call__(self, elements: ArrayLike | None = None, *, name: str | None = None, **parameters: Any) -> Energy | Damping:
        """Bind the law to elements.

        elements : particle indices, shape (m, s), or (m,) for a law on single particles; left out: every particle.
        name : how the result is called in energy tables (default: the law's name).
        parameters : each a scalar, an array of one value (or row) per element, or a function of time t [s] that gives one of these.
        """
        for given in parameters:
            if given not in self.parameters:
                raise LawError(f"law '{self.name}' has no parameter '{given}'{did_you_mean(given, self.parameters)}")
        bound = Energy if self.kind == "energy" else Damping
        values = {
            p: v if callable(v) else copy.deepcopy(v) for p, v in {**self.defaults, **parameters}.items()
        }  # ours, whatever becomes of the caller's
        return bound(self, _elements(self.name, elements), values, name or self.name)

    def variant(self, form: FormName, particles: int, widths: Mapping[str, int | None]) -> Variant:
        """The kernels of this law for elements of so many particles and parameters of these shapes.

        The formula is traced each time, so that a changed helper is noticed; what is the same expression is the same Variant.
        """
        new = Variant(self, form, particles, dict(widths))
        return self._variants.setdefault(new.digest, new)


class Variant:
    """One form of a law for a fixed number of particles: its traced expression and its compiled loops."""

    def __init__(self, law: Law, form: FormName, particles: int, widths: dict[str, int | None]) -> None:
        traced = trace(f"'{law.name}'", law.formula, particles, widths)
        with self._blamed(law):
            self.root = FORMS[form](traced)
        self.law, self.form, self.particles, self.parameters = law, form, particles, list(widths)
        self.width = sum(w or 1 for w in widths.values())
        recipe = (fingerprint(self.root), form, particles, self.width, compiler.generator_digest())
        self.digest = hashlib.sha256(repr(recipe).encode()).hexdigest()

    def source(self, kind: str = "hessian") -> str:
        """The generated Python source, for reading: `gradient`, `hessian` or `parameters`."""
        if kind not in source.OUTPUTS:
            raise LawError(f"there is no source '{kind}'{did_you_mean(kind, source.OUTPUTS)}")
        with self._blamed(self.law):
            return source.module_source(source.Form(self._title, transplanted(self.root), self.particles, self.width), kind)

    @staticmethod
    @contextmanager
    def _blamed(law: Law) -> Iterator[None]:
        """Name the formula in what goes wrong."""
        try:
            yield
        except LawError as error:
            code = law.formula.__code__
            raise LawError(f"the formula of '{law.name}' ({code.co_filename}:{code.co_firstlineno}): {error}") from error

    @property
    def _title(self) -> str:
        particles = "1 particle" if self.particles == 1 else f"{self.particles} particles"
        return f"Law {self.law.name}({', '.join(['x', *self.parameters])}) on {particles}, {self.form} form"

    def _load(self, kind: str) -> ModuleType:
        stem = f"{re.sub('[^A-Za-z0-9_]', '', self.law.name)}_{self.form}_{kind}"
        return compiler.load(stem, self.digest, lambda: self.source(kind), f"the {kind} of law '{self.law.name}'")

    @cached_property
    def gradient(self) -> ModuleType:
        return self._load("gradient")

    @cached_property
    def hessian(self) -> ModuleType:
        return self._load("hessian")

    @cached_property
    def by_parameters(self) -> ModuleType:
        return self._load("parameters")


class Bound:
    """A law with its elements and parameters, not yet placed in a system."""

    def __init__(self, law: Law, elements: NDArray[np.int64] | None, parameters: dict[str, Any], name: str) -> None:
        self.law, self.elements, self.parameters, self.name = law, elements, parameters, name

    def __repr__(self) -> str:
        count = "every particle" if self.elements is None else f"{len(self.elements)} elements"
        return f"<{type(self).__name__.lower()} {self.name}: {count}>"

    def with_(self, **parameters: Any) -> Any:
        """The same law on the same elements with some parameters changed."""
        changed = self.law(None, name=self.name, **{**self.parameters, **parameters})
        changed.elements = self.elements
        return changed


class Energy(Bound):
    """An energy law bound to elements: an entry of `System(energies=[…])`."""


class Damping(Bound):
    """A dissipation law bound to elements: an entry of `System(damping=[…])`."""


def _elements(law: str, elements: ArrayLike | None) -> NDArray[np.int64] | None:
    if elements is None:
        return None
    array = np.asarray(elements)
    if array.size == 0:
        if array.ndim != 2 or array.shape[1] == 0:
            raise LawError(f"law '{law}': an empty array of elements has the shape (0, s), not {array.shape}")
        array = array.astype(np.int64)
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2 or array.shape[1] == 0:
        raise LawError(f"law '{law}': elements have shape (m, s), not {array.shape}")
    if array.dtype == bool or not np.issubdtype(array.dtype, np.integer):
        raise LawError(f"law '{law}': elements are particle indices, not {array.dtype}")
    array = np.array(array, dtype=np.int64, order="C")  # our own copy
    if array.shape[1] > 1:
        ordered = np.sort(array, axis=1)
        twice = np.flatnonzero((ordered[:, 1:] == ordered[:, :-1]).any(axis=1))
        if len(twice):
            raise LawError(f"law '{law}': element {twice[0]} names a particle twice: {array[twice[0]].tolist()}")
    array.setflags(write=False)
    return array


@overload
def energy(formula: Callable[..., Any]) -> Law: ...
@overload
def energy(
    *, rest: Mapping[str, Callable[..., Any]] | None = None, invariant: str | None = None, load: bool = False
) -> Callable[[Callable[..., Any]], Law]: ...
def energy(
    formula: Callable[..., Any] | None = None,
    *,
    rest: Mapping[str, Callable[..., Any]] | None = None,
    invariant: str | None = None,
    load: bool = False,
) -> Law | Callable[[Callable[..., Any]], Law]:
    """Make an energy law of a formula.

    formula : a function of `x`, the s particles of one element (`x[0]` is a vector), and of named parameters, that returns the
        element's energy [J]. It uses ordinary arithmetic and the words of `taut.formula`.
    rest : for parameters that can be measured on the rest shape, how: a function of `x` alone.
    invariant : what leaves the energy unchanged ("rigid motion" or "translation"), if anything does. The tests of the laws
        hold it against this.
    load : the energy belongs to something outside: the ledger books the work that the force does, not an energy that is stored.

    A parameter called `mass` that is not given is the mass of the element's particles [kg]. A parameter annotated
    `taut.formula.Vector` has three components.

    >>> import taut
    >>> from taut.formula import norm
    >>> @taut.energy(rest={"l0": lambda x: norm(x[1] - x[0])}, invariant="rigid motion")
    ... def my_spring(x, k, l0):
    ...     return k / 2 * (norm(x[1] - x[0]) - l0) ** 2
    >>> my_spring([[0, 1], [1, 2]], k=100.0)
    <energy my_spring: 2 elements>
    """
    if formula is not None:
        return Law(formula, "energy", rest, invariant, load)
    return lambda function: Law(function, "energy", rest, invariant, load)


@overload
def dissipation(formula: Callable[..., Any]) -> Law: ...
@overload
def dissipation(
    *, rest: Mapping[str, Callable[..., Any]] | None = None, invariant: str | None = None
) -> Callable[[Callable[..., Any]], Law]: ...
def dissipation(
    formula: Callable[..., Any] | None = None,
    *,
    rest: Mapping[str, Callable[..., Any]] | None = None,
    invariant: str | None = None,
) -> Law | Callable[[Callable[..., Any]], Law]:
    """Make a damping law of a rate potential Ψ [W], written with `rate` of quantities of the positions.

    rest, invariant : as for `energy`; here "rigid motion" says that no rigid motion is damped.

    The damping force is -∂Ψ/∂v. In an implicit step rate(m) is (m(new) - m(old))/h and every other use of the positions is
    frozen at the old ones.

    >>> import taut
    >>> from taut.formula import dot, rate
    >>> @taut.dissipation
    ... def drag(x, c):
    ...     return c / 2 * dot(rate(x[0]), rate(x[0]))
    >>> drag(c=0.1)
    <damping drag: every particle>
    """
    if formula is not None:
        return Law(formula, "dissipation", rest, invariant)
    return lambda function: Law(function, "dissipation", rest, invariant)
