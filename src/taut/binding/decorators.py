"""The decorators that make laws of formulas.

@taut.energy        V(x; parameters)            [J]
@taut.dissipation   Ψ(x, rate(…); parameters)   [W]; the force is -∂Ψ/∂v, the power lost v·∂Ψ/∂v
@taut.load          f(x, v; parameters)         [N]; taken at the start of a step, held over it
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypedDict, Unpack, overload

from taut.arrays import Float, Int, Mask
from taut.binding.law import Damping, Energy, Kind, Law, Load
from taut.errors import LawError, did_you_mean

Formula = Callable[..., Any]


class LoadOptions(TypedDict, total=False):
    """Options of `load`, which the other two decorators have as well; `energy` documents them."""

    rest: Mapping[str, Formula] | None
    limits: Mapping[str, str] | None
    proper: Mapping[str, Formula] | None
    check: Callable[[Int], str | None] | None


class DissipationOptions(LoadOptions, total=False):
    """Options of `dissipation`."""

    invariant: str | None


class EnergyOptions(DissipationOptions, total=False):
    """Options of `energy`."""

    load: bool
    check_in_system: Callable[[Int, Float, Float, Mask], str | None] | None
    domain: Mapping[str, Formula] | None
    metric: Formula | None
    flow: Mapping[str, Formula] | None


_OPTIONS: dict[Kind, frozenset[str]] = {
    "energy": EnergyOptions.__optional_keys__,
    "dissipation": DissipationOptions.__optional_keys__,
    "load": LoadOptions.__optional_keys__,
}


def _decorate(
    kind: Kind, formula: Formula | None, options: Mapping[str, Any]
) -> Law[Any] | Callable[[Formula], Law[Any]]:
    """Return the law of a formula, or a decorator if the formula is still to come."""
    for name in options:
        if name not in _OPTIONS[kind]:
            hint = did_you_mean(name, sorted(_OPTIONS[kind]))
            raise LawError(f"@taut.{kind} has no option '{name}'{hint}")

    def make_law(function: Formula) -> Law[Any]:
        return Law(function, kind, **options)

    return make_law if formula is None else make_law(formula)


@overload
def energy(formula: Formula) -> Law[Energy]: ...
@overload
def energy(**options: Unpack[EnergyOptions]) -> Callable[[Formula], Law[Energy]]: ...
def energy(formula: Formula | None = None, **options: Any) -> Any:
    """Make an energy law of a formula.

    formula : a function of `x`, the positions of the s particles of one element (`x[0]` is a
        vector), and of named parameters, that returns the element's energy [J]. It uses ordinary
        arithmetic and the functions of `taut.formula`
    rest : functions of `x` alone that measure parameters on the rest shape, by parameter name
    invariant : motion that leaves the energy unchanged, "rigid motion" or "translation" (default:
        none). The tests of the laws verify it
    load : True if the energy belongs to something outside of the system: the ledger then books the
        work of its force instead of a stored energy
    limits : bounds of parameters by name: "> 0", ">= 0" or ">= 0 and <= 1", with any number,
        another parameter or minus another parameter; of a vector they bound the length. An element
        beyond a limit raises an error with its number
    proper : quantities without unit, functions of `x` alone, that must be positive at rest, by the
        words of the error: {"has no area": lambda x: …}. An element for which one is zero or
        negative raises an error with its number
    check : a function of all elements (m, s) that returns what is wrong with them, or None
    check_in_system : the same when a System is built, a function of the elements, their packed
        parameters at t = 0 (m, width), the initial positions (n, 3) [m] and a mask (n,) of the
        particles that are fixed for all time
    domain : quantities as in `proper` that must be positive wherever the energy has a value, in the
        pose of a system too: {"is inverted": lambda x: …}; such a function may also have
        parameters of the law as arguments, and gets their values at t = 0
    metric : a function of the arguments of the formula whose Hessian, with the parts that are
        `taut.formula.frozen` as constants, is positive semi-definite and serves Newton's method as
        the metric (default: derived from the formula, or by eigenvalues)

    flow : {parameter: function} of one scalar rest value that changes at the end of each step, as
        in plasticity: a function of `x`, of parameters of the law by name and, if it has that
        argument, of the step `h` [s], that returns the new value. The energy must not rise by it;
        the ledger books what it loses as heat. State keeps the values

    A parameter called `mass` that is not given is the mass of the element's particles [kg]. A
    parameter annotated `taut.formula.Vector` has three components, one annotated `Matrix2` or
    `Matrix3` is a 2×2 or 3×3 matrix.

    >>> import taut
    >>> from taut.formula import norm
    >>> @taut.energy(rest={"l0": lambda x: norm(x[1] - x[0])}, limits={"k": ">= 0"})
    ... def my_spring(x, k, l0):
    ...     return k / 2 * (norm(x[1] - x[0]) - l0) ** 2
    >>> my_spring([[0, 1], [1, 2]], k=100.0)
    <energy my_spring: 2 elements>
    """
    return _decorate("energy", formula, options)


@overload
def dissipation(formula: Formula) -> Law[Damping]: ...
@overload
def dissipation(**options: Unpack[DissipationOptions]) -> Callable[[Formula], Law[Damping]]: ...
def dissipation(formula: Formula | None = None, **options: Any) -> Any:
    """Make a damping law of a rate potential Ψ [W], written with `rate` of quantities of positions.

    rest, invariant, limits, proper, check : as for `energy`; "rigid motion" means that no rigid
        motion is damped

    The damping force is -∂Ψ/∂v. In an implicit step rate(m) is (m(new) - m(old))/h, and positions
    outside of rate(…) are those at the start of the step.

    >>> import taut
    >>> from taut.formula import dot, rate
    >>> @taut.dissipation
    ... def drag(x, c):
    ...     return c / 2 * dot(rate(x[0]), rate(x[0]))
    >>> drag(c=0.1)
    <damping drag: every particle>
    """
    return _decorate("dissipation", formula, options)


@overload
def load(formula: Formula) -> Law[Load]: ...
@overload
def load(**options: Unpack[LoadOptions]) -> Callable[[Formula], Law[Load]]: ...
def load(formula: Formula | None = None, **options: Any) -> Any:
    """Make a law of a force that has no energy, such as wind.

    formula : a function of `x` and `v`, the positions and velocities of the s particles of one
        element, and of named parameters, that returns the force [N] on each of the s particles: a
        sequence of s vectors
    rest, limits, proper, check : as for `energy`

    Every integrator takes the force at the start of a step and holds it over the step; the ledger
    books its work. It is first order in time and has no part in the stiffness: a step much longer
    than the time in which the force changes can be unstable.

    >>> import taut
    >>> @taut.load
    ... def headwind(x, v, c):
    ...     return [-c * v[0]]
    >>> headwind([3], c=0.1)
    <load headwind: 1 elements>
    """
    return _decorate("load", formula, options)
