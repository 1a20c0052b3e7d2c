"""Sliders: factors on the parameters of a system's laws.

    stiffness   k, EI and c of every energy
    damping     c, k and alpha of every damping law, alpha and beta of Rayleigh damping
    gravity     |g| [m/s²]
    wind        |velocity| of the air [m/s]

For gravity or wind that changes with time, the slider shows the strength |p(t₁)| at the first time
t₁ at which it is not zero. At slider value s the parameter is p(t) s/|p(t₁)| at every time: it
keeps its direction and its course in time, and vanishes at s = 0.

Laws that a slider does not change stay the same objects, so that a System made of them recomputes
nothing.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from taut.arrays import Float, Int
from taut.binding.law import BoundLaw, Energy, Load
from taut.errors import LawError
from taut.laws.gravity import gravity
from taut.laws.rayleigh import Rayleigh
from taut.laws.wind import wind
from taut.system.system import System

STIFFNESS_PARAMETERS = ("k", "EI", "c")
_DAMPING_PARAMETERS = ("c", "k", "alpha")
_SAMPLES = 65  # times at which the strength of gravity and wind is evaluated
_SAMPLED_STEPS = 1000  # steps over which these are spread if the duration is not known
# A strength below this share of the greatest one counts as zero: a factor relative to rounding
# errors (sin(π) = 1e-16) would be huge.
_MIN_RELATIVE_STRENGTH = 0.01
_DOWN = np.array([0.0, -1.0, 0.0])  # gravity for a system without
_ALONG_X = np.array([1.0, 0.0, 0.0])  # wind for a system without

_Cache = dict[tuple[Hashable, float], Any]  # (law, slider value) → the changed law


@dataclass(frozen=True)
class SliderValues:
    """Positions of the sliders.

    stiffness, damping : factors, 1 as in the scene; gravity [m/s²]; wind [m/s]; h : step [s]
    pull : the largest force of a drag, relative to the weight of all free particles on Earth

    >>> SliderValues(gravity=9.81, wind=0.0, h=0.01).stiffness
    1.0
    """

    gravity: float
    wind: float
    h: float
    stiffness: float = 1.0
    damping: float = 1.0
    pull: float = 10.0


class Sliders:
    """A system, and its laws at given slider values.

    system : as in the scene; h : its step [s]
    triangles : surface for the wind if the system has no wind, (m, 3)
    until : duration of the scene [s], in which later wind and gravity are looked for; default: 1000
        steps

    >>> import taut
    >>> from taut import laws
    >>> sliders = Sliders(taut.System([[0, 0, 0]], mass=1.0, energies=[laws.gravity()]), 0.01)
    >>> sliders.initial.gravity
    9.81
    >>> (weaker,) = sliders.scale_laws(SliderValues(1.0, 0.0, 0.01))["energies"]
    >>> weaker.parameters["g"].tolist()
    [0.0, -1.0, 0.0]
    """

    def __init__(
        self, system: System, h: float, triangles: Int | None = None, until: float | None = None
    ) -> None:
        self.system = system
        if triangles is None or system.flat:
            triangles = np.empty((0, 3), np.int64)
        self.triangles = triangles
        gravities = [p for p in system._placed_energies.values() if p.law is gravity]
        winds = [p for p in system._placed_loads.values() if p.law is wind]
        self.has_wind_surface = bool(winds) or len(self.triangles) > 0
        end = _SAMPLED_STEPS * h if until is None else until
        self.initial = SliderValues(
            _find_strength(gravities, "g", end), _find_strength(winds, "velocity", end), h
        )
        self._cache: _Cache = {}

    def scale_laws(self, values: SliderValues) -> dict[str, list[Any]]:
        """Return energies, damping and loads at these slider values, for `System.with_`."""
        # Only laws of the last call are kept: a slider passes through many values.
        previous, self._cache = self._cache, {}
        energies = [self._scale_energy(e, values, previous) for e in self.system.energies]
        damping = [
            self._scale(d, _DAMPING_PARAMETERS, values.damping, previous)
            for d in self.system.damping
        ]
        loads = [self._scale_load(w, values, previous) for w in self.system.loads]
        if values.gravity > 0.0 and not any(e.law is gravity for e in self.system.energies):
            g = values.gravity * _DOWN
            energies.append(self._reuse("gravity", values.gravity, previous, lambda: gravity(g=g)))
        has_wind = any(w.law is wind for w in self.system.loads)
        if values.wind > 0.0 and len(self.triangles) and not has_wind:
            velocity = values.wind * _ALONG_X
            loads.append(
                self._reuse(
                    "wind", values.wind, previous, lambda: wind(self.triangles, velocity=velocity)
                )
            )
        return {"energies": energies, "damping": damping, "loads": loads}

    def _scale_energy(self, energy: Energy, values: SliderValues, previous: _Cache) -> Any:
        if energy.law is gravity:
            return self._set_strength(
                energy, "g", self.initial.gravity, values.gravity, _DOWN, previous
            )
        if energy.law.load:
            return energy
        return self._scale(energy, STIFFNESS_PARAMETERS, values.stiffness, previous)

    def _scale_load(self, load: Load, values: SliderValues, previous: _Cache) -> Any:
        if load.law is not wind:
            return load
        return self._set_strength(
            load, "velocity", self.initial.wind, values.wind, _ALONG_X, previous
        )

    def _set_strength(
        self,
        law: BoundLaw,
        name: str,
        initial: float,
        value: float,
        direction: Float,
        previous: _Cache,
    ) -> Any:
        """Set the strength of a vector parameter; one that was zero gets a direction."""
        if initial > 0.0:
            return self._scale(law, (name,), value / initial, previous)
        if value == 0.0:
            return law
        return self._reuse(law, value, previous, lambda: law.with_(**{name: value * direction}))

    def _scale(self, law: Any, names: Sequence[str], factor: float, previous: _Cache) -> Any:
        if factor == 1.0:
            return law
        return self._reuse(law, factor, previous, lambda: scale_law(law, names, factor))

    def _reuse(self, law: Hashable, value: float, previous: _Cache, make: Callable[[], Any]) -> Any:
        """Return the law that was made last time for this value, or a new one."""
        key = (law, value)
        self._cache[key] = previous[key] if key in previous else make()
        return self._cache[key]


def scale_law(law: Any, names: Sequence[str], factor: float) -> Any:
    """Multiply the named parameters of a law; functions of time stay functions of time.

    >>> from taut import laws
    >>> spring = scale_law(laws.spring([[0, 1]], k=lambda t: 2.0 + t), ["k"], 3.0)
    >>> float(spring.parameters["k"](1.0))
    9.0
    """
    if isinstance(law, Rayleigh):
        return Rayleigh(law.alpha * factor, law.beta * factor)
    present = [name for name in names if name in law.parameters]
    if not present:
        return law
    return law.with_(**{name: _multiply(law.parameters[name], factor) for name in present})


def _multiply(value: Any, factor: float) -> Any:
    """Multiply a parameter: a number, an array, a function f(t), or a function f(x, t)."""
    if not callable(value):
        return np.asarray(value, dtype=np.float64) * factor
    parameters = inspect.signature(value).parameters.values()
    required = [p for p in parameters if p.default is p.empty and p.kind is not p.VAR_KEYWORD]
    if len(required) == 2:
        return lambda x, t: np.asarray(value(x, t), dtype=np.float64) * factor
    return lambda t: np.asarray(value(t), dtype=np.float64) * factor


def _find_strength(placed: Sequence[Any], name: str, end: float) -> float:
    """Return the strength of a vector parameter in the first law with any until `end` [s], or 0."""
    for law in placed:
        strength = _find_first_strength(law, name, end)
        if strength > 0.0:
            return strength
    return 0.0


def _find_first_strength(placed: Any, name: str, end: float) -> float:
    """Return |p|, averaged over the elements, at the first time at which it is not negligible."""
    times = [0.0]
    if name in placed.parameters.time_dependent:
        times = np.linspace(0.0, end, _SAMPLES).tolist()
    strengths: list[float] = []
    for t in times:
        try:
            value = np.atleast_2d(placed.parameters.values(t)[name])
        except LawError:  # a function that is not defined so late; the step at t will report it
            break
        strength = 0.0
        if len(value):
            strength = float(np.sqrt(np.einsum("ij,ij->i", value, value)).mean())
        strengths.append(strength)
    threshold = _MIN_RELATIVE_STRENGTH * max(strengths, default=0.0)
    return next((strength for strength in strengths if strength > threshold), 0.0)
