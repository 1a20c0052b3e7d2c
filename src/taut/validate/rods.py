"""Rods with bending stiffness: the elastica EI θ'' = -P cos θ under an end load and an end moment."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import ellipe, ellipeinc, ellipk, ellipkinc

from taut import laws
from taut.formula.law import energy
from taut.formula.vocabulary import Vector, atan2
from taut.solve.tolerance import Tolerance
from taut.step.statics import equilibrium
from taut.system.system import System
from taut.validate.bodies import body, limit, links, turns
from taut.validate.case import Curve, Float, Found
from taut.validate.registry import case

FINE = Tolerance(1e-12)
BISSHOPP = "Bisshopp and Drucker, Quart. Appl. Math. 3 (1945) 272"


def cantilever(places: Float, loads: list[Any], *, axial: float, law: Any = laws.rod_bending, **more: Any) -> System:
    """A rod of EI = 1 N m² and EA = axial [N] along x, clamped at its first particle."""
    n = len(places) - 1
    springs = laws.spring(links(n), k=axial / np.diff(places))
    energies = [springs, law(turns(n), EI=1.0), laws.rod_clamp([[0, 1]], EI=1.0), *loads]
    return body(np.column_stack([places, 0 * places]), fixed=[0], energies=energies, **{"mass": 1.0, **more})


def loaded(n: int, alpha: float, axial: float = 1e8) -> Float:
    """Places (n + 1, 2) of a metre of n links under a force α downwards at its end."""
    system = cantilever(np.linspace(0, 1, n + 1), [laws.force([n], f=(0, -alpha))], axial=axial)
    return equilibrium(system, tolerance=FINE).state.q[:, :2]


def deflection(alpha: float) -> float:
    """δ/L of the elastica: with m = (1 + sin φ(L))/2 and sin ψ = 1/√(2m), K(m) - F(ψ, m) = √α, δ/L = 1 - 2(E(m) - E(ψ, m))/√α."""

    def quarter(complete: Any, incomplete: Any, m: float) -> float:
        return float(complete(m) - incomplete(np.arcsin(1 / np.sqrt(2 * m)), m))

    m = brentq(lambda m: quarter(ellipk, ellipkinc, m) - np.sqrt(alpha), 0.5, 1 - 1e-13, xtol=1e-16)
    return 1 - 2 * quarter(ellipe, ellipeinc, m) / float(np.sqrt(alpha))


ALPHAS = np.array([0.5, 1, 2, 3, 5, 10])


@case(
    "elastica-load", formula="K(m) - F(ψ, m) = √α, δ/L = 1 - 2(E(m) - E(ψ, m))/√α, α = PL²/EI", source=BISSHOPP,
    expected=[deflection(a) for a in ALPHAS.tolist()], tolerance=2e-7,
    why="a rod of EA = 1e8 EI/L² stretches by 1e-7 at α = 10; extrapolated from 10, 20 and 40 links, sixth order is left",
)  # fmt: skip
def end_load() -> Found:
    """A cantilever under a load at its end: its deflection by its length, from α = ½ to 10."""
    got = [limit([-loaded(n, alpha)[-1, 1] for n in (10, 20, 40)]) for alpha in ALPHAS.tolist()]
    fine = np.geomspace(0.05, 11, 80)
    return Found(got, Curve(ALPHAS, got, [deflection(a) for a in fine.tolist()], "PL²/EI", "δ/L", at=fine))


def shot(n: int, alpha: float, axial: float) -> Float:
    """Places (n + 1, 2) of links that stretch, without taut: the moment at each joint falls by P l cos φ to zero at the end."""

    def shoot(first: float) -> tuple[float, list[tuple[float, float]]]:
        angle, moment, places = first, 2 * n * first, [(0.0, 0.0)]
        for i in range(n):
            link = (1 + alpha * np.sin(angle) / axial) / n
            places.append((places[-1][0] + link * np.cos(angle), places[-1][1] - link * np.sin(angle)))
            moment -= alpha * link * np.cos(angle)
            angle += moment / n if i < n - 1 else 0.0
        return moment, places

    return np.array(shoot(brentq(lambda first: shoot(first)[0], 0.0, alpha / n, xtol=1e-16, rtol=1e-15))[1])


LINKED = shot(15, 5.0, 5e3)
COUNTS = (10, 20, 40)


@case(
    "elastica-links", formula="M_i = M_{i-1} - P l_i cos φ_i, φ_{i+1} = φ_i + M_i l/EI, l_i = l(1 + P sin φ_i/EA)",
    source="statics of links and hinges, by shooting", unit="m", expected=LINKED[1:], scale=1.0, tolerance=1e-13,
    why="the last step of Newton's method ends at rounding, of 15 links and hinges",
)  # fmt: skip
def fifteen_links() -> Found:
    """Fifteen links that stretch by a thousandth under a load at the end: all places; no limit is taken."""
    q = loaded(15, 5.0, 5e3)
    return Found(q[1:], Curve.of_shapes(q, LINKED))


@case(
    "elastica-clamp", formula="δ_N/δ - 1 with a wall hinge of 2EI/l: 0.47% at N = 10, 0.12% at 20, 0.029% at 40",
    source=f"{BISSHOPP}, and links by shooting", expected=[-shot(n, 1.0, 1e8)[-1, 1] / deflection(1.0) - 1 for n in COUNTS],
    tolerance=1e-9, why="deflections agree to some 1e-14, and their differences are 3e-4",
)  # fmt: skip
def clamp() -> Found:
    """How far N links are off the elastica at α = 1: of second order, with the wall hinge twice as stiff as the others."""
    got = np.array([-loaded(n, 1.0)[-1, 1] / deflection(1.0) - 1 for n in COUNTS])
    fine = np.arange(9, 42)
    return Found(got, Curve(COUNTS, 100 * got, 0.47 * (10 / fine) ** 2, "links", "error [%]", at=fine))


def moment_at_end(n: int, M: float) -> list[Any]:
    """What a moment M [N m] at the end of n links adds to the energy: it does the work M times the turn of the last link, which is
    the sum of all turns, the wall's included. Two laws of this case alone, V = -Mθ with signed angles in the plane."""

    @energy(invariant="translation")
    def at_turn(x: Any, M: Any) -> Any:
        a, b = x[1] - x[0], x[2] - x[1]
        return -M * atan2(a[0] * b[1] - a[1] * b[0], a[0] * b[0] + a[1] * b[1])

    @energy(invariant="translation")
    def at_wall(x: Any, M: Any, direction: Vector) -> Any:
        b = x[1] - x[0]
        return -M * atan2(direction[0] * b[1] - direction[1] * b[0], direction[0] * b[0] + direction[1] * b[1])

    return [at_turn(turns(n), M=M), at_wall([[0, 1]], M=M, direction=(1, 0, 0))]


