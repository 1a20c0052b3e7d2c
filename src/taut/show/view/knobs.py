"""What the sliders turn: factors on the parameters of a system's laws.

    stiffness   every energy's k, EI and c           damping   every dissipation's c, k and alpha, Rayleigh's alpha and beta
    gravity     |g| [m/s²]                           wind      |velocity| of the air [m/s]

Of gravity or wind that changes with time the knob shows the strength |p(t₁)| at the first moment t₁ at which there is any; at s it
is p(t) s/|p(t₁)| at every moment: in its own direction, with its own course in time, and none at s = 0.

Laws that a knob does not touch stay the same objects, so that a System made of them works nothing out again.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taut.errors import LawError
from taut.formula.bound import Bound, Energy, Load
from taut.laws.gravity import gravity
from taut.laws.rayleigh import Rayleigh
from taut.laws.wind import wind
from taut.system.system import System

Float = NDArray[np.float64]
Int = NDArray[np.int64]
Made = dict[tuple[Hashable, float], Any]  # laws that were made of others for a value
STIFF = ("k", "EI", "c")
DAMPED = ("c", "k", "alpha")
LOOKS, STEPS = 65, 1000  # moments at which gravity and wind are looked at, and over how many steps where no end is known
NOTHING = 0.01  # of the greatest strength: what is less has not begun, and no factor is taken of it
DOWN, ALONG = np.array([0.0, -1.0, 0.0]), np.array([1.0, 0.0, 0.0])  # of gravity and wind where a scene has none


@dataclass(frozen=True)
class Knobs:
    """Where the sliders stand.

    stiffness, damping : factors, 1 as the scene has it; gravity [m/s²]; wind [m/s]; h : step [s]

    >>> Knobs(gravity=9.81, wind=0.0, h=0.01).stiffness
    1.0
    """

    gravity: float
    wind: float
    h: float
    stiffness: float = 1.0
    damping: float = 1.0


class Tuning:
    """A system and what its knobs make of it.

    system : as the scene has it; h : its step [s]
    triangles : where wind blows if the scene has none, (m, 3)
    until : how long the scene lasts [s], to find wind and gravity that begin later (default: 1000 steps)

    >>> import taut
    >>> from taut import laws
    >>> tuning = Tuning(taut.System([[0, 0, 0]], mass=1.0, energies=[laws.gravity()]), 0.01)
    >>> tuning.start.gravity, [e.parameters["g"].tolist() for e in tuning.laws(Knobs(1.0, 0.0, 0.01))["energies"]]
    (9.81, [[0.0, -1.0, 0.0]])
    """

    def __init__(self, system: System, h: float, triangles: Int | None = None, until: float | None = None) -> None:
        self.system = system
        self.triangles = np.empty((0, 3), np.int64) if triangles is None or system.flat else triangles
        heavy = [p for p in system.placed.values() if p.law is gravity]
        windy = [p for p in system.placed_loads.values() if p.law is wind]
        self.blown = bool(windy) or len(self.triangles) > 0  # whether wind finds anything to blow on
        end = STEPS * h if until is None else until
        self.start = Knobs(_strength(heavy, "g", end), _strength(windy, "velocity", end), h)
        self._made: Made = {}

    def laws(self, knobs: Knobs) -> dict[str, list[Any]]:
        """The energies, damping and loads of the system under these knobs, as `System.with_` takes them."""
        kept, self._made = self._made, {}
        energies = [self._energy(e, knobs, kept) for e in self.system.energies]
        damping = [self._scaled(d, DAMPED, knobs.damping, kept) for d in self.system.damping]
        loads = [self._load(w, knobs, kept) for w in self.system.loads]
        if knobs.gravity > 0.0 and not any(e.law is gravity for e in self.system.energies):
            energies.append(self._keep("gravity", knobs.gravity, kept, lambda: gravity(g=knobs.gravity * DOWN)))
        if knobs.wind > 0.0 and len(self.triangles) and not any(w.law is wind for w in self.system.loads):
            loads.append(self._keep("wind", knobs.wind, kept, lambda: wind(self.triangles, velocity=knobs.wind * ALONG)))
        return {"energies": energies, "damping": damping, "loads": loads}

    def _energy(self, energy: Energy, knobs: Knobs, kept: Made) -> Any:
        if energy.law is gravity:
            return self._aimed(energy, "g", self.start.gravity, knobs.gravity, DOWN, kept)
        return energy if energy.law.load else self._scaled(energy, STIFF, knobs.stiffness, kept)

    def _load(self, load: Load, knobs: Knobs, kept: Made) -> Any:
        return load if load.law is not wind else self._aimed(load, "velocity", self.start.wind, knobs.wind, ALONG, kept)

    def _aimed(self, law: Bound, name: str, was: float, value: float, along: Float, kept: Made) -> Any:
        if was > 0.0:
            return self._scaled(law, (name,), value / was, kept)
        return law if value == 0.0 else self._keep(law, value, kept, lambda: law.with_(**{name: value * along}))

    def _scaled(self, law: Any, names: Sequence[str], factor: float, kept: Made) -> Any:
        if factor == 1.0:
            return law
        return self._keep(law, factor, kept, lambda: scaled(law, names, factor))

    def _keep(self, law: Hashable, value: float, kept: Made, make: Callable[[], Any]) -> Any:
        """What was made of a law for a value before, or what is made now."""
        key = (law, value)
        self._made[key] = kept[key] if key in kept else make()
        return self._made[key]


def scaled(law: Any, names: Sequence[str], factor: float) -> Any:
    """A law with those of its parameters that have these names multiplied; functions of time stay functions of time.

    >>> from taut import laws
    >>> float(scaled(laws.spring([[0, 1]], k=lambda t: 2.0 + t), ["k"], 3.0).parameters["k"](1.0))
    9.0
    """
    if isinstance(law, Rayleigh):
        return Rayleigh(law.alpha * factor, law.beta * factor)
    given = {name: law.parameters[name] for name in names if name in law.parameters}
    return law.with_(**{name: times(value, factor) for name, value in given.items()}) if given else law


def times(value: Any, factor: float) -> Any:
    """A parameter multiplied: a number, an array, a function of time, or one of places and time."""
    if not callable(value):
        return np.asarray(value, dtype=np.float64) * factor
    every = inspect.signature(value).parameters.values()
    if sum(p.default is p.empty and p.kind is not p.VAR_KEYWORD for p in every) == 2:
        return lambda x, t: np.asarray(value(x, t), dtype=np.float64) * factor
    return lambda t: np.asarray(value(t), dtype=np.float64) * factor


def _strength(placed: Sequence[Any], name: str, end: float) -> float:
    """The length of a vector parameter of the first law that has any until `end` [s], when it has; 0 if there is none."""
    return next((size for size in (_first(p, name, end) for p in placed) if size > 0.0), 0.0)


def _first(placed: Any, name: str, end: float) -> float:
    """The length of a vector parameter, averaged over the elements, at the first moment at which it is more than nothing."""
    sizes: list[float] = []
    for t in np.linspace(0.0, end, LOOKS).tolist() if name in placed.timed else [0.0]:
        try:
            value = np.atleast_2d(placed.values_at(t)[name])
        except LawError:  # a function that ends before: the step that comes there says so
            break
        sizes.append(float(np.sqrt(np.einsum("ij,ij->i", value, value)).mean()) if len(value) else 0.0)
    least = NOTHING * max(sizes, default=0.0)
    return next((size for size in sizes if size > least), 0.0)
