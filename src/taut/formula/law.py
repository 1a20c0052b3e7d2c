"""Laws: formulas on a few particles, and what is made of them.

    @taut.energy        V(x; parameters)                       [J]
    @taut.dissipation   Ψ(x, rate(…); parameters)              [W]; the force is -∂Ψ/∂v, the power lost v·∂Ψ/∂v
    @taut.load          f(x, v; parameters)                    [N]; taken at the start of a step and held over it

A law knows nothing of particular particles. Called with elements and parameters it gives an `Energy`, a `Damping` or a `Load`,
which a `System` takes. Built-in and user laws are made by these three decorators alone.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Mapping
from typing import Any, Literal, TypedDict, Unpack, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from taut.errors import LawError, did_you_mean
from taut.formula.bound import Damping, Energy, Load, indices
from taut.formula.variant import FormName, Variant
from taut.formula.vocabulary import Vector

Kind = Literal["energy", "dissipation", "load"]
RESERVED = ("self", "elements", "name", "breaking_strain")
LIMITS: dict[str, tuple[Callable[[Any, Any], Any], str]] = {
    ">": (np.greater, "greater than"),
    ">=": (np.greater_equal, "at least"),
    "<=": (np.less_equal, "at most"),
    "<": (np.less, "less than"),
}
INVARIANCES = ("rigid motion", "translation")


class Law:
    """A formula with its parameters. Call it with elements (m, s) and parameters to get an `Energy`, a `Damping` or a `Load`."""

    def __init__(
        self,
        formula: Callable[..., Any],
        kind: Kind,
        *,
        rest: Mapping[str, Callable[..., Any]] | None = None,
        invariant: str | None = None,
        load: bool = False,
        limits: Mapping[str, str] | None = None,
        proper: Mapping[str, Callable[..., Any]] | None = None,
        check: Callable[[NDArray[np.int64]], str | None] | None = None,
    ) -> None:
        if not inspect.isfunction(formula):
            raise LawError(f"a law is made of a Python function, not of {formula!r}")
        self.formula, self.kind, self.rest, self.invariant = formula, kind, dict(rest or {}), invariant
        self.load, self.proper, self.check = load, dict(proper or {}), check
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
        self.limits = {name: self._limits(name, text) for name, text in (limits or {}).items()}
        if invariant is not None and invariant not in INVARIANCES:
            raise LawError(f"law '{self.name}': invariant must be one of {', '.join(INVARIANCES)}, or None; not {invariant!r}")

    def __repr__(self) -> str:
        return f"<{self.kind} law {self.name}({', '.join([*self.arguments, *self.parameters])})>"

    @property
    def arguments(self) -> tuple[str, ...]:
        """What the formula takes before its parameters: positions, and velocities for a load."""
        return ("x", "v") if self.kind == "load" else ("x",)

    def _limits(self, name: str, text: str) -> list[tuple[str, float | str]]:
        """Limits such as ">= 0 and <= 1" as relations and numbers; ">= -ambient" has minus another parameter as its number."""
        if name not in self.parameters:
            raise LawError(f"law '{self.name}': limit for an unknown parameter '{name}'{did_you_mean(name, self.parameters)}")
        found: list[tuple[str, float | str]] = []
        for part in text.split(" and "):
            relation, _, number = part.partition(" ")
            if relation not in LIMITS or not (number.removeprefix("-") in self.parameters or _is_number(number)):
                raise LawError(f"law '{self.name}': a limit reads '> 0', '>= 0' or '>= 0 and <= 1', not {text!r}")
            found.append((relation, float(number) if _is_number(number) else number))
        return found

    def _signature(self) -> list[str]:
        parameters = list(inspect.signature(self.formula).parameters.values())
        plain = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
        first = len(self.arguments)
        if len(parameters) < first or any(p.kind is not plain[0] for p in parameters[:first]):
            then = " and v, their velocities" if self.kind == "load" else ""
            raise LawError(f"law '{self.name}': the first argument of a formula is x, the positions of its particles{then}")
        for p in parameters[first:]:
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
        return [p.name for p in parameters[first:]]

    def __call__(
        self,
        elements: ArrayLike | None = None,
        *,
        name: str | None = None,
        breaking_strain: ArrayLike | None = None,
        **parameters: Any,
    ) -> Energy | Damping | Load:
        """Bind the law to elements.

        elements : particle indices, shape (m, s), or (m,) for a law on single particles; left out: every particle.
        name : how the result is called in energy tables (default: the law's name).
        breaking_strain : for an energy on two particles with a rest length l0: the strain l/l0 - 1 beyond which an element breaks
            and leaves at the end of a step, a scalar or one per element. Left out: it never breaks.
        parameters : each a scalar, an array of one value (or row) per element, or a function of time t [s] that gives one of these;
            for a load also a function of the centres of its elements (m, 3) [m] and of t.
        """
        for given in parameters:
            if given not in self.parameters:
                raise LawError(f"law '{self.name}' has no parameter '{given}'{did_you_mean(given, self.parameters)}")
        kinds: dict[str, type[Energy | Damping | Load]] = {"energy": Energy, "dissipation": Damping, "load": Load}
        values = {
            p: v if callable(v) else copy.deepcopy(v) for p, v in {**self.defaults, **parameters}.items()
        }  # ours, whatever becomes of the caller's
        array = indices(self.name, elements)
        wrong = None if self.check is None or array is None else self.check(array)
        if wrong:
            raise LawError(f"law '{self.name}': {wrong}")
        return kinds[self.kind](self, array, values, name or self.name, copy.deepcopy(breaking_strain))

    def variant(self, form: FormName, particles: int, widths: Mapping[str, int | None]) -> Variant:
        """The kernels of this law for elements of so many particles and parameters of these shapes.

        The formula is traced each time, so that a changed helper is noticed; what is the same expression is the same Variant.
        """
        new = Variant(self, form, particles, dict(widths))
        return self._variants.setdefault(new.digest, new)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


class Options(TypedDict, total=False):
    """What every decorator takes; `energy` says what each means."""

    rest: Mapping[str, Callable[..., Any]] | None
    limits: Mapping[str, str] | None
    proper: Mapping[str, Callable[..., Any]] | None
    check: Callable[[NDArray[np.int64]], str | None] | None


class DissipationOptions(Options, total=False):
    """What `dissipation` takes."""

    invariant: str | None


class EnergyOptions(DissipationOptions, total=False):
    """What `energy` takes."""

    load: bool


def _decorated(
    kind: Kind, formula: Callable[..., Any] | None, options: Mapping[str, Any]
) -> Law | Callable[[Callable[..., Any]], Law]:
    """The law of a formula, or, where there are options, what makes one."""
    known = {"energy": EnergyOptions, "dissipation": DissipationOptions, "load": Options}[kind].__optional_keys__
    for name in options:
        if name not in known:
            raise LawError(f"@taut.{kind} has no option '{name}'{did_you_mean(name, sorted(known))}")
    return (lambda function: Law(function, kind, **options)) if formula is None else Law(formula, kind, **options)


@overload
def energy(formula: Callable[..., Any]) -> Law: ...
@overload
def energy(**options: Unpack[EnergyOptions]) -> Callable[[Callable[..., Any]], Law]: ...
def energy(formula: Callable[..., Any] | None = None, **options: Any) -> Law | Callable[[Callable[..., Any]], Law]:
    """Make an energy law of a formula.

    formula : a function of `x`, the s particles of one element (`x[0]` is a vector), and of named parameters, that returns the
        element's energy [J]. It uses ordinary arithmetic and the words of `taut.formula`.
    rest : for parameters that can be measured on the rest shape, how: a function of `x` alone.
    invariant : what leaves the energy unchanged ("rigid motion" or "translation"), if anything does. The tests of the laws
        hold it against this.
    load : the energy belongs to something outside: the ledger books the work that the force does, not an energy that is stored.
    limits : for parameters that are bounded, how: "> 0", ">= 0" or ">= 0 and <= 1", with any number, or with another parameter
        or minus one; of a vector, its length. An element beyond is refused by its number.
    proper : what an element must not be at rest, in words, and a number without unit that is then zero or negative, as a function
        of `x` alone: {"has no area": lambda x: …}. Such an element is refused by its number.
    check : looks at all elements (m, s) together and says in words what is wrong with them, or None.

    A parameter called `mass` that is not given is the mass of the element's particles [kg]. A parameter annotated
    `taut.formula.Vector` has three components.

    >>> import taut
    >>> from taut.formula import norm
    >>> @taut.energy(rest={"l0": lambda x: norm(x[1] - x[0])}, invariant="rigid motion", limits={"k": ">= 0"})
    ... def my_spring(x, k, l0):
    ...     return k / 2 * (norm(x[1] - x[0]) - l0) ** 2
    >>> my_spring([[0, 1], [1, 2]], k=100.0)
    <energy my_spring: 2 elements>
    """
    return _decorated("energy", formula, options)


@overload
def dissipation(formula: Callable[..., Any]) -> Law: ...
@overload
def dissipation(**options: Unpack[DissipationOptions]) -> Callable[[Callable[..., Any]], Law]: ...
def dissipation(formula: Callable[..., Any] | None = None, **options: Any) -> Law | Callable[[Callable[..., Any]], Law]:
    """Make a damping law of a rate potential Ψ [W], written with `rate` of quantities of the positions.

    rest, invariant, limits, proper, check : as for `energy`; here "rigid motion" says that no rigid motion is damped.

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
    return _decorated("dissipation", formula, options)


@overload
def load(formula: Callable[..., Any]) -> Law: ...
@overload
def load(**options: Unpack[Options]) -> Callable[[Callable[..., Any]], Law]: ...
def load(formula: Callable[..., Any] | None = None, **options: Any) -> Law | Callable[[Callable[..., Any]], Law]:
    """Make a law of a force that has no energy, such as wind.

    formula : a function of `x` and `v`, the positions and velocities of the s particles of one element, and of named parameters,
        that returns the force [N] on each of the s particles: a sequence of s vectors.
    rest, limits, proper, check : as for `energy`.

    The force is taken at the start of a step and held over it, by every integrator; the ledger books its work. It is first order
    in time, and has no part in the stiffness: a step much longer than the time in which the force changes can make it unstable.

    >>> import taut
    >>> @taut.load
    ... def headwind(x, v, c):
    ...     return [-c * v[0]]
    >>> headwind([3], c=0.1)
    <load headwind: 1 elements>
    """
    return _decorated("load", formula, options)
