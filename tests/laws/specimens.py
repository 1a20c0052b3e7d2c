"""For every law in the catalogue: elements, parameters and states on which it is tested.

A law without a specimen makes `test_coverage.py` fail.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from taut import laws
from taut.binding.law import Law
from taut.binding.placed_law import PlacedLaw, place

COUNT = 12  # elements, which share no particles


@dataclass(frozen=True)
class Specimen:
    law: Law
    particles: int
    parameters: Callable[[np.random.Generator], dict[str, Any]]
    relaxed: Callable[[np.random.Generator], np.ndarray] | None = (
        None  # positions (particles, 3) at which the force is zero
    )
    shape: np.ndarray | None = (
        None  # (particles, 3), near which each element is at rest; None: anywhere
    )

    def placed(self, rng: np.random.Generator) -> PlacedLaw:
        rest = rng.normal(size=(COUNT * self.particles, 3))
        if self.shape is not None:
            rest = np.tile(self.shape, (COUNT, 1)) + 0.15 * rest
        return self.place_at(rest, self.parameters(rng))

    def place_at(self, rest: np.ndarray, parameters: dict[str, Any]) -> PlacedLaw:
        elements = np.arange(len(rest)).reshape(-1, self.particles)
        mass = np.linspace(0.5, 2.0, len(rest))
        return place(self.law(elements, **parameters), rest, mass)


def state(rng: np.random.Generator, placed: PlacedLaw) -> np.ndarray:
    """Positions well away from the rest shape and from coincident particles.

    Of an energy with a domain, elements are stretched and sheared but not inverted.
    """
    if placed.law.domain:
        stretch = np.diag([1.5, 0.7, 1.2]) + 0.3 * rng.normal(size=(3, 3)) / 2
        return placed.rest @ stretch.T + 0.03 * rng.normal(size=placed.rest.shape)
    return (
        placed.rest
        + 0.4 * rng.normal(size=placed.rest.shape)
        + np.arange(len(placed.rest))[:, None] % 3
    )


def per_element(rng: np.random.Generator, low: float, high: float) -> np.ndarray:
    return rng.uniform(low, high, COUNT)


def _anywhere(particles: int) -> Callable[[np.random.Generator], np.ndarray]:
    return lambda rng: rng.normal(size=(particles, 3))


TRIANGLE = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.4, 0.9, 0.0]])
QUAD = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.3], [1.0, 1.0, 0.0], [0.0, 1.0, 0.3]])
TET = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
HINGE = np.array([[0.0, 1.0, 0.2], [0.1, -0.9, 0.3], [-0.6, 0.0, 0.0], [0.6, 0.1, 0.0]])
ATTACHED = np.array([[0.4, 0.3, 0.1], *TRIANGLE])


def _near(shape: np.ndarray) -> Callable[[np.random.Generator], np.ndarray]:
    return lambda rng: shape + 0.1 * rng.normal(size=shape.shape)


def _moduli(rng: np.random.Generator) -> dict[str, Any]:
    return {"young": per_element(rng, 1, 3), "poisson": per_element(rng, 0.1, 0.45)}


def _gap(rng: np.random.Generator) -> dict[str, Any]:
    """Of half of the elements the gap is far within range, of the others far beyond it."""
    return {
        "k": per_element(rng, 5, 50),
        "thickness": per_element(rng, 1e-3, 2e-3),
        "range": np.where(np.arange(COUNT) % 2, 2e-3, 50.0),
    }


def _attached(rng: np.random.Generator) -> np.ndarray:
    """A particle in the triangle it is attached to."""
    corners = _near(TRIANGLE)(rng)
    return np.array([np.array([0.5, 0.3, 0.2]) @ corners, *corners])


ENERGIES = {
    s.law.name: s
    for s in [
        Specimen(laws.spring, 2, lambda r: {"k": per_element(r, 5, 50)}, _anywhere(2)),
        Specimen(
            laws.zero_length_spring,
            2,
            lambda r: {"k": per_element(r, 5, 50)},
            lambda r: np.ones((2, 1)) * r.normal(size=3),
        ),
        # half of the cables taut, half slack, all far from the kink
        Specimen(
            laws.cable,
            2,
            lambda r: {
                "k": per_element(r, 5, 50),
                "l0": np.where(np.arange(COUNT) % 2, 0.05, 50.0),
            },
            _anywhere(2),
        ),
        # half of them on the way to their limit, half slack
        Specimen(
            laws.strain_limit,
            2,
            lambda r: {
                "k": per_element(r, 5, 50),
                "limit": per_element(r, 25, 30),
                "l0": np.where(np.arange(COUNT) % 2, 0.4, 8.0),
                "start": per_element(r, 0.01, 0.03),
            },
            lambda r: 0.1 * r.normal(size=(2, 3)),
        ),
        Specimen(
            laws.plastic_spring,
            2,
            lambda r: {"k": per_element(r, 5, 50), "yield_strain": 0.9, "creep": 1.0},
            _anywhere(2),
        ),
        Specimen(
            laws.stiffening_spring,
            2,
            lambda r: {"k": per_element(r, 5, 50), "beta": per_element(r, 1, 5)},
            _anywhere(2),
        ),
        Specimen(laws.discrete_shell_edge, 2, lambda r: {"k": per_element(r, 5, 50)}, _anywhere(2)),
        Specimen(laws.rod_hinge, 3, lambda r: {"k": per_element(r, 1, 3)}, _anywhere(3)),
        Specimen(laws.rod_bending, 3, lambda r: {"EI": per_element(r, 1, 3)}, _anywhere(3)),
        Specimen(laws.planar_rod_bending, 3, lambda r: {"EI": per_element(r, 1, 3)}, _anywhere(3)),
        Specimen(laws.rod_clamp, 2, lambda r: {"EI": per_element(r, 1, 3)}, _anywhere(2)),
        Specimen(laws.shell_bending, 4, lambda r: {"c": per_element(r, 1, 3)}, _near(HINGE), HINGE),
        Specimen(
            laws.plastic_bending,
            4,
            lambda r: {"c": per_element(r, 1, 3), "yield_angle": 6.0, "creep": 1.0},
            _near(HINGE),
            HINGE,
        ),
        Specimen(
            laws.discrete_shell_bending,
            4,
            lambda r: {"k": per_element(r, 1, 3)},
            _near(HINGE),
            HINGE,
        ),
        Specimen(
            laws.bridson_bending, 4, lambda r: {"k": per_element(r, 1, 3)}, _near(HINGE), HINGE
        ),
        Specimen(laws.area, 3, lambda r: {"k": per_element(r, 1, 3)}, _near(TRIANGLE), TRIANGLE),
        # half of the triangles are far below half of their area, the others above
        Specimen(
            laws.area_barrier,
            3,
            lambda r: {
                "k": per_element(r, 1, 3),
                "area0": np.where(np.arange(COUNT) % 2, 0.1, 50.0),
            },
            _near(TRIANGLE),
        ),
        Specimen(
            laws.discrete_shell_area,
            3,
            lambda r: {"k": per_element(r, 1, 3)},
            _near(TRIANGLE),
            TRIANGLE,
        ),
        Specimen(laws.volume, 4, lambda r: {"k": per_element(r, 1, 3)}, _near(TET), TET),
        # half of the tetrahedra are far below half of their volume, the others above
        Specimen(
            laws.volume_barrier,
            4,
            lambda r: {
                "k": per_element(r, 1, 3),
                "volume0": np.where(np.arange(COUNT) % 2, 0.01, 50.0),
            },
            _near(TET),
            TET,
        ),
        Specimen(
            laws.stvk_membrane,
            3,
            lambda r: {**_moduli(r), "thickness": per_element(r, 0.5, 1.5)},
            _near(TRIANGLE),
            TRIANGLE,
        ),
        Specimen(
            laws.orthotropic_membrane,
            3,
            lambda r: {
                "warp_young": per_element(r, 2, 3),
                "weft_young": per_element(r, 1, 2),
                "poisson": per_element(r, 0.1, 0.4),
                "shear": per_element(r, 0.2, 1),
                "thickness": per_element(r, 0.5, 1.5),
                "warp": np.array([0.6, 0.8, 0.1]),
            },
            _near(TRIANGLE),
            TRIANGLE,
        ),
        Specimen(
            laws.neo_hookean_membrane,
            3,
            lambda r: {**_moduli(r), "thickness": per_element(r, 0.5, 1.5)},
            _near(TRIANGLE),
            TRIANGLE,
        ),
        Specimen(laws.neo_hookean_solid, 4, _moduli, _near(TET), TET),
        Specimen(laws.corotated_solid, 4, _moduli, _near(TET), TET),
        Specimen(laws.attachment, 4, lambda r: {"k": per_element(r, 5, 50)}, _attached, ATTACHED),
        Specimen(
            laws.offset_attachment,
            4,
            lambda r: {"k": per_element(r, 5, 50)},
            _near(ATTACHED),
            ATTACHED,
        ),
        Specimen(laws.surface_tension, 3, lambda r: {"stress": per_element(r, 1, 3)}),
        Specimen(
            laws.force_density,
            2,
            lambda r: {"d": per_element(r, -5, 50)},
            lambda r: np.ones((2, 1)) * r.normal(size=3),
        ),
        Specimen(laws.tension, 2, lambda r: {"force": per_element(r, -5, 50)}),
        Specimen(laws.equal_lengths, 3, lambda r: {"k": per_element(r, 5, 50)}),
        Specimen(laws.planarity, 4, lambda r: {"k": per_element(r, 5, 50)}, shape=QUAD),
        Specimen(
            laws.plane_spring,
            1,
            lambda r: {"k": per_element(r, 5, 50), "normal": r.normal(size=(COUNT, 3))},
            _anywhere(1),
        ),
        Specimen(
            laws.sphere_spring,
            1,
            lambda r: {
                "k": per_element(r, 5, 50),
                "centre": r.normal(size=(COUNT, 3)),
                "radius": per_element(r, 0.5, 2),
            },
        ),
        Specimen(laws.point_point_contact, 2, lambda r: {**_gap(r), "offset": 0.02}),
        Specimen(
            laws.point_edge_contact,
            3,
            lambda r: {**_gap(r), "smoothing": 0.04, "offset": 0.02},
        ),
        Specimen(laws.point_triangle_contact, 4, _gap),
        Specimen(laws.edge_edge_contact, 4, lambda r: {**_gap(r), "smoothing": 0.04}),
        Specimen(
            laws.plane_contact,
            1,
            lambda r: {
                **_gap(r),
                "point": np.array([-12.0, -16.0, 0.0]),
                "normal": np.array([0.6, 0.8, 0.0]),
            },
        ),
        Specimen(laws.gravity, 1, lambda r: {"g": r.normal(size=3)}),
        Specimen(laws.force, 1, lambda r: {"f": r.normal(size=(COUNT, 3))}),
        Specimen(
            laws.pin,
            1,
            lambda r: {"k": per_element(r, 5, 50), "target": r.normal(size=(COUNT, 3))},
            _anywhere(1),
        ),
    ]
}

DISSIPATIONS = {
    s.law.name: s
    for s in [
        Specimen(laws.drag, 1, lambda r: {"alpha": per_element(r, 0.5, 2)}),
        Specimen(laws.spring_damping, 2, lambda r: {"c": per_element(r, 0.5, 2)}),
        Specimen(laws.bridson_damping, 4, lambda r: {"k": per_element(r, 0.5, 2)}, shape=HINGE),
        # half of the contacts stick, half slide
        Specimen(
            laws.contact_friction,
            4,
            lambda r: {
                "force": per_element(r, 0.5, 2),
                "normal": np.array([0.6, 0.8, 0.0]),
                "weights": np.tile([0.3, 0.7, -0.6, -0.4], (COUNT, 1)),
                "speed": np.where(np.arange(COUNT) % 2, 0.05, 1e3),
            },
        ),
    ]
}

LOADS = {
    s.law.name: s
    for s in [
        Specimen(
            laws.wind,
            3,
            lambda r: {"velocity": r.normal(size=(COUNT, 3)), "lift": per_element(r, 0.2, 1)},
            shape=TRIANGLE,
        )
    ]
}
