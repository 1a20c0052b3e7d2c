"""Gradients of equilibria and forms: a loss of the state, pulled back to parameters."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from taut.errors import ModelError
from taut.inverse._collect import SweepResult, collect
from taut.inverse._moment import PathSums
from taut.inverse._part import Sums
from taut.inverse._static_point import MembranePoint, StaticPoint
from taut.inverse._sweep import read_loss
from taut.inverse.result import (
    ACCURACY,
    Gradient,
    compare,
    describe_notes,
    warn,
)
from taut.inverse.targets import check_targets
from taut.statics.equilibrium import Equilibrium
from taut.statics.form_finding import Form
from taut.system.system import System

_NOT_STATIC = ("velocity", "h", "rayleigh.alpha", "rayleigh.beta")


def empty(system: System, value: float, sums: Sums, paths: PathSums) -> SweepResult:
    """Return what a sweep has found at rest, where initial states do not count."""
    zero = np.zeros((system.n, 3))
    return SweepResult(value, sums, paths, zero, zero, np.zeros(0), False)


def check_static(system: System | None, by: Any, what: str) -> tuple[System, list[str]]:
    """Return the system and the names to differentiate by, or raise ModelError."""
    if system is None:
        raise ModelError(f"these {what} do not know their system; compute them with taut.{what}")
    names = check_targets(system, by)
    for name in names:
        if name in _NOT_STATIC:
            raise ModelError(f"by: '{name}' has no effect at rest")
    return system, names


Pull = Callable[[StaticPoint], SweepResult]


def certify_point(
    point: StaticPoint, pull: Pull, names: Sequence[str], notes: tuple[str, ...], *, certify: bool
) -> Gradient:
    """Return the gradient at a point, with its error from a second, polished one."""
    started = time.perf_counter()
    found = pull(point)
    slopes = collect(point.system, list(names), found)
    error: Mapping[str, Any] = {}
    value_error = 0.0
    if certify:
        better = pull(point.polish())
        error = compare(slopes, collect(point.system, list(names), better))
        value_error = 2.0 * abs(better.value - found.value)
    notes = (*describe_notes([], point.find_kinks()), *notes)
    seconds = time.perf_counter() - started
    result = Gradient(found.value, slopes, error, value_error, notes, seconds)
    warn(result)
    return result


def gradient_of_equilibrium(
    found: Equilibrium, loss: Any, by: Sequence[str], *, certify: bool
) -> Gradient:
    """Return the gradient of a loss of the state of an equilibrium."""
    system, names = check_static(found.system, by, "equilibrium")
    point = StaticPoint(system, found.state, found.path[-1].factor, ACCURACY)
    return certify_point(point, lambda at: _pull_loss(at, loss), names, (), certify=certify)


def gradient_of_form(form: Form, loss: Any, by: Sequence[str], *, certify: bool) -> Gradient:
    """Return the gradient of a loss of the state of a form."""
    system, names = check_static(form.system, by, "form_finding")
    state = system.initial_state()
    q = np.array(state.q)
    q[: len(form.points)] = form.points  # what follows are obstacles
    point = StaticPoint(system, state.with_(q=q), 1.0, ACCURACY)
    if len(form.sliding):
        point = MembranePoint(form.triangles, form.sliding, system, point.state, ACCURACY)
    return certify_point(point, lambda at: _pull_loss(at, loss), names, (), certify=certify)


def _pull_loss(point: StaticPoint, loss: Any) -> SweepResult:
    system = point.system
    value, q, v = read_loss(loss(point.state), system.n, point.state.t)
    if v is not None and v.any():
        raise ModelError("the loss of an equilibrium must not depend on velocities")
    sums, paths = Sums.of(system, times=False), PathSums(system)
    point.pull(np.zeros((system.n, 3)) if q is None else q, sums, paths)
    return empty(system, value, sums, paths)
