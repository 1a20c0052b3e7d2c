"""Laws: a formula and its parameters (`Law`), and the same with elements and values (`BoundLaw`).

A law knows nothing of particular particles. Called with elements and parameters it returns an
`Energy`, a `Damping` or a `Load`, which a `System` accepts. The three decorators of
`taut.binding.decorators` are the only way to make a law, for built-in laws and for those of users.
"""

from __future__ import annotations

import copy
import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Generic, Literal, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from taut.arrays import Float, Int, Mask
from taut.binding._elements import check_elements
from taut.binding.compiled_law import CompiledLaw, FormName
from taut.errors import LawError, did_you_mean
from taut.formula.vocabulary import Matrix2, Matrix3, Vector
from taut.importable import find_by_name, require_importable

Kind = Literal["energy", "dissipation", "load"]
RELATIONS: dict[str, tuple[Callable[[Any, Any], Any], str]] = {
    ">": (np.greater, "greater than"),
    ">=": (np.greater_equal, "at least"),
    "<=": (np.less_equal, "at most"),
    "<": (np.less, "less than"),
}
_INVARIANCES = ("rigid motion", "translation")
# Keyword arguments of Law.__call__, which a parameter of a formula would hide.
_RESERVED_NAMES = ("self", "elements", "name", "breaking_strain")
# With `from __future__ import annotations` an annotation is the text of its source.
_SHAPES = {"Vector": (Vector, (3,)), "Matrix2": (Matrix2, (2, 2)), "Matrix3": (Matrix3, (3, 3))}
# Attribute of a formula of `__main__` in a pickle: kind and options of its law.
_RECIPE = "law"
_PARAMETER_LINE = re.compile(r"^ *(\w+(?:, \w+)*) : (.*)$")


@dataclass(frozen=True, eq=False, repr=False)
class BoundLaw:
    """A law with its elements and parameters as the user gave them, not yet part of a system.

    It never changes: `with_` gives a changed copy.

    law : the formula and its parameters
    elements : particle indices, shape (m, s); None means every particle
    parameters : values by name; those left out are measured or taken from the particles
    name : what the law is called in energy tables
    breaking_strain : strain l/l0 - 1 beyond which an element breaks, or None
    """

    law: Law[Any]
    elements: Int | None
    parameters: Mapping[str, Any]
    name: str
    breaking_strain: Any

    def __post_init__(self) -> None:
        object.__setattr__(self, "parameters", MappingProxyType(dict(self.parameters)))
        for value in (self.elements, self.breaking_strain, *self.parameters.values()):
            if isinstance(value, np.ndarray):
                value.setflags(write=False)

    def __reduce__(self) -> tuple[Any, ...]:
        """For other processes: a read-only mapping cannot be pickled."""
        for parameter, value in self.parameters.items():
            what = f"law '{self.name}': the function for '{parameter}'"
            require_importable(value, what, LawError)
        values = (self.law, self.elements, dict(self.parameters), self.name, self.breaking_strain)
        return type(self), values

    def __copy__(self) -> Self:
        return self  # it never changes

    def __deepcopy__(self, _: object) -> Self:
        return self

    def __repr__(self) -> str:
        count = "every particle" if self.elements is None else f"{len(self.elements)} elements"
        return f"<{type(self).__name__.lower()} {self.name}: {count}>"

    def with_(self, **parameters: Any) -> Self:
        """Return the same law on the same elements with some parameters changed."""
        given = self.law(None, **{"name": self.name, **parameters})
        # What stays was checked before, and is neither checked nor copied again.
        kept = {p: value for p, value in self.parameters.items() if p not in parameters}
        changes: dict[str, Any] = {
            "elements": self.elements,
            "parameters": {**given.parameters, **kept},
        }
        if "breaking_strain" not in parameters:
            changes["breaking_strain"] = self.breaking_strain
        return replace(given, **changes)


class Energy(BoundLaw):
    """An energy law bound to elements: an entry of `System(energies=[…])`.

    >>> from taut import laws
    >>> laws.spring([[0, 1]], k=2.0)
    <energy spring: 1 elements>
    """


class Damping(BoundLaw):
    """A dissipation law bound to elements: an entry of `System(damping=[…])`.

    >>> from taut import laws
    >>> laws.drag(alpha=0.1)
    <damping drag: every particle>
    """


