"""Hanging cables: the catenary 2c sinh(D/2c) = L, of rigid links, limp and elastic; and a weight in the middle."""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq

from taut import laws
from taut.step.statics import equilibrium
from taut.validate.bodies import TIGHT, G, body, limit, links
from taut.validate.case import Curve, Float, Found
from taut.validate.registry import case

SPAN, DENSITY = 0.8, 0.5  # m between the ends of a metre of cable; kg/m
RIGID = 1e6 * DENSITY * G  # EA [N] of one that hardly stretches
STRETCHED = "EA is 1e6 times the weight: it stretches by 1e-6 or less, the sag by about twice that"
BOOK = "Irvine, Cable Structures, 1981"


def hung(n: int, stiff: float) -> Float:
    """Places (n + 1, 2) of n links of a metre in all, from end to end."""
    start = np.linspace(0, 1, n + 1)
    places = np.column_stack([SPAN * start, -start * (1 - start)])
    mass = np.full(n + 1, DENSITY / n)
    mass[[0, -1]] /= 2
    energies = [laws.cable(links(n), k=stiff * n, l0=1 / n), laws.gravity()]
    system = body(places, mass=mass, fixed=[0, n], energies=energies)
    return equilibrium(system, tolerance=TIGHT).state.q[:, :2]


def linked(n: int) -> float:
    """The sag of n rigid links: link i at the slope w_i/H, where w_i is the weight below it, and H such that they span D."""
    weight = (np.arange(n) - (n - 1) / 2) / n
    wide = brentq(lambda h: np.sum(h / np.hypot(h, weight)) / n - SPAN, 0.01, 1.0, xtol=1e-15)
    return float(-np.sum((weight / np.hypot(wide, weight))[: n // 2]) / n)


C = brentq(lambda c: 2 * c * np.sinh(SPAN / 2 / c) - 1, 0.1, 1.0, xtol=1e-15)
SAG = C * (np.cosh(SPAN / 2 / C) - 1)
ACROSS = np.linspace(0, SPAN, 100)
HANGING = np.column_stack([ACROSS, C * np.cosh((ACROSS - SPAN / 2) / C) - C * np.cosh(SPAN / 2 / C)])


def register(n: int) -> None:
    @case(
        f"catenary-{n}-links", formula="Σ cos φᵢ = nD/L, tan φᵢ = wᵢ/H", source="statics of a chain of rigid links", unit="m",
        expected=linked(n), tolerance=2e-6, why=STRETCHED,
        what=f"A metre of chain of {n} links between points 0.8 m apart: its sag.",
    )  # fmt: skip
    def sag() -> Found:
        q = hung(n, RIGID)
        return Found(-q[:, 1].min(), Curve.of_shapes(q, HANGING))


for n in (20, 40):
    register(n)


@case(
    "catenary", formula="2c sinh(D/2c) = L, sag c(cosh(D/2c) - 1)", source="J. Bernoulli, Huygens and Leibniz, 1691", unit="m",
    expected=SAG, tolerance=2e-6, why=STRETCHED,
)  # fmt: skip
def catenary() -> Found:
    """The same with ever shorter links: extrapolated from 10, 20 and 40."""
    several = [hung(n, RIGID) for n in (10, 20, 40)]
    return Found(limit([-q[:, 1].min() for q in several]), Curve.of_shapes(several[0], HANGING))


SOFT = 3.0 * DENSITY * G  # EA [N]: it stretches by a sixth and more


def elastic(wide: float, s: Float) -> Float:
    """Places (n, 2) of the points s of a metre of elastic cable with the horizontal force H [N]."""
    w, ends = DENSITY * G, np.array(0.5)
    x = wide * s / SOFT + wide / w * (np.arcsinh(w * (s - ends) / wide) + np.arcsinh(w * ends / wide))
    y = w / SOFT * s * (s / 2 - ends) + wide / w * (np.hypot(1, w * (s - ends) / wide) - np.hypot(1, w * ends / wide))
    return np.column_stack([x, y])


PULL = brentq(lambda h: elastic(h, np.array([1.0]))[0, 0] - SPAN, 0.01, 10.0, xtol=1e-15)


@case(
    "catenary-elastic", formula="x(s) = Hs/EA + (H/w)(asinh(w(s - L/2)/H) + asinh(wL/2H)), y(s) likewise", source=BOOK, unit="m",
    expected=-elastic(PULL, np.array([0.5]))[0, 1], tolerance=1e-8,
    why="extrapolated from 20, 40 and 80 links: what is left is of sixth order, some 10 (1/20)⁶/64",
)  # fmt: skip
def elastic_catenary() -> Found:
    """A cable of rubber, EA three times its weight: its sag, extrapolated from 20, 40 and 80 links."""
    several = [hung(n, SOFT) for n in (20, 40, 80)]
    theory = elastic(PULL, np.linspace(0, 1, 100))
    return Found(limit([-q[:, 1].min() for q in several]), Curve.of_shapes(several[0], theory))


def two_bars(load: float, stiff: float, half: float, length: float) -> float:
    """How deep a weight hangs in the middle of a cable: 2 EA (l/l₀ - 1) y/l = P, l² = y² + half²."""
    return float(
        brentq(lambda y: 2 * stiff * (np.hypot(y, half) / length - 1) * y / np.hypot(y, half) - load, 1e-6, 2.0, xtol=1e-15)
    )


@case(
    "cable-point-load", formula="2EA(l/l₀ - 1) y/l = P, l² = y² + (D/2)²", source=BOOK, unit="m",
    expected=two_bars(20.0, 400.0, 0.5, 0.5), tolerance=1e-13, why="forces are balanced to 1e-13 of the load",
)  # fmt: skip
def point_load() -> Found:
    """A weight in the middle of a straight cable without sag: P grows as y³ at first; the curve: for other weights."""
    points = [[0, 0, 0], [0.5, 0, 0], [1, 0, 0]]

    def deep(load: float) -> float:
        wire, weight = laws.cable([[0, 1], [1, 2]], k=800.0), laws.force([1], f=(0, -load, 0))
        pose = [[0, 0, 0], [0.5, -0.1, 0], [1, 0, 0]]
        system = body(points, mass=1.0, fixed=[0, 2], energies=[wire, weight], pose=pose)
        return float(-equilibrium(system, tolerance=TIGHT).state.q[1, 1])

    several, fine = np.linspace(1, 40, 12), np.linspace(0.2, 40, 80)
    theory = [two_bars(load, 400.0, 0.5, 0.5) for load in fine.tolist()]
    return Found(deep(20.0), Curve(several, [deep(p) for p in several.tolist()], theory, "P [N]", "y [m]", at=fine))
