"""Gusty wind: a mean velocity and band-limited, divergence-free turbulence, as a formula.

    v(x, t) = U + Σₙ aₙ eₙ cos(kₙ·(x - U t) + ωₙ t + φₙ),  eₙ ⟂ kₙ

Each wave is transverse, so that the divergence is zero everywhere. The wavelengths 2π/|kₙ| are
spread between a shortest and a longest one, evenly in their logarithm, with the energy of
Kolmogorov's spectrum, aₙ² ∝ |kₙ|^(-2/3). The mean wind carries the waves along (Taylor's frozen
turbulence), and each also turns over by itself, at a random frequency ωₙ of the order of its speed
times |kₙ|. Directions and phases follow from a seed: the same numbers give the same wind, at every
place and time, whatever was evaluated before.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from taut.arrays import Float, to_floats
from taut.errors import ModelError

_WAVES = 64  # enough for gusts that do not visibly repeat; a place costs as many cosines


class Gusts:
    """A wind with turbulence: a function of places (m, 3) [m] and time [s], velocities (m, 3).

    mean : velocity U [m/s]
    rms : root mean square of the turbulence [m/s], of its three components in the mean
    sizes : the shortest and the longest wavelength [m]; shorter gusts than a triangle of the mesh
        are wasted on it
    seed : a whole number from 0; another seed is another wind of the same kind

    For `laws.wind(triangles, velocity=Gusts(…))`. Surfaces do not shelter each other: behind one
    another they all have this wind.

    >>> wind = Gusts((4.0, 0.0, 0.0), rms=1.0, sizes=(0.2, 5.0))
    >>> wind([[0, 0, 0], [1, 2, 3]], 0.5).shape
    (2, 3)
    """

    def __init__(
        self, mean: ArrayLike, *, rms: float, sizes: tuple[float, float], seed: int = 0
    ) -> None:
        self.mean = _to_vector(mean)
        self.rms = _to_number(rms, "rms", "[m/s], 0 or more", 0.0)
        try:
            shortest, longest = sizes
        except (TypeError, ValueError):
            raise ModelError(
                f"gusts: sizes must be the shortest and longest wavelength [m], got {sizes!r}"
            ) from None
        tiny = float(np.finfo(np.float64).tiny)
        shortest = _to_number(shortest, "the shortest size", "[m], above 0", tiny)
        longest = _to_number(longest, "the longest size", "[m], above 0", tiny)
        if not shortest < longest:
            raise ModelError(f"gusts: sizes must increase, got {shortest:g} m and {longest:g} m")
        if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
            raise ModelError(f"gusts: seed must be a whole number from 0, got {seed!r}")
        self.sizes, self.seed = (shortest, longest), seed
        random = np.random.default_rng(seed)
        part = (np.arange(_WAVES) + random.uniform(size=_WAVES)) / _WAVES
        number = 2 * np.pi / longest * (longest / shortest) ** part
        along = _normalise(random.normal(size=(_WAVES, 3)))
        across = random.normal(size=(_WAVES, 3))
        across -= np.einsum("ni,ni->n", across, along)[:, None] * along
        energy = number ** (-2 / 3)
        # A wave has the mean square ½a², and three components share the sum: Σ ½a² = 3 rms².
        amplitude = self.rms * np.sqrt(6 * energy / energy.sum())
        self._waves = amplitude[:, None] * _normalise(across)
        self._numbers = number[:, None] * along
        turning = self.rms * number * random.normal(size=_WAVES)
        self._frequencies = turning - self._numbers @ self.mean
        self._phases = random.uniform(0, 2 * np.pi, size=_WAVES)

    def __repr__(self) -> str:
        return (
            f"Gusts({self.mean.tolist()}, rms={self.rms:g}, sizes={self.sizes}, seed={self.seed})"
        )

    def __call__(self, x: ArrayLike, t: float) -> Float:
        """Return the velocities of the air [m/s] at places x (m, 3) [m] and time t [s], (m, 3)."""
        places = np.asarray(x, dtype=np.float64)
        # einsum, whose sums do not depend on the threads of a linear algebra library
        phase = np.einsum("mi,ni->mn", places, self._numbers)
        waves = np.cos(phase + (self._frequencies * t + self._phases))
        return np.asarray(self.mean + np.einsum("mn,ni->mi", waves, self._waves))


def _normalise(vectors: Float) -> Float:
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))


def _to_vector(value: ArrayLike) -> Float:
    try:
        vector = to_floats(value)
    except (TypeError, ValueError):
        vector = np.zeros(())
    if vector.shape != (3,) or not np.isfinite(vector).all():
        raise ModelError(f"gusts: mean must be a velocity of three numbers [m/s], got {value!r}")
    return vector


def _to_number(value: object, name: str, what: str, least: float) -> float:
    is_number = isinstance(value, (int, float, np.floating)) and not isinstance(value, bool)
    number = float(value) if is_number else float("nan")  # type: ignore[arg-type]
    if not least <= number < float("inf"):
        raise ModelError(f"gusts: {name} must be a number {what}, got {value!r}")
    return number
