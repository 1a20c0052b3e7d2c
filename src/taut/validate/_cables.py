"""Hanging cables: the catenary 2c sinh(D/2c) = L, inextensible and elastic; a point load."""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq

from taut import laws
from taut.arrays import Float
from taut.statics.equilibrium import equilibrium
from taut.validate._bodies import TIGHT, G, build_system, extrapolate, neighbour_pairs
from taut.validate.cases import Curve, Measurement, case

SPAN, DENSITY = 0.8, 0.5  # m between the ends of 1 m of cable; kg/m
RIGID = 1e6 * DENSITY * G  # EA [N], nearly inextensible
STRETCHED = (
    "EA is 1e6 times the weight: the cable stretches by at most 1e-6, the sag by about twice that"
)
BOOK = "Irvine, Cable Structures, 1981"


def hang_cable(n: int, stiff: float) -> Float:
    """Compute the positions (n + 1, 2) of n links of 1 m total length; stiff : EA [N]."""
    start = np.linspace(0, 1, n + 1)
    places = np.column_stack([SPAN * start, -start * (1 - start)])
    mass = np.full(n + 1, DENSITY / n)
    mass[[0, -1]] /= 2
    energies = [laws.cable(neighbour_pairs(n), k=stiff * n, l0=1 / n), laws.gravity()]
    system = build_system(places, mass=mass, fixed=[0, n], energies=energies)
    return equilibrium(system, tolerance=TIGHT).state.q[:, :2]


def rigid_link_sag(n: int) -> float:
    """Solve for the sag of n rigid links.

    Link i has the slope w_i/H, w_i the weight below it; H is such that the links span D.
    """
    weight = (np.arange(n) - (n - 1) / 2) / n
    wide = brentq(lambda h: np.sum(h / np.hypot(h, weight)) / n - SPAN, 0.01, 1.0, xtol=1e-15)
    return float(-np.sum((weight / np.hypot(wide, weight))[: n // 2]) / n)


C = brentq(lambda c: 2 * c * np.sinh(SPAN / 2 / c) - 1, 0.1, 1.0, xtol=1e-15)
SAG = C * (np.cosh(SPAN / 2 / C) - 1)
ACROSS = np.linspace(0, SPAN, 100)
HANGING = np.column_stack(
    [ACROSS, C * np.cosh((ACROSS - SPAN / 2) / C) - C * np.cosh(SPAN / 2 / C)]
)


def register(n: int) -> None:
    @case(
        f"catenary-{n}-links",
        formula="Σ cos φᵢ = nD/L, tan φᵢ = wᵢ/H",
        source="statics of a chain of rigid links",
        unit="m",
        expected=rigid_link_sag(n),
        tolerance=2e-6,
        reason=STRETCHED,
        description=f"Sag of a chain of {n} links and 1 m length between points 0.8 m apart.",
    )
    def measure() -> Measurement:
        q = hang_cable(n, RIGID)
        return Measurement(-q[:, 1].min(), Curve.from_shapes(q, HANGING))


for n in (20, 40):
    register(n)


@case(
    "catenary",
    formula="2c sinh(D/2c) = L, sag c(cosh(D/2c) - 1)",
    source="J. Bernoulli, Huygens and Leibniz, 1691",
    unit="m",
    expected=SAG,
    tolerance=2e-6,
    reason=STRETCHED,
)
def measure_catenary() -> Measurement:
    """Sag of a catenary, extrapolated from 10, 20 and 40 links."""
    several = [hang_cable(n, RIGID) for n in (10, 20, 40)]
    return Measurement(
        extrapolate([-q[:, 1].min() for q in several]), Curve.from_shapes(several[0], HANGING)
    )


SOFT = 3.0 * DENSITY * G  # EA [N]; stretches by a sixth or more


def elastic_shape(wide: float, s: Float) -> Float:
    """Return the positions (n, 2) of the points s of 1 m of elastic cable; wide : H [N]."""
    w, ends = DENSITY * G, np.array(0.5)
    x = wide * s / SOFT + wide / w * (
        np.arcsinh(w * (s - ends) / wide) + np.arcsinh(w * ends / wide)
    )
    y = w / SOFT * s * (s / 2 - ends) + wide / w * (
        np.hypot(1, w * (s - ends) / wide) - np.hypot(1, w * ends / wide)
    )
    return np.column_stack([x, y])


PULL = brentq(lambda h: elastic_shape(h, np.array([1.0]))[0, 0] - SPAN, 0.01, 10.0, xtol=1e-15)


@case(
    "catenary-elastic",
    formula="x(s) = Hs/EA + (H/w)(asinh(w(s - L/2)/H) + asinh(wL/2H)), y(s) likewise",
    source=BOOK,
    unit="m",
    expected=-elastic_shape(PULL, np.array([0.5]))[0, 1],
    tolerance=1e-8,
    reason="the extrapolation leaves sixth order, about 10 (1/20)⁶/64",
)
def measure_catenary_elastic() -> Measurement:
    """Sag of an elastic cable, EA three times its weight, extrapolated from 20, 40 and 80 links."""
    several = [hang_cable(n, SOFT) for n in (20, 40, 80)]
    theory = elastic_shape(PULL, np.linspace(0, 1, 100))
    return Measurement(
        extrapolate([-q[:, 1].min() for q in several]), Curve.from_shapes(several[0], theory)
    )


def point_load_deflection(load: float, stiff: float, half: float, length: float) -> float:
    """Solve 2 EA (l/l₀ - 1) y/l = P, l² = y² + half², for the deflection y [m]."""
    return float(
        brentq(
            lambda y: 2 * stiff * (np.hypot(y, half) / length - 1) * y / np.hypot(y, half) - load,
            1e-6,
            2.0,
            xtol=1e-15,
        )
    )


@case(
    "cable-point-load",
    formula="2EA(l/l₀ - 1) y/l = P, l² = y² + (D/2)²",
    source=BOOK,
    unit="m",
    expected=point_load_deflection(20.0, 400.0, 0.5, 0.5),
    tolerance=1e-13,
    reason="forces are balanced to 1e-13 of the load",
)
def measure_cable_point_load() -> Measurement:
    """Deflection of a straight cable without slack under a weight in the middle: P ~ y³ at first.

    The plot shows other weights.
    """
    points = [[0, 0, 0], [0.5, 0, 0], [1, 0, 0]]

    def compute_deflection(load: float) -> float:
        wire, weight = laws.cable([[0, 1], [1, 2]], k=800.0), laws.force([1], f=(0, -load, 0))
        pose = [[0, 0, 0], [0.5, -0.1, 0], [1, 0, 0]]
        system = build_system(points, mass=1.0, fixed=[0, 2], energies=[wire, weight], pose=pose)
        return float(-equilibrium(system, tolerance=TIGHT).state.q[1, 1])

    several, fine = np.linspace(1, 40, 12), np.linspace(0.2, 40, 80)
    theory = [point_load_deflection(load, 400.0, 0.5, 0.5) for load in fine.tolist()]
    return Measurement(
        compute_deflection(20.0),
        Curve(
            several,
            [compute_deflection(p) for p in several.tolist()],
            theory,
            "P [N]",
            "y [m]",
            theory_x=fine,
        ),
    )
