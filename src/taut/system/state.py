"""The State: everything a step needs from the past."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from numbers import Real
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from taut.arrays import Float, Mask, describe, to_floats
from taut.errors import ModelError, did_you_mean
from taut.system._arguments import to_positions

_NOTHING: Mapping[str, Float] = MappingProxyType({})


@dataclass(frozen=True, eq=False)
class State:
    """A moment of a simulation: complete, so that a run continued from it gives the same bits.

    t : time [s]
    q : positions [m], shape (n, 3), read-only
    v : velocities [m/s], shape (n, 3), read-only
    active : for laws some of whose elements are switched off: name → mask of shape (m,). Left out:
        all elements
    history : what an integrator declares it needs from earlier steps: name → array
    rest : rest values that have flowed, of laws with a `flow`: name → value of each element, (m,).
        Left out: none has
    """

    t: float
    q: Float
    v: Float
    active: Mapping[str, Mask] = field(default_factory=dict)
    history: Mapping[str, Float] = field(default_factory=dict)
    rest: Mapping[str, Float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not isinstance(self.t, Real) or not np.isfinite(self.t):
            raise ModelError(f"the time of a state must be a finite number, got {self.t!r}")
        q = to_positions(self.q, "positions q")
        v = to_positions(self.v, "velocities v", len(q))
        active = {name: _frozen(_to_mask(name, mask)) for name, mask in self.active.items()}
        history = {name: _frozen(_to_history(name, value)) for name, value in self.history.items()}
        for name, value in (("t", float(self.t)), ("q", _frozen(q)), ("v", _frozen(v))):
            object.__setattr__(self, name, value)
        rest = {name: _frozen(_to_rest(name, value)) for name, value in self.rest.items()}
        object.__setattr__(self, "active", MappingProxyType(active))
        object.__setattr__(self, "rest", MappingProxyType(rest))
        object.__setattr__(self, "history", MappingProxyType(history))

    @staticmethod
    def after_step(t: float, q: Float, v: Float, before: State) -> State:
        """Return the state after a step, with the active elements and rest values of `before`.

        q, v : new, finite arrays (n, 3), which become read-only

        >>> s = State(0.0, [[0.0, 1.0, 0.0]], [[0.0, 0.0, 0.0]])
        >>> State.after_step(0.5, np.ones((1, 3)), np.zeros((1, 3)), s).q.flags.writeable
        False
        """
        state = object.__new__(State)
        fields = (
            ("t", float(t)),
            ("q", _frozen(q)),
            ("v", _frozen(v)),
            ("active", before.active),
            ("history", _NOTHING),
            ("rest", before.rest),
        )
        for name, value in fields:
            object.__setattr__(state, name, value)
        return state

    def __reduce__(self) -> tuple[Any, ...]:
        return State, (
            self.t,
            np.array(self.q),
            np.array(self.v),
            dict(self.active),
            dict(self.history),
            dict(self.rest),
        )

    def __repr__(self) -> str:
        return f"<state of {len(self.q)} particles at t = {self.t:g} s>"

    def with_(
        self,
        *,
        t: float | None = None,
        q: ArrayLike | None = None,
        v: ArrayLike | None = None,
        **maps: Any,
    ) -> State:
        """Return the state with some fields changed.

        An integrator's history belongs to one motion: it is dropped unless one is given, and the
        method starts afresh.

        >>> s = State(0.0, [[0.0, 1.0, 0.0]], [[0.0, 0.0, 0.0]])
        >>> s.with_(v=[[1.0, 0.0, 0.0]]).v.tolist()
        [[1.0, 0.0, 0.0]]
        """
        changes = {
            name: value for name, value in (("t", t), ("q", q), ("v", v)) if value is not None
        }
        for name in maps:
            if name not in ("active", "history", "rest"):
                hint = did_you_mean(name, ("t", "q", "v", "active", "history", "rest"))
                raise ModelError(f"a state has no '{name}'{hint}")
        if changes or maps:
            maps.setdefault("history", {})
        return replace(self, **changes, **maps)  # type: ignore[arg-type]


def require_state(value: object, caller: str = "") -> None:
    """Raise ModelError unless a value is a State; the message says how to make one.

    caller : what the message begins with

    >>> require_state(np.zeros((2, 3)))
    Traceback (most recent call last):
    taut.errors.ModelError: a taut.State is needed, got an array of shape (2, 3); \
of positions q, system.initial_state().with_(q=q) makes one
    """
    if isinstance(value, State):
        return
    hint = ""
    if isinstance(value, (np.ndarray, list)):
        hint = "; of positions q, system.initial_state().with_(q=q) makes one"
    elif isinstance(value, tuple) and value and isinstance(value[0], State):
        hint = "; a step returns two values: state, report = integrator.step(…)"
    prefix = f"{caller}: " if caller else ""
    raise ModelError(f"{prefix}a taut.State is needed, got {describe(value)}{hint}")


def check_masks(laws: Mapping[str, Any], masks: Mapping[str, Mask]) -> dict[str, Mask]:
    """Return the masks of active elements if they fit the placed laws of these names."""
    for name, mask in masks.items():
        if name not in laws:
            raise ModelError(f"active: there is no law '{name}'{did_you_mean(name, laws)}")
        if mask.shape != (len(laws[name].elements),):
            count = len(laws[name].elements)
            raise ModelError(
                f"active: the mask of '{name}' must have the shape ({count},), got {mask.shape}"
            )
        if mask.any() and not mask.all() and laws[name].couples_all_elements:
            raise ModelError(
                f"active: '{name}' has one energy for all its elements; switch off all or none"
            )
    return dict(masks)


def _to_mask(name: str, value: Any) -> Mask:
    mask = np.array(value)
    if mask.dtype != bool or mask.ndim != 1:
        raise ModelError(
            f"active: '{name}' needs a mask, one True or False per element, got {value!r}"
        )
    return mask


def _to_history(name: str, value: Any) -> Float:
    try:
        return to_floats(value)
    except (TypeError, ValueError) as error:
        raise ModelError(f"history: '{name}' must consist of numbers, got {value!r}") from error


def _to_rest(name: str, value: Any) -> Any:
    try:
        values = to_floats(value)
    except (TypeError, ValueError) as error:
        raise ModelError(f"rest: '{name}' must consist of numbers, got {value!r}") from error
    if values.ndim != 1 or not np.isfinite(values).all():
        raise ModelError(f"rest: '{name}' needs one finite number per element, got {value!r}")
    return values


def _frozen(array: Any) -> Any:
    array.setflags(write=False)
    return array
