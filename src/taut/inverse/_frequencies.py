"""Gradients of frequencies.

A frequency has ω² = φᵀKφ with φᵀMφ = 1, so that

    2ω dω = φᵀ(∂K/∂p dp + ∂K/∂q dq)φ - ω² φᵀdM φ:

third derivatives of V. If the state is an equilibrium, q moves with p, and what φᵀ∂K/∂q φ gives is
the gradient by q for which the equilibrium is pulled.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from taut.arrays import Float
from taut.errors import ModelError
from taut.inverse._collect import SweepResult
from taut.inverse._moment import PathSums
from taut.inverse._part import Sums
from taut.inverse._static_point import StaticPoint
from taut.inverse._statics import certify_point, check_static, empty
from taut.inverse.result import ACCURACY, Gradient
from taut.statics.modes import Modes, modes

# Relative gap of two frequencies below which they count as equal, and have no derivative each
_EQUAL = 1e-6


def gradient_of_modes(
    found: Modes, loss: Any, by: Sequence[str], at: Any, *, certify: bool
) -> Gradient:
    """Return the gradient of a loss of frequencies.

    at : the `Equilibrium` about which the modes are, which then moves with the parameters; None:
        the positions stay
    """
    system, names = check_static(found.system, by, "modes")
    assert found.state is not None
    factor = at.path[-1].factor if at is not None else 1.0
    state = found.state if at is None else at.state
    if not np.array_equal(state.q, found.state.q):
        raise ModelError("the modes must be those of the equilibrium in `at`")
    _, slopes = _read_frequency_loss(loss, found.omega)
    notes = _find_equal(found.omega, slopes)

    def pull(point: StaticPoint) -> SweepResult:
        sums, paths = Sums.of(system, times=False), PathSums(system)
        omega, shapes = _follow(point, found)
        by_q = np.zeros((system.n, 3))
        q, t = np.array(point.state.q), point.state.t
        own, own_slopes = _read_frequency_loss(loss, omega)
        for w, shape, slope in zip(omega, shapes, own_slopes, strict=True):
            if slope == 0.0:
                continue
            scale = slope / (2.0 * w)
            more, _ = point.forces.pull_stiffness(
                q, t, shape, shape, sums, project=False, scale=scale
            )
            by_q += more
            sums.mass -= scale * w * abs(w) * np.einsum("ni,ni->n", shape, shape)
        if at is not None:
            point.pull(by_q, sums, paths)
            return empty(system, own, sums, paths)
        held = by_q - system._projector.project(by_q)
        paths.add(t, held)
        zero = np.zeros_like(by_q)
        return SweepResult(own, sums, paths, by_q - held, zero, np.zeros(0), False)

    point = StaticPoint(system, state, factor, ACCURACY)
    return certify_point(point, pull, names, notes, certify=certify and at is not None)


def _follow(point: StaticPoint, found: Modes) -> tuple[Float, Float]:
    """Return frequencies and shapes at a point close to that of the modes."""
    assert found.state is not None
    if np.array_equal(point.state.q, found.state.q):
        return found.omega, found.shapes
    again = modes(point.system, point.state, n=len(found.omega))
    return again.omega, again.shapes


def _read_frequency_loss(loss: Any, omega: Float) -> tuple[float, Float]:
    given = loss(omega)
    if not isinstance(given, tuple) or len(given) != 2:
        raise ModelError(
            "the loss of modes must return (value, gradient by the angular frequencies), "
            f"got {given!r}"
        )
    slopes = np.asarray(given[1], dtype=np.float64)
    if slopes.shape != omega.shape:
        raise ModelError(
            f"the gradient by the angular frequencies must have the shape {omega.shape}, "
            f"got {slopes.shape}"
        )
    still = np.flatnonzero((omega == 0.0) & (slopes != 0.0))
    if len(still):
        raise ModelError(f"mode {still[0]} has the frequency 0, which has no derivative")
    return float(given[0]), slopes


def _find_equal(omega: Float, slopes: Float) -> tuple[str, ...]:
    """Say which frequencies are equal but weighed differently."""
    notes = []
    for k in range(len(omega) - 1):
        gap = abs(omega[k + 1] - omega[k])
        if gap <= _EQUAL * abs(omega[k]) and slopes[k] != slopes[k + 1]:
            notes.append(
                f"modes {k} and {k + 1} have the same frequency: only losses in which both count "
                "alike have a derivative"
            )
    return tuple(notes)
