"""For every law in the catalogue: elements, parameters and states on which its laws are tested.

A law without a specimen makes `test_coverage.py` fail.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from taut import laws
from taut.formula.law import Law
from taut.formula.placed import Placed, place

COUNT = 12  # elements, each on particles of its own


@dataclass(frozen=True)
class Specimen:
    law: Law
    particles: int
    parameters: Callable[[np.random.Generator], dict[str, Any]]
    relaxed: Callable[[np.random.Generator], np.ndarray] | None = None  # positions (particles, 3) at which the force is zero

    def placed(self, rng: np.random.Generator) -> Placed:
        rest = rng.normal(size=(COUNT * self.particles, 3))
        return self.place_at(rest, self.parameters(rng))

    def place_at(self, rest: np.ndarray, parameters: dict[str, Any]) -> Placed:
        elements = np.arange(len(rest)).reshape(-1, self.particles)
        mass = np.linspace(0.5, 2.0, len(rest))
        return place(self.law(elements, **parameters), rest, mass)


def state(rng: np.random.Generator, placed: Placed) -> np.ndarray:
    """Positions well away from the rest shape and from coincident particles."""
    return placed.rest + 0.4 * rng.normal(size=placed.rest.shape) + np.arange(len(placed.rest))[:, None] % 3


def per_element(rng: np.random.Generator, low: float, high: float) -> np.ndarray:
    return rng.uniform(low, high, COUNT)


def _straight(rng: np.random.Generator) -> np.ndarray:
    return np.array([0.0, 1.0, 2.5])[:, None] * rng.normal(size=3)


def _anywhere(particles: int) -> Callable[[np.random.Generator], np.ndarray]:
    return lambda rng: rng.normal(size=(particles, 3))


ENERGIES = {
    s.law.name: s
    for s in [
        Specimen(laws.spring, 2, lambda r: {"k": per_element(r, 5, 50)}, _anywhere(2)),
        Specimen(laws.zero_length_spring, 2, lambda r: {"k": per_element(r, 5, 50)}, lambda r: np.ones((2, 1)) * r.normal(size=3)),
        # half of the cables taut, half slack, all far from the kink
        Specimen(
            laws.cable, 2, lambda r: {"k": per_element(r, 5, 50), "l0": np.where(np.arange(COUNT) % 2, 0.05, 50.0)}, _anywhere(2)
        ),
        Specimen(laws.rod_hinge, 3, lambda r: {"k": per_element(r, 1, 3)}, _straight),
        Specimen(laws.surface_tension, 3, lambda r: {"stress": per_element(r, 1, 3)}, _straight),
        Specimen(laws.gravity, 1, lambda r: {"g": r.normal(size=3)}),
        Specimen(laws.force, 1, lambda r: {"f": r.normal(size=(COUNT, 3))}),
        Specimen(laws.pin, 1, lambda r: {"k": per_element(r, 5, 50), "target": r.normal(size=(COUNT, 3))}, _anywhere(1)),
    ]
}

DISSIPATIONS = {
    s.law.name: s
    for s in [
        Specimen(laws.drag, 1, lambda r: {"alpha": per_element(r, 0.5, 2)}),
        Specimen(laws.spring_damping, 2, lambda r: {"c": per_element(r, 0.5, 2)}),
    ]
}