class Load(BoundLaw):
    """A load bound to elements: an entry of `System(loads=[…])`.

    >>> from taut import laws
    >>> laws.wind([[0, 1, 2]], velocity=(5, 0, 0))
    <load wind: 1 elements>
    """


Bound = TypeVar("Bound", Energy, Damping, Load)
_BOUND_KINDS: dict[Kind, type[BoundLaw]]
_BOUND_KINDS = {"energy": Energy, "dissipation": Damping, "load": Load}


class Law(Generic[Bound]):
    """A formula with its parameters; call it with elements (m, s) and parameters to bind it.

    kind : "energy", "dissipation" or "load"
    parameters : names of the parameters, in the order of the formula
    defaults : values of parameters that have one, by name
    vectors : number of components of each parameter that is a vector, by name
    matrices : rows and columns of each parameter that is a matrix, by name
    rest : functions of x that measure parameters on the rest shape, by name
    limits : bounds of parameters by name, each a list of (relation, number), such as (">=", 0.0);
        the number may be the name of another parameter, or minus that name
    invariant : "rigid motion", "translation" or None
    proper, domain : functions of x that must be positive at rest, in every pose, by fault
    metric : the function whose Hessian is the metric, or None
    flow : function that says how a rest value flows at the end of a step, by its name; or empty
    load : whether the energy belongs to something outside, so that its work is booked

    >>> from taut import laws
    >>> laws.spring.kind, laws.spring.parameters, laws.spring.parameter_docs["l0"]
    ('energy', ['k', 'l0'], 'rest length [m] (default: measured on the rest shape)')
    >>> laws.wind.defaults["density"], laws.wind.vectors, laws.spring.limits["k"]
    (1.204, {'velocity': 3}, [('>=', 0.0)])
    """

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
        check: Callable[[Int], str | None] | None = None,
        check_in_system: Callable[[Int, Float, Float, Mask], str | None] | None = None,
        domain: Mapping[str, Callable[..., Any]] | None = None,
        metric: Callable[..., Any] | None = None,
        flow: Mapping[str, Callable[..., Any]] | None = None,
    ) -> None:
        if not inspect.isfunction(formula):
            raise LawError(f"the formula of a law must be a Python function, got {formula!r}")
        self.formula = formula
        self.kind = kind
        self.rest = dict(rest or {})
        self.invariant = invariant
        self.load, self.check, self.check_in_system = load, check, check_in_system
        self.proper, self.domain = dict(proper or {}), dict(domain or {})
        self.metric = metric
        self.flow = dict(flow or {})
        self.name: str = formula.__name__
        self.__name__, self.__doc__, self.__module__ = (
            self.name,
            formula.__doc__,
            formula.__module__,
        )
        self.__qualname__ = formula.__qualname__
        # As given, for a pickle
        self._options = {
            "rest": rest,
            "invariant": invariant,
            "load": load,
            "limits": limits,
            "proper": proper,
            "check": check,
            "check_in_system": check_in_system,
            "domain": domain,
            "metric": metric,
            "flow": flow,
        }
        self.vectors: dict[str, int] = {}
        self.matrices: dict[str, tuple[int, int]] = {}
        self.defaults: dict[str, Any] = {}
        self.parameters = self._read_signature()
        for name, measure in self.rest.items():
            if not callable(measure):
                raise LawError(
                    f"law '{self.name}': the rest value of '{name}' must be a function of x, "
                    f"got {measure!r}"
                )
            self._reject_unknown("rest value", name)
        if len(self.flow) > 1:
            raise LawError(f"law '{self.name}': one rest value may flow, got {list(self.flow)}")
        for name in self.flow:
            self._reject_unknown("flow", name)
        self.limits = {name: self._parse_limit(name, text) for name, text in (limits or {}).items()}
        if invariant is not None and invariant not in _INVARIANCES:
            raise LawError(
                f"law '{self.name}': invariant must be one of {', '.join(_INVARIANCES)}, or None; "
                f"got {invariant!r}"
            )
        self._compiled: dict[str, CompiledLaw] = {}  # by digest, shared by all systems
        self.__signature__ = self._make_signature()

    def __reduce__(self) -> str | tuple[Any, ...]:
        """Pickle a law by its name where its module has it, as functions are.

        Otherwise it is made again from its formula, which then must have a name, or be pickled by
        value. Of `__main__`, cloudpickle pickles functions by value, but no other objects: so a law
        of `__main__` is pickled as its formula, whose name `law.formula` is enough for pickle.
        """
        formula, name = self.formula, self.__qualname__
        is_named = find_by_name(self.__module__, name) is self
        if is_named and self.__module__ != "__main__":
            return name
        if is_named:
            formula.__qualname__ = f"{name}.formula"
            formula.__dict__[_RECIPE] = (self.kind, self._options)
        require_importable(formula, f"law '{self.name}'", LawError)
        if is_named:
            return _restore_law, (formula,)
        return _make_law, (formula, self.kind, self._options)

    def __copy__(self) -> Self:
        return self  # it never changes

    def __deepcopy__(self, _: object) -> Self:
        return self

    def __repr__(self) -> str:
        return f"<{self.kind} law {self.name}({', '.join([*self.arguments, *self.parameters])})>"

    @property
    def arguments(self) -> tuple[str, ...]:
        """Arguments of the formula before its parameters: positions, and velocities for a load."""
        return ("x", "v") if self.kind == "load" else ("x",)

    @property
    def parameter_docs(self) -> dict[str, str]:
        """What the docstring says of each parameter, by name."""
        return read_parameter_docs(self.__doc__)

    def declared_shape(self, parameter: str) -> tuple[int, ...] | None:
        """Return the shape of a parameter that annotation or default fix: (3,), (2, 2); or None."""
        if parameter in self.vectors:
            return (self.vectors[parameter],)
        return self.matrices.get(parameter)

    def is_required(self, parameter: str) -> bool:
        """Whether a value must be given: there is no default, rest value or mass to take."""
        return parameter not in {*self.defaults, *self.rest, "mass"}

    def _reject_unknown(self, what: str, parameter: str) -> None:
        if parameter not in self.parameters:
            raise LawError(
                f"law '{self.name}': {what} for an unknown parameter '{parameter}'"
                f"{did_you_mean(parameter, self.parameters)}"
            )

    def _parse_limit(self, name: str, text: str) -> list[tuple[str, float | str]]:
        """Parse a limit such as ">= 0 and <= 1" or ">= -ambient" into relations and numbers."""
        self._reject_unknown("limit", name)
        limits: list[tuple[str, float | str]] = []
        for part in text.split(" and "):
            relation, _, number = part.partition(" ")
            is_name = number.removeprefix("-") in self.parameters
            if relation not in RELATIONS or not (is_name or _is_number(number)):
                raise LawError(
                    f"law '{self.name}': the limit of '{name}' must read like '> 0', '>= 0' or "
                    f"'>= 0 and <= 1', got {text!r}"
                )
            limits.append((relation, number if is_name else float(number)))
        return limits

    def _read_signature(self) -> list[str]:
        """Read names, defaults and vectors from the formula's signature; return the names."""
        signature = list(inspect.signature(self.formula).parameters.values())
        count = len(self.arguments)
        arguments, parameters = signature[:count], signature[count:]
        plain = inspect.Parameter.POSITIONAL_OR_KEYWORD
        if len(arguments) < count or any(a.kind is not plain for a in arguments):
            velocities = " and v, their velocities" if self.kind == "load" else ""
            raise LawError(
                f"law '{self.name}': the first argument of a formula must be x, the positions of "
                f"its particles{velocities}"
            )
        for p in parameters:
            if p.kind not in (plain, inspect.Parameter.KEYWORD_ONLY):
                raise LawError(
                    f"law '{self.name}': parameters must be named one by one, without * or **"
                )
            if p.name in _RESERVED_NAMES:
                raise LawError(f"law '{self.name}': a parameter cannot be called '{p.name}'")
            if p.default is not p.empty:
                self.defaults[p.name] = p.default
            shape = _read_shape(p.annotation) or np.shape(self.defaults.get(p.name, 0.0))
            if len(shape) == 1:
                self.vectors[p.name] = shape[0]
            elif len(shape) == 2:
                self.matrices[p.name] = (shape[0], shape[1])
        return [p.name for p in parameters]

    def _make_signature(self) -> inspect.Signature:
        """Return the arguments of a call, for `help`, editors and the stubs of the catalogue.

        None stands for a value that is measured at rest or taken from the particles.
        """
        known = inspect.signature(Law.__call__).parameters
        own: list[inspect.Parameter] = []
        for name in self.parameters:
            default = self.defaults.get(name, inspect.Parameter.empty)
            if not self.is_required(name) and name not in self.defaults:
                default = None
            own.append(inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default))
        arguments = [known["elements"], *own, known["name"], known["breaking_strain"]]
        return inspect.Signature(arguments, return_annotation=_BOUND_KINDS[self.kind])

    def __call__(
        self,
        elements: ArrayLike | None = None,
        *,
        name: str | None = None,
        breaking_strain: ArrayLike | None = None,
        **parameters: Any,
    ) -> Bound:
        """Bind the law to elements.

        elements : particle indices, shape (m, s), or (m,) for a law on single particles (default:
            every particle)
        name : what the result is called in energy tables (default: the law's name)
        breaking_strain : for an energy on two particles with a rest length l0, the strain l/l0 - 1
            beyond which an element breaks and leaves at the end of a step: a scalar or one per
            element (default: it never breaks)
        parameters : each a scalar, an array of one value (or row) per element, or a function of
            time t [s] that returns one of these; for a load also a function of the centres of its
            elements (m, 3) [m] and of t
        """
        for given in parameters:
            if given not in self.parameters:
                raise LawError(
                    f"law '{self.name}' has no parameter '{given}'"
                    f"{did_you_mean(given, self.parameters)}"
                )
        values = {**self.defaults, **parameters}
        # Copied, so that the caller may change the arrays afterwards without effect here.
        values = {p: v if callable(v) else copy.deepcopy(v) for p, v in values.items()}
        array = check_elements(self.name, elements)
        if self.check is not None and array is not None:
            problem = self.check(array)
            if problem:
                raise LawError(f"law '{self.name}': {problem}")
        kind: Any = _BOUND_KINDS[self.kind]
        bound: Bound = kind(self, array, values, name or self.name, copy.deepcopy(breaking_strain))
        return bound

    def compile(
        self, form: FormName, particles: int, shapes: Mapping[str, tuple[int, ...]]
    ) -> CompiledLaw:
        """Return one form of the law for elements of `particles` particles, ready to evaluate.

        shapes : of each parameter by name: () of a scalar, (3,) of a vector, (2, 2) of a matrix

        The formula is traced in every call, so that a helper function that has changed since is
        noticed; equal expressions share one CompiledLaw, and machine code is made at first use.
        """
        new = CompiledLaw(
            self.name, self.formula, form, particles, dict(shapes), metric=self.metric
        )
        return self._compiled.setdefault(new.digest, new)


