"""Invariants of every energy, as functions that raise AssertionError.

Tests run them on all energies, and on deliberately wrong ones to verify that they fail.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from taut.binding.placed_law import PlacedLaw, place
from taut.formula._array import as_array


def formula(placed: PlacedLaw, q: np.ndarray) -> None:
    """The compiled energy equals the formula.

    The formula is evaluated on plain numbers, one element at a time.
    """
    m = len(placed.elements)
    columns = {
        name: np.broadcast_to(v, (m, *placed.parameters.shapes[name]))
        for name, v in placed.parameters.constant.items()
    }
    expected = []
    for e, index in enumerate(placed.elements):
        arguments = {
            name: float(v[e]) if v.ndim == 1 else as_array(v[e]) for name, v in columns.items()
        }
        expected.append(placed.law.formula(as_array(q[index]), **arguments))
    np.testing.assert_allclose(
        placed.values(q), expected, rtol=1e-12, atol=1e-13 * np.abs(expected).max()
    )


def taylor(placed: PlacedLaw, q: np.ndarray, rng: np.random.Generator) -> None:
    """|V(q + s d) - V - s g·d - ½ s² dᵀKd| falls like s³; for a quadratic law it vanishes."""
    d = rng.normal(size=q.shape)
    de = d[placed.elements]
    g, k = placed.gradients(q), placed.hessians(q)
    first = np.einsum("msk,msk->m", g, de)
    flat = de.reshape(len(de), -1)
    second = np.einsum("mi,mij,mj->m", flat, k, flat)
    start = placed.values(q)
    steps = 0.003 / 2.0 ** np.arange(5)
    rest = np.array(
        [
            np.abs(placed.values(q + s * d) - start - s * first - s * s / 2 * second).sum()
            for s in steps
        ]
    )
    assert np.abs(first).max() > 1e-2 * np.abs(g).max(), (
        "the gradient is zero along the direction and was not tested"
    )
    if placed.forms["energy"].hessian_kind in ("zero", "constant"):
        assert rest.max() <= 1e-12 * (
            np.abs(start).sum() + np.abs(first).sum() + np.abs(second).sum()
        ), rest
        return
    assert np.abs(second).max() > 1e-2 * np.abs(k).max(), (
        "the Hessian is zero along the direction and was not tested"
    )
    slope = np.polyfit(np.log(steps), np.log(rest), 1)[0]
    assert 2.9 <= slope <= 3.1, f"Taylor remainder has slope {slope:.3f}, not 3"


def rest_state(placed: PlacedLaw, q: np.ndarray) -> None:
    """At rest force and energy vanish up to rounding."""
    scale = 1 + np.abs(placed.hessians(q)).max()
    assert np.abs(placed.gradients(q)).max() <= 1e-13 * scale, "the force at rest must vanish"
    assert np.abs(placed.values(q)).max() <= 1e-14 * scale, "the energy at rest must vanish"


def symmetry(placed: PlacedLaw, q: np.ndarray) -> None:
    k = placed.hessians(q)
    assert np.abs(k - k.transpose(0, 2, 1)).max() <= 1e-14 * max(np.abs(k).max(), 1e-300)


def is_invariant(placed: PlacedLaw, q: np.ndarray, moved: np.ndarray) -> bool:
    a, b = placed.values(q), placed.values(moved)
    return bool(np.abs(a - b).max() <= 1e-12 * np.abs(a).sum())


def invariance(placed: PlacedLaw, q: np.ndarray, rng: np.random.Generator) -> None:
    """The energy is unchanged by exactly those motions that its law declares."""
    shift = rng.normal(size=3)
    turn = Rotation.random(
        random_state=np.random.RandomState(int(rng.integers(1 << 30)))
    ).as_matrix()
    measured = None
    if is_invariant(placed, q, q + shift):
        measured = "rigid motion" if is_invariant(placed, q, q @ turn.T + shift) else "translation"
    assert measured == placed.law.invariant, f"declared {placed.law.invariant}, measured {measured}"


def no_net_force(placed: PlacedLaw, q: np.ndarray) -> None:
    """Total force and torque of each element vanish if the law's invariance implies it."""
    g, x = placed.gradients(q), q[placed.elements]
    scale = np.abs(g).sum()
    if placed.law.invariant is not None:
        assert np.abs(g.sum(axis=1)).max() <= 1e-13 * scale
    if placed.law.invariant == "rigid motion":
        assert np.abs(np.cross(x, g).sum(axis=1)).max() <= 1e-12 * scale * np.abs(x).max()


def projection(placed: PlacedLaw, q: np.ndarray) -> None:
    """The projected Hessian is the nearest positive semi-definite matrix, found here by numpy's
    eigenvalues.
    """
    k = placed.hessians(q)
    values, vectors = np.linalg.eigh(k)
    nearest = np.einsum("mij,mj,mkj->mik", vectors, np.maximum(values, 0.0), vectors)
    scale = max(np.abs(k).max(), 1e-300)
    assert np.abs(placed.hessians(q, project=True) - nearest).max() <= 1e-11 * scale


def metric(k: np.ndarray, m: np.ndarray) -> None:
    """The metrics m of Hessians k, (…, n, n), are finite, symmetric and positive semi-definite."""
    assert np.isfinite(k).all(), "the Hessian must be finite for its metric to be tested"
    assert np.isfinite(m).all(), "the metric must be finite"
    assert np.abs(m - np.swapaxes(m, -1, -2)).max() <= 1e-14 * max(np.abs(m).max(), 1e-300)
    scale = np.maximum(np.abs(m).max(axis=(-1, -2)), 1e-300)
    lowest = np.linalg.eigvalsh(m)[..., 0]
    assert (lowest >= -1e-13 * scale).all(), "the metric must be positive semi-definite"


def metric_at_rest(placed: PlacedLaw, q: np.ndarray) -> None:
    """Without a force the metric leaves nothing out, so that it equals the Hessian."""
    k, m = placed.hessians(q), placed.hessians(q, metric=True)
    assert np.abs(m - k).max() <= 1e-11 * max(np.abs(k).max(), 1e-300), (
        "the metric at rest must be the Hessian"
    )


def parameter_derivatives(placed: PlacedLaw, q: np.ndarray, **at: np.ndarray) -> None:
    """∂V/∂p and ∂²V/∂x∂p against central differences, one component of one parameter at a time."""
    m = len(placed.elements)
    for name, shape in placed.parameters.shapes.items():
        now = np.broadcast_to(placed.parameters.constant[name], (m, *shape)).copy()
        by_p, mixed = (
            placed.parameter_derivative(name, q, **at),
            placed.mixed_derivative(name, q, **at),
        )
        for j in np.ndindex(shape):
            step = np.zeros_like(now)
            step[(..., *j)] = 1e-5 * max(1.0, np.abs(now).max())
            size = step.max()
            up, down = (
                place(placed.bound.with_(**{name: now + s * step}), placed.rest, placed.mass)
                for s in (1, -1)
            )
            expected = (up.values(q, **at) - down.values(q, **at)) / (2 * size)
            expected_mixed = (up.gradients(q, **at) - down.gradients(q, **at)) / (2 * size)
            got, got_mixed = by_p[(..., *j)], mixed[(..., *j)]
            np.testing.assert_allclose(
                got, expected, rtol=1e-6, atol=1e-6 * (1 + np.abs(expected).max())
            )
            np.testing.assert_allclose(
                got_mixed, expected_mixed, rtol=1e-6, atol=1e-6 * (1 + np.abs(expected_mixed).max())
            )