SIDES = 24
POLYGON = np.cumsum(np.exp(2j * np.pi * (np.arange(SIDES) + 0.5) / SIDES)) / SIDES


@case(
    "elastica-moment", formula="each hinge turns by Ml/EI: at M = 2πEI/L the rod closes to a circle",
    source="Euler, De curvis elasticis, 1744", unit="m",
    expected=np.column_stack([POLYGON.real, POLYGON.imag]), scale=1.0, tolerance=1e-10,
    why="forces are balanced to 1e-12 of those that act, and the rod is EA L²/EI = 1e4 times softer across",
)  # fmt: skip
def end_moment() -> Found:
    """A moment at the end of a clamped rod of 24 links bends it to a regular polygon whose ends meet."""
    loads = moment_at_end(SIDES, 2 * np.pi)
    bow = 0.02 * np.arange(SIDES)
    start = np.vstack([[0, 0], np.cumsum(np.column_stack([np.cos(bow), np.sin(bow)]), axis=0) / SIDES])
    system = cantilever(np.linspace(0, 1, SIDES + 1), loads, axial=1e4, law=laws.planar_rod_bending, pose=start)
    q = equilibrium(system, tolerance=FINE).state.q[:, :2]
    around = 2 * np.pi * np.arange(101) / 100
    circle = np.column_stack([np.sin(around), 1 - np.cos(around)]) / (2 * np.pi)
    return Found(q[1:], Curve.of_shapes(q, circle))
