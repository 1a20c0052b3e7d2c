"""Each integrator as data: what its stages start from, and where its step ends.

A step of every method here is a list of stages, each of which is one of

    Evaluation      q_k and v_k as given, with constraints applied; a_k = S M⁻¹f(q_k, v_k, t_k)
    Solution        q_k = q̄ + γ v_k, v_k = v̄ + γ M⁻¹f(q_k, v_k, t_k): an implicit stage
    Linear solution the same with forces that are linear about the start of the step

followed by its end. Every q, v and q̄, v̄ is a weighted sum of the start and of earlier stages, and
the weights are numbers with their derivatives by h (`taut.inverse._sums`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from taut.errors import ModelError
from taut.inverse._sums import Sum, Weight, to_weight
from taut.step.adaptive import Adaptive
from taut.step.bdf2 import BDF2
from taut.step.explicit import Explicit
from taut.step.implicit_euler import ImplicitEuler
from taut.step.implicit_midpoint import ImplicitMidpoint
from taut.step.integrator import Integrator
from taut.step.linearly_implicit_euler import LinearlyImplicitEuler
from taut.step.step_result import StepResult
from taut.step.tr_bdf2 import TRBDF2, C, W

# Keys in State.history of BDF2, and the names of these vectors in a tableau
HISTORY = {"BDF2 moved": "moved", "BDF2 v": "v before"}
LAST_STEP = "BDF2 h"
_Q, _V = Sum.of("q"), Sum.of("v")


@dataclass(frozen=True)
class Evaluation:
    """A stage at which forces are evaluated.

    name : k; its vectors are "q k", "v k" and "a k"
    q, v : before constraints; t : since the start of the step [s]
    path : at which part of the step prescribed velocities are taken
    """

    name: str
    q: Sum
    v: Sum
    t: Weight
    path: float


@dataclass(frozen=True)
class Solution:
    """An implicit stage.

    name : k; its vectors are "q k" and "v k"
    q, v, gamma : q̄, v̄ and γ; t : since the start of the step [s]
    frozen : positions at which damping as rates has its geometry, before constraints; None:
        damping acts as increments since the start of the step
    path : at which part of the step prescribed velocities are taken; None: (b(t) - q̄)/γ
    source : where the solution is in the result of a step: the number of its stage, or None: its
        end
    """

    name: str
    q: Sum
    v: Sum
    gamma: Weight
    t: Weight
    frozen: Sum | None
    path: float | None
    source: int | None = None


@dataclass(frozen=True)
class LinearSolution:
    """The stage of linearly implicit Euler; `project`: whether its stiffness is projected."""

    name: str
    gamma: Weight
    project: bool


Stage = Evaluation | Solution | LinearSolution


@dataclass(frozen=True)
class Tableau:
    """The stages of a step and its end.

    end : the name of the stage at which it ends, or the positions and velocities before
        constraints
    history : vectors that the next step reads, by name
    """

    stages: tuple[Stage, ...]
    end: str | tuple[Sum, Sum]
    history: dict[str, Sum] = field(default_factory=dict)


def _implicit_euler(h: Weight, _: Weight, __: StepResult) -> Tableau:
    return Tableau((Solution("1", _Q, _V, h, h, None, None),), "1")


def _bdf2(h: Weight, last: Weight, result: StepResult) -> Tableau:
    if result.stages[-1].span is not None:  # a step of implicit Euler
        euler = _implicit_euler(h, last, result)
        return Tableau(euler.stages, "1", {"moved": h * Sum.of("v 1"), "v before": _V})
    r = h / last
    kappa, gamma = r * r / (1 + 2 * r), h * (1 + r) / (1 + 2 * r)
    drift = kappa * Sum.of("moved")
    gain = kappa * (_V - Sum.of("v before"))
    stage = Solution("1", _Q + drift, _V + gain, gamma, h, _Q + h * _V, None)
    return Tableau((stage,), "1", {"moved": drift + gamma * Sum.of("v 1"), "v before": _V})


def _implicit_midpoint(h: Weight, _: Weight, __: StepResult) -> Tableau:
    half: Weight = h / 2
    stage = Solution("1", _Q, _V, half, half, _Q + half * _V, 0.5, source=0)
    middle = Sum.of("v 1")
    return Tableau((stage,), (_Q + h * middle, 2 * middle - _V))


def _tr_bdf2(h: Weight, _: Weight, __: StepResult) -> Tableau:
    gamma: Weight = C / 2 * h
    begin = Evaluation("0", _Q, _V, Weight(0.0), 0.0)
    v, a, v1 = Sum.of("v 0"), Sum.of("a 0"), Sum.of("v 1")
    ahead = _Q + C * h * v
    first = Solution("1", _Q + gamma * v, v + gamma * a, gamma, C * h, ahead, C, source=1)
    ahead = Sum.of("q 1") + (1 - C) * h * v1
    q, gain = _Q + W * gamma * (v + v1), W * (v1 - v)
    second = Solution("2", q, v + gain, gamma, h, ahead, 1.0)
    return Tableau((begin, first, second), "2")


def _linearly_implicit_euler(h: Weight, _: Weight, result: StepResult) -> Tableau:
    linear = result.stages[0].linear
    assert linear is not None
    return Tableau((LinearSolution("1", h, linear.project),), "1")


TABLEAUX: dict[type[Integrator], Callable[[Weight, Weight, StepResult], Tableau]] = {
    ImplicitEuler: _implicit_euler,
    BDF2: _bdf2,
    ImplicitMidpoint: _implicit_midpoint,
    TRBDF2: _tr_bdf2,
    LinearlyImplicitEuler: _linearly_implicit_euler,
}
"""The tableau of each implicit integrator, from h, the length of the step before and the result of
the step. Explicit ones have theirs from their formula."""


def find_tableau(integrator: Integrator, result: StepResult) -> Tableau:
    """Return the tableau of the step that an integrator has taken.

    >>> import taut
    >>> ball = taut.System([[0, 0, 0]], mass=1.0, energies=[taut.laws.gravity()])
    >>> result = taut.RK4().advance(ball, ball.initial_state(), 0.1)
    >>> [stage.t.value for stage in find_tableau(taut.RK4(), result).stages]
    [0.0, 0.05, 0.05, 0.1]
    """
    h = Weight(result.h, by_h=1.0)
    last = Weight(float(result.start.history.get(LAST_STEP, math.nan)), by_last=1.0)
    kind = find_kind(integrator)
    if kind in TABLEAUX:
        return TABLEAUX[kind](h, last, result)
    assert isinstance(integrator, Explicit)
    return _explicit(integrator, h)


def find_kind(integrator: Integrator) -> type[Integrator]:
    """Return the class that has the tableau of an integrator, or raise ModelError.

    A subclass that defines its step anew needs a tableau of its own.
    """
    if isinstance(integrator, Adaptive):
        return find_kind(integrator.integrator)
    own = type(integrator)
    for kind in own.__mro__:
        if kind in TABLEAUX or kind is Explicit:
            parts = ("advance", "predict", "book")
            if all(getattr(own, part, None) is getattr(kind, part, None) for part in parts):
                return kind
            break
    raise ModelError(
        f"{own.__name__} has no tableau, so that its steps cannot be differentiated; "
        "add one to taut.inverse.tableaux.TABLEAUX"
    )


def _explicit(integrator: Explicit, h: Weight) -> Tableau:
    stages: list[Evaluation] = []

    def acceleration(t: Any, q: Sum, v: Sum) -> Sum:
        name, t = str(len(stages) + 1), to_weight(t)
        stages.append(Evaluation(name, q, v, t, t.value / h.value))
        return Sum.of(f"a {name}")

    # The formula takes numbers: weights behave like them.
    length: Any = h
    q, v = integrator.formula(acceleration, to_weight(0.0), _Q, _V, length)  # type: ignore[arg-type]
    return Tableau(tuple(stages), (q, v))
