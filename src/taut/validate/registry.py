"""All cases there are, by name: a function becomes one by the decorator `case`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module

import numpy as np
from numpy.typing import ArrayLike

from taut.errors import ModelError, did_you_mean
from taut.validate.case import Case, Found

GROUPS = (
    "oscillators", "integrators", "chains", "waves", "pendulums", "cables", "rods", "beams", "buckling", "lattices", "moduli",
    "shells", "pressure", "forms", "conservation", "energy",
)  # fmt: skip
"""The files that hold cases, in the order in which they are told."""
_FOUND: dict[str, Case] = {}


def case(
    name: str, *, formula: str, source: str, expected: ArrayLike, tolerance: float, why: str, unit: str = "",
    scale: float | None = None, what: str | None = None,
) -> Callable[[Callable[[], Found]], Callable[[], Found]]:  # fmt: skip
    """Register a function as a case (see `Case` for the words); `what` is its docstring, if it is not given."""

    def register(measure: Callable[[], Found]) -> Callable[[], Found]:
        if name in _FOUND and _FOUND[name].measure.__qualname__ != measure.__qualname__:
            raise ModelError(f"there are two cases '{name}'")
        said = " ".join((what or measure.__doc__ or "").split())
        group = measure.__module__.rpartition(".")[2]
        numbers = np.asarray(expected, dtype=np.float64).ravel()
        _FOUND[name] = Case(name, group, said, formula, source, unit, numbers, scale, tolerance, why, measure)
        return measure

    return register


def cases() -> dict[str, Case]:
    """All cases by name, in the order of `GROUPS`.

    >>> len(cases()) >= 40, cases()["oscillator-free"].unit
    (True, 'm')
    """
    for group in GROUPS:
        import_module(f"taut.validate.{group}")
    ordered = sorted(_FOUND.values(), key=lambda case: GROUPS.index(case.group))
    return {case.name: case for case in ordered}


def chosen(words: Sequence[str]) -> list[Case]:
    """The cases whose name or group contains one of these words; all if there are none.

    >>> [case.name for case in chosen(["oscillator-f", "critical"])]
    ['oscillator-free', 'oscillator-critical']
    """
    found = cases()
    for word in words:
        if not word or not any(word in case.name or word in case.group for case in found.values()):
            known = [*found, *GROUPS]
            raise ModelError(f"no case is called '{word}'{did_you_mean(word, known)}; there are {', '.join(found)}")
    return [case for case in found.values() if not words or any(word in case.name or word in case.group for word in words)]