def _restore_law(formula: Callable[..., Any]) -> Law[Any]:
    """Return the law of a formula of `__main__`: the one there, or one made of a copy."""
    known = find_by_name(formula.__module__, formula.__qualname__.removesuffix(".formula"))
    if isinstance(known, Law) and known.formula is formula:
        return known
    return _make_law(formula, *formula.__dict__[_RECIPE])


def _make_law(formula: Callable[..., Any], kind: Kind, options: Mapping[str, Any]) -> Law[Any]:
    return Law(formula, kind, **options)


def _read_shape(annotation: Any) -> tuple[int, ...]:
    """Return the shape that an annotation of a parameter stands for, () if none."""
    for name, (kind, shape) in _SHAPES.items():
        if annotation is kind or annotation in (name, f"formula.{name}", f"taut.formula.{name}"):
            return shape
    return ()


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


# Here also for functions that are no laws, such as mesh generators: no lower module fits better.
def read_parameter_docs(docstring: str | None) -> dict[str, str]:
    """Read the lines "name : description" of a docstring, by name.

    >>> read_parameter_docs("A spring.\\n\\n    k : stiffness [N/m]\\n    l0 : rest length [m]")
    {'k': 'stiffness [N/m]', 'l0': 'rest length [m]'}
    """
    docs: dict[str, str] = {}
    names: list[str] = []  # of the description that the next line continues
    for line in (docstring or "").splitlines():
        match = _PARAMETER_LINE.match(line)
        if match:
            names = match[1].split(", ")
            docs |= dict.fromkeys(names, match[2].strip())
        elif not line.strip():
            names = []
        else:
            docs |= {name: f"{docs[name]} {line.strip()}" for name in names}
    return docs
